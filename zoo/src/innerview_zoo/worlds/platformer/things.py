"""Things one by one, with names and places: to be told, and to be moved or taken away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch

from innerview.errors import UnknownName, WorldError
from innerview_zoo.worlds.platformer import names as n
from innerview_zoo.worlds.platformer.physics import HALF_WIDTH, HEIGHT
from innerview_zoo.worlds.platformer.pictures.atlas import PER_TILE, VIEW
from innerview_zoo.worlds.platformer.state import State

CELLS = {"coin": (n.COIN,), "saw": (n.SAW,), "box": (n.BOX, n.CRATE), "lava": (n.LAVA, n.LAVA_TOP)}
WAYS = {"enemy moving left": (-1,), "enemy moving right": (1,), "enemy": (-1, 1)}
LAVA_HEIGHT = 0.75
"""Of the uppermost cell."""
EDITABLE = (*CELLS, *WAYS, "agent")


@dataclass(frozen=True)
class Thing:
    """One thing in one game: its box in tiles, y up."""

    name: str
    left: float
    bottom: float
    right: float
    top: float
    slot: int = 0
    """Its cell (row times columns plus column) or the number of the enemy."""

    @property
    def x(self) -> float:
        """Its middle."""
        return (self.left + self.right) / 2

    @property
    def y(self) -> float:
        """Where it stands."""
        return self.bottom


def things(state: State, game: int = 0) -> list[Thing]:
    """What there is besides walls and floors, from left to right."""
    return sorted((*_in_cells(state, game), *_enemies(state, game)), key=lambda t: (t.left, t.bottom, t.slot))


def in_view(state: State, game: int = 0) -> list[dict[str, Any]]:
    """What the frame shows, nearest first: boxes in pixels of the frame (x_px, y_px: upper left), places in tiles."""
    x, y = int(state.x[game]), int(state.y[game])
    seen = []
    for thing in things(state, game):
        box = box_px(state, game, thing)
        if box is None:
            continue
        away = ((thing.x - x / n.UNIT) ** 2 + (thing.y - y / n.UNIT) ** 2) ** 0.5
        seen.append(
            {
                "name": thing.name,
                **dict(zip(("x_px", "y_px", "width_px", "height_px"), box, strict=True)),
                "distance": round(away, 2),
                "x": round(thing.x, 2),
                "y": round(thing.y, 2),
            }
        )
    return sorted(seen, key=lambda told: told["distance"])


def box_px(state: State, game: int, thing: Thing) -> tuple[float, float, float, float] | None:
    """Left, upper edge, width and height in pixels of the frame, as far as they are in it; None where nothing is."""
    left = (int(state.x[game]) * PER_TILE >> 8) - VIEW // 2
    top = (int(state.y[game]) * PER_TILE >> 8) - (VIEW // 2 - 2 * PER_TILE // 3) + VIEW
    from_x, to_x = thing.left * PER_TILE - left, thing.right * PER_TILE - left
    from_y, to_y = top - thing.top * PER_TILE, top - thing.bottom * PER_TILE
    if to_x <= 0 or from_x >= VIEW or to_y <= 0 or from_y >= VIEW:
        return None
    x, y = max(from_x, 0), max(from_y, 0)
    return round(x, 2), round(y, 2), round(min(to_x, VIEW) - x, 2), round(min(to_y, VIEW) - y, 2)


def edited(
    state: State, name: str, *, game: int = 0, number: int | None = 0, to: tuple[float, float] | None = None
) -> State:
    """A state in which one thing of a name (counted from the left; None: all of them) is elsewhere, or gone."""
    if name not in EDITABLE:
        raise UnknownName("thing to move or remove", str(name), EDITABLE)
    if not 0 <= game < state.count:
        raise WorldError(f"There is no game {game}; there are {state.count}, counted from 0.")
    if to is not None:
        _check_place(to)
    if name == "agent":
        return _agent_moved(state, game, to)
    found = [thing for thing in things(state, game) if thing.name in _meant(name)]
    if number is not None:
        if not 0 <= number < len(found):
            raise WorldError(f"There is no {name} number {number} in this level; there are {len(found)}, from 0 on.")
        found = [found[number]]
    elif to is not None:
        raise WorldError(f"Several things cannot be moved to one place: say which {name} is meant by its number.")
    change = _lava_changed if name == "lava" else _cell_changed if name in CELLS else _enemy_changed
    for thing in found:
        state = change(state, game, thing, to)
    return state


def _meant(name: str) -> tuple[str, ...]:
    return ("enemy moving left", "enemy moving right") if name == "enemy" else (name,)


def _in_cells(state: State, game: int) -> Iterator[Thing]:
    kinds = {kind: name for name, all_kinds in CELLS.items() for kind in all_kinds}
    grid = state.grid[game].flatten().cpu()
    for slot in ((grid > n.EMPTY) & (grid < n.LAVA)).nonzero().flatten().tolist():
        row, column = divmod(slot, n.COLUMNS)
        yield Thing(kinds[int(grid[slot])], column, row, column + 1, row + 1, slot)
    yield from _lava((grid == n.LAVA_TOP).nonzero().flatten().tolist())


def _lava(surface: list[int]) -> Iterator[Thing]:
    """A pool is one thing, from the ground of the level to its surface."""
    wet = set(surface)
    for slot in surface:
        row, column = divmod(slot, n.COLUMNS)
        if column == 0 or slot - 1 not in wet:
            right = column + 1
            while right < n.COLUMNS and row * n.COLUMNS + right in wet:
                right += 1
            yield Thing("lava", column, 0, right, row + LAVA_HEIGHT, slot)


def _enemies(state: State, game: int) -> Iterator[Thing]:
    for slot, way in enumerate(state.enemy_way[game].tolist()):
        if way:
            x, y = state.enemy_x[game, slot].item() / n.UNIT, state.enemy_y[game, slot].item() / n.UNIT
            name = "enemy moving left" if way < 0 else "enemy moving right"
            yield Thing(name, x - 0.5, y, x + 0.5, y + 1, slot)


def _check_place(to: tuple[float, float]) -> None:
    if len(to) != 2 or not (0 <= to[0] < n.COLUMNS and 0 <= to[1] < n.ROWS):
        raise WorldError(f"A place is (x, y) in tiles, x below {n.COLUMNS} and y below {n.ROWS}, not {to!r}.")


def _set(part: torch.Tensor, index: tuple[int, ...], value: int) -> torch.Tensor:
    part = part.clone()
    part[index] = value
    return part


def _cell_changed(state: State, game: int, thing: Thing, to: tuple[float, float] | None) -> State:
    row, column = divmod(thing.slot, n.COLUMNS)
    kind = int(state.grid[game, row, column])
    grid = _set(state.grid, (game, row, column), n.EMPTY)
    if to is not None:
        there = int(grid[game, int(to[1]), int(to[0])])
        if there != n.EMPTY:
            raise WorldError(
                f"The {thing.name} cannot stand at {to!r}: there is '{n.TILES[there]}'. Choose a free cell."
            )
        grid[game, int(to[1]), int(to[0])] = kind
    return replace(state, grid=grid)


def _lava_changed(state: State, game: int, thing: Thing, to: tuple[float, float] | None) -> State:
    """Without its lava a chasm has a floor where the lava's surface was: a hole would have no end."""
    if to is not None:
        raise WorldError("Lava fills a chasm: it can be removed, not moved.")
    grid = state.grid.clone()
    pool = grid[game, : int(thing.top) + 1, int(thing.left) : int(thing.right)]
    pool.copy_(torch.where(pool == n.LAVA_TOP, n.FLOOR, torch.where(pool == n.LAVA, n.WALL, pool)).to(pool.dtype))
    return replace(state, grid=grid)


def _enemy_changed(state: State, game: int, thing: Thing, to: tuple[float, float] | None) -> State:
    at = (game, thing.slot)
    if to is None:
        return replace(state, enemy_way=_set(state.enemy_way, at, 0))
    x, y = round(to[0] * n.UNIT), round(to[1] * n.UNIT)
    shift = x - int(state.enemy_x[at])
    return replace(
        state,
        enemy_x=_set(state.enemy_x, at, x),
        enemy_y=_set(state.enemy_y, at, y),
        enemy_low=_set(state.enemy_low, at, int(state.enemy_low[at]) + shift),
        enemy_high=_set(state.enemy_high, at, int(state.enemy_high[at]) + shift),
    )


def _agent_moved(state: State, game: int, to: tuple[float, float] | None) -> State:
    if to is None:
        raise WorldError("The agent cannot be taken away, only moved: give to=(x, y) in tiles.")
    x, y = round(to[0] * n.UNIT), round(to[1] * n.UNIT)
    reach = range((y >> 8), ((y + HEIGHT - 1) >> 8) + 1), range((x - HALF_WIDTH) >> 8, ((x + HALF_WIDTH - 1) >> 8) + 1)
    for row in reach[0]:
        for column in reach[1]:
            if int(state.grid[game, min(row, n.ROWS - 1), min(max(column, 0), n.COLUMNS - 1)]) >= n.WALL:
                raise WorldError(f"The agent cannot be at {to!r}: it would stand in a wall.")
    moved = {"x": x, "y": y, "vx": 0, "vy": 0}
    return replace(state, **{name: _set(getattr(state, name), (game,), value) for name, value in moved.items()})
