"""A level as lines on a map: where walls meet the air."""

from __future__ import annotations

import numpy as np

from innerview.schema import Scene
from innerview_zoo.worlds.platformer import names as n
from innerview_zoo.worlds.platformer.state import State
from innerview_zoo.worlds.platformer.things import things

Line = tuple[float, float, float, float]
SKY = 4
"""Rows that are shown above the highest ground: as high as the agent can jump."""


def scene_of(state: State, game: int = 0) -> Scene:
    """The map of the level that a game is in, in tiles."""
    solid = state.grid[game].cpu().numpy() >= n.WALL
    walls = (*_level_lines(solid), *_upright_lines(solid[: _highest(solid) + SKY]))
    found = tuple((thing.name, round(thing.x, 2), round(thing.y, 2)) for thing in things(state, game))
    return Scene(walls=walls, unit="tiles", objects=found)


def _highest(solid: np.ndarray) -> int:
    """The uppermost row on whose cells something can stand."""
    tops = solid[:-1] & ~solid[1:]
    return int(np.flatnonzero(tops.any(1)).max(initial=0)) + 1


def _level_lines(solid: np.ndarray) -> list[Line]:
    """Floors and ceilings, each as long as it goes."""
    lines = []
    for row in range(1, n.ROWS):
        lines += [(float(a), float(row), float(b), float(row)) for a, b in _runs(solid[row] != solid[row - 1])]
    return lines


def _upright_lines(solid: np.ndarray) -> list[Line]:
    lines = []
    for column in range(1, n.COLUMNS):
        differ = solid[:, column] != solid[:, column - 1]
        lines += [(float(column), float(a), float(column), float(b)) for a, b in _runs(differ)]
    return lines


def _runs(flags: np.ndarray) -> list[tuple[int, int]]:
    """First and one past the last of each stretch of true."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], flags.astype(np.int8), [0]))))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]
