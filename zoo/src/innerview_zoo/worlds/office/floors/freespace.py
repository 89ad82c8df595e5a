"""Where a robot can be: a grid of distances to whatever it could bump into."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from innerview_zoo.worlds.office.floors.floor import Floor, blocking_boxes, room_grid

CELL_M = 0.05
FARTHEST_M = 1.0


@dataclass(frozen=True, kw_only=True)
class FreeSpace:
    """Distances in metres from the middle of each cell to the nearest obstacle, up to one metre."""

    distance: np.ndarray
    """[rows, columns], row 0 at y = 0."""
    room: np.ndarray
    """1 + index of the room; 0 outside."""

    def free(self, clearance_m: float) -> np.ndarray:
        """Cells where a round robot of that radius fits."""
        return (self.distance >= clearance_m) & (self.room > 0)


def free_space(floor: Floor) -> FreeSpace:
    """The grid of a floor; worked out once and kept with it."""
    kept = floor.cache.get("free")
    if isinstance(kept, FreeSpace):
        return kept
    columns, rows = (round(side / CELL_M) for side in floor.size_m)
    x, y = np.meshgrid((np.arange(columns) + 0.5) * CELL_M, (np.arange(rows) + 0.5) * CELL_M)
    distance = np.full((rows, columns), FARTHEST_M)
    for _, (cx, cy, hw, hd, angle) in blocking_boxes(floor):
        reach = math.hypot(hw, hd) + FARTHEST_M
        x0, x1 = (min(max(int(v / CELL_M), 0), columns) for v in (cx - reach, cx + reach + CELL_M))
        y0, y1 = (min(max(int(v / CELL_M), 0), rows) for v in (cy - reach, cy + reach + CELL_M))
        part = distance[y0:y1, x0:x1]
        np.minimum(part, _distance(x[y0:y1, x0:x1], y[y0:y1, x0:x1], (cx, cy, hw, hd, angle)), out=part)
    found = FreeSpace(distance=distance, room=room_grid(floor, x, y))
    floor.cache["free"] = found
    return found


def gap_at(floor: Floor, x: float, y: float, *, but: int = 0) -> float:
    """Metres from a point to the nearest obstacle, leaving one thing out of account; 0 inside one, at most 1."""
    boxes, owners = _boxes(floor)
    if but:
        boxes = boxes[:, owners != but]
    if not boxes.size:
        return FARTHEST_M
    return min(float(_distance(np.float64(x), np.float64(y), tuple(boxes)).min()), FARTHEST_M)


def is_free(floor: Floor, x: float, y: float, *, clearance_m: float = 0.2) -> bool:
    """Whether a round robot of that radius fits at a place on the floor."""
    width, depth = floor.size_m
    return 0 <= x <= width and 0 <= y <= depth and gap_at(floor, x, y) >= clearance_m


def largest_part(free: np.ndarray) -> np.ndarray:
    """The largest connected part of a grid of free cells."""
    runs = [_runs(free), _runs(free.T).T]
    best, left = np.zeros_like(free), free
    while left.sum() > best.sum():
        part = np.zeros_like(free)
        part[tuple(np.argwhere(left)[0])] = True
        size = 0
        while (found := int(part.sum())) > size:
            size = found
            for run in runs:
                hit = np.zeros(run.max() + 1, dtype=bool)
                hit[run[part]] = True
                part = hit[run] & free
        best = part if size > best.sum() else best
        left = left & ~part
    return best


def _runs(free: np.ndarray) -> np.ndarray:
    """A number for every unbroken run of free cells along a row."""
    starts = free & ~np.pad(free, ((0, 0), (1, 0)))[:, :-1]
    return np.asarray(starts.cumsum().reshape(free.shape))


def _boxes(floor: Floor) -> tuple[np.ndarray, np.ndarray]:
    """Everything in the way, [5, boxes], and whose it is."""
    kept = floor.cache.get("boxes")
    if isinstance(kept, tuple):
        return kept
    made = list(blocking_boxes(floor))
    boxes = np.array([box for _, box in made], dtype=np.float64).reshape(-1, 5).T
    owners = np.array([owner for owner, _ in made], dtype=np.int64)
    floor.cache["boxes"] = (boxes, owners)
    return boxes, owners


def _distance(x: np.ndarray | np.float64, y: np.ndarray | np.float64, box: tuple[Any, ...]) -> np.ndarray:
    """Metres from points to a rectangle, or from a point to many; 0 inside."""
    cx, cy, hw, hd, angle = box
    c, s = np.cos(angle), np.sin(angle)
    dx, dy = x - cx, y - cy
    u, v = np.abs(c * dx + s * dy) - hw, np.abs(c * dy - s * dx) - hd
    return np.asarray(np.hypot(np.maximum(u, 0), np.maximum(v, 0)))
