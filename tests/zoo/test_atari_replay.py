"""What Atari agents learn from: stacks that never reach into another game, returns that stop where a life ends."""

from __future__ import annotations

import pytest
import torch
from innerview_zoo.models.atari.replay import Replay
from innerview_zoo.models.atari.rollout import Rollout

from innerview.worlds.atari.frames import push_frames

CPU = torch.device("cpu")


def grey(value: int, lanes: int) -> torch.Tensor:
    return torch.full((lanes, 84, 84), value, dtype=torch.uint8)


def filled(turns: int, *, over_at: tuple[int, ...] = (), lost_at: tuple[int, ...] = (), capacity: int = 64) -> Replay:
    """Two lanes; the frame of moment t is t everywhere, its action t % 3, its reward t."""
    replay = Replay(lanes=2, capacity=capacity, device=CPU)
    for turn in range(turns):
        for group in (0, 1):
            over = torch.tensor([turn - 1 in over_at])
            lost = torch.tensor([turn - 1 in lost_at])
            rewards = torch.tensor([float(turn - 1)])
            replay.add(group, grey(turn, 1), rewards=rewards, ended=over | lost, over=over)
            replay.act(group, torch.tensor([turn % 3]))
    return replay


def stack(replay: Replay, time: int) -> list[int]:
    return replay.stacks(torch.tensor([1]), torch.tensor([time]))[0, :, 0, 0].tolist()


def test_a_stack_is_the_last_four_frames_oldest_first() -> None:
    assert stack(filled(10), 7) == [4, 5, 6, 7]


def test_a_stack_repeats_a_games_first_frame() -> None:
    replay = filled(10, over_at=(4,))
    assert stack(replay, 0) == [0, 0, 0, 0]
    assert stack(replay, 4) == [1, 2, 3, 4]
    assert stack(replay, 5) == [5, 5, 5, 5]
    assert stack(replay, 6) == [5, 5, 5, 6]


def test_a_lost_life_does_not_cut_the_stack() -> None:
    assert stack(filled(10, lost_at=(4,)), 6) == [3, 4, 5, 6]


def test_stacks_are_those_of_the_world() -> None:
    replay, stacks = Replay(lanes=2, capacity=64, device=CPU), torch.zeros(1, 4, 84, 84, dtype=torch.uint8)
    for turn in range(12):
        over = torch.tensor([turn in (5, 7)])
        frames = torch.randint(256, (1, 84, 84), dtype=torch.uint8)
        new = replay.add(0, frames, rewards=torch.zeros(1), ended=over, over=over)
        stacks = push_frames(stacks, frames, over | (turn == 0))
        assert torch.equal(new, stacks)


@pytest.mark.parametrize("turns", [30, 200])
def test_what_is_drawn_reports_what_came_of_it(turns: int) -> None:
    torch.manual_seed(0)
    replay = filled(turns)
    batch = replay.draw(256, steps=3, discount=0.5)
    now = batch.frames[:, 3, 0, 0].float()
    assert torch.equal(batch.later[:, 3, 0, 0].float(), now + 3)
    assert torch.equal(batch.actions.float(), now % 3)
    assert torch.allclose(batch.returns, now + 0.5 * (now + 1) + 0.25 * (now + 2))
    assert torch.equal(batch.weight, torch.full_like(now, 0.125))
    assert now.min() <= max(turns - 32 + 8, 0) + 2 and now.max() == turns - 4


def test_nothing_counts_after_a_life_ended() -> None:
    torch.manual_seed(0)
    batch = filled(20, lost_at=(10,)).draw(512, steps=3, discount=0.5)
    at = {
        int(t): (float(r), float(w))
        for t, r, w in zip(batch.frames[:, 3, 0, 0], batch.returns, batch.weight, strict=True)
    }
    assert at[8] == (8 + 0.5 * 9 + 0.25 * 10, 0.0)
    assert at[10] == (10.0, 0.0)
    assert at[11] == (11 + 0.5 * 12 + 0.25 * 13, 0.125)


def test_advantages_by_hand() -> None:
    rollout = Rollout(lanes=2, steps=3, frames=1, memory=0, device=CPU)
    rollout.values[:] = torch.tensor([[1.0, 0], [2, 0], [3, 0], [4, 8]])
    rollout.rewards[:3] = torch.tensor([[0.0, 0], [1, 0], [0, 1]])
    rollout.ended[1, 0] = True
    rollout.judge(0.5, 0.5)
    last = 0 + 0.5 * 4 - 3
    middle = 1 - 2
    first = 0 + 0.5 * 2 - 1 + 0.25 * middle
    assert rollout.advantages[:, 0].tolist() == [first, middle, last]
    assert rollout.advantages[:, 1].tolist() == [5 * 0.25**2, 5 * 0.25, 5.0]
