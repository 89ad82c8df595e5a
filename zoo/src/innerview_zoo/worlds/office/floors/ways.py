"""Poses in free space: drawn at random, or along the way of a robot that visits room after room."""

from __future__ import annotations

import heapq
import math
from itertools import pairwise

import numpy as np
import torch

from innerview.errors import WorldError
from innerview_zoo.worlds.office.conditions import conditions_of
from innerview_zoo.worlds.office.floors.floor import Floor
from innerview_zoo.worlds.office.floors.freespace import CELL_M, free_space, largest_part
from innerview_zoo.worlds.office.reality import as_real

ROBOT_RADIUS_M = 0.2
_STEP = 2  # cells: ways are planned on a grid of 10 cm


def sample_poses(floor: Floor, count: int, *, seed: int = 0, clearance_m: float = 0.25) -> torch.Tensor:
    """Poses [count, 3] drawn evenly over the free space that can be reached, looking anywhere."""
    check_seed(seed)
    if count < 0:
        raise WorldError(f"count is how many poses to draw, not {count}.")
    random = np.random.default_rng(seed)
    cells = np.argwhere(reachable(floor, clearance_m))
    if not len(cells):
        raise WorldError(f"Nowhere on this floor is {clearance_m:g} m away from everything. Ask for less clearance_m.")
    chosen = cells[random.integers(len(cells), size=count)]
    place = (chosen[:, ::-1] + random.random((count, 2))) * CELL_M
    angle = random.uniform(-math.pi, math.pi, (count, 1))
    return torch.from_numpy(np.concatenate([place, angle], 1).astype(np.float32))


def check_seed(seed: object) -> None:
    """A seed is a whole number that is not negative."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise WorldError(f"A seed is a whole number from 0 on, such as 7, not {seed!r} ({type(seed).__name__}).")


def reachable(floor: Floor, clearance_m: float) -> np.ndarray:
    """Cells that a robot of that radius can reach: the largest connected part of the free space."""
    key = ("reachable", round(clearance_m, 4))
    kept = floor.cache.get(key)
    if isinstance(kept, np.ndarray):
        return kept
    floor.cache[key] = found = largest_part(free_space(floor).free(clearance_m))
    return found


def trajectory(floor: Floor, which: int = 1, *, count: int = 400) -> torch.Tensor:
    """Poses [count, 3] along a robot's way through corridors and rooms; free both in the scan and in that month."""
    if count < 2:
        raise WorldError(f"A trajectory has at least 2 poses, not {count}.")
    kept = floor.cache.get(("way", which))
    way = kept if isinstance(kept, np.ndarray) else _planned(floor, which)
    floor.cache[("way", which)] = way
    return _driven(way, count)


def _planned(floor: Floor, which: int) -> np.ndarray:
    """The cells of a way through all rooms that can be reached, [cells, 2] in metres."""
    real = as_real(floor, conditions_of(which))
    near = np.minimum(free_space(floor).distance, free_space(real).distance)
    inside = free_space(floor).room > 0
    free = largest_part(((near >= ROBOT_RADIUS_M + 0.05) & inside)[::_STEP, ::_STEP])
    near, rooms = near[::_STEP, ::_STEP], free_space(floor).room[::_STEP, ::_STEP]
    stops = _stops(floor, free, near, rooms, which)
    way: list[tuple[float, float]] = []
    for start, stop in pairwise(stops):
        way += _route(free, near, start, stop)[0 if not way else 1 :]
    return np.array(way)


def _stops(floor: Floor, free: np.ndarray, near: np.ndarray, rooms: np.ndarray, which: int) -> list[tuple[int, int]]:
    """One roomy place in each room that can be reached, in an order that goes round the floor."""
    random = np.random.default_rng(40 + which)
    named = {room.name: index + 1 for index, room in enumerate(floor.rooms)}
    found = []
    for name, index in named.items():
        cells = np.argwhere(free & (rooms == index))
        if len(cells) < 12:
            continue
        if "corridor" in name:
            ends = cells[np.argsort(cells[:, 0])]
            picked = [ends[len(ends) // 12], ends[-len(ends) // 12]]
        else:
            some = cells[random.integers(len(cells), size=24)]
            picked = [some[int(np.argmax(near[some[:, 0], some[:, 1]]))]]
        found += [(int(r), int(c)) for r, c in picked]
    centre = np.array(free.shape) / 2
    turn = -1 if which == 2 else 1
    found.sort(key=lambda cell: turn * math.atan2(cell[0] - centre[0], cell[1] - centre[1]))
    first = int(random.integers(len(found)))
    return found[first:] + found[:first]


def _route(
    free: np.ndarray, near: np.ndarray, start: tuple[int, int], stop: tuple[int, int]
) -> list[tuple[float, float]]:
    """The shortest way over free cells that keeps away from walls where it can."""
    cost = {start: 0.0}
    came: dict[tuple[int, int], tuple[int, int]] = {}
    queue = [(0.0, start)]
    rows, columns = free.shape
    moves = [(dr, dc) for dr in (-1, 0, 1) for dc in (-1, 0, 1) if dr or dc]
    while queue:
        _, cell = heapq.heappop(queue)
        if cell == stop:
            break
        for dr, dc in moves:
            after = cell[0] + dr, cell[1] + dc
            if not (0 <= after[0] < rows and 0 <= after[1] < columns and free[after]):
                continue
            price = cost[cell] + math.hypot(dr, dc) * (1 + 3.0 * max(0.0, 0.6 - near[after]))
            if price < cost.get(after, math.inf):
                cost[after], came[after] = price, cell
                left = math.hypot(stop[0] - after[0], stop[1] - after[1])
                heapq.heappush(queue, (price + left, after))
    way = [stop]
    while way[-1] != start:
        way.append(came[way[-1]])
    return [((c * _STEP + 0.5) * CELL_M, (r * _STEP + 0.5) * CELL_M) for r, c in reversed(way)]


def _driven(way: np.ndarray, count: int) -> torch.Tensor:
    """Smooth a way of grid cells, and give it `count` poses that look where it goes."""
    smooth = way
    for _ in range(6):
        smooth = np.concatenate([way[:1], (smooth[:-2] + 2 * smooth[1:-1] + smooth[2:]) / 4, way[-1:]])
    step = np.hypot(*np.diff(smooth, axis=0).T)
    along = np.concatenate([[0], step.cumsum()])
    at = np.linspace(0, along[-1], count)
    x, y = (np.interp(at, along, smooth[:, i]) for i in range(2))
    ahead_x, ahead_y = (np.interp(np.minimum(at + 0.35, along[-1]), along, smooth[:, i]) for i in range(2))
    heading = np.unwrap(np.arctan2(ahead_y - y, ahead_x - x))
    heading[-1] = heading[-2]
    kernel = np.ones(5) / 5
    heading = np.convolve(np.pad(heading, 2, mode="edge"), kernel, mode="valid")
    wrapped = (heading + math.pi) % (2 * math.pi) - math.pi
    return torch.from_numpy(np.stack([x, y, wrapped], 1).astype(np.float32))
