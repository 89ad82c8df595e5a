"""The platformer as a world and as a Gymnasium environment."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from innerview_zoo.worlds.platformer import ACTIONS, CLASSES, FIRST_TEST_LEVEL, OUTCOMES

from innerview.errors import UnknownName, WorldError
from innerview.schema import Moment
from innerview.worlds import World, world

RIGHT, JUMP = ACTIONS.index("right"), ACTIONS.index("up-right")


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def episode(place: World, seed: int, *, lanes: int = 1, lane: int = 0) -> list[Moment]:
    """Run right and jump every third step until it is over."""
    playing = place.open(lanes)
    moments = [playing.reset(lane, seed)]
    while not moments[-1].ended:
        moments.append(playing.step({lane: JUMP if len(moments) % 3 else RIGHT})[lane])
    playing.close()
    return moments


def test_the_world_reports_what_it_said_it_would() -> None:
    place = world("platformer", render=128, masks=True, time_limit=60)
    assert isinstance(place, World)
    assert place.info.actions.names == ACTIONS
    told = {column.name for column in place.info.facts}
    for moment in episode(place, 3):
        assert set(moment.facts) == told
        for spec in place.info.observations:
            assert moment.observation[spec.name].shape == spec.shape
            assert str(moment.observation[spec.name].dtype) == spec.dtype
    assert [spec.role for spec in place.info.observations] == ["observation", "image", "mask"]


def test_facts_follow_the_game() -> None:
    moments = episode(world("platformer"), 3)
    xs = [m.facts["x"] for m in moments]
    assert xs[0] == 2.5
    assert xs == sorted(xs)
    assert moments[-1].ended in OUTCOMES[1:]
    assert any(m.facts["jumped"] for m in moments)
    assert sum(m.facts["died"] or m.facts["reached_coin"] for m in moments) == 1
    assert [m.facts["steps_left"] for m in moments] == list(range(500, 500 - len(moments), -1))
    assert all(m.scene is None for m in moments[1:])


def test_an_episode_is_the_same_in_every_lane() -> None:
    place = world("platformer")
    alone, beside = episode(place, 11), episode(place, 11, lanes=3, lane=2)
    assert [m.facts for m in alone] == [m.facts for m in beside]
    assert all(
        np.array_equal(a.observation["observation"], b.observation["observation"])
        for a, b in zip(alone, beside, strict=True)
    )


def test_the_objects_in_view_lie_on_pixels_of_their_class() -> None:
    place = world("platformer", masks=True)
    checked = set()
    for seed in range(12):
        for moment in episode(place, seed):
            mask = moment.observation["mask"]
            for thing in moment.facts["objects"]:
                x, y = int(thing["x_px"] + thing["width_px"] / 2), int(thing["y_px"] + thing["height_px"] * 0.6)
                whole = thing["width_px"] >= 4 and thing["height_px"] >= 5
                if whole and abs(x - 32) > 6 and (x > 16 or y > 8):
                    assert CLASSES[mask[min(y, 63), min(x, 63)]] == thing["name"]
                    checked.add(thing["name"])
    assert checked == {"saw", "lava", "box", "coin", "enemy moving left", "enemy moving right"}


def test_the_map_shows_the_level() -> None:
    playing = world("platformer").open(1)
    moment = playing.reset(0, 0)
    assert moment.scene is not None
    x, y = moment.facts["x"], moment.facts["y"]
    under = [line for line in moment.scene.walls if line[1] == line[3] == y and line[0] <= x <= line[2]]
    assert len(under) == 1, "the agent stands on a line"
    coin = next(thing for thing in moment.scene.objects if thing[0] == "coin")
    assert np.hypot(coin[1] - x, coin[2] - y) == pytest.approx(moment.facts["coin_distance"], abs=0.01)


def test_seeds_lead_to_the_levels_of_the_settings() -> None:
    def level(seed: int, **settings: object) -> int:
        return int(world("platformer", **settings).open(1).reset(0, seed).facts["level"])

    assert level(4) == 4
    assert level(4, first_level=FIRST_TEST_LEVEL) == FIRST_TEST_LEVEL + 4
    assert level(104, levels=100, first_level=7) == 11


def test_lanes_that_are_left_out_stand_still() -> None:
    playing = world("platformer").open(2)
    playing.reset(0, 1)
    other = playing.reset(1, 2)
    for _ in range(5):
        assert set(playing.step({0: RIGHT})) == {0}
    still = playing.step({1: ACTIONS.index("A")})[1]
    assert still.facts["x"] == other.facts["x"]
    assert still.facts["steps_left"] == 499


def test_what_lanes_refuse() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'render'"):
        world("platformer", renders=64)
    with pytest.raises(UnknownName, match="Did you mean 'coin'"):
        world("platformer", invisible=("coins",))
    with pytest.raises(WorldError, match="multiple of 32"):
        world("platformer", render=100)
    playing = world("platformer").open(1)
    with pytest.raises(WorldError, match="no running episode"):
        playing.step({0: 1})
    for seed in ("one", 1.5, -2):
        with pytest.raises(WorldError, match="seed of a level"):
            playing.reset(0, seed)  # type: ignore[arg-type]
    playing.reset(0, np.int64(5))  # type: ignore[arg-type]
    for action in (9, -1, "left"):
        with pytest.raises(WorldError, match="An action is a number"):
            playing.step({0: action})
    with pytest.raises(WorldError, match="no lane 1"):
        playing.reset(1, 0)
    playing.close()
    with pytest.raises(WorldError, match="closed"):
        playing.reset(0, 0)


def test_the_gymnasium_environment_passes_gymnasiums_own_check() -> None:
    gymnasium = pytest.importorskip("gymnasium")
    from gymnasium.utils.env_checker import check_env

    env = gymnasium.make("innerview/Platformer-v0", render_mode="rgb_array", size=64, time_limit=30)
    check_env(env.unwrapped)
    observation, info = env.reset(seed=1, options={"level": 12})
    assert observation.shape == (64, 64, 3)
    assert info["level"] == 12
    assert env.render().shape == (64, 64, 3)
    over = (False, False)
    while not any(over):
        _, _, *over, info = env.step(ACTIONS.index("A"))
    assert over == [False, True]
    assert info["outcome"] == "time"
    with pytest.raises(WorldError, match="whole number"):
        env.reset(options={"level": "twelve"})
    env.close()


def test_innerview_makes_a_world_of_the_gymnasium_id() -> None:
    pytest.importorskip("gymnasium")
    place = world("innerview/Platformer-v0")
    assert place.info.actions.names == tuple(name.lower() for name in ACTIONS)
    assert {"x", "y", "level"} <= {column.name for column in place.info.facts}


def test_the_game_needs_torch_and_numpy_alone() -> None:
    """Training runs on bare machines."""
    code = (
        "import sys\n"
        "for name in ('gymnasium', 'polars', 'zarr', 'PIL', 'pydantic'): sys.modules[name] = None\n"
        "import innerview_zoo.worlds.platformer, innerview_zoo.worlds.platformer.lanes\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
