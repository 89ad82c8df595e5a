"""Columns, arrays and scenes: the parts a recording is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ColumnKind = Literal[
    "index",  # which row, group or step this is
    "action",  # what the subject did
    "reward",
    "value",  # what the subject expected
    "decision",  # anything else read off the subject's heads
    "fact",  # ground truth the world told
    "event",  # true in the rows where something happened
    "objects",  # a list of what was in view
    "category",  # a word per row
    "text",
]
ColumnType = Literal["int", "float", "bool", "text", "objects"]
ArrayRole = Literal[
    "observation",
    "memory",
    "probabilities",
    "activation",
    "attribution",
    "image",
    "mask",  # which class each pixel of what was seen belongs to; `elements` names the classes
    "other",
]


@dataclass(frozen=True, kw_only=True)
class Column:
    """One value per row."""

    name: str
    type: ColumnType
    kind: ColumnKind = "fact"
    unit: str = ""
    label: str = ""
    description: str = ""
    categories: tuple[str, ...] = ()
    """For type int: the names that the numbers 0, 1, … stand for (action names, say)."""
    derived: str = ""
    """How it is made from what was recorded, in words or as an expression; empty for what was recorded itself."""


@dataclass(frozen=True, kw_only=True)
class ArraySpec:
    """One array per row. `shape` and `axes` leave out the row axis."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    role: ArrayRole = "other"
    axes: tuple[str, ...] = ()
    """A name per axis; an image is ("height", "width", "channel") or ("height", "width")."""
    elements: tuple[str, ...] = ()
    """Names along the last axis, where they have any (action names for probabilities); of a mask, of its numbers."""
    domain: str = ""
    """For paired data, the side it belongs to: "sim", "real"."""
    pixelated: bool = True
    """Draw with nearest neighbour (games) rather than smoothly (photographs)."""
    unit: str = ""
    label: str = ""

    @property
    def is_image(self) -> bool:
        """Whether a row can be shown as a picture."""
        return self.axes[:2] == ("height", "width")


@dataclass(frozen=True, kw_only=True)
class Scene:
    """What stays the same through an episode and can be drawn as a map."""

    walls: tuple[tuple[float, float, float, float], ...] = ()
    """Segments x1, y1, x2, y2 in `unit`, y up."""
    unit: str = "map units"
    objects: tuple[tuple[str, float, float], ...] = ()
    """Things that were there at the start: name, x, y."""
