"""What a lens over many rows is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from innerview.schema.data import Column

PIECE_BYTES = 32 << 20


@dataclass(frozen=True, kw_only=True)
class States:
    """One memory array, a flattened state per row, read when it is asked for: it may be larger than the machine."""

    rows: int
    elements: int
    read: Callable[[np.ndarray], np.ndarray]
    """float32 [places, elements] for places 0 … rows - 1 in any order."""

    @staticmethod
    def of(values: np.ndarray) -> States:
        """States that are there already, [rows, …]."""
        flat = np.asarray(values, np.float32).reshape(len(values), -1)
        return States(rows=len(flat), elements=flat.shape[1], read=lambda places: flat[places])

    def between(self, start: int, stop: int) -> np.ndarray:
        """Rows start to stop, float32 [rows, elements]."""
        return self.read(np.arange(start, stop))

    def pieces(self, start: int = 0, stop: int | None = None) -> Iterator[tuple[int, np.ndarray]]:
        """Rows start to stop one piece after the other: where it begins, and float32 [rows, elements]."""
        stop = self.rows if stop is None else stop
        each = max(1, PIECE_BYTES // (4 * max(1, self.elements)))
        for first in range(start, stop, each):
            yield first, self.between(first, min(first + each, stop))


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Rows of a recording that a lens looks at; what it does not ask for is not loaded."""

    memory: Mapping[str, States] = field(default_factory=dict)
    """By name of the array."""
    columns: Mapping[str, np.ndarray] = field(default_factory=dict)
    """[rows] by name: numbers and true or false as float64 with NaN where unknown, words as objects with None."""
    specs: Mapping[str, Column] = field(default_factory=dict)
    """What each column is."""
    groups: tuple[tuple[int, int], ...] = ()
    """Start and stop of each episode, in places of these rows; none where rows have no time."""
    first: int = 0
    """The recording's row at place 0."""

    @property
    def count(self) -> int:
        """How many rows there are."""
        return next((states.rows for states in self.memory.values()), self.groups[-1][1] if self.groups else 0)


@dataclass(frozen=True, kw_only=True)
class Frames:
    """What a subject was given in each row, read when it is asked for."""

    rows: int
    read: Callable[[np.ndarray], tuple[Mapping[str, Any], Mapping[str, Any]]]
    """For places 0 … rows - 1: inputs as the subject takes them, and its memory before, both with the batch first."""
    masks: Callable[[np.ndarray], np.ndarray] | None = None
    """Which class each pixel belongs to, [places, height, width], where the world tells."""
    classes: tuple[str, ...] = ()
    """What the numbers in the masks stand for."""
    groups: np.ndarray | None = None
    """Per row, which group (episode, level) it belongs to, counted from 0; None where rows have no time."""
    first: int = 0
    """The recording's row at place 0."""
    ends: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    """For inputs that were recorded as bytes: a black and a white picture as the subject takes them."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """What a lens found: something JSON can carry, and arrays beside it."""

    value: Any = None
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)


class Watch(Protocol):
    """Tells how far a lens is, with what it has so far where that can be shown; raises when it should stop."""

    def __call__(self, done: int, total: int | None, message: str = "", so_far: Found | None = None) -> None: ...


def unwatched(done: int, total: int | None, message: str = "", so_far: Found | None = None) -> None:
    """Nobody is watching."""
