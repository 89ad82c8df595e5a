"""What a person's own environment may tell, and vector environments of stable-baselines3."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecFrameStack, VecNormalize, VecTransposeImage

from innerview.errors import WorldError
from innerview.worlds import world

SIZE = 40


class Falling(gymnasium.Env):
    """An apple and a bomb fall, a pixel a step; a reset tells nothing, a step tells how far they are."""

    observation_space = spaces.Box(0, 255, (SIZE, SIZE, 3), np.uint8)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.fallen, self.column = 0, int(self.np_random.integers(SIZE))
        return self._see(), {}

    def step(self, action):
        self.fallen += 1
        over = self.fallen == 4
        return self._see(), float(action), over, False, {"fallen": self.fallen} | ({"ended": "bomb"} if over else {})

    def masks(self):
        apple, bomb = np.zeros((2, SIZE, SIZE), bool)
        apple[self.fallen, self.column] = True
        bomb[self.fallen, 0] = True
        return {"apple": apple, "bomb": bomb}

    def _see(self):
        picture = np.zeros((SIZE, SIZE, 3), np.uint8)
        picture[self.fallen, self.column] = (255, 0, 0)
        picture[0, 0] = self.fallen
        return picture


def episode(lanes, seed):
    moments = [lanes.reset(0, seed)]
    while not moments[-1].ended:
        moments.append(lanes.step({0: 1})[0])
    return moments


def test_numbers_that_only_a_step_reports_are_facts():
    seen = world(Falling)
    assert [(column.name, column.type) for column in seen.info.facts] == [("fallen", "int")]
    lanes = seen.open(1)
    assert [moment.facts for moment in episode(lanes, 3)] == [{}, *({"fallen": n} for n in range(1, 5))]
    lanes.close()


def test_a_fact_that_is_not_reported_at_reset_says_how_to_ask_for_it():
    with pytest.raises(WorldError, match=r"'fuel' in info.*gives nothing.*info\.get\('fuel', 0\)"):
        world(Falling, facts=lambda env, info: {"fuel": info["fuel"]})


def test_masks_number_the_kinds_behind_the_background():
    seen = world(Falling, masks=lambda env, info: env.unwrapped.masks())
    mask = next(spec for spec in seen.info.observations if spec.role == "mask")
    assert mask.elements == ("background", "apple", "bomb") and mask.shape == (SIZE, SIZE)
    lanes = seen.open(1)
    for row, moment in enumerate(episode(lanes, 5)):
        told = moment.observation["mask"]
        assert told[row, 0] == 2 and (told == 2).sum() == 1 and (told > 0).sum() in (1, 2)
    lanes.close()


@pytest.mark.parametrize(
    ("masks", "message"),
    [
        (lambda env, info: {}, "arrays by kind of thing"),
        (lambda env, info: {"bomb": np.zeros((3, 3))}, r"'bomb' has shape \(3, 3\); the picture is 40 × 40"),
        (lambda env, info: {"bomb": np.full((SIZE, SIZE), np.nan)}, "'bomb' says neither yes nor no"),
        (lambda env, info: {"bomb": np.full((SIZE, SIZE), "yes")}, "'bomb' says neither yes nor no"),
        (lambda env, info: {"background": np.ones((SIZE, SIZE))}, "'background' is where nothing else is"),
        (lambda env, info: {1: np.ones((SIZE, SIZE))}, "calls a kind of thing 1; a kind has a name"),
        (lambda env, info: {str(n): np.ones((SIZE, SIZE)) for n in range(300)}, "300 kinds of things; 255 can"),
        (lambda env, info: env.no_such_thing, "failed at the first reset: AttributeError"),
    ],
)
def test_masks_that_cannot_be_are_refused(masks, message):
    with pytest.raises(WorldError, match=message):
        world(Falling, masks=masks)


def test_a_kind_of_thing_that_turns_up_later_is_refused():
    def masks(env, info):
        told = env.unwrapped.masks()
        return told if env.unwrapped.fallen else {"bomb": told["bomb"]}

    lanes = world(Falling, masks=masks).open(1)
    lanes.reset(0, 0)
    with pytest.raises(WorldError, match="gives apple, which it did not at the first reset"):
        lanes.step({0: 0})
    lanes.close()


def stacked():
    return VecFrameStack(make_vec_env(Falling, 1), 4)


@pytest.mark.parametrize(
    "thing", [stacked, stacked(), VecTransposeImage(stacked())], ids=["maker", "own", "transposed"]
)
def test_a_stack_of_frames_is_played_as_in_training(thing):
    seen = world(thing, facts=lambda env, info: {"column": env.unwrapped.column})
    assert seen.info.name == "Falling" and seen.info.observations[0].shape == (SIZE, SIZE, 12)
    assert seen.info.observations[0].elements == ("red", "green", "blue") * 4
    assert [column.name for column in seen.info.facts] == ["column", "fallen"], "nothing that a VecEnv adds"
    lanes = seen.open(1)
    moments, again = episode(lanes, 7), episode(lanes, 7)
    lanes.close()
    frames = [moment.observation["observation"] for moment in moments]
    assert [frame[0, 0, 2::3].tolist() for frame in frames] == [
        [0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 2], [0, 1, 2, 3], [1, 2, 3, 4]
    ]  # fmt: skip
    assert not frames[0][..., :9].any(), "before the first frame there is nothing, as in stable-baselines3"
    assert moments[-1].ended == "bomb" and len({moment.facts["column"] for moment in moments[:-1]}) == 1
    for one, other in zip(moments, again, strict=True):
        assert np.array_equal(one.observation["observation"], other.observation["observation"])


def test_several_games_and_normalised_ones_are_refused_with_what_to_do():
    with pytest.raises(WorldError, match=r"plays 2 games.*n_envs=1"):
        world(VecFrameStack(make_vec_env(Falling, 2), 2))
    with pytest.raises(WorldError, match="VecNormalize belongs to the model"):
        world(VecNormalize(make_vec_env("CartPole-v1", 1)))
    with pytest.raises(WorldError, match="no environment of its own"):
        world(None)
