"""Whether it is back at a place that it had left."""

from __future__ import annotations

import numpy as np

from innerview.metrics.rows import Stretch
from innerview.metrics.windows import shifted

LONGEST_STAY = 4_096
"""Rows after which a place that was not left counts as never left; bounds the work."""
STRIDES = 3.0
AWAY = 2.0
_CELLS = 2
"""Places are counted on a grid with so many cells to a radius."""
_BITS = 20
_MASK = (1 << _BITS) - 1
"""Cells so many apart share a key, a million radii away."""


def default_radius(x: np.ndarray, y: np.ndarray, rows: Stretch) -> float:
    """Three typical strides: the median way from row to row, where it moved at all. 0 where it never did."""
    stride = np.hypot(x - shifted(x, rows, 1), y - shifted(y, rows, 1))
    moved = stride[stride > 0]
    return float(f"{STRIDES * np.median(moved):.3g}") if moved.size else 0.0


def loops(x: np.ndarray, y: np.ndarray, rows: Stretch, radius: float) -> np.ndarray:
    """Where it stands within a radius of where it stood before in this group, having been twice as far away since."""
    if not rows.count or radius <= 0:
        return np.zeros(rows.count, bool)
    known = ~(np.isnan(x) | np.isnan(y))
    x, y = np.where(known, x, 0.0), np.where(known, y, 0.0)
    left = np.where(known, _left_at(x, y, rows, radius * AWAY), rows.count)
    size = radius / _CELLS
    column, row = (np.floor(v / size).astype(np.int64) for v in (x, y))
    group = np.unique(rows.starts, return_inverse=True)[1].astype(np.int64)

    def key(across: int, up: int) -> np.ndarray:
        cell = (((column + across) & _MASK) << _BITS) + ((row + up) & _MASK)
        return np.asarray(cell + (group << (2 * _BITS)))

    cells, earliest = _earliest(key(0, 0), left)
    here = np.arange(rows.count)
    back = np.zeros(rows.count, bool)
    for across, up in _around():
        asked = key(across, up)
        place = np.minimum(np.searchsorted(cells, asked), len(cells) - 1)
        back |= (cells[place] == asked) & (earliest[place] < here)
    return np.asarray(back & known)


def _left_at(x: np.ndarray, y: np.ndarray, rows: Stretch, away: float) -> np.ndarray:
    """For each row, the first later one of its group that is farther away; the count of all rows where none is."""
    left = np.full(rows.count, rows.count)
    waiting = np.arange(rows.count)
    for later in range(1, LONGEST_STAY):
        waiting = waiting[waiting + later < rows.stops[waiting]]
        if not len(waiting):
            break
        gone = np.hypot(x[waiting + later] - x[waiting], y[waiting + later] - y[waiting]) > away
        left[waiting[gone]] = waiting[gone] + later
        waiting = waiting[~gone]
    return left


def _earliest(keys: np.ndarray, left: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each cell once, and the first row by which somebody who stood in it had left."""
    order = np.lexsort((left, keys))
    cells, first = np.unique(keys[order], return_index=True)
    return cells, left[order][first]


def _around() -> list[tuple[int, int]]:
    """Cells whose middle lies within a radius."""
    reach = range(-_CELLS, _CELLS + 1)
    return [(across, up) for across in reach for up in reach if across * across + up * up <= _CELLS * _CELLS]
