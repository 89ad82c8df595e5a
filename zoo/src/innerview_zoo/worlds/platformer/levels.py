"""Makes levels of seeds: a row of segments, each with its obstacle, every one of which can be passed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields
from functools import cache

import torch
from torch import Tensor

from innerview_zoo.worlds.platformer.hashing import draw, root
from innerview_zoo.worlds.platformer.names import (
    BOX,
    BRICK,
    COIN,
    COLUMNS,
    CRATE,
    EMPTY,
    ENEMIES,
    FLOOR,
    LAVA,
    LAVA_TOP,
    ROWS,
    SAW,
    TURF,
    UNIT,
    WALL,
)
from innerview_zoo.worlds.platformer.settings import PlatformerSettings
from innerview_zoo.worlds.platformer.state import State

SEGMENTS = 11
"""The first is where the agent starts, the last that is used holds the coin."""
START, FLAT, STEP, CHASM, SAWS, ENEMY, STACK, GOAL = range(8)
LOWEST, HIGHEST = 3, 8
"""Of the ground."""
LONGEST = COLUMNS - 2

_LIMITS = (10, 60, 105, 155, 205, 240)
"""Of 256: below the first a segment is flat, then a step, a chasm, saws, an enemy, and else a stack of boxes."""
_KINDS = (FLAT, STEP, CHASM, SAWS, ENEMY, ENEMY, STACK)
(
    _K_HARD,
    _K_HEIGHT,
    _K_GROUND,
    _K_SKY,
    _K_COLOUR,
) = range(5)
_K_KIND, _K_WIDTH, _K_RISE, _K_EXTRA, _K_ABOVE, _K_WAY, _K_SPEED, _K_LOOK, _K_FROM = (100 * k for k in range(1, 10))
_K_CELL = 10_000


@dataclass(frozen=True)
class _Plan:
    """Segments of many levels: [levels, segments]."""

    roots: Tensor
    kind: Tensor
    start: Tensor
    width: Tensor
    before: Tensor
    """Height of the ground where the segment begins."""
    after: Tensor
    extra: Tensor
    """How many saws, how wide a chasm, how high a stack."""


def make_levels(seeds: Tensor, settings: PlatformerSettings) -> State:
    """The beginning of a game in each level: the same for a seed whatever else is in the batch, on every device."""
    roots = root(seeds)
    plan = _plan(roots, settings)
    goal = plan.kind == GOAL
    end = ((plan.start + plan.width) * goal).sum(1)
    grid = _grid(plan, end)
    count, device = seeds.shape[0], seeds.device

    def whole(value: Tensor) -> Tensor:
        return value.to(torch.int32)

    none = torch.zeros(count, dtype=torch.int32, device=device)
    no = torch.zeros(count, dtype=torch.bool, device=device)
    return State(
        level=seeds,
        steps=none,
        outcome=none.to(torch.uint8),
        x=none + (5 * UNIT // 2),
        y=whole(plan.before[:, 0] * UNIT),
        vx=none,
        vy=none,
        facing=none + 1,
        grounded=~no,
        charged=no,
        grid=grid,
        **_enemies(plan, settings),
        ground=whole(draw(roots, _K_GROUND, settings.themes)),
        sky=whole(draw(roots, _K_SKY, settings.themes)),
        colour=whole(draw(roots, _K_COLOUR, settings.sprites)),
        length=whole(end - 1),
    )


def digest(levels: State) -> list[str]:
    """A short name for the content of each level: equal on two machines where the levels are."""
    parts = [getattr(levels, f.name).cpu().numpy() for f in fields(levels)]
    return [hashlib.sha256(b"".join(part[i].tobytes() for part in parts)).hexdigest()[:16] for i in range(levels.count)]


def _plan(roots: Tensor, settings: PlatformerSettings) -> _Plan:
    number = torch.arange(SEGMENTS, device=roots.device)
    each = roots[:, None]
    hardness = 1 + draw(roots, _K_HARD, settings.difficulty)
    kind = _kinds(each, number, hardness)
    hard = hardness[:, None] >= 5
    extra = draw(each, number + _K_EXTRA, 3) + draw(each, number + _K_EXTRA + 50, 2) * hard
    width = _widths(kind, extra, draw(each, number + _K_WIDTH, 3))
    start = 1 + width.cumsum(1) - width
    # What does not fit is left out: the coin follows the last segment that leaves room for it.
    fits = (start + width + 4 <= LONGEST) & (kind != GOAL)
    used = fits.to(torch.int64).cumprod(1).sum(1, keepdim=True)
    kind = torch.where(number == used, GOAL, kind)
    width = torch.where(number == used, 4, width)
    rise = torch.where(number < used, _rises(kind, extra, draw(each, number + _K_RISE, 4), hard), 0)
    before, after = _heights(LOWEST + 1 + draw(roots, _K_HEIGHT, 3), rise)
    kind, start = torch.where(number > used, FLAT, kind), torch.where(number > used, COLUMNS, start)
    return _Plan(roots, kind, start, width, before, after, extra)


def _kinds(each: Tensor, number: Tensor, hardness: Tensor) -> Tensor:
    chance = draw(each, number + _K_KIND, 256)
    limits, kinds = _lots(each.device)
    kind = kinds[(chance[..., None] >= limits).sum(-1)]
    kind = torch.where(number == 0, START, kind)
    return torch.where(number > torch.clamp(hardness[:, None], max=SEGMENTS - 2), GOAL, kind)


@cache
def _lots(device: torch.device) -> tuple[Tensor, Tensor]:
    return torch.tensor(_LIMITS, device=device), torch.tensor(_KINDS, device=device)


def _widths(kind: Tensor, extra: Tensor, more: Tensor) -> Tensor:
    width = 3 + more
    width = torch.where(kind == CHASM, 5 + torch.clamp(extra, max=2) + 1, width)
    width = torch.where(kind == SAWS, 5 + more, width)
    width = torch.where(kind == ENEMY, 6 + more, width)
    width = torch.where(kind == STACK, 5 + more, width)
    return torch.where((kind == START) | (kind == GOAL), 4, width)


def _rises(kind: Tensor, extra: Tensor, drawn: Tensor, hard: Tensor) -> Tensor:
    """How much higher the ground is after a segment."""
    step = torch.where(drawn == 0, 1, torch.where(drawn == 1, 2, torch.where(drawn == 2, -1, -2)))
    step = step + (hard & (drawn == 3)) * -1
    chasm = (drawn == 0).to(torch.int64) - (drawn == 1).to(torch.int64)
    stack = torch.where(drawn == 0, 0, torch.clamp(extra, max=2) + drawn)
    rise = torch.where(kind == STEP, step, torch.where(kind == CHASM, chasm * hard, 0))
    return torch.where(kind == STACK, torch.clamp(stack, max=4), rise)


def _heights(first: Tensor, rise: Tensor) -> tuple[Tensor, Tensor]:
    before, after, height = [], [], first
    for number in range(SEGMENTS):  # each depends on the one before, for it must stay between two bounds
        before.append(height)
        height = torch.clamp(height + rise[:, number], LOWEST, HIGHEST)
        after.append(height)
    return torch.stack(before, 1), torch.stack(after, 1)


def _grid(plan: _Plan, end: Tensor) -> Tensor:
    """Cells, made column by column from the segment that a column lies in."""
    device = plan.kind.device
    column = torch.arange(COLUMNS, device=device)
    lies_in = (column[None, :, None] >= plan.start[:, None, :]).sum(-1).clamp(min=1) - 1

    def of(part: Tensor) -> Tensor:
        return part.gather(1, lies_in)[:, None, :]

    kind, inside, extra = of(plan.kind), column - of(plan.start), of(plan.extra)
    before, after, width = of(plan.before), of(plan.after), of(plan.width)
    row = torch.arange(ROWS, device=device)[None, :, None]
    gap = 2 + extra.clamp(max=2)
    rises_at = torch.where(kind == CHASM, 2, torch.where(kind == STACK, 4, 0))
    height = torch.where(inside >= rises_at, after, before)
    outer = (column < 1) | (column[None, None, :] >= end[:, None, None])
    in_gap = (kind == CHASM) & (inside >= 2) & (inside < 2 + gap)

    lot = draw(plan.roots[:, None, None], _K_CELL + row * COLUMNS + column, 16)
    grid = torch.where(row < height - 1, torch.where(lot < 3, BRICK, WALL), EMPTY)
    grid = torch.where(row == height - 1, torch.where(lot < 4, TURF, FLOOR), grid)
    lava = torch.minimum(before, after) - 2
    grid = torch.where(in_gap, torch.where(row < lava, LAVA, torch.where(row == lava, LAVA_TOP, EMPTY)), grid)
    saws = 1 + (extra >= 3)
    grid = torch.where((kind == SAWS) & (row == height) & (inside >= 2) & (inside < 2 + saws), SAW, grid)
    tall = 1 + (after - before >= 3)
    stack = (kind == STACK) & (inside >= 2) & (inside < 4) & (row >= height) & (row < height + tall)
    grid = torch.where(stack, torch.where(lot < 8, BOX, CRATE), grid)
    grid = torch.where((kind == GOAL) & (inside == width - 1) & (row == height), COIN, grid)
    grid = _above(plan, grid, kind, inside, row - height, of(draw(plan.roots[:, None], _numbers(device) + _K_ABOVE, 8)))
    return torch.where(outer, torch.where(lot < 3, BRICK, WALL), grid).to(torch.uint8)


def _above(plan: _Plan, grid: Tensor, kind: Tensor, inside: Tensor, up: Tensor, lot: Tensor) -> Tensor:
    """Boxes and walls that hang in the air, where they are in nobody's way."""
    fit = (kind == FLAT) | (kind == SAWS) | (kind == ENEMY)
    boxes = fit & (lot == 1) & (up == 2) & (inside >= 1) & (inside < 4)
    grid = torch.where(boxes, BOX, grid)
    walls = fit & (lot == 2) & (up == 5) & (inside >= 1) & (inside < 4)
    return torch.where(walls, FLOOR, grid)


def _numbers(device: torch.device) -> Tensor:
    return torch.arange(SEGMENTS, device=device)


def _enemies(plan: _Plan, settings: PlatformerSettings) -> dict[str, Tensor]:
    number = _numbers(plan.kind.device)
    each = plan.roots[:, None]
    low = plan.start * UNIT + UNIT * 3 // 2
    high = (plan.start + plan.width) * UNIT - UNIT * 3 // 2
    way = draw(each, number + _K_WAY, 2) * 2 - 1
    has = plan.kind == ENEMY
    parts = {
        "enemy_x": low + (((high - low) * draw(each, number + _K_FROM, 256)) >> 8),
        "enemy_y": plan.before * UNIT,
        "enemy_way": torch.where(has, way, 0),
        "enemy_speed": 14 + draw(each, number + _K_SPEED, 12),
        "enemy_low": low,
        "enemy_high": high,
        "enemy_look": draw(each, number + _K_LOOK, settings.sprites),
    }
    first = torch.argsort(torch.where(has, number, number + SEGMENTS), dim=1)[:, :ENEMIES]
    return {name: part.gather(1, first).to(torch.int32) for name, part in parts.items()}
