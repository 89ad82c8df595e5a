"""Crowds of games: the platformer's batch is the same game as its lanes, only told less of."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
import torch
from innerview_zoo.worlds.platformer import FIRST_TEST_LEVEL
from innerview_zoo.worlds.platformer.lanes import PlatformerWorld
from innerview_zoo.worlds.platformer.levels import make_levels

from innerview.errors import UnknownName, WorldError
from innerview.testing.worlds import CountingWorld
from innerview.worlds import world
from innerview.worlds.crowds import (
    LANES,
    LANES_ON_GPU,
    Crowded,
    Hiding,
    Known,
    MaskProvider,
    crowd,
    default_lanes,
    hiding,
)

SEEDS = (4, 19, 33)


def platformer(**settings: object) -> PlatformerWorld:
    made = world("platformer", **settings)
    assert isinstance(made, PlatformerWorld)
    return made


def test_a_crowd_shows_and_ends_games_as_lanes_do() -> None:
    made = platformer(time_limit=12)
    lanes, games = made.open(3), crowd(made, 3, device="cpu")
    moments = [lanes.reset(lane, seed) for lane, seed in enumerate(SEEDS)]
    games.begin(SEEDS[:2])
    games.begin(SEEDS[2:])
    running = [0, 1, 2]
    for turn in range(12):
        seen = games.seen()["observation"]
        for place, lane in enumerate(running):
            assert np.array_equal(seen[place], moments[lane].observation["observation"])
        actions = np.array([(lane + turn) % 9 if turn % 3 else 5 for lane in running])
        after = lanes.step({lane: int(action) for lane, action in zip(running, actions, strict=True)})
        rewards, endings = games.step(actions)
        assert endings == [after[lane].ended for lane in running]
        assert rewards.tolist() == [after[lane].reward for lane in running]
        moments = [after.get(lane, moment) for lane, moment in enumerate(moments)]
        assert all(games.facts(place) == {} for place in range(len(endings))), "only endings are counted"
        gone = np.array([bool(ending) for ending in endings])
        games.leave(gone)
        running = [lane for lane, left in zip(running, gone, strict=True) if not left]
        if not running:
            break
    assert not running


@pytest.mark.parametrize("turning", [True, False])
def test_whether_enemies_turn_is_the_same_in_all_forms_of_the_world(turning: bool) -> None:
    made = platformer(turning=turning)
    assert made.info.settings.get("turning", True) is turning
    has = (make_levels(torch.arange(60), made.settings).enemy_way != 0).any(1)
    seeds = has.nonzero()[:3, 0].tolist()
    lanes, games = made.open(3), made.crowd()
    games.begin(seeds)
    for lane, seed in enumerate(seeds):
        lanes.reset(lane, seed)
    before = games._running().enemy_way
    after = [lanes.skip(lane, [6] * 150) for lane in range(3)]
    for _ in range(150):
        _, endings = games.step(np.full(3, 6))
        assert not any(endings), "nobody who stands still comes to harm in these levels"
    seen = games.seen()["observation"]
    assert all(np.array_equal(seen[lane], after[lane].observation["observation"]) for lane in range(3))
    assert torch.equal(games._running().enemy_way, before) is not turning


def test_limited_levels_lead_round_in_a_crowd_too() -> None:
    made = platformer(levels=5, first_level=100)
    games = made.crowd()
    games.begin([2, 7, 3])
    first, again, other = games.seen()["observation"]
    assert np.array_equal(first, again) and not np.array_equal(first, other)


@pytest.mark.parametrize("seed", [-1, 2**62 + 1, 2**70, 2.5])
def test_a_seed_that_no_level_has_is_reported_in_a_crowd_too(seed: int) -> None:
    with pytest.raises(WorldError, match="The seed of a level"):
        platformer().crowd().begin([seed])


def test_things_can_be_there_without_being_seen() -> None:
    made = platformer()
    unseen = hiding(made, "saw")
    assert isinstance(unseen, PlatformerWorld) and unseen.settings.invisible == ("saw",)
    assert hiding(unseen, "lava").info.settings["invisible"] == ["saw", "lava"]
    assert made.settings.invisible == ()
    with pytest.raises(UnknownName, match="Did you mean 'saw'"):
        hiding(made, "saws")
    with pytest.raises(WorldError, match="'counting' cannot make anything invisible"):
        hiding(CountingWorld(), "saw")


def test_the_platformer_knows_its_endings_and_fresh_levels() -> None:
    made = platformer()
    assert isinstance(made, Known) and isinstance(made, Hiding) and isinstance(made, Crowded)
    assert made.endings[0] == "coin" and made.fresh_seed == FIRST_TEST_LEVEL
    assert platformer(first_level=1_000).fresh_seed == FIRST_TEST_LEVEL - 1_000
    assert platformer(levels=100).fresh_seed is None
    assert isinstance(made, MaskProvider)
    told = made.with_masks()
    assert [spec.role for spec in told.info.observations] == ["observation", "mask"]


def test_many_games_run_side_by_side_where_they_cost_little() -> None:
    assert default_lanes(platformer(), crowd_on="cpu") == LANES
    assert default_lanes(platformer(), crowd_on="cuda:0") == LANES_ON_GPU
    assert default_lanes(CountingWorld(), crowd_on="cpu") == default_lanes(CountingWorld()) == 8
    assert default_lanes(platformer(), recorded=True) == default_lanes(CountingWorld(), recorded=True) == 4


def test_an_environment_of_which_there_is_one_is_played_alone() -> None:
    alone = world(gymnasium.make("CartPole-v1"))
    assert default_lanes(alone) == default_lanes(alone, recorded=True) == default_lanes(alone, crowd_on="cpu") == 1
