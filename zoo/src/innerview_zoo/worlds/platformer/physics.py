"""What happens in one step, for all games at once and in whole numbers."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import torch
from torch import Tensor

from innerview_zoo.worlds.platformer import names as n
from innerview_zoo.worlds.platformer.state import State

FASTEST, HIGHEST_FALL = 128, 192
"""Units a step: half a tile across, three quarters of a tile down."""
JUMP, GRAVITY = 192, 26
ON_GROUND, IN_AIR = 32, 10
"""How much a step changes the speed across: in mid-air left and right have less of an effect."""
HALF_WIDTH, HEIGHT = 90, 300
ENEMY_HALF, ENEMY_HEIGHT = 84, 190

_TOUCH = {
    n.COIN: (30, 226, 10, 246, n.COIN_REACHED),
    n.SAW: (44, 212, 0, 190, n.BY_SAW),
    n.LAVA: (0, 256, 0, 256, n.BY_LAVA),
    n.LAVA_TOP: (0, 256, 0, 150, n.BY_LAVA),
}
"""By kind of cell: left, right, bottom and top of what can be touched in it, and what follows."""


@cache
def _table(name: str, device: torch.device) -> Tensor:
    """Tables by action or by kind of cell, kept on the device."""
    if name == "touch":
        rows = [_TOUCH.get(kind, (0, 0, 0, 0, 0)) for kind in range(len(n.TILES))]
        return torch.tensor(rows, dtype=torch.int32, device=device)
    if name == "across":
        return torch.tensor(n.ACROSS, dtype=torch.int32, device=device)
    return torch.tensor({"up": n.UP, "down": n.DOWN}[name], device=device)


def advance(state: State, actions: Tensor, time_limit: int, *, turning: bool = True) -> State:
    """One step of every game that is not over; the others stand still."""
    playing = state.outcome == 0
    moved = _move_enemies(_move_agent(state, actions), turning)
    moved = replace(moved, steps=state.steps + 1)
    moved = replace(moved, outcome=_outcome(moved, time_limit))
    return moved.where(playing, state)


def cells(grid: Tensor, row: Tensor, column: Tensor) -> Tensor:
    """Kinds of the cells at rows and columns [games, any]; beyond the edge the outermost go on."""
    place = row.clamp(0, n.ROWS - 1) * n.COLUMNS + column.clamp(0, n.COLUMNS - 1)
    return grid.flatten(1).gather(1, place.to(torch.int64))


def _move_agent(state: State, actions: Tensor) -> State:
    device = state.x.device
    across = _table("across", device)[actions]
    up, down = _table("up", device)[actions], _table("down", device)[actions]
    grounded = state.grounded
    jump = state.charged & grounded & ~up & ~down
    grip = torch.where(across != 0, torch.full_like(across, IN_AIR), 0)
    grip = torch.where(grounded, ON_GROUND, grip)
    change = across * FASTEST - state.vx
    vx = state.vx + torch.maximum(torch.minimum(change, grip), -grip)
    vy = torch.where(jump, JUMP, (state.vy - GRAVITY).clamp(min=-HIGHEST_FALL))
    x, vx = _across(state, vx)
    y, vy, landed = _upright(state, x, vy, down & grounded)
    facing = torch.where(across != 0, across, state.facing)
    return replace(state, x=x, y=y, vx=vx, vy=vy, facing=facing, grounded=landed, charged=up & grounded & landed)


def _across(state: State, vx: Tensor) -> tuple[Tensor, Tensor]:
    """Move left or right until a wall; a wall stops."""
    x = state.x + vx
    edge = torch.where(vx > 0, x + HALF_WIDTH - 1, x - HALF_WIDTH) >> 8
    rows = torch.stack((state.y, state.y + HEIGHT // 2, state.y + HEIGHT - 1), 1) >> 8
    blocked = (cells(state.grid, rows, edge[:, None].expand(-1, 3)) >= n.WALL).any(1)
    at_wall = torch.where(vx > 0, (edge << 8) - HALF_WIDTH, ((edge + 1) << 8) + HALF_WIDTH)
    return torch.where(blocked, at_wall, x), torch.where(blocked, 0, vx)


def _upright(state: State, x: Tensor, vy: Tensor, drop: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Move up or down; boxes carry whoever comes from above and does not press down."""
    y = state.y + vy
    falling = vy <= 0
    row = torch.where(falling, y, y + HEIGHT - 1) >> 8
    columns = torch.stack((x - HALF_WIDTH, x + HALF_WIDTH - 1), 1) >> 8
    kind = cells(state.grid, row[:, None].expand(-1, 2), columns)
    solid = (kind >= n.WALL).any(1)
    box = ((kind == n.BOX) | (kind == n.CRATE)).any(1)
    top = (row + 1) << 8
    landed = falling & (solid | (box & (state.y >= top) & ~drop))
    bumped = ~falling & solid
    y = torch.where(landed, top, torch.where(bumped, (row << 8) - HEIGHT, y))
    return y, torch.where(landed | bumped, 0, vy), landed


def _move_enemies(state: State, turning: bool) -> State:
    x = state.enemy_x + state.enemy_way * state.enemy_speed
    back = ((x >= state.enemy_high) & (state.enemy_way > 0)) | ((x <= state.enemy_low) & (state.enemy_way < 0))
    x = torch.minimum(torch.maximum(x, state.enemy_low), state.enemy_high)
    way = torch.where(back, -state.enemy_way, state.enemy_way) if turning else state.enemy_way
    return replace(state, enemy_x=x, enemy_way=way)


def _outcome(state: State, time_limit: int) -> Tensor:
    """What the agent touches; the coin counts before anything that hurts."""
    touched = _touched(state)
    near = (state.enemy_x - state.x[:, None]).abs() < HALF_WIDTH + ENEMY_HALF
    above = state.enemy_y - state.y[:, None]
    hit = near & (above < HEIGHT) & (above > -ENEMY_HEIGHT)
    met = torch.where((hit & (state.enemy_way < 0)).any(1), n.BY_ENEMY_LEFT, 0)
    met = torch.where((hit & (state.enemy_way > 0)).any(1), n.BY_ENEMY_RIGHT, met)
    outcome = torch.where(state.steps >= time_limit, n.BY_TIME, 0)
    for cause in (n.BY_LAVA, n.BY_SAW):
        outcome = torch.where((touched == cause).any(1), cause, outcome)
    outcome = torch.where(met > 0, met, outcome)
    return torch.where((touched == n.COIN_REACHED).any(1), n.COIN_REACHED, outcome).to(torch.uint8)


def _touched(state: State) -> Tensor:
    """What follows from each of the six cells that the agent can reach into: 0 where it touches nothing."""
    left, right = state.x[:, None] - HALF_WIDTH, state.x[:, None] + HALF_WIDTH
    low, high = state.y[:, None], state.y[:, None] + HEIGHT
    columns = torch.cat((left, right - 1), 1)[:, None, :].expand(-1, 3, -1).flatten(1) >> 8
    rows = torch.cat((low, low + HEIGHT // 2, high - 1), 1)[:, :, None].expand(-1, -1, 2).flatten(1) >> 8
    part = _table("touch", state.x.device)[cells(state.grid, rows, columns).to(torch.int64)]
    x, y = columns << 8, rows << 8
    inside = (left < x + part[..., 1]) & (right > x + part[..., 0])
    inside &= (low < y + part[..., 3]) & (high > y + part[..., 2])
    return torch.where(inside, part[..., 4], 0)
