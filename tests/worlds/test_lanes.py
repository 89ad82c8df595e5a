import threading

import numpy as np
import pytest

from innerview.errors import WorldError
from innerview.schema import Moment
from innerview.testing.worlds import (
    COIN_EVERY,
    FORWARD,
    ContinuousWorld,
    CountingWorld,
    CrashingWorld,
    DictWorld,
    SlowWorld,
    episode_length,
    picture,
)
from innerview.worlds import ThreadedLanes, World, world

TINY = [CountingWorld, CrashingWorld, SlowWorld, DictWorld, ContinuousWorld]


@pytest.mark.parametrize("kind", TINY)
def test_tiny_worlds_keep_their_word(kind):
    tiny = world(kind())
    assert isinstance(tiny, World)
    lanes = tiny.open(2)
    action = 0 if tiny.info.actions.kind == "discrete" else np.zeros(tiny.info.actions.size)
    moments = [lanes.reset(1, 3), lanes.step({1: action})[1]]
    lanes.close()
    for moment in moments:
        for spec in tiny.info.observations:
            assert moment.observation[spec.name].shape == spec.shape
            assert str(moment.observation[spec.name].dtype) == spec.dtype
        assert set(moment.facts) == {column.name for column in tiny.info.facts}


def test_lanes_play_on_their_own():
    with CountingWorld().open(3) as lanes:
        for lane in range(3):
            lanes.reset(lane, seed=lane + 10)
        lanes.step({0: FORWARD, 2: FORWARD})
        moments = lanes.step({0: FORWARD, 1: FORWARD})
        assert sorted(moments) == [0, 1]
        assert np.array_equal(moments[0].observation["observation"], picture(2, 10))
        assert np.array_equal(moments[1].observation["observation"], picture(1, 11))
        assert moments[0].facts["x"] == 6.0


def test_an_episode_ends_where_the_seed_says_and_must_be_reset():
    lanes = CountingWorld().open(1)
    assert lanes.reset(0, seed=4).scene.walls
    moments = [lanes.step({0: 0})[0] for _ in range(episode_length(4))]
    assert [m.ended for m in moments] == [""] * (episode_length(4) - 1) + ["time limit"]
    assert [i + 1 for i, m in enumerate(moments) if m.facts["picked_up"]][:2] == [COIN_EVERY, 2 * COIN_EVERY]
    with pytest.raises(WorldError, match=r"Lane 0 has no running episode. Call reset\(0, seed\)"):
        lanes.step({0: 0})
    lanes.close()


@pytest.mark.parametrize("count", [1, 3])
def test_a_crash_names_lane_and_step_and_everything_closes(count):
    tiny = CrashingWorld(lane=count - 1)
    lanes = tiny.open(count)
    for lane in range(count):
        lanes.reset(lane, seed=0)
    with pytest.raises(
        WorldError, match=f"lane {count - 1} failed at step 37: RuntimeError: the engine broke"
    ) as caught:
        while True:
            lanes.step(dict.fromkeys(range(count), 0))
    assert isinstance(caught.value.__cause__, RuntimeError)
    assert tiny.opened == count
    lanes.close()
    assert tiny.opened == 0
    with pytest.raises(WorldError, match="closed"):
        lanes.reset(0, seed=0)


class _Sour:
    """A game that fails where it is told to."""

    def __init__(self, log, lane, where):
        self.log, self.lane, self.where = log, lane, where
        if where == "open" and lane == 1:
            raise OSError("no engine")

    def reset(self, seed):
        if self.where == "reset":
            raise ValueError(f"bad seed {seed}")
        self.log.append(threading.current_thread().name)
        return Moment(observation={})

    def step(self, action):
        return Moment(observation={})

    def close(self):
        self.log.append(("closed", self.lane))
        if self.where == "close":
            raise OSError("stuck")


def test_a_game_that_cannot_open_closes_the_others():
    log = []
    with pytest.raises(WorldError, match="lane 1 failed while it was opened: OSError: no engine"):
        ThreadedLanes(lambda lane: _Sour(log, lane, "open"), 3)
    assert sorted(log) == [("closed", 0), ("closed", 2)]


def test_a_game_that_cannot_close_does_not_keep_the_others_open():
    log = []
    lanes = ThreadedLanes(lambda lane: _Sour(log, lane, "close"), 3)
    with pytest.raises(WorldError, match="lane 0 could not be closed: OSError: stuck"):
        lanes.close()
    assert sorted(log) == [("closed", 0), ("closed", 1), ("closed", 2)]
    lanes.close()


def test_a_bad_seed_is_named():
    lanes = ThreadedLanes(lambda lane: _Sour([], lane, "reset"), 1)
    with pytest.raises(WorldError, match="lane 0 failed at reset with seed 9: ValueError: bad seed 9"):
        lanes.reset(0, 9)
    lanes.close()


def test_a_lane_stays_in_its_thread():
    log = []
    lanes = ThreadedLanes(lambda lane: _Sour(log, lane, ""), 2)
    for _ in range(3):
        lanes.reset(1, 0)
    lanes.close()
    assert len({name for name in log if isinstance(name, str)}) == 1


@pytest.mark.parametrize("count", [0, -1])
def test_no_lanes_is_an_error(count):
    with pytest.raises(WorldError, match="at least one lane"):
        CountingWorld().open(count)


def test_continuous_world_moves_by_the_action():
    lanes = ContinuousWorld().open(1)
    assert lanes.reset(0, seed=4).facts["x"] == 2.0
    moment = lanes.step({0: np.array([-0.5], np.float32)})[0]
    assert (moment.facts["x"], moment.reward) == (1.5, -1.5)
    lanes.close()
