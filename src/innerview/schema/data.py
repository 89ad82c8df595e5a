"""Columns and arrays: the parts a recording is made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import Literal

import numpy as np

from innerview.errors import RequestError

RGBA = ("red", "green", "blue", "alpha")
ColumnKind = Literal[
    "index",  # which row, group or step this is
    "action",  # what the subject did
    "reward",
    "value",  # what the subject expected
    "decision",  # anything else read off the subject's heads
    "fact",  # ground truth that the world provides
    "event",  # true in the rows where something happened
    "objects",  # a list of what was in view
    "category",  # a word per row
    "text",
]
ColumnType = Literal["int", "float", "bool", "text", "objects"]
PosePart = Literal["", "x", "y", "z", "angle", "pitch", "roll"]
"""Of where an agent is and where it looks; `angle` grows anticlockwise from the x axis."""
ArrayRole = Literal[
    "observation",
    "memory",
    "probabilities",
    "head",  # what a head said
    "activation",
    "attention",  # head, row, column: what attends to what
    "attribution",
    "image",
    "mask",  # which class each pixel of what was seen belongs to; `elements` names the classes
    "other",
]
ArrayKind = Literal[
    "dense",  # every row has the same shape
    "ragged",  # rows have different numbers of entries: tokens, boxes
    "encoded",  # the file's own JPEG or PNG bytes, decoded when read
]


@dataclass(frozen=True, kw_only=True)
class Column:
    """One value per row."""

    name: str
    type: ColumnType
    kind: ColumnKind = "fact"
    unit: str = ""
    pose: PosePart = ""
    """Which part of the agent's pose it says, of a fact; nothing is read off a column's name."""
    domain: str = ""
    """For paired data, the side it belongs to: "sim", "real"."""
    pair: str = ""
    """Columns of the same pair say the same of each domain."""
    label: str = ""
    description: str = ""
    categories: tuple[str, ...] = ()
    """For type int: the names that the numbers 0, 1, … stand for (action names, say)."""
    named_by: str = ""
    """Of an event: the column, an event of words, that names what it happened with; each name is counted."""
    derived: str = ""
    """How it is made from what was recorded, in words or as an expression; empty for what was recorded itself."""
    warning: str = ""
    """Why its values in this recording may mislead; empty where nothing is known."""


def of_kind(columns: Iterable[Column], kind: ColumnKind) -> tuple[Column, ...]:
    """The columns of a kind, whatever they are called."""
    return tuple(column for column in columns if column.kind == kind)


def only_number(columns: Iterable[Column], kind: ColumnKind) -> Column | None:
    """The one column of numbers of a kind; None where there is none, or several between which nothing chooses."""
    found = [column for column in of_kind(columns, kind) if column.type in ("int", "float")]
    return found[0] if len(found) == 1 else None


def entropy_column(name: str) -> Column:
    """The column that `entropy` fills, whether it is recorded, predicted or imported."""
    words = "Entropy of the action probabilities: 0 is certain, 1 is a coin toss among all actions."
    return Column(name=name, type="float", kind="decision", description=words)


def entropy(probabilities: np.ndarray) -> np.ndarray:
    """Entropy of each row of [rows, actions] over that of a coin toss among all; rounded ones need not add up to 1."""
    if probabilities.shape[1] < 2:
        return np.zeros(len(probabilities))
    share = np.clip(probabilities / probabilities.sum(axis=1, keepdims=True), 1e-12, 1.0)
    return np.asarray(-(share * np.log(share)).sum(axis=1) / np.log(probabilities.shape[1])).clip(0, 1)


@dataclass(frozen=True, kw_only=True)
class ArraySpec:
    """One array per row. `shape` and `axes` leave out the row axis, and of a ragged array the axis of its entries."""

    name: str
    shape: tuple[int, ...]
    """As read: of an encoded array that of the decoded picture, of a ragged one that of a single entry."""
    dtype: str
    kind: ArrayKind = "dense"
    key: str = ""
    """The column whose words say which shared value a row has (one image for twenty questions); empty: its own."""
    role: ArrayRole = "other"
    axes: tuple[str, ...] = ()
    """A name per axis; an image is ("height", "width", "channel") or ("height", "width")."""
    elements: tuple[str, ...] = ()
    """Names along the last axis, where they have any (action names for probabilities); of a mask, of its numbers."""
    domain: str = ""
    """For paired data, the side it belongs to: "sim", "real"."""
    pair: str = ""
    """Arrays of the same pair show the same in each domain."""
    pixelated: bool = True
    """Draw with nearest neighbour (games) rather than smoothly (photographs)."""
    unit: str = ""
    label: str = ""
    site: str = ""
    """Address of the site of the subject whose values these are; empty where they are of none, or nobody knows."""

    @property
    def is_image(self) -> bool:
        """Whether a row can be shown as a picture."""
        return self.axes[:2] == ("height", "width") and self.kind != "ragged"

    def as_shown(self, row: np.ndarray, channel: int | None = None) -> np.ndarray:
        """A row as a picture for people: [height, width] in grey, or with three or four channels in colour.

        Colour where the channels are colours; else one channel in grey, the newest of a stack of frames.
        """
        if row.ndim == 2:
            return row
        if row.ndim != 3:
            raise RequestError(f"A row of '{self.name}', {row.shape}, cannot be shown as a picture.")
        count, names = row.shape[2], tuple(element.lower() for element in self.elements)
        if channel is None and (count == 3 or names == RGBA or self.kind == "encoded"):
            return row
        if channel is None and names[-3:] == RGBA[:3]:
            return row[:, :, -3:]  # a stack of frames in colour: the newest
        if channel is None and names[:3] == RGBA[:3]:
            return row[:, :, :3]  # the others are no colours: depth, say
        chosen = count - 1 if channel is None else channel
        if not 0 <= chosen < count:
            raise RequestError(f"There is no channel {chosen}; the picture has channels 0 to {count - 1}.")
        return row[:, :, chosen]

    @property
    def size(self) -> int:
        """Numbers in one row, or in one entry of a ragged array."""
        return prod(self.shape)
