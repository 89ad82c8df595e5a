"""Changes at a site, to weights or to an input: small immutable values that compose and can be saved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

SiteOperation = Literal["zero", "set", "freeze", "scale", "uniform", "force", "project out"]
WeightOperation = Literal["project out", "zero", "set", "scale"]
InputOperation = Literal["patch", "filter", "frame"]
FILTERS: dict[str, tuple[str, float]] = {
    "blur": ("sigma_px", 1.0),
    "brightness": ("add", 0.1),
    "contrast": ("factor", 0.5),
    "greyscale": ("share", 1.0),
    "invert": ("share", 1.0),
}
"""Filters of an input, each with its parameter and what that is where nothing is said."""


@dataclass(frozen=True, kw_only=True)
class SiteEdit:
    """A change to elements of one site, made at each step while it holds.

    A memory is changed before the heads read it and before it is carried to the next step; an activation and an
    attention map before anything reads them.
    """

    elements: tuple[int, ...] = ()
    """Places in the flattened memory, channels or features of an activation, heads of a map.
    None means all, but of a memory, whose elements must be said."""
    op: SiteOperation = "zero"
    value: float = 0.0
    """What `set` sets the elements to, or `scale` multiplies them by."""
    site: str = ""
    """Address of the site; empty for the only memory."""
    start: int = 0
    """First step of an episode at which it holds."""
    stop: int | None = None
    """The step after the last one; None to the end."""
    map: tuple[tuple[float, ...], ...] = ()
    """[row, column]: what `force` puts in the place of an attention map."""
    directions: tuple[tuple[float, ...], ...] = ()
    """What `project out` removes: a number per element each."""
    kind: Literal["site"] = "site"


@dataclass(frozen=True, kw_only=True)
class NamedFactor:
    """One factor of a result, and what it was called when it was used."""

    index: int
    """Its place among the result's factors, from 0."""
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class WeightEdit:
    """A change to weights: directions of a layer projected out of what reads it, or a named tensor changed."""

    op: WeightOperation = "project out"
    layer: str = ""
    """The layer whose channels the directions are of."""
    directions: tuple[tuple[float, ...], ...] = ()
    """A number per channel each; of any length but zero."""
    after: str = ""
    """The layer whose kernel is changed: the next one that reads these channels, unless said; and those beside it."""
    weight: str = ""
    """Name of the parameter or buffer that `zero`, `set` and `scale` change."""
    elements: tuple[int, ...] = ()
    """Places along its first axis; none means all."""
    value: float = 0.0
    note: str = ""
    """What it stands for, in words."""
    of: str = ""
    """The subject that was changed, in the history of an edited one."""
    made_of: str = ""
    """The identity that the subject had which was changed."""
    result: str = ""
    """The result whose factors the directions are; empty where they come from elsewhere."""
    factors: tuple[NamedFactor, ...] = ()
    made: str = ""
    """When, as ISO time."""
    kind: Literal["weights"] = "weights"


@dataclass(frozen=True, kw_only=True)
class InputEdit:
    """A change to an input before the model reads it."""

    op: InputOperation
    input: str = ""
    """Name of the input; empty for the only one."""
    box: tuple[int, int, int, int] | None = None
    """Of a `patch`: top, left, bottom, right in pixels; bottom and right are the first ones outside."""
    value: float = 0.0
    """What a patch or a frame is filled with."""
    filter: str = ""
    """Name of a filter: blur, brightness, contrast, greyscale, invert."""
    parameters: tuple[tuple[str, float], ...] = ()
    """Parameters of the filter by name."""
    frame: int = 0
    """Which frame of a stack, from 0, the oldest."""
    frames: int = 0
    """How many frames the stack has; the channels of the input are divided among them."""
    source: int | None = None
    """Another frame to put in its place; None fills it with `value`."""
    kind: Literal["input"] = "input"


Edit = SiteEdit | WeightEdit | InputEdit


@dataclass(frozen=True, kw_only=True)
class EditSet:
    """A named set of edits that belong together, made in this order."""

    name: str
    edits: tuple[Edit, ...]
    note: str = ""
    """How they were chosen, in words."""


Edits = EditSet | Edit | Sequence[Edit]
"""Edits as people give them."""
