"""Changes to a subject's memory or weights: small immutable values that compose and can be saved."""

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
    """The layer whose kernel is changed: the next one that reads these channels, unless said; and those beside it."""
    note: str = ""
    """What the directions stand for, in words."""


@dataclass(frozen=True, kw_only=True)
class NamedFactor:
    """One factor of a result, and what it was called when it was used."""

    index: int
    """Its place among the result's factors, from 0."""
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class WeightEdit:
    """A change of weights that was made: a line in the history of an edited subject."""

    of: str
    """The subject that was changed."""
    layer: str
    after: str
    """The layer whose kernel was changed."""
    directions: tuple[tuple[float, ...], ...]
    result: str = ""
    """The result whose factors the directions are; empty where they come from elsewhere."""
    factors: tuple[NamedFactor, ...] = ()
    made: str = ""
    """When, as ISO time."""
    edit: Literal["blinding"] = "blinding"
