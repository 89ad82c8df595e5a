"""What a recurrent layer takes of the view from any pose of a maze, small enough to be sent along with a page.

The numbers of all poses are weighed by how much they change the memory, written in their principal directions and
rounded to steps of one size, the finest that fits the room there is: what is dropped is what matters least.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import torch

from innerview.jobs.engine import Progress
from innerview.schema import WorldInfo
from innerview.subjects import Subject
from innerview.subjects.memory.recurrence import Recurrence, fed
from innerview_zoo.worlds.kitems.poses import PoseGrid, look_around, pose_grid, sees_change

_VERSION = 3
_HALVINGS = 9


@dataclass(frozen=True, kw_only=True)
class Fineness:
    """How close the poses of a grid lie."""

    lines_per_cell: int = 8
    headings: int = 32


@dataclass(frozen=True)
class GridValues:
    """Projected input of the recurrent layer for every pose that differs from those with fewer items gathered."""

    grid: PoseGrid
    block_of: np.ndarray
    """[states, places] Which block holds a place with so many items gathered."""
    blocks: np.ndarray
    """[blocks, headings, gates × size] float16"""


@dataclass(frozen=True)
class Squeezed:
    """Blocks as whole numbers: value = mean + step × codes · basis."""

    mean: np.ndarray
    basis: np.ndarray
    """[directions, gates × size]"""
    step: float
    planes: Mapping[str, np.ndarray]
    """Bytes of the codes, differences of neighbours, low and high [directions, blocks, headings]."""
    error: float
    """Root mean square of what rounding changed, weighed, as a share of the values' spread."""


def grid_values(
    subject: Subject,
    recurrence: Recurrence,
    world: WorldInfo,
    seed: int,
    *,
    fineness: Fineness,
    cache: Path,
    progress: Progress,
) -> GridValues:
    """Look around in the maze of a seed, or take what was seen with these weights before."""
    grid = pose_grid(world, seed, lines_per_cell=fineness.lines_per_cell, headings=fineness.headings)
    block_of = _block_of(grid)
    kept = cache / f"poses-{_digest(subject, world, seed, grid)}.npy"
    total = int(block_of.max()) + 1
    if kept.is_file():
        progress(total, total)
        return GridValues(grid, block_of, np.load(kept, allow_pickle=False))
    blocks = np.empty((total, grid.headings, len(recurrence.bias_ih)), np.float16)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(
            1
        )  # the engine needs a core, and threads that wait for each other cost more than they give
        for looked in look_around(world, grid):
            block = block_of[looked.gathered, looked.place]
            if looked.gathered:
                blocks[block] = blocks[block_of[looked.gathered - 1, looked.place]]
            inputs = subject.inputs({subject.observation_names[0]: looked.frames})
            with torch.no_grad():
                blocks[block, looked.headings] = recurrence.project(fed(subject, recurrence, inputs).cpu()).numpy()
            progress(int(block) + 1, total)
    finally:
        torch.set_num_threads(threads)
    cache.mkdir(parents=True, exist_ok=True)
    unfinished = kept.with_suffix(".tmp")
    with unfinished.open("wb") as file:
        np.save(file, blocks)
    unfinished.replace(kept)
    return GridValues(grid, block_of, blocks)


def squeeze(values: GridValues, room: int, matters: np.ndarray) -> Squeezed:
    """The finest rounding whose compressed bytes fit the room; `matters` weighs each number [gates × size]."""
    flat = values.blocks.reshape(-1, values.blocks.shape[-1]).astype(np.float32)
    mean = flat.mean(axis=0)
    weighed = (flat - mean) * matters
    spread, directions = np.linalg.eigh(weighed.T @ weighed / len(weighed))
    basis = directions[:, ::-1].T.astype(np.float32)
    places = weighed @ basis.T
    finest, coarsest = 1e-3 * float(np.sqrt(spread[-1])), float(np.sqrt(spread[-1]))
    for _ in range(_HALVINGS):
        step = float(np.sqrt(finest * coarsest))
        used, planes = _planes(places, step, values)
        if basis[:used].nbytes + sum(len(zlib.compress(plane.tobytes(), 6)) for plane in planes.values()) <= room:
            coarsest = step
        else:
            finest = step
    used, planes = _planes(places, coarsest, values)
    codes = np.rint(places[:, :used] / coarsest)
    lost = ((places[:, :used] - codes * coarsest) ** 2).sum() + (places[:, used:] ** 2).sum()
    return Squeezed(mean, basis[:used] / matters, coarsest, planes, float(np.sqrt(lost / (places**2).sum())))


def _planes(places: np.ndarray, step: float, values: GridValues) -> tuple[int, dict[str, np.ndarray]]:
    # A direction along which nearly all values round to zero is not worth its room.
    used = max(1, int((places.std(axis=0) > step / 2).sum()))
    codes = np.rint(places[:, :used] / step).astype(np.int32)
    blocks, headings = values.blocks.shape[:2]
    codes = codes.reshape(blocks, headings, used)
    change = np.diff(codes, axis=1, prepend=0)
    for state in range(1, len(values.block_of)):
        own = np.flatnonzero(values.block_of[state] != values.block_of[state - 1])
        now, before = values.block_of[state][own], values.block_of[state - 1][own]
        change[now] = codes[now] - codes[before]
    words = np.ascontiguousarray(change.transpose(2, 0, 1)).astype(np.uint16)
    return used, {"codes_low": (words & 255).astype(np.uint8), "codes_high": (words >> 8).astype(np.uint8)}


def _block_of(grid: PoseGrid) -> np.ndarray:
    table = np.zeros((grid.states, len(grid.places)), np.int32)
    count = 0
    for state in range(grid.states):
        new = sees_change(grid, state).any(axis=1)
        table[state] = table[state - 1] if state else 0
        table[state][new] = count + np.arange(int(new.sum()))
        count += int(new.sum())
    return table


def _digest(subject: Subject, world: WorldInfo, seed: int, grid: PoseGrid) -> str:
    told: dict[str, Any] = {
        "version": _VERSION,
        "identity": subject.identity(),
        "world": world.identity,
        "seed": seed,
        "lines": grid.lines,
        "headings": grid.headings,
    }
    return sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()[:16]
