"""Every time a thing was seen: its class, where on the screen, where from the player, and how the map lit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from innerview.saliency.shares.cover import boxes, classes_of, resized
from innerview.schema import Rows

OFFSETS = 7
"""Bins of where a thing lies from the player, each way."""
_DISTANCES = 32
Line = tuple[int, int, int, float, float, int]
"""Class, place of the row, cell, response, level, relation."""


@dataclass(frozen=True, kw_only=True)
class Sightings:
    """Things as they were seen, one line each."""

    name: np.ndarray
    """int [sighting]: the number of its class."""
    row: np.ndarray
    """int [sighting]: the place of its row."""
    cell: np.ndarray
    """int [sighting]: the cell of the screen, counted along lines."""
    response: np.ndarray
    """float [sighting]: the mean of the map on its pixels."""
    level: np.ndarray
    """float [sighting]: the mean of the whole map of its row."""
    relation: np.ndarray
    """int [sighting]: bin of where it lies from the player, or how far; -1 where nobody says."""

    def of(self, name: int) -> Sightings:
        """Those of one class."""
        mine = self.name == name
        return Sightings(**{key: values[mine] for key, values in vars(self).items()})

    @staticmethod
    def joined(parts: Sequence[Sightings]) -> Sightings:
        """Several in a row."""
        joined = {key: np.concatenate([getattr(part, key) for part in parts]) for key in vars(parts[0])}
        return Sightings(**joined)


@dataclass(frozen=True)
class Spotter:
    """Finds sightings in maps of some rows."""

    rows: Rows
    cells: int
    """Of the screen, down and across."""

    @property
    def classes(self) -> tuple[str, ...]:
        """Their names; things by their boxes where the world names them, else what masks show."""
        if self.rows.things is not None and (names := self.rows.things.names()):
            return names
        return classes_of(self.rows)

    def spot(self, places: np.ndarray, sizes: np.ndarray) -> Sightings:
        """In maps [place, height, width] of these places."""
        things = self.rows.things
        if things is None or not things.names():
            return self._by_masks(places, sizes)
        names = {name: number for number, name in enumerate(things.names())}
        lines: list[Line] = []
        for place, size, seen in zip(places.tolist(), sizes, things.read(places), strict=True):
            found = boxes(seen, things, (size.shape[0], size.shape[1]))
            player = next((_middle(area) for thing, area in found if thing.get("distance") == 0), None)
            for thing, area in found:
                if thing["name"] in names and not (player and thing.get("distance") == 0):
                    relation = _relation(thing, area, player, size.shape, things.size_hw)
                    cell, response = self._cell(_middle(area), size.shape), float(size[area].mean())
                    lines.append((names[thing["name"]], place, cell, response, float(size.mean()), relation))
        return _sightings(lines)

    def _by_masks(self, places: np.ndarray, sizes: np.ndarray) -> Sightings:
        """What lies of each class in a cell counts as one thing; the first class is the ground."""
        masks = resized(self.rows.masks(places), sizes.shape[1:])
        height, width = sizes.shape[1:]
        down, across = (np.arange(side) * self.cells // side for side in (height, width))
        cell = down[:, None] * self.cells + across[None]
        lines: list[Line] = []
        for place, mask, size in zip(places.tolist(), masks, sizes, strict=True):
            key = mask.astype(np.int64) * self.cells**2 + cell
            keys, inverse, count = np.unique(key, return_inverse=True, return_counts=True)
            means = np.bincount(inverse.ravel(), size.ravel()) / count
            for one, mean in zip(keys.tolist(), means.tolist(), strict=True):
                if one >= self.cells**2:
                    lines.append((one // self.cells**2, place, one % self.cells**2, mean, float(size.mean()), -1))
        return _sightings(lines)

    def _cell(self, middle: tuple[float, float], size_hw: Sequence[int]) -> int:
        y, x = (min(int(at * self.cells / side), self.cells - 1) for at, side in zip(middle, size_hw, strict=True))
        return y * self.cells + x


def _sightings(lines: Sequence[Line]) -> Sightings:
    name, row, cell, response, level, relation = np.array(lines, np.float64).reshape(-1, 6).T
    whole = (values.astype(np.int64) for values in (name, row, cell, relation))
    return Sightings(
        response=response, level=level, **dict(zip(("name", "row", "cell", "relation"), whole, strict=True))
    )


def _middle(area: tuple[slice, slice]) -> tuple[float, float]:
    down, across = area
    return (down.start + down.stop) / 2, (across.start + across.stop) / 2


def _relation(
    thing: Mapping[str, Any],
    area: tuple[slice, slice],
    player: tuple[float, float] | None,
    size_hw: Sequence[int],
    seen_hw: tuple[int, int],
) -> int:
    """The bin of its offset from the player where it is in view, else of its distance; -1 where neither is known."""
    if player is not None:
        (y, x), bins = _middle(area), []
        for here, there, side in zip((y, x), player, size_hw, strict=True):
            share = (here - there) / side  # from -1 to 1
            bins.append(min(max(int((share + 0.5) * OFFSETS), 0), OFFSETS - 1))
        return bins[0] * OFFSETS + bins[1]
    distance = thing.get("distance")
    if distance is None:
        return -1
    # Worlds measure in units of their own: bins grow by half of what came before.
    return OFFSETS**2 + min(int(np.log1p(max(float(distance), 0.0)) / np.log(1.5)), _DISTANCES)
