"""Pointing game and mass: does a map lie on things, more than chance would have it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from innerview.trust.interval import Interval, bootstrap
from innerview.trust.maps import is_empty


@dataclass(frozen=True, kw_only=True)
class OnClass:
    """How much of the maps lies on a class of things."""

    name: str
    mass: float
    """Share of the maps' mass on it, over the rows where it is in view."""
    area: float
    """Share of the pixels that it takes there: what chance would give."""
    rows: int


@dataclass(frozen=True, kw_only=True)
class Pointing:
    """Things are all that masks know but the first class, which is the ground that they stand before."""

    hits: Interval
    """Share of rows whose strongest pixel lies on a thing; equal ones count as a part each."""
    mass: Interval
    """Share of the maps' mass that lies on things."""
    area: float
    """Share of the pixels that things take: what chance would give of both."""
    beyond: Interval
    """Mass less area, row by row."""
    classes: tuple[OnClass, ...]


def pointing(maps: np.ndarray, masks: np.ndarray, classes: Sequence[str]) -> Pointing | None:
    """Of strengths [row, height, width] and masks [row, height, width]; None where no map shows anything."""
    known = ~is_empty(maps)
    maps, masks = maps[known].astype(np.float64), as_large_as(masks[known], maps.shape[1:])
    if not len(maps):
        return None
    mass = maps / maps.sum(axis=(1, 2), keepdims=True)
    peak = maps == maps.max(axis=(1, 2), keepdims=True)
    peak = peak / peak.sum(axis=(1, 2), keepdims=True)
    things = masks > 0
    area = things.mean(axis=(1, 2))
    on = (mass * things).sum(axis=(1, 2))
    intervals = [bootstrap(values) for values in ((peak * things).sum(axis=(1, 2)), on, on - area)]
    assert intervals[0] and intervals[1] and intervals[2]  # there are maps
    lines = [_on_class(name, mass, masks == number) for number, name in enumerate(classes) if number]
    seen = tuple(line for line in lines if line.rows)
    return Pointing(hits=intervals[0], mass=intervals[1], area=float(area.mean()), beyond=intervals[2], classes=seen)


def as_large_as(masks: np.ndarray, size: tuple[int, ...]) -> np.ndarray:
    """Masks at another size: each pixel takes the class of the one that it lies on."""
    down, across = (np.arange(wide) * there // wide for wide, there in zip(size, masks.shape[1:], strict=True))
    return np.asarray(masks[:, down[:, None], across[None, :]])


def _on_class(name: str, mass: np.ndarray, there: np.ndarray) -> OnClass:
    rows = there.any(axis=(1, 2))
    if not rows.any():
        return OnClass(name=name, mass=0.0, area=0.0, rows=0)
    on = (mass * there)[rows].sum(axis=(1, 2))
    return OnClass(name=name, mass=float(on.mean()), area=float(there[rows].mean()), rows=int(rows.sum()))
