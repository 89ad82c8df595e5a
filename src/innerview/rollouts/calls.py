"""What a live page may ask for, in words alone: nothing here needs torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from innerview.schema import Setting


@dataclass(frozen=True, kw_only=True)
class ForwardCall:
    """Run a recorded row again."""

    recording: str
    row: int
    subject: str | None = None
    """The live subject to ask; the one that recorded where left out."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    """The array that feeds an input, with steps where needed: "real.rgb | resize 64x64"."""
    other: bool = False
    """Ask a subject that did not make the recording, or whose weights changed since."""


@dataclass(frozen=True, kw_only=True)
class LensCall(ForwardCall):
    """Look at a recorded row through a lens."""

    lens: str
    parameters: Mapping[str, Setting] = field(default_factory=dict)
    input: str | None = None
    """Of heat: the input it is of; the first where left out."""
