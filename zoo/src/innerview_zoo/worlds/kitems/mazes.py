"""Random mazes with items in them, and the WAD files that Doom reads them from.

A maze is a square of cells with thin walls between some of them. The same seed, size and number of items always make
the same maze. Needs numpy only.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from innerview.errors import WorldError

Cell = tuple[int, int]
"""Column and row, counted from the lower left."""

CELL = 160.0
"""Width of a cell in map units."""
WALL = 16.0
"""How thick a wall is, in map units."""
HEIGHT = 128
FIRST_TEST_SEED = 1_000_000
"""Agents are trained on seeds below this one and tested on seeds from it on."""
ITEMS = ("green armour", "red armour", "health pack", "soul sphere")
"""In the order in which they are to be gathered."""
FIRST_ITEM_TYPE = 18001
REMOVED = 0.4
"""Share of the walls of a perfect maze that are taken away again, so that there are loops."""

# Wall, floor and ceiling; all in Freedoom.
THEMES = (
    ("STONE2", "FLAT1_1", "MFLR8_1"),
    ("BRICK7", "FLOOR7_1", "CEIL5_1"),
    ("GRAY5", "FLOOR0_1", "CEIL3_5"),
)
# Sprite, then the states of its spawn animation, one to a line: the engine crashes on anything else.
_SPRITES = {
    "green armour": ("ARM1 A 6", "ARM1 B 6 bright", "loop"),
    "red armour": ("ARM2 A 6", "ARM2 B 6 bright", "loop"),
    "health pack": ("MEDI A -1", "stop"),
    "soul sphere": ("SOUL A 6 bright", "SOUL B 6 bright", "SOUL C 6 bright", "SOUL D 6 bright", "loop"),
}
LAYOUT_ITEMS = {"g": 0, "r": 1, "b": 2, "c": 3}
"""What layouts call the items, and their place in the order."""


@dataclass(frozen=True, kw_only=True)
class Maze:
    """Walls, items in the order to be gathered, and where the agent begins."""

    size: int
    passages: frozenset[frozenset[Cell]]
    """Pairs of neighbouring cells with no wall between them."""
    items: tuple[Cell, ...]
    spawn: Cell
    angle_deg: int
    theme: tuple[str, str, str] = THEMES[0]
    _distances: dict[int, np.ndarray] = field(default_factory=dict, repr=False, compare=False)
    _neighbours: dict[Cell, list[Cell]] = field(default_factory=dict, repr=False, compare=False)

    def neighbours(self, cell: Cell) -> list[Cell]:
        """Cells one can step to."""
        if cell not in self._neighbours:
            around = _around(cell, self.size)
            self._neighbours[cell] = [other for other in around if frozenset((cell, other)) in self.passages]
        return self._neighbours[cell]

    def distances(self, item: int) -> np.ndarray:
        """Cells to walk from each cell [column, row] to an item, round the items that come later where that can be."""
        if item not in self._distances:
            steps = self._walk(self.items[item], closed=set(self.items[item + 1 :]))
            if not np.isfinite(steps).all():
                freely = self._walk(self.items[item], closed=set())
                steps = np.where(np.isfinite(steps), steps, freely + 2.0)
            self._distances[item] = steps
        return self._distances[item]

    def is_fair(self) -> bool:
        """Whether each item can be reached without crossing the cell of a later one."""
        starts = (self.spawn, *self.items)
        return all(
            np.isfinite(self._walk(item, closed=set(self.items[i + 1 :]))[starts[i]])
            for i, item in enumerate(self.items)
        )

    def walking_distance(self, a: Cell, b: Cell) -> int:
        """Cells to walk from one cell to another."""
        return int(self._walk(b, closed=set())[a])

    def _walk(self, target: Cell, closed: set[Cell]) -> np.ndarray:
        steps = np.full((self.size, self.size), np.inf)
        steps[target] = 0
        queue = deque([target])
        while queue:
            cell = queue.popleft()
            for other in self.neighbours(cell):
                if other not in closed and steps[other] == np.inf:
                    steps[other] = steps[cell] + 1
                    queue.append(other)
        return steps


def centre(cell: Cell) -> tuple[float, float]:
    """The middle of a cell in map units."""
    return (cell[0] + 0.5) * CELL, (cell[1] + 0.5) * CELL


def cell_at(x: float, y: float, size: int) -> Cell:
    """The cell that holds a place given in map units."""
    return min(max(int(x // CELL), 0), size - 1), min(max(int(y // CELL), 0), size - 1)


def make_maze(seed: int, *, size: int = 5, items: int = 4) -> Maze:
    """The maze of a seed: a random tree of passages, some walls taken away, fair places for the items."""
    if not 2 <= size <= 32:
        raise WorldError(f"A maze has 2 to 32 cells a side, not {size}.")
    if not 1 <= items <= min(len(ITEMS), size * size - 1):
        raise WorldError(f"A maze of {size}×{size} cells holds 1 to {min(len(ITEMS), size * size - 1)}, not {items}.")
    rng = np.random.default_rng([seed, size, items])
    while True:
        maze = _draw(rng, size, items)
        if maze.is_fair():
            return maze


def maze_from_layout(layout: Mapping[str, Any]) -> Maze:
    """A maze given as walls, items, spawn and outline in map units (the 3dcdrl scenarios' JSON)."""
    left, bottom = (min(corner[axis] for corner in layout["exterior"]) for axis in (0, 1))
    size = round((max(corner[0] for corner in layout["exterior"]) - left) / CELL)

    def cell(x: float, y: float) -> Cell:
        return cell_at(x - left, y - bottom, size)

    passages = _all_pairs(size)
    for x1, y1, x2, y2 in layout["walls"]:
        x, y = (x1 + x2) / 2, (y1 + y2) / 2
        dx, dy = (1, 0) if x1 == x2 else (0, 1)
        passages -= {frozenset((cell(x - dx, y - dy), cell(x + dx, y + dy)))}
    places = {LAYOUT_ITEMS[name]: cell(x, y) for x, y, name in layout["items"]}
    items = tuple(places[i] for i in sorted(places))
    return Maze(size=size, passages=passages, items=items, spawn=cell(*layout["spawn"]), angle_deg=0)


def write_wad(mazes: Iterable[Maze]) -> bytes:
    """A WAD with one map for each maze, named by `map_name`, and the items' definitions."""
    lumps: list[tuple[str, bytes]] = [("DECORATE", _decorate().encode())]
    for index, maze in enumerate(mazes):
        lumps += [(map_name(index), b""), ("TEXTMAP", _textmap(maze).encode()), ("ENDMAP", b"")]
    directory, chunks, offset = b"", [], 12
    for name, data in lumps:
        directory += struct.pack("<ii8s", offset, len(data), name.encode())
        chunks.append(data)
        offset += len(data)
    return struct.pack("<4sii", b"PWAD", len(lumps), offset) + b"".join(chunks) + directory


def map_name(index: int) -> str:
    """What the n-th map of a WAD is called."""
    return f"MAP{index + 1:02d}"


def _draw(rng: np.random.Generator, size: int, items: int) -> Maze:
    passages = _tree(rng, size)
    walls = sorted(tuple(sorted(pair)) for pair in _all_pairs(size) - passages)
    taken = rng.permutation(len(walls))[: round(REMOVED * len(walls))]
    passages |= {frozenset(walls[i]) for i in taken}
    cells = [(x, y) for x in range(size) for y in range(size)]
    order = [cells[i] for i in rng.permutation(len(cells))]
    bare = Maze(size=size, passages=passages, items=(), spawn=order[0], angle_deg=int(rng.integers(360)))
    least = 2 if size > 3 else 1
    away = [cell for cell in order[1:] if bare.walking_distance(order[0], cell) >= least]
    return Maze(
        size=size,
        passages=passages,
        items=tuple(away[:items]),
        spawn=order[0],
        angle_deg=bare.angle_deg,
        theme=THEMES[int(rng.integers(len(THEMES)))],
    )


def _tree(rng: np.random.Generator, size: int) -> frozenset[frozenset[Cell]]:
    start = (int(rng.integers(size)), int(rng.integers(size)))
    seen, stack, passages = {start}, [start], set()
    while stack:
        new = [cell for cell in _around(stack[-1], size) if cell not in seen]
        if not new:
            stack.pop()
            continue
        chosen = new[int(rng.integers(len(new)))]
        passages.add(frozenset((stack[-1], chosen)))
        seen.add(chosen)
        stack.append(chosen)
    return frozenset(passages)


def _around(cell: Cell, size: int) -> list[Cell]:
    x, y = cell
    sides = ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1))
    return [(a, b) for a, b in sides if 0 <= a < size and 0 <= b < size]


def _all_pairs(size: int) -> frozenset[frozenset[Cell]]:
    cells = [(x, y) for x in range(size) for y in range(size)]
    return frozenset(frozenset((cell, other)) for cell in cells for other in _around(cell, size))


def _solid(maze: Maze) -> np.ndarray:
    """Which pieces are wall, on a grid of pillars, wall pieces and cells [2 size + 1, 2 size + 1]."""
    n = 2 * maze.size + 1
    solid = np.zeros((n, n), dtype=bool)
    solid[[0, -1], :] = solid[:, [0, -1]] = True
    for pair in _all_pairs(maze.size) - maze.passages:
        (x1, y1), (x2, y2) = sorted(pair)
        x, y = x1 + x2 + 1, y1 + y2 + 1
        if x1 != x2:
            solid[x, y - 1 : y + 2] = True  # with the pillars at both ends
        else:
            solid[x - 1 : x + 2, y] = True
    return solid


def walls(maze: Maze) -> list[tuple[float, float, float, float]]:
    """Every wall face as x1, y1, x2, y2 in map units, open space on its right hand."""
    solid = _solid(maze)
    n = len(solid)
    # Piece k spans edges[k] to edges[k + 1]; the outermost walls have no thickness.
    edges = [0.0, 0.0]
    for k in range(1, maze.size):
        edges += [k * CELL - WALL / 2, k * CELL + WALL / 2]
    edges += [maze.size * CELL, maze.size * CELL]
    faces = []
    for k in range(1, n):
        for along in (True, False):
            before, after = (solid[k - 1], solid[k]) if along else (solid[:, k - 1], solid[:, k])
            for start, stop, open_after in _runs(before, after):
                a, b = edges[start], edges[stop]
                if open_after != along:  # the side on which there is space decides the direction
                    a, b = b, a
                faces.append((edges[k], a, edges[k], b) if along else (a, edges[k], b, edges[k]))
    return [face for face in faces if face[:2] != face[2:]]


def _runs(before: np.ndarray, after: np.ndarray) -> list[tuple[int, int, bool]]:
    """Longest stretches where wall meets space, as start, stop and whether the space comes after."""
    sign = before.astype(int) - after.astype(int)
    ends = np.flatnonzero(np.diff(sign, prepend=0, append=0))
    return [(int(a), int(b), bool(sign[a] > 0)) for a, b in pairwise(ends) if sign[a]]


def _textmap(maze: Maze) -> str:
    wall, floor, ceiling = maze.theme
    x, y = centre(maze.spawn)
    parts = ['namespace="zdoom";', _thing(1, x, y, maze.angle_deg)]
    parts += [_thing(FIRST_ITEM_TYPE + i, *centre(cell), 0) for i, cell in enumerate(maze.items)]
    for i, (x1, y1, x2, y2) in enumerate(walls(maze)):
        parts += [f"vertex{{x={x1};y={y1};}}vertex{{x={x2};y={y2};}}"]
        parts += [f"linedef{{v1={2 * i};v2={2 * i + 1};sidefront={i};blocking=true;}}"]
        parts += [f'sidedef{{sector=0;texturemiddle="{wall}";}}']
    parts += [f'sector{{texturefloor="{floor}";textureceiling="{ceiling}";heightceiling={HEIGHT};lightlevel=192;}}']
    return "\n".join(parts)


def _thing(kind: int, x: float, y: float, angle_deg: int) -> str:
    always = "".join(f"skill{i}=true;" for i in range(1, 6)) + "single=true;"
    return f"thing{{x={x};y={y};angle={angle_deg};type={kind};{always}}}"


def _decorate() -> str:
    return "\n".join(_actor(i, name, _SPRITES[name]) for i, name in enumerate(ITEMS))


def _actor(index: int, name: str, states: Sequence[str]) -> str:
    lines = [
        f"actor {actor_name(name)} : CustomInventory {FIRST_ITEM_TYPE + index}",
        "{",
        "  +COUNTITEM",
        "  +INVENTORY.ALWAYSPICKUP",
        "  States",
        "  {",
        "  Spawn:",
        *(f"    {state}" for state in states),
        "  Pickup:",
        "    TNT1 A 0",
        "    stop",
        "  }",
        "}",
    ]
    return "\n".join(lines)


def actor_name(item: str) -> str:
    """What the engine calls an item; unlike any actor of its own."""
    return "Maze" + "".join(word.capitalize() for word in item.split())
