"""Episodes are played whole, in the order of their seeds, and the same way every time."""

from __future__ import annotations

import pytest
import torch
from innerview_zoo.episodes import play
from innerview_zoo.testing import counting
from torch import Tensor, nn

from innerview.errors import InnerviewError, UnknownName, WorldError
from innerview.subjects import Subject, subject
from innerview.testing.worlds import ContinuousWorld, CountingWorld, CrashingWorld, episode_length

ACTIONS = ["left", "right", "forward"]


class Steady(nn.Module):
    """Wants to go forward whatever it sees."""

    def __init__(self) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.tensor([0.0, 0.0, 5.0]))

    def forward(self, x: Tensor) -> Tensor:
        return x.flatten(1).sum(1, keepdim=True) * 0 + self.bias


class Timer(nn.Module):
    """Goes forward until its memory has counted to ten."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(1, 1)
        self.wish = nn.Parameter(torch.tensor([50.0, 0.0, -50.0]))
        with torch.no_grad():
            for part in self.cell.parameters():
                part.zero_()
            self.cell.bias_ih[1], self.cell.bias_ih[2] = 3.0, 9.0  # keeps 95 %, the rest comes from 1

    def forward(self, x: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
        h = self.cell(x.flatten(1)[:, :1] * 0, h)
        return (h - 0.4) * self.wish, h


def agent(module: nn.Module) -> Subject:
    return subject(module, name="agent", example=torch.zeros(1, 3, 8, 8), actions=ACTIONS, heads="policy")


def test_every_seed_is_played_to_its_end_in_order() -> None:
    world, seeds = CountingWorld(), [9, 2, 4, 3, 8]
    played = play(agent(Steady()), world, seeds, lanes=2, choose="greedy")
    assert [each.seed for each in played] == seeds
    assert [each.length for each in played] == [episode_length(seed) for seed in seeds]
    assert [each.total_reward for each in played] == [float(episode_length(seed)) for seed in seeds]
    assert [each.outcome for each in played] == ["died" if seed % 2 else "time limit" for seed in seeds]
    assert played[0].facts["x"] == 10.0
    assert world.opened == 0


def test_memory_begins_anew_in_each_episode() -> None:
    played = play(agent(Timer()), CountingWorld(length=25), range(6), lanes=2, choose="greedy")
    assert len({each.total_reward for each in played}) == 1
    assert 0 < played[0].total_reward < 25


@pytest.mark.parametrize("lanes", [1, 3])
def test_the_same_arguments_give_the_same_episodes(lanes: int) -> None:
    mover = counting(nn.GRUCell(12, 8))
    first = play(mover, CountingWorld(), range(7), lanes=lanes, noise=0.1)
    assert first == play(mover, CountingWorld(), range(7), lanes=lanes, noise=0.1)
    assert first != play(mover, CountingWorld(), range(7), lanes=lanes, choose="greedy")


def test_noise_takes_its_share_of_the_actions() -> None:
    played = play(agent(Steady()), CountingWorld(length=400), range(10), choose="greedy", noise=0.3)
    share = sum(each.total_reward for each in played) / 4000
    assert share == pytest.approx(1 - 0.3 * 2 / 3, abs=0.02), "one random action in three goes forward too"


def test_noise_of_one_plays_at_random() -> None:
    played = play(agent(Steady()), CountingWorld(length=400), range(10), noise=1.0)
    assert sum(each.total_reward for each in played) / 4000 == pytest.approx(1 / 3, abs=0.03)


def test_long_episodes_can_be_cut() -> None:
    played = play(agent(Steady()), CountingWorld(length=100), [1, 2], max_steps=7, choose="greedy")
    assert [(each.length, each.outcome) for each in played] == [(7, "step limit")] * 2


def test_progress_counts_episodes() -> None:
    told: list[tuple[int, int, str]] = []
    play(agent(Steady()), CountingWorld(), range(3), lanes=1, choose="greedy", progress=lambda *a: told.append(a))
    assert told[0] == (0, 3, "")
    assert [done for done, _, _ in told] == [0, 1, 2, 3]
    assert told[-1][2] == f"mean return {sum(map(episode_length, range(3))) / 3:.4g}"


def test_games_are_closed_when_one_fails() -> None:
    world = CrashingWorld(crash_at=3)
    with pytest.raises(WorldError, match="step 3"):
        play(agent(Steady()), world, [1, 2])
    assert world.opened == 0


def test_what_cannot_be_played_is_refused() -> None:
    steady, world = agent(Steady()), CountingWorld()
    with pytest.raises(InnerviewError, match="no seeds"):
        play(steady, world, [])
    with pytest.raises(InnerviewError, match="whole number, not '3'"):
        play(steady, world, ["3"])  # type: ignore[list-item]
    with pytest.raises(UnknownName, match="Did you mean 'greedy'"):
        play(steady, world, [1], choose="greedily")  # type: ignore[arg-type]
    with pytest.raises(InnerviewError, match="from 0 to 1, not 5"):
        play(steady, world, [1], noise=5)
    with pytest.raises(InnerviewError, match="lanes"):
        play(steady, world, [1], lanes=0)
    with pytest.raises(InnerviewError, match="discrete"):
        play(steady, ContinuousWorld(), [1], noise=0.5)
