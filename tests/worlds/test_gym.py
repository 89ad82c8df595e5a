import sys

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from innerview.errors import UnknownName, WorldError
from innerview.schema import Column, Pose, pose_of
from innerview.worlds import world


class Pictures(gymnasium.Env):
    """Small channel-first pictures that tell the step; three named actions; five steps; a word at the end."""

    observation_space = spaces.Box(0, 255, (3, 10, 12), np.uint8)
    action_space = spaces.Discrete(3, start=5)

    def __init__(self):
        self.closed = False

    def get_action_meanings(self):
        return ["NOOP", "GO_LEFT", "GO_RIGHT"]

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.n, self.start = 0, int(self.np_random.integers(200))
        return self._see(), {"lives": 3, "step": 0, "lucky": np.bool_(True), "words": "no column"}

    def step(self, action):
        assert action in (5, 6, 7)
        self.n += 1
        info = {"lives": np.int64(3 - self.n // 2), "ended": "fell down" if self.n == 5 else ""}
        return self._see(), float(action), self.n == 5, False, info

    def close(self):
        self.closed = True

    def _see(self):
        picture = np.full((3, 10, 12), self.start, np.uint8)
        picture[1], picture[2, 0] = self.n, 255
        return picture


class Spaced(gymnasium.Env):
    """Whatever spaces are asked for."""

    def __init__(self, observation_space, action_space=None):
        self.observation_space = observation_space
        self.action_space = action_space or spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.observation_space.seed(seed)
        return self.observation_space.sample(), {}

    def step(self, action):
        self.taken = action
        return self.observation_space.sample(), 0.0, False, False, {}


def test_cartpole_by_id_in_several_lanes():
    cart = world("CartPole-v1")
    assert (cart.info.name, cart.info.family) == ("CartPole-v1", "gymnasium")
    assert cart.info.observations[0].shape == (4,)
    assert cart.info.actions.names == ("action 0", "action 1")
    lanes = cart.open(2)
    first = [lanes.reset(lane, seed=3).observation["observation"] for lane in range(2)]
    assert np.array_equal(*first)
    while not (moments := lanes.step({0: 0, 1: 0}))[0].ended:
        assert moments[0].reward == 1.0
    assert moments[0].ended == "terminated"
    lanes.close()


def test_a_time_limit_is_called_so():
    lanes = world("MountainCar-v0", max_episode_steps=3, actions=["left", "stay", "right"]).open(1)
    lanes.reset(0, seed=0)
    moments = [lanes.step({0: 1})[0] for _ in range(3)]
    assert [(m.ended, m.cut) for m in moments] == [("", False), ("", False), ("time limit", True)]
    lanes.close()


def test_a_failure_is_no_cut():
    lanes = world("CartPole-v1").open(1)
    lanes.reset(0, seed=0)
    end = lanes.step({0: 0})[0]
    while not end.ended:
        end = lanes.step({0: 0})[0]
    assert (end.ended, end.cut) == ("terminated", False)
    lanes.close()


def test_rendered_pictures_come_along_where_observations_are_vectors():
    cart = world("CartPole-v1", render=True)
    vector, picture = cart.info.observations
    assert (vector.role, picture.role, picture.name) == ("observation", "image", "picture")
    assert picture.is_image
    lanes = cart.open(2)
    moment = lanes.reset(1, seed=0)
    assert moment.observation["picture"].shape == picture.shape
    assert moment.observation["picture"].std() > 0
    lanes.close()
    assert [a.name for a in world("CartPole-v1", render_mode="rgb_array", render=False).info.observations] == [
        "observation"
    ]


class Seeing(gymnasium.Env):
    """Sees pictures, and renders others for people."""

    observation_space = gymnasium.spaces.Box(0, 255, (8, 8, 3), np.uint8)
    action_space = gymnasium.spaces.Discrete(2)
    render_mode = "rgb_array"

    def reset(self, *, seed=None, options=None):
        return np.zeros((8, 8, 3), np.uint8), {}

    def step(self, action):
        return np.zeros((8, 8, 3), np.uint8), 0.0, False, False, {}

    def render(self):
        return np.full((20, 30, 3), 7, np.uint8)


def test_what_is_rendered_is_kept_beside_pictures_where_somebody_asks():
    assert [a.name for a in world(Seeing).info.observations] == ["observation"]
    both = world(Seeing, render=True)
    assert [(a.name, a.shape) for a in both.info.observations] == [("observation", (8, 8, 3)), ("picture", (20, 30, 3))]
    lanes = both.open(1)
    assert (lanes.reset(0, seed=0).observation["picture"] == 7).all()
    lanes.close()


def test_continuous_actions_are_bounded():
    pendulum = world("Pendulum-v1", actions=["torque"])
    assert pendulum.info.actions.kind == "continuous"
    assert (pendulum.info.actions.names, pendulum.info.actions.low, pendulum.info.actions.high) == (
        ("torque",),
        (-2.0,),
        (2.0,),
    )
    lanes = pendulum.open(2)
    for lane in range(2):
        lanes.reset(lane, seed=1)
    moments = lanes.step({0: np.array([2.0]), 1: np.array([50.0])})
    assert np.array_equal(moments[0].observation["observation"], moments[1].observation["observation"])
    with pytest.raises(WorldError, match="1 finite numbers"):
        lanes.step({0: np.array([np.nan])})
    lanes.close()


class Scoring(Spaced):
    """Says 0 at first and whatever it is given afterwards."""

    def __init__(self, then):
        super().__init__(spaces.Box(-1, 1, (2,)))
        self.then = then

    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed)[0], {"score": 0, "done": False, "share": 0.5}

    def step(self, action):
        return *super().step(action)[:4], self.then


def test_a_fact_that_changes_its_type_is_fitted_or_reported():
    def second(then, **settings):
        lanes = world(Scoring(then), **settings).open(1)
        lanes.reset(0, seed=0)
        return lanes.step({0: 0})[0].facts

    assert second({"score": 2.0, "done": np.int64(1), "share": 1}) == {"score": 2, "done": True, "share": 1.0}
    assert second({"score": float("nan"), "done": None}) == {"score": None, "done": None}
    with pytest.raises(WorldError, match=r"'score' was of type int .* is 0\.5 now.*facts="):
        second({"score": 0.5})
    assert second({"score": 0.5}, facts=lambda env, info: {"score": float(info["score"])}) == {"score": 0.5}


def test_facts_are_described_by_whom_the_environment_belongs_to():
    facts = {"facts": lambda env, info: {"x": 1.0, "y": 2.0, "faces": 0.5, "z": "up"}}
    seen = world(Pictures, **facts, columns=[Column(name="faces", type="float", unit="rad", pose="angle")])
    assert pose_of(seen.info.facts) == Pose(x="x", y="y", angle="faces", angle_deg=180 / np.pi)
    assert world(Pictures, **facts).info.facts[-1].pose == "", "words are no place"
    with pytest.raises(UnknownName, match="Did you mean 'faces'"):
        world(Pictures, **facts, columns=[Column(name="face", type="float")])


def test_pictures_become_height_width_channel_with_named_actions_and_facts():
    seen = world(Pictures, facts=lambda env, info: {"steps left": 5 - env.unwrapped.n, "mood": "fine"})
    (spec,) = seen.info.observations
    assert (spec.name, spec.shape, spec.axes) == ("observation", (10, 12, 3), ("height", "width", "channel"))
    assert seen.info.actions.names == ("noop", "go left", "go right")
    assert {c.name: c.type for c in seen.info.facts} == {
        "lives": "int",
        "info step": "int",
        "lucky": "bool",
        "steps left": "int",
        "mood": "text",
    }
    lanes = seen.open(2)
    lanes.reset(0, seed=0)
    moment = lanes.step({0: 1})[0]
    assert moment.reward == 6.0
    assert (moment.observation["observation"][..., 1] == 1).all()
    assert (moment.observation["observation"][0, :, 2] == 255).all()
    assert moment.facts == {"lives": 3, "steps left": 4, "mood": "fine"}
    for _ in range(4):
        moment = lanes.step({0: 0})[0]
    assert moment.ended == "fell down"
    lanes.close()


def test_an_environment_object_plays_one_lane_and_stays_the_users():
    env = Pictures()
    seen = world(env)
    with pytest.raises(WorldError, match=r"one lane, not 2.*lambda: MyEnv"):
        seen.open(2)
    lanes = seen.open(1)
    with pytest.raises(WorldError, match="playing already"):
        seen.open(1)
    lanes.reset(0, seed=0)
    lanes.close()
    assert not env.closed
    seen.open(1).close()


def test_a_registered_environment_object_is_made_again_for_more_lanes():
    env = gymnasium.make("CartPole-v1")
    lanes = world(env).open(3)
    first = [lanes.reset(lane, seed=5).observation["observation"] for lane in range(3)]
    assert np.array_equal(first[0], first[2])
    lanes.close()
    env.close()


def test_dict_observations_have_a_spec_for_each_key():
    space = spaces.Dict(
        {
            "camera": spaces.Dict({"left": spaces.Box(0, 255, (6, 5, 3), np.uint8)}),
            "speed": spaces.Box(-1, 1, (), np.float32),
            "gear": spaces.Discrete(4),
        }
    )
    seen = world(lambda: Spaced(space))
    shapes = {spec.name: spec.shape for spec in seen.info.observations}
    assert shapes == {"camera.left": (6, 5, 3), "speed": (1,), "gear": (1,)}
    lanes = seen.open(1)
    observation = lanes.reset(0, seed=0).observation
    assert {name: array.shape for name, array in observation.items()} == shapes
    assert observation["gear"].dtype == np.int64 and 0 <= observation["gear"][0] < 4, "as the environment counts it"
    lanes.close()


@pytest.mark.parametrize(
    ("shape", "expected"),
    [((4, 84, 84), (84, 84, 4)), ((84, 84, 4), (84, 84, 4)), ((1, 9, 9), (9, 9, 1)), ((64, 96, 3), (64, 96, 3))],
)
def test_channel_axis_is_found(shape, expected):
    assert world(lambda: Spaced(spaces.Box(0, 255, shape, np.uint8))).info.observations[0].shape == expected


def test_spaces_that_cannot_be_recorded_say_what_to_do():
    box = spaces.Box(-1, 1, (2,), np.float32)
    with pytest.raises(WorldError, match=r"Actions of the space Text.*cannot be recorded.*TransformAction"):
        world(lambda: Spaced(box, spaces.Text(4)))
    with pytest.raises(WorldError, match=r"1,048,576 combinations; up to 4,096"):
        world(lambda: Spaced(box, spaces.MultiBinary(20)))
    with pytest.raises(WorldError, match=r"observation 'part 0'.*TransformObservation"):
        world(lambda: Spaced(spaces.Tuple([spaces.Sequence(box)])))
    with pytest.raises(WorldError, match="names 1 actions"):
        world("CartPole-v1", actions=["left"])
    with pytest.raises(WorldError, match=r"which is not a gymnasium.Env"):
        world(lambda: 7)
    with pytest.raises(UnknownName, match="Did you mean 'CartPole-v1'"):
        world("CartPol-v1")
    with pytest.raises(UnknownName, match=r"world 'platfomer'\. Did you mean 'platformer'"):
        world("platfomer")
    with pytest.raises(UnknownName, match="setting of a Gymnasium world 'fact'"):
        world(Pictures, fact=None)
    with pytest.raises(WorldError, match="Cannot make a world of 3"):
        world(3)


def test_an_observation_that_breaks_its_space_is_named():
    class Liar(Spaced):
        def step(self, action):
            return np.zeros(3, np.float32), 0.0, False, False, {}

    lanes = world(lambda: Liar(spaces.Box(-1, 1, (2,), np.float32))).open(1)
    lanes.reset(0, seed=0)
    with pytest.raises(WorldError, match=r"lane 0 failed at step 1.*shape \(3,\); its space says \(2,\)"):
        lanes.step({0: 0})
    lanes.close()


def test_vector_environments_step_together_and_reset_lane_by_lane():
    disabled = gymnasium.vector.AutoresetMode.DISABLED
    env = gymnasium.make_vec(
        "CartPole-v1", num_envs=3, vectorization_mode="sync", vector_kwargs={"autoreset_mode": disabled}
    )
    lanes = world(env).open(2)
    alone = world("CartPole-v1").open(2)
    for lane in range(2):
        together, single = lanes.reset(lane, seed=lane), alone.reset(lane, seed=lane)
        assert np.array_equal(together.observation["observation"], single.observation["observation"])
    playing = {0, 1}
    while playing:
        actions = {lane: lane for lane in playing}
        together, single = lanes.step(actions), alone.step(actions)
        for lane in tuple(playing):
            assert np.allclose(together[lane].observation["observation"], single[lane].observation["observation"])
            assert together[lane].ended == single[lane].ended
            if single[lane].ended:
                playing.discard(lane)
    again = lanes.reset(1, seed=1)
    assert np.array_equal(again.observation["observation"], alone.reset(1, seed=1).observation["observation"])
    lanes.close()
    alone.close()
    env.close()


def test_vector_environments_that_reset_themselves_are_refused_within_wrappers_that_remember():
    env = gymnasium.make_vec("CartPole-v1", num_envs=2, vectorization_mode="sync")
    env = gymnasium.wrappers.vector.NormalizeObservation(env)
    with pytest.raises(WorldError, match=r"resets its games by itself.*AutoresetMode.DISABLED"):
        world(env)
    env.close()


def test_atari_by_id():
    pytest.importorskip("ale_py")
    pong = world("ALE/Pong-v5", frameskip=4)
    assert pong.info.observations[0].is_image
    assert "right" in pong.info.actions.names
    assert "lives" in {c.name for c in pong.info.facts}
    lanes = pong.open(1)
    lanes.reset(0, seed=0)
    assert lanes.step({0: 0})[0].observation["observation"].dtype == np.uint8
    lanes.close()


def test_without_gymnasium_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(WorldError, match=r"pip install 'innerview\[gym\]'"):
        world("CartPole-v1")


def test_without_vizdoom_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "vizdoom", None)
    with pytest.raises(WorldError, match=r"pip install 'innerview\[doom\]'"):
        world("doom:basic")
