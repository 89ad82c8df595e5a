"""Methods of attribution by name: lenses that give heat row by row, and their variants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from innerview.lenses.discovery import LoadedLens, all_lenses
from innerview.schema import Setting


@dataclass(frozen=True)
class HeatMethod:
    """A lens, and what makes it this one of its methods."""

    name: str
    looking: LoadedLens
    settings: dict[str, Setting]

    @property
    def usual(self) -> dict[str, Any]:
        """Every parameter as it is unless somebody says otherwise."""
        return {**{each.name: each.default for each in self.looking.lens.parameters}, **self.settings}


def heat_methods() -> dict[str, HeatMethod]:
    """Every method, a lens before its variants."""
    found: dict[str, HeatMethod] = {}
    for name, looking in all_lenses():
        if looking.lens.yields == "heat" and looking.lens.over == "row":
            named: dict[str, Mapping[str, Setting]] = {name: {}, **looking.lens.variants}
            found |= {each: HeatMethod(each, looking, dict(settings)) for each, settings in named.items()}
    return found
