"""A search that knows nothing of how levels are made finds a way to the coin in every one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from innerview_zoo.worlds.platformer import ACTIONS, FIRST_TEST_LEVEL, OUTCOMES, PlatformerSettings, State, make_levels
from innerview_zoo.worlds.platformer.physics import advance

LIMIT = 500
PLANS = (
    ("right",) * 6,
    ("up-right", "right", "right", "right", "right", "right"),
    ("right", "right", "right", "up-right", "right", "right"),
    ("A",) * 6,
    ("up", "A", "A", "right", "right", "right"),
    ("left", "left", "left", "A", "A", "A"),
)
KEPT = 40


def solved(levels: State) -> torch.Tensor:
    """Which levels a beam of forty states, each tried with six plans of six actions, finishes."""
    plans = torch.tensor([[ACTIONS.index(name) for name in plan] for plan in PLANS])
    count = levels.count
    done = torch.zeros(count, dtype=torch.bool)
    beam, owner = levels, torch.arange(count)
    for _ in range(LIMIT // 6):
        tries = beam.at(torch.arange(beam.count).repeat_interleave(len(PLANS)))
        owner = owner.repeat_interleave(len(PLANS))
        choice = plans.repeat(beam.count, 1)
        for step in range(6):
            tries = advance(tries, choice[:, step], LIMIT)
        done[owner[tries.outcome == OUTCOMES.index("coin")]] = True
        alive = (tries.outcome == 0) & ~done[owner]
        if not alive.any():
            break
        beam, owner = furthest(tries.at(alive), owner[alive])
    return done


def furthest(tries: State, owner: torch.Tensor) -> tuple[State, torch.Tensor]:
    """Of each level the states that are furthest right, no two in the same place."""
    place = (owner * 4096 + (tries.x >> 6)) * 4096 + (tries.y >> 6)
    order = place.argsort(stable=True)
    fresh = torch.ones(order.shape[0], dtype=torch.bool)
    fresh[1:] = place[order[1:]] != place[order[:-1]]
    order = order[fresh]
    order = order[(owner[order] * 65536 + 65535 - tries.x[order]).argsort(stable=True)]
    mine = owner[order]
    rank = torch.arange(order.shape[0]) - torch.searchsorted(mine, mine)
    order = order[rank < KEPT]
    return tries.at(order), owner[order]


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Small tensors gain nothing from more, and other tests may be running."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(("first", "count", "difficulty"), [(FIRST_TEST_LEVEL, 200, 8), (0, 50, 10)])
def test_a_search_solves_two_hundred_levels(first: int, count: int, difficulty: int) -> None:
    levels = make_levels(torch.arange(first, first + count), PlatformerSettings(difficulty=difficulty))
    done = solved(levels)
    assert done.all(), f"no way found in levels {levels.level[~done].tolist()}"


def test_the_search_notices_a_level_that_cannot_be_solved() -> None:
    levels = make_levels(torch.arange(4), PlatformerSettings())
    levels.grid[2, :, 8] = 7  # a wall to the sky
    assert solved(levels).tolist() == [True, True, False, True]
