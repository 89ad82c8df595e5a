"""Where a robot can be: a grid of distances to whatever it could bump into."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from innerview.worlds.office.floor import Floor, blocking_boxes, door_leaf, room_grid
from innerview.worlds.office.furniture import KINDS

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
    for cx, cy, hw, hd, angle in blocking_boxes(floor):
        reach = math.hypot(hw, hd) + FARTHEST_M
        x0, x1 = (min(max(int(v / CELL_M), 0), columns) for v in (cx - reach, cx + reach + CELL_M))
        y0, y1 = (min(max(int(v / CELL_M), 0), rows) for v in (cy - reach, cy + reach + CELL_M))
        part = distance[y0:y1, x0:x1]
        np.minimum(part, _distance(x[y0:y1, x0:x1], y[y0:y1, x0:x1], (cx, cy, hw, hd, angle)), out=part)
    found = FreeSpace(distance=distance, room=room_grid(floor, x, y))
    floor.cache["free"] = found
    return found


def gap_at(floor: Floor, x: float, y: float, *, but: int = 0) -> float:
    """Metres from a point to the nearest obstacle, leaving one thing out of account; 0 inside one."""
    boxes = _boxes(floor, but)
    point_x, point_y = np.array(x), np.array(y)
    return min((float(_distance(point_x, point_y, box)) for box in boxes if _near(box, x, y)), default=FARTHEST_M)


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


def _boxes(floor: Floor, but: int) -> list[tuple[float, float, float, float, float]]:
    if not but:
        kept = floor.cache.get("boxes")
        if isinstance(kept, list):
            return kept
        floor.cache["boxes"] = made = list(blocking_boxes(floor))
        return made
    walls = [w for w in floor.walls if w.blocks]
    made = [((w.x0 + w.x1) / 2, (w.y0 + w.y1) / 2, (w.x1 - w.x0) / 2, (w.y1 - w.y0) / 2, 0.0) for w in walls]
    made += [door_leaf(door) for door in floor.doors]
    others = [t for t in floor.things if t.id != but and KINDS[t.kind].blocks and t.z < 1.2]
    return made + [(t.x, t.y, t.size[0] / 2, t.size[1] / 2, t.angle) for t in others]


def _near(box: tuple[float, float, float, float, float], x: float, y: float) -> bool:
    return math.hypot(x - box[0], y - box[1]) < math.hypot(box[2], box[3]) + FARTHEST_M


def _distance(x: np.ndarray, y: np.ndarray, box: tuple[float, float, float, float, float]) -> np.ndarray:
    """Metres from points to a rectangle; 0 inside."""
    cx, cy, hw, hd, angle = box
    c, s = math.cos(angle), math.sin(angle)
    dx, dy = x - cx, y - cy
    u, v = np.abs(c * dx + s * dy) - hw, np.abs(c * dy - s * dx) - hd
    return np.hypot(np.maximum(u, 0), np.maximum(v, 0))
