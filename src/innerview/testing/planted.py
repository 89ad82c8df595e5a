"""Made-up recordings whose memory holds known things, for lenses that say what a memory holds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from innerview.schema import Column, Rows, States

PLANTED = {
    "gathered green so far": (3, 17),
    "gathered blue so far": (40,),
    "lamp in view": (8,),
    "health ≥ 50": (25,),
}
"""Which elements tell which facts; no other element tells any."""
RETENTION_STEPS = 12
"""For how long element 8 stays up after the lamp left the view."""


@dataclass(frozen=True, kw_only=True)
class Planted:
    """Rows with planted flags: events, things in view, a number, and decoys that nothing remembers."""

    seed: int = 0
    episodes: int = 16
    elements: int = 64
    decoys: int = 8
    noise: float = 0.5

    def rows(self) -> Rows:
        """Facts first, then a memory that keeps some of them."""
        random = np.random.default_rng(self.seed)
        lengths = random.integers(80, 160, self.episodes)
        stops = np.cumsum(lengths)
        groups = tuple((int(b - n), int(b)) for b, n in zip(stops, lengths, strict=True))
        columns = self._columns(random, groups)
        memory = self._memory(random, groups, columns)
        return Rows(
            numbers=np.arange(groups[-1][1]),
            memory={"memory": States.of(memory)},
            columns=columns,
            specs={name: _spec(name) for name in columns},
            groups=groups,
        )

    def _columns(self, random: np.random.Generator, groups: tuple[tuple[int, int], ...]) -> dict[str, np.ndarray]:
        rows = groups[-1][1]
        columns = {}
        for name in ["gathered green", "gathered blue", *(f"event {i}" for i in range(self.decoys))]:
            columns[name] = np.zeros(rows)
            for start, stop in groups:
                columns[name][int(random.integers(start + 10, stop - 5))] = 1
        for name in ["lamp in view", *(f"thing {i} in view" for i in range(self.decoys))]:
            columns[name] = _visits(random, groups)
        for name in ["health", *(f"number {i}" for i in range(self.decoys))]:
            columns[name] = 50 + 10 * _wandering(random, groups, 1)[:, 0]
        return columns

    def _memory(
        self, random: np.random.Generator, groups: tuple[tuple[int, int], ...], columns: dict[str, np.ndarray]
    ) -> np.ndarray:
        memory = _wandering(random, groups, self.elements)
        clock = np.concatenate([np.linspace(0, 4, stop - start) for start, stop in groups])
        memory[:, 30:36] += clock[:, None]
        green, blue = (_since_first(columns[f"gathered {c}"], groups) for c in ("green", "blue"))
        lamp = np.concatenate([_held(columns["lamp in view"][a:b] > 0, RETENTION_STEPS) for a, b in groups])
        noise = self.noise
        memory[:, 3] = 2 * green + noise * memory[:, 3]
        memory[:, 17] = -1.5 * green + noise * memory[:, 17]
        memory[:, 40] = 1.5 * blue + noise * memory[:, 40]
        memory[:, 8] = 2 * lamp + noise * memory[:, 8]
        memory[:, 25] = (columns["health"] - 50) / 10 + noise * memory[:, 25]
        return np.asarray(np.tanh(memory), np.float32)


def _spec(name: str) -> Column:
    if name.startswith(("gathered", "event")):
        return Column(name=name, type="bool", kind="event")
    if name.endswith("in view"):
        return Column(name=name, type="bool")
    return Column(name=name, type="float", unit="points")


def _wandering(random: np.random.Generator, groups: tuple[tuple[int, int], ...], count: int) -> np.ndarray:
    """[rows, count], each remembering itself for about twenty steps, with a level of its own in each episode."""
    walks = random.normal(size=(groups[-1][1], count))
    for start, stop in groups:
        level = 0.7 * random.normal(size=count)
        for row in range(start + 1, stop):
            walks[row] = 0.95 * walks[row - 1] + np.sqrt(1 - 0.95**2) * walks[row]
        walks[start:stop] += level
    return walks


def _visits(random: np.random.Generator, groups: tuple[tuple[int, int], ...]) -> np.ndarray:
    """Something that comes into view now and then for a few steps."""
    seen = np.zeros(groups[-1][1])
    for start, stop in groups:
        row = start + int(random.integers(5, 40))
        while row < stop:
            seen[row : min(stop, row + int(random.integers(5, 15)))] = 1
            row += int(random.integers(40, 80))
    return seen


def _since_first(event: np.ndarray, groups: tuple[tuple[int, int], ...]) -> np.ndarray:
    """1 in every row after the one whose action caused it."""
    told = np.zeros(len(event))
    for start, stop in groups:
        told[start + 1 : stop] = np.maximum.accumulate(event[start : stop - 1])
    return told


def _held(seen: np.ndarray, steps: int) -> np.ndarray:
    """1 while it is in view and for so many steps after."""
    held = np.zeros(len(seen))
    for row in np.flatnonzero(seen):
        held[row : row + steps + 1] = 1
    return held
