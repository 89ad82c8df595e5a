"""Changes to a subject's memory: small immutable values that compose and can be saved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

EditMode = Literal["zero", "freeze", "set"]


@dataclass(frozen=True, kw_only=True)
class MemoryEdit:
    """A change to elements of one memory site, made at each step while it holds.

    It is made to the new state before the heads read it and before it is carried to the next step.
    """

    elements: tuple[int, ...]
    """Places in the flattened state of the site."""
    mode: EditMode = "zero"
    value: float = 0.0
    """What `set` sets the elements to. `freeze` keeps what they held in the step before the edit began to hold."""
    site: str = ""
    """Name of the memory site; empty for the only one."""
    start: int = 0
    """First step of an episode at which it holds."""
    stop: int | None = None
    """The step after the last one; None to the end."""


@dataclass(frozen=True, kw_only=True)
class Reduction:
    """A named set of edits that belong together, made in this order."""

    name: str
    edits: tuple[MemoryEdit, ...]
    note: str = ""
    """How the elements were chosen, in words."""


@dataclass(frozen=True, kw_only=True)
class Blinding:
    """A change to weights that makes a subject blind to directions of a layer: what comes after no longer sees them."""

    layer: str
    """The layer whose channels the directions are of."""
    directions: tuple[tuple[float, ...], ...]
    """A number per channel each; of any length but zero."""
    after: str = ""
    """The layer whose kernel is changed: the next one that reads these channels, unless said."""
    note: str = ""
    """What the directions stand for, in words."""
