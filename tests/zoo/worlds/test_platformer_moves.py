"""What actions do: jumps, boxes, walls, and what ends an episode."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from innerview_zoo.worlds.platformer import ACTIONS, OUTCOMES, TILES, PlatformerSettings, State, make_levels
from innerview_zoo.worlds.platformer.names import UNIT
from innerview_zoo.worlds.platformer.physics import advance

FLOOR_Y = 4


def flat(*, x: float = 5.5, y: float = FLOOR_Y) -> State:
    """One level of nothing but a long floor."""
    level = make_levels(torch.tensor([0]), PlatformerSettings())
    grid = torch.zeros_like(level.grid)
    grid[:, :FLOOR_Y] = TILES.index("wall")
    grid[:, :, 0] = TILES.index("wall")
    return replace(
        level,
        grid=grid,
        enemy_way=torch.zeros_like(level.enemy_way),
        x=torch.tensor([round(x * UNIT)], dtype=torch.int32),
        y=torch.tensor([round(y * UNIT)], dtype=torch.int32),
    )


def put(state: State, kind: str, column: int, row: int) -> State:
    grid = state.grid.clone()
    grid[0, row, column] = TILES.index(kind)
    return replace(state, grid=grid)


def play(state: State, *actions: str, limit: int = 500) -> list[State]:
    states = [state]
    for name in actions:
        states.append(advance(states[-1], torch.tensor([ACTIONS.index(name)]), limit))
    return states


def tiles(value: torch.Tensor) -> float:
    return value.item() / UNIT


@pytest.mark.parametrize("action", ["A", "B", "C"])
def test_three_actions_do_nothing(action: str) -> None:
    last = play(flat(), *[action] * 5)[-1]
    assert (tiles(last.x), tiles(last.y), last.vx.item(), last.vy.item()) == (5.5, FLOOR_Y, 0, 0)
    assert last.grounded.item()


def test_left_and_right_are_mirror_images() -> None:
    right, left = play(flat(x=20), *["right"] * 9), play(flat(x=20), *["left"] * 9)
    assert [s.x.item() - 20 * UNIT for s in right] == [20 * UNIT - s.x.item() for s in left]
    assert tiles(right[-1].vx) == 0.5


def test_up_jumps_only_after_the_next_action_that_is_not_up() -> None:
    held = play(flat(), *["up"] * 4)
    assert all(tiles(s.y) == FLOOR_Y for s in held)
    assert held[-1].charged.item()
    jumped = play(held[-1], "A")[-1]
    assert tiles(jumped.y) > FLOOR_Y
    assert not jumped.charged.item()
    heights = [tiles(s.y) for s in play(held[-1], *["A"] * 20)]
    assert 3 < max(heights) - FLOOR_Y < 3.5
    assert heights[-1] == FLOOR_Y


def test_down_right_after_up_cancels_the_jump() -> None:
    states = play(flat(), "up", "down", "A", "A")
    assert all(tiles(s.y) == FLOOR_Y for s in states)
    assert not states[2].charged.item()


def test_diagonals_are_both_directions_combined() -> None:
    both, across = play(flat(), "up-right")[-1], play(flat(), "right")[-1]
    assert both.vx.item() == across.vx.item() > 0
    assert both.charged.item()
    assert play(flat(), "up-left")[-1].vx.item() == -both.vx.item()


def test_left_and_right_have_less_effect_in_mid_air() -> None:
    on_ground = play(flat(), "right")[-1].vx.item()
    in_air = play(flat(), "up", "A", "right")
    assert 0 < in_air[-1].vx.item() - in_air[-2].vx.item() < on_ground / 2


def test_up_in_mid_air_does_nothing() -> None:
    plain, tried = play(flat(), "up", *["A"] * 6), play(flat(), "up", "A", "A", "up", "A", "up", "A")
    assert [s.y.item() for s in plain] == [s.y.item() for s in tried]


def test_a_box_is_passed_from_the_side_and_from_below_and_stood_on_from_above() -> None:
    boxed = put(flat(x=5.5), "box", 8, FLOOR_Y)
    through = play(boxed, *["right"] * 14)
    assert tiles(through[-1].x) > 10
    assert all(tiles(s.y) == FLOOR_Y for s in through)
    under = put(flat(x=8.5), "box", 8, FLOOR_Y + 1)
    above = play(under, "up", *["A"] * 20)[-1]
    assert tiles(above.y) == FLOOR_Y + 2
    assert above.grounded.item()


def test_down_steps_down_from_a_box() -> None:
    on_top = put(flat(x=8.5, y=FLOOR_Y + 1), "crate", 8, FLOOR_Y)
    assert tiles(play(on_top, "A", "A")[-1].y) == FLOOR_Y + 1
    assert tiles(play(on_top, "A", "down", *["A"] * 12)[-1].y) == FLOOR_Y


def test_walls_stop_and_ceilings_bump() -> None:
    walled = put(flat(), "wall", 8, FLOOR_Y)
    last = play(walled, *["right"] * 20)[-1]
    assert 7.5 < tiles(last.x) < 8
    assert last.vx.item() == 0
    low = put(flat(x=8.5), "wall", 8, FLOOR_Y + 2)
    assert max(tiles(s.y) for s in play(low, "up", *["A"] * 9)) < FLOOR_Y + 1


@pytest.mark.parametrize(
    ("kind", "ended"), [("coin", "coin"), ("saw", "saw"), ("lava top", "lava"), ("lava", "lava"), ("box", "")]
)
def test_running_into_things_ends_the_episode_by_their_name(kind: str, ended: str) -> None:
    last = play(put(flat(), kind, 8, FLOOR_Y), *["right"] * 12)[-1]
    assert OUTCOMES[last.outcome.item()] == ended


@pytest.mark.parametrize(("way", "ended"), [(-1, "enemy moving left"), (1, "enemy moving right")])
def test_an_enemy_is_reported_by_the_way_it_moves(way: int, ended: str) -> None:
    level = flat()
    parts = {"enemy_x": 8 * UNIT, "enemy_y": FLOOR_Y * UNIT, "enemy_way": way, "enemy_low": 0, "enemy_high": 60 * UNIT}
    for name, value in parts.items():
        part = getattr(level, name).clone()
        part[0, 0] = value
        level = replace(level, **{name: part})
    assert OUTCOMES[play(level, *["right"] * 20)[-1].outcome.item()] == ended


def test_enemies_turn_back_at_the_ends_of_their_way() -> None:
    level = make_levels(torch.arange(200), PlatformerSettings())
    ways = level.enemy_way
    turned = torch.zeros_like(ways, dtype=torch.bool)
    state = level
    for _ in range(200):
        state = replace(state, outcome=torch.zeros_like(state.outcome))
        state = advance(state, torch.full((200,), ACTIONS.index("A")), 10_000)
        assert ((state.enemy_x >= level.enemy_low) & (state.enemy_x <= level.enemy_high)).all()
        turned |= state.enemy_way == -ways
    assert turned[ways != 0].all()


def test_enemies_that_do_not_turn_stop_at_the_end_of_their_way() -> None:
    level = make_levels(torch.arange(50), PlatformerSettings())
    state = level
    for _ in range(200):
        state = replace(state, outcome=torch.zeros_like(state.outcome))
        state = advance(state, torch.full((50,), ACTIONS.index("A")), 10_000, turning=False)
    assert torch.equal(state.enemy_way, level.enemy_way)
    right, left = level.enemy_way > 0, level.enemy_way < 0
    assert torch.equal(state.enemy_x[right], level.enemy_high[right])
    assert torch.equal(state.enemy_x[left], level.enemy_low[left])


def test_time_runs_out_and_an_episode_that_ended_stands_still() -> None:
    states = play(flat(), *["right"] * 9, limit=6)
    assert [OUTCOMES[s.outcome.item()] for s in states] == [""] * 6 + ["time"] * 4
    assert states[6].x.item() == states[9].x.item()
    assert states[9].steps.item() == 6
