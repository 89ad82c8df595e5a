"""What a lens is given: rows of a recording, any of them, read when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from innerview.errors import LensError
from innerview.schema.data import ArraySpec, Column
from innerview.schema.place.scene import Scene

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

    def part(self, places: np.ndarray) -> States:
        """Some of them."""
        return States(rows=len(places), elements=self.elements, read=lambda some: self.read(places[some]))


class Feed(Protocol):
    """Gives a subject its rows again. Places are counted from 0; values have the batch first, in the order asked.

    `back`: so many steps before each of them, in the same episode; `history` says how far that can be.
    """

    def inputs(self, places: np.ndarray, back: int = 0) -> Mapping[str, Any]:
        """Inputs as the subject takes them, by name."""

    def memory_before(self, places: np.ndarray, back: int = 0) -> Mapping[str, Any]:
        """What the subject remembered when it came to each row, by memory site."""

    def history(self, places: np.ndarray) -> np.ndarray:
        """How many steps of its episode come before each row."""

    def done(self, places: np.ndarray, back: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """What was done and earned in each row, for subjects that are told of it in the next."""

    def activations(self, site: str, places: np.ndarray) -> Any:
        """What the subject puts out at a site."""

    def heads(self, places: np.ndarray) -> Mapping[str, Any]:
        """What the subject says, by head."""


class _NoFeed:
    """Stands where rows come without a subject."""

    def inputs(self, places: np.ndarray, back: int = 0) -> Mapping[str, Any]:
        raise LensError("These rows come without a subject, so there are no inputs to read. Give one: subject=….")

    def memory_before(self, places: np.ndarray, back: int = 0) -> Mapping[str, Any]:
        return self.inputs(places)

    def history(self, places: np.ndarray) -> np.ndarray:
        return np.zeros(len(places), np.int64)

    def done(self, places: np.ndarray, back: int = 0) -> tuple[np.ndarray, np.ndarray]:
        raise LensError("These rows come without a subject, so nobody is told what was done. Give one: subject=….")

    def activations(self, site: str, places: np.ndarray) -> Any:
        return self.inputs(places)

    def heads(self, places: np.ndarray) -> Mapping[str, Any]:
        return self.inputs(places)


@dataclass(frozen=True)
class _FeedPart:
    """Some rows of a feed."""

    whole: Feed
    places: np.ndarray

    def inputs(self, places: np.ndarray, back: int = 0) -> Mapping[str, Any]:
        return self.whole.inputs(self.places[places], back)

    def memory_before(self, places: np.ndarray, back: int = 0) -> Mapping[str, Any]:
        return self.whole.memory_before(self.places[places], back)

    def history(self, places: np.ndarray) -> np.ndarray:
        return self.whole.history(self.places[places])

    def done(self, places: np.ndarray, back: int = 0) -> tuple[np.ndarray, np.ndarray]:
        return self.whole.done(self.places[places], back)

    def activations(self, site: str, places: np.ndarray) -> Any:
        return self.whole.activations(site, self.places[places])

    def heads(self, places: np.ndarray) -> Mapping[str, Any]:
        return self.whole.heads(self.places[places])


@dataclass(frozen=True)
class _ColumnsPart(Mapping[str, np.ndarray]):
    """Some rows of columns."""

    whole: Mapping[str, np.ndarray]
    places: np.ndarray

    def __getitem__(self, name: str) -> np.ndarray:
        values: np.ndarray = self.whole[name][self.places]
        return values

    def __iter__(self) -> Iterator[str]:
        return iter(self.whole)

    def __len__(self) -> int:
        return len(self.whole)


@dataclass(frozen=True, kw_only=True)
class Things:
    """Named things in view, with boxes in pixels of a picture that the subject saw."""

    names: Callable[[], tuple[str, ...]]
    """Every kind of thing in the recording, the same whichever rows are looked at."""
    read: Callable[[np.ndarray], Sequence[Sequence[Mapping[str, Any]]]]
    """For each place the things in view: `name`, box (`x_px`, `y_px`, `width_px`, `height_px`) and `distance`."""
    size_hw: tuple[int, int]
    """Of the picture."""


@dataclass(frozen=True, kw_only=True)
class RowArray:
    """One array of the recording as it is stored, read when it is asked for."""

    spec: ArraySpec
    read: Callable[[np.ndarray], np.ndarray]
    """[places, …] for places in any order."""

    def part(self, places: np.ndarray) -> RowArray:
        """Some of its rows."""
        return RowArray(spec=self.spec, read=lambda some: self.read(places[some]))


@dataclass(frozen=True, kw_only=True)
class Predicted:
    """What one subject said of these rows when it saw their pictures of one domain."""

    subject: str
    domain: str
    states: Mapping[str, States]
    """Its heads and the sites that were kept, by name of the array; NaN in rows that were not predicted."""


def _nobody() -> Sequence[Predicted]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Rows that a lens looks at: any selection of a recording. What it does not ask for is not read.

    A place is a number from 0 to `count` - 1; `numbers` says which row of the recording stands there.
    """

    numbers: np.ndarray
    """int64 [rows]: the recording's row at each place, ascending."""
    memory: Mapping[str, States] = field(default_factory=dict)
    """States after each row, as recorded, by name of the array."""
    columns: Mapping[str, np.ndarray] = field(default_factory=dict)
    """[rows] by name: numbers and true or false as float64 with NaN where unknown, words as objects with None."""
    specs: Mapping[str, Column] = field(default_factory=dict)
    """What each column is."""
    groups: tuple[tuple[int, int], ...] = ()
    """Start and stop of each episode, in places of these rows; none where rows have no time."""
    feed: Feed = field(default_factory=_NoFeed)
    """Runs the subject on these rows; asked through the methods below."""
    mask: Callable[[np.ndarray], np.ndarray] | None = None
    """Reads the masks, where the world provides them."""
    classes: tuple[str, ...] = ()
    """What the numbers in the masks stand for."""
    things: Things | None = None
    """What is in view, where the world names it with its boxes."""
    predicted: Callable[[], Sequence[Predicted]] = _nobody
    """What subjects predict of these rows, oldest first; looked up when it is asked for."""
    seconds_per_step: float | None = None
    """Where the world says it."""
    ends: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    """For image inputs that were recorded as bytes: a black and a white picture as the subject takes them."""
    domains: Mapping[str, Feed] = field(default_factory=dict)
    """Of paired rows, by domain: the subject on the same rows as that domain shows them; see `in_domain`."""
    channels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What each channel of an image input holds, "colour" or "depth"."""
    arrays: Mapping[str, RowArray] = field(default_factory=dict)
    """Arrays as they are stored, by name."""
    scene: Callable[[], Scene] | None = None
    """Reads the map that all these rows lie on, with the camera, where they share one."""

    @property
    def count(self) -> int:
        """How many rows there are."""
        return len(self.numbers)

    def inputs(self, places: np.ndarray, *, back: int = 0) -> Mapping[str, Any]:
        """Inputs as the subject takes them, [places, …] by name; those of `back` steps before, within the episode."""
        return self.feed.inputs(np.asarray(places), back)

    def memory_before(self, places: np.ndarray, *, back: int = 0) -> Mapping[str, Any]:
        """What the subject remembered when it came to these rows, [places, …] by memory site; {} where it has none."""
        return self.feed.memory_before(np.asarray(places), back)

    def history(self, places: np.ndarray) -> np.ndarray:
        """How many steps of its episode were recorded before each of these rows, [places], whether looked at or not."""
        return self.feed.history(np.asarray(places))

    def done(self, places: np.ndarray, *, back: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Actions and rewards of these rows, [places, …], as a subject is told them that asks for what it did."""
        return self.feed.done(np.asarray(places), back)

    def activations(self, site: str, places: np.ndarray) -> Any:
        """What the subject puts out at a site, [places, …]."""
        return self.feed.activations(site, np.asarray(places))

    def heads(self, places: np.ndarray) -> Mapping[str, Any]:
        """What the subject says, [places, size] by head."""
        return self.feed.heads(np.asarray(places))

    def masks(self, places: np.ndarray) -> np.ndarray:
        """Which class each pixel belongs to, [places, height, width]; see `classes`."""
        if self.mask is None:
            raise LensError("No masks were recorded. Your own environment provides them with iv.world(env, masks=…).")
        return self.mask(np.asarray(places))

    def in_domain(self, name: str) -> Rows:
        """The same rows, the subject fed with what that domain shows."""
        if name not in self.domains:
            there = ", ".join(map(repr, self.domains)) or "none"
            raise LensError(
                f"These rows have no counterpart in domain '{name}'. Domains that can feed this subject: {there}. "
                "Arrays of a pair name their domain and the pair, as 'sim.rgb' and 'real.rgb' do; see docs/imports.md."
            )
        return replace(self, feed=self.domains[name])

    def group_numbers(self) -> np.ndarray:
        """[rows]: which group each row belongs to, counted from 0; all 0 where rows have no time."""
        if not self.groups:
            return np.zeros(self.count, np.int64)
        return np.repeat(np.arange(len(self.groups)), [stop - start for start, stop in self.groups])

    def part(self, places: np.ndarray) -> Rows:
        """Some of these rows, ascending; episodes are cut to what is left of them."""
        places = np.asarray(places, np.int64)
        mask, things, predicted = self.mask, self.things, self.predicted
        return replace(
            self,
            predicted=lambda: [
                replace(one, states={name: states.part(places) for name, states in one.states.items()})
                for one in predicted()
            ],
            numbers=self.numbers[places],
            memory={name: states.part(places) for name, states in self.memory.items()},
            columns=_ColumnsPart(self.columns, places),
            groups=_runs(self.group_numbers()[places]) if self.groups else (),
            feed=_FeedPart(self.feed, places),
            domains={name: _FeedPart(feed, places) for name, feed in self.domains.items()},
            arrays={name: array.part(places) for name, array in self.arrays.items()},
            mask=None if mask is None else lambda some: mask(places[some]),
            things=None if things is None else replace(things, read=lambda some: things.read(places[some])),
        )


def _runs(keys: np.ndarray) -> tuple[tuple[int, int], ...]:
    """Start and stop of each run of the same key."""
    if not len(keys):
        return ()
    edges = [0, *(np.flatnonzero(np.diff(keys)) + 1).tolist(), len(keys)]
    return tuple(pairwise(edges))


class Watch(Protocol):
    """Reports how far work is, and what it has to give so far; raises when it should stop."""

    def __call__(self, done: int, total: int | None, message: str = "", so_far: Any = None) -> None: ...


def unwatched(done: int, total: int | None, message: str = "", so_far: Any = None) -> None:
    """Nobody is watching."""
