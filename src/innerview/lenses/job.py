"""What is asked of a lens; importable without torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from innerview.jobs.kinds import job_kind
from innerview.schema import Setting


@job_kind("lens", work="innerview.lenses.look:LensWork", unit="rows", stored=True)
@dataclass(frozen=True, kw_only=True)
class LensJob:
    """Look at rows of a recording through a lens. A plug-in's lens is named like any other."""

    lens: str
    recording: str
    parameters: Mapping[str, Setting] = field(default_factory=dict)
    """As the lens describes them, by name; the default of each where left out."""
    rows: tuple[tuple[int, int], ...] | None = None
    """(start, stop) of each range; all where left out."""
    subject: str | None = None
    """The live subject to use; the one that recorded where left out."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    """The array that feeds an input, with steps where needed: "real.rgb | resize 64x64"."""
    other: bool = False
    """Go on where the subject is another than the one that recorded, or its weights changed since."""
