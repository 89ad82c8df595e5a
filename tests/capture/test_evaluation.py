"""Evaluations say how episodes end, as a recording of the same seeds would."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from innerview_zoo.testing import counting
from innerview_zoo.worlds.platformer import ACTIONS
from torch import nn

from innerview.capture import Plan, evaluate, layout, rollout
from innerview.errors import CaptureError, WorldError
from innerview.schema import EpisodeSummary
from innerview.subjects import Subject, subject
from innerview.testing.crossing import Crossing, meets, walker
from innerview.testing.worlds import CountingWorld, CrashingWorld
from innerview.worlds import World
from innerview.worlds import world as as_world


def told(subject: Subject, world: World, seeds: range, **how: int) -> dict[int, EpisodeSummary]:
    return {one.seed: one for ended in evaluate(subject, world, seeds, **how) for _, one in ended}  # type: ignore[arg-type]


def small_platformer() -> tuple[Subject, World]:
    with torch.random.fork_rng():
        torch.manual_seed(2)
        module = nn.Sequential(nn.Conv2d(3, 4, 8, 8), nn.ReLU(), nn.Flatten(), nn.Linear(256, 9))
    example = torch.zeros(1, 3, 64, 64)
    agent = subject(module, name="small", example=example, actions=list(ACTIONS), heads="policy")
    return agent, as_world("platformer", time_limit=12)


PLAYERS: dict[str, Callable[[], tuple[Subject, World]]] = {
    "remembers": lambda: (counting(nn.GRUCell(12, 8)), CountingWorld()),
    "in a batch": small_platformer,
    "lane by lane": lambda: (walker(), Crossing()),
}


@pytest.mark.parametrize("name", PLAYERS)
def test_episodes_end_as_in_a_recording_of_the_same_seeds(name: str) -> None:
    agent, world = PLAYERS[name]()
    seeds = range(3, 7)
    got = told(agent, world, seeds, lanes=3)
    plan = Plan(seeds=list(seeds), lanes=2)
    for piece in rollout(agent, world, plan, layout(agent, world.info)):
        if piece.summary is not None:
            one, ending = got.pop(piece.summary.seed), piece.summary
            assert (one.outcome, one.length) == (ending.outcome, ending.length)
            assert one.total_reward == pytest.approx(ending.total_reward)
    assert not got


def test_who_sees_what_is_there_comes_through_and_who_does_not_falls() -> None:
    seen = told(walker(), Crossing(), range(27))
    assert {one.outcome for one in seen.values()} == {"through"} and len(seen) == 27
    unseen = told(walker(), Crossing(("red",)), range(27), lanes=5)
    assert {seed for seed, one in unseen.items() if one.outcome == "red"} == {s for s in range(27) if meets(s, "red")}


def test_episodes_that_take_too_long_are_cut() -> None:
    agent, world = small_platformer()
    cut = told(agent, world, range(4), max_steps=7)
    assert {one.length for one in cut.values()} == {7} and {one.outcome for one in cut.values()} == {"step limit"}


def test_greedy_actions_are_the_same_every_time_and_nothing_asked_is_nothing_played() -> None:
    agent, world = walker(), Crossing(("green",))
    first, again = (told(agent, world, range(9), greedy=True, lanes=n) for n in (1, 4))
    assert first == again
    assert told(agent, world, range(0)) == {}


def test_a_world_that_breaks_says_where_and_what_to_do() -> None:
    agent = counting(nn.GRUCell(12, 8))
    with pytest.raises(WorldError, match="step 3"):
        told(agent, CrashingWorld(crash_at=3), range(4))
    with pytest.raises(CaptureError, match="1 or more, not 0"):
        told(agent, CountingWorld(), range(4), lanes=0)
