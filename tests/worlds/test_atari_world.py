"""Atari as a world: what the agent sees, what people see, what is told, and how episodes end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from innerview.errors import UnknownName, WorldError
from innerview.schema import Moment
from innerview.worlds import world
from innerview.worlds.atari.frames import shrink_grey

pytest.importorskip("ale_py")

from innerview.worlds.atari.world import AtariLane, AtariWorld


def lane(game: str = "breakout", **settings: Any) -> AtariLane:
    made = world(f"atari:{game}", **settings)
    assert isinstance(made, AtariWorld)
    return made.game()


def rest(game: AtariLane, limit: int = 3000) -> list[Moment]:
    """Do nothing until the episode ends."""
    moments: list[Moment] = []
    while not (moments and moments[-1].ended) and len(moments) < limit:
        moments.append(game.step(0))
    return moments


def test_it_says_what_it_shows_and_takes() -> None:
    info = world("atari:seaquest").info
    assert (info.name, info.family, info.actions.size) == ("seaquest", "atari", 18)
    stack, picture = info.observations
    assert (stack.shape, stack.role, stack.elements[-1]) == ((84, 84, 4), "observation", "now")
    assert (picture.shape, picture.role) == ((210, 160, 3), "image")
    assert info.settings["seconds_per_step"] == pytest.approx(4 / 60)
    assert {fact.name: fact.kind for fact in info.facts}["life_lost"] == "event"


def test_moments_hold_what_was_promised() -> None:
    for name in ("breakout", "seaquest", "pong"):
        made = world(f"atari:{name}")
        lanes = made.open(1)
        moment = lanes.reset(0, 4)
        assert {n: a.shape for n, a in moment.observation.items()} == {o.name: o.shape for o in made.info.observations}
        assert set(moment.facts) == {fact.name for fact in made.info.facts}
        assert set(lanes.step({0: 1})[0].facts) == set(moment.facts)
        lanes.close()


def test_the_stack_begins_with_copies_and_the_newest_frame_is_last() -> None:
    game = lane(noop_max=0)
    first = game.reset(0).observation["observation"]
    assert all(np.array_equal(first[..., i], first[..., 3]) for i in range(3))
    second, third = game.step(2).observation["observation"], game.step(2).observation["observation"]
    assert np.array_equal(third[..., :3], second[..., 1:])
    assert not np.array_equal(third[..., 3], third[..., 2])
    assert first[..., 3].max() > 0


def test_the_newest_frame_is_what_training_makes_of_the_screen() -> None:
    game, bare = lane(noop_max=0, stack=1), lane(noop_max=0).atari
    game.reset(0)
    bare.reset(0)
    seen = game.step(2).observation["observation"]
    assert np.array_equal(seen[..., 0], shrink_grey(torch.from_numpy(bare.step(2).screen_hw)[None])[0].numpy())


def test_lives_scores_and_the_end_are_reported() -> None:
    game = lane()
    assert game.reset(0).facts["lives"] == 5
    moments = rest(game)
    assert moments[-1].ended == "game over"
    assert sum(moment.facts["life_lost"] for moment in moments) == 5
    assert [m.facts["lives"] for m in moments if m.facts["life_lost"]] == [4, 3, 2, 1, 0]
    assert moments[-1].facts["score"] == sum(moment.reward for moment in moments)
    hits = [moment.facts["brick_hit"] for moment in moments]
    assert [moment.reward > 0 for moment in moments] == hits


def test_an_episode_can_be_one_life() -> None:
    game = lane(episodic_life=True)
    game.reset(0)
    assert rest(game)[-1].ended == "life lost"


def test_a_long_episode_ends_by_the_clock() -> None:
    game = lane("seaquest", max_frames=60)
    game.reset(0)
    assert rest(game)[-1].ended == "time limit"


def test_lanes_play_what_one_game_plays() -> None:
    game, lanes = lane(), world("atari:breakout").open(2)
    lanes.reset(0, 9)
    lanes.reset(1, 3)
    game.reset(3)
    for step in range(30):
        alone, beside = game.step(step % 4), lanes.step({0: 1, 1: step % 4})[1]
        assert np.array_equal(alone.observation["observation"], beside.observation["observation"])
        assert alone.facts == beside.facts
    lanes.close()


def test_a_bookmark_brings_everything_back() -> None:
    game = lane()
    game.reset(1)
    for step in range(20):
        game.step(2 + step % 2)
    bookmark = game.clone()
    first = [game.step(3) for _ in range(15)]
    assert game.restore(bookmark).facts == bookmark.moment.facts
    for before in first:
        after = game.step(3)
        assert after.facts == before.facts
        assert all(np.array_equal(after.observation[n], before.observation[n]) for n in before.observation)


def test_without_picture_only_the_stack_is_saved() -> None:
    game = lane(picture=False)
    assert set(game.reset(0).observation) == {"observation"}


def test_mistakes_are_explained() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'seaquest'"):
        world("atari:seaqest")
    with pytest.raises(UnknownName, match="Did you mean 'noop_max'"):
        world("atari:breakout", noops_max=3)
    with pytest.raises(WorldError, match="stack is how many"):
        world("atari:breakout", stack=0)
    with pytest.raises(WorldError, match=r"whole number, not 'one'"):
        world("atari:breakout").open(1).reset(0, "one")  # type: ignore[arg-type]
    game = lane()
    with pytest.raises(WorldError, match=r"reset\(seed\) before"):
        game.step(0)
    game.reset(0)
    with pytest.raises(WorldError, match="no action 9; breakout has 0 to 3"):
        game.step(9)
