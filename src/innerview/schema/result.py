"""What a lens or a table found, kept in the study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Result:
    """Something computed from a recording. The same question has the same id, so asking again finds it."""

    id: str
    kind: str
    """The lens, or the kind of table, that made it."""
    title: str
    recording: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    created_at: str = ""
    value: Any = None
    """What was found, as JSON."""
    arrays: tuple[str, ...] = ()
    """Names of the arrays that belong to it."""
    provisional: bool = False
    """Whether it is a state on the way, shown while the work goes on or where it was stopped."""
