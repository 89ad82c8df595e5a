"""What a lens or a table found, kept in the study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class ResultArray:
    """An array of a result, without its values."""

    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, kw_only=True)
class ResultInfo:
    """What a list of results says of each. The same question has the same id, so asking again finds it."""

    id: str
    kind: str
    """The lens, or the kind of table, that made it."""
    title: str
    recording: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    created_at: str = ""
    type: str = ""
    """Which generic view shows it (heat, layout, per row, per element, table, chart, gallery, map); "" for none."""
    arrays: Mapping[str, ResultArray] = field(default_factory=dict)
    """What belongs to it, by name."""
    provisional: bool = False
    """Whether it is a state on the way, shown while the work goes on or where it was stopped."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What a lens was asked with; nothing where that is not told."""
        told = self.arguments.get("parameters")
        return told if isinstance(told, Mapping) else {}


@dataclass(frozen=True, kw_only=True)
class Result(ResultInfo):
    """A result with its figures; arrays are read apart, a part at a time."""

    value: Any = None
    """What was computed, as JSON."""
    shown: Mapping[str, Any] = field(default_factory=dict)
    """What the generic view of its type needs beside the arrays."""
