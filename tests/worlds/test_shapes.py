"""Every shape of environment: what was recorded is what the environment gives, and the module says, played by hand.

20 steps of each are recorded; then the environment is stepped by hand with the recorded seed and actions, as its author
steps it, and the module is run on what it gives. Both agree with the recording to 1e-6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any

import gymnasium
import minigrid  # noqa: F401 importing registers its ids
import numpy as np
import pytest
import torch
from gymnasium import spaces
from gymnasium.wrappers import AtariPreprocessing, FrameStackObservation, TimeLimit
from stable_baselines3.common.atari_wrappers import AtariWrapper
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecFrameStack, VecMonitor
from torch import nn

import innerview as iv
from innerview.errors import InnerviewError, WorldError
from innerview.worlds import World, world

STEPS = 20
FREEDOOM = ("basic", "simpler_basic")


class Drawn(gymnasium.Env):
    """Draws its observations from their space with its own generator; the reward says what was done."""

    def __init__(self, seen: spaces.Space, done: spaces.Space | None = None, **said: Any) -> None:
        self.observation_space, self.action_space = deepcopy(seen), done or spaces.Discrete(2)
        self.__dict__.update(said)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.observation_space.seed(int(self.np_random.integers(2**31)))
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> Any:
        assert self.action_space.contains(action), action
        reward = float(np.sum(spaces.flatten(self.action_space, action) * np.arange(1, 1 + size(self.action_space))))
        return self.observation_space.sample(), reward, False, False, {}


class Turns(IntEnum):
    """Names of actions, as MiniGrid gives them."""

    wait = 0
    go_on = 1


def size(space: spaces.Space) -> int:
    return int(np.prod(spaces.flatten_space(space).shape))


class Reads(nn.Module):
    """A policy over everything that is seen."""

    def __init__(self, numbers: int, actions: int) -> None:
        super().__init__()
        self.policy = nn.Linear(numbers, actions)

    def forward(self, seen: dict[str, torch.Tensor]) -> torch.Tensor:
        return self.policy(torch.cat([part.flatten(1).float() / 100 for part in seen.values()], dim=1))


def reader(played: World) -> iv.Subject:
    torch.manual_seed(0)
    example = {
        spec.name: torch.zeros(1, *spec.shape, dtype=torch.int64 if spec.dtype == "int64" else torch.float32)
        for spec in played.info.observations
        if spec.role == "observation"
    }
    numbers = sum(part[0].numel() for part in example.values())
    module = Reads(numbers, played.info.actions.size)
    kind = "policy" if played.info.actions.kind == "discrete" else "gaussian"
    return iv.subject(module, example=example, heads=kind, normalise=False, actions=played.info.actions)


@dataclass(frozen=True)
class Shape:
    """How an environment is given to innerview, and how its author makes and drives it."""

    name: str
    given: Callable[[], Any]
    by_hand: Callable[[], Any]
    parts: Callable[[Any], Mapping[str, Any]] = lambda seen: {"observation": seen}
    """The numbers of what it gives, by name, as its author reads them."""
    action: Callable[[Any], Any] = int
    """What its author gives it, of what was recorded."""
    actions: tuple[str, ...] = ()
    """What the actions are called."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    lanes: int = 2


def drawn(*given: Any, **said: Any) -> dict[str, Any]:
    make = lambda: TimeLimit(Drawn(*given, **said), 12)  # noqa: E731 a shape is a line
    return {"given": lambda: make, "by_hand": make}


def letters(text: str, length: int) -> np.ndarray:
    return np.array([ord(letter) for letter in text] + [0] * (length - len(text)))


def choices(*sizes: int) -> Callable[[Any], np.ndarray]:
    return lambda action: np.array(np.unravel_index(int(action), sizes))


def breakout(**settings: Any) -> gymnasium.Env:
    import ale_py

    gymnasium.register_envs(ale_py)
    return gymnasium.make("ALE/Breakout-v5", frameskip=1, repeat_action_probability=0.0, **settings)


def stacked_atari() -> gymnasium.Env:
    return FrameStackObservation(AtariPreprocessing(breakout(), noop_max=0), 4)


def image(seen: np.ndarray) -> dict[str, np.ndarray]:
    return {"observation": np.moveaxis(np.asarray(seen), 0, -1)}


BOX = spaces.Box(-1, 1, (3,), np.float32)
NESTED = spaces.Dict({"camera": spaces.Dict({"left": BOX}), "gear": spaces.Discrete(4, start=2)})
MADE = [
    Shape("an id", lambda: "CartPole-v1", lambda: gymnasium.make("CartPole-v1")),
    Shape("an id with settings", lambda: "FrozenLake-v1", lambda: gymnasium.make("FrozenLake-v1", is_slippery=False),
          lambda seen: {"observation": [seen]}, settings={"is_slippery": False}),
    Shape("an environment", lambda: gymnasium.make("Acrobot-v1"), lambda: gymnasium.make("Acrobot-v1"), lanes=1),
    Shape("Taxi", lambda: "Taxi-v4", lambda: gymnasium.make("Taxi-v4"), lambda seen: {"observation": [seen]}),
    Shape("Blackjack: a tuple", lambda: "Blackjack-v1", lambda: gymnasium.make("Blackjack-v1"),
          lambda seen: {f"part {place}": [part] for place, part in enumerate(seen)}),
    Shape("a Box of actions", lambda: "Pendulum-v1", lambda: gymnasium.make("Pendulum-v1"), action=np.float32),
    Shape("MiniGrid as it ships", lambda: "MiniGrid-DoorKey-5x5-v0", lambda: gymnasium.make("MiniGrid-DoorKey-5x5-v0"),
          lambda seen: {"direction": [seen["direction"]], "image": seen["image"],
                        "mission": letters(seen["mission"], 256)},
          actions=("left", "right", "forward", "pickup", "drop", "toggle", "done")),
    Shape("Discrete that begins at 5", **drawn(spaces.Discrete(4, start=5)),
          parts=lambda seen: {"observation": [seen - 5]}),
    Shape("MultiDiscrete", **drawn(spaces.MultiDiscrete([3, 5, 2]))),
    Shape("MultiDiscrete of two axes", **drawn(spaces.MultiDiscrete([[3, 5], [2, 2]], start=[[1, 0], [0, 4]])),
          parts=lambda seen: {"observation": seen - [[1, 0], [0, 4]]}),
    Shape("MultiBinary", **drawn(spaces.MultiBinary(6))),
    Shape("Box of float64", **drawn(spaces.Box(-np.inf, np.inf, (2, 3), np.float64))),
    Shape("Box of one number", **drawn(spaces.Box(0, 1, (), np.float32)), parts=lambda seen: {"observation": [seen]}),
    Shape("pictures, channels first", **drawn(spaces.Box(0, 255, (3, 12, 10), np.uint8)), parts=image),
    Shape("Text", **drawn(spaces.Text(9, charset="abcäß"))
          , parts=lambda seen: {"observation": letters(seen, 9)}),
    Shape("Dict in a Dict", **drawn(NESTED),
          parts=lambda seen: {"camera.left": seen["camera"]["left"], "gear": [seen["gear"] - 2]}),
    Shape("Tuple of a Dict", **drawn(spaces.Tuple([BOX, spaces.Dict({"a": spaces.MultiBinary(2)})])),
          parts=lambda seen: {"part 0": seen[0], "part 1.a": seen[1]["a"]}),
    Shape("actions that begin at 5", **drawn(BOX, spaces.Discrete(3, start=5)), action=lambda action: int(action) + 5),
    Shape("MultiDiscrete actions", **drawn(BOX, spaces.MultiDiscrete([3, 2])), action=choices(3, 2),
          actions=("0 + 0", "0 + 1", "1 + 0", "1 + 1", "2 + 0", "2 + 1")),
    Shape("MultiBinary actions", **drawn(BOX, spaces.MultiBinary(2)),
          action=lambda action: choices(2, 2)(action).astype(np.int8)),
    Shape("a Tuple of actions", **drawn(BOX, spaces.Tuple([spaces.Discrete(2), spaces.MultiDiscrete([2, 3])])),
          action=lambda action: (int(choices(2, 2, 3)(action)[0]), choices(2, 2, 3)(action)[1:])),
    Shape("a Dict of actions",
          **drawn(BOX, spaces.Dict({"go": spaces.Discrete(2), "turn": spaces.Discrete(3, start=-1)})),
          action=lambda action: {"go": int(action) // 3, "turn": int(action) % 3 - 1}),
    Shape("whole numbers as actions", **drawn(BOX, spaces.Box(-4, 4, (2,), np.int64)),
          action=lambda action: np.rint(action).astype(np.int64)),
    Shape("names in action_names", **drawn(BOX, action_names=["rest", "run"]), actions=("rest", "run")),
    Shape("names in get_action_meanings", **drawn(BOX, get_action_meanings=lambda: ["NOOP", "GO_ON"]),
          actions=("noop", "go on")),
    Shape("names in an enumeration", **drawn(BOX, actions=Turns), actions=("wait", "go on")),
    Shape("make_vec", lambda: gymnasium.make_vec("CartPole-v1", num_envs=2), lambda: gymnasium.make("CartPole-v1")),
    Shape("SyncVectorEnv", lambda: gymnasium.make_vec("CartPole-v1", num_envs=2, vectorization_mode="sync"),
          lambda: gymnasium.make("CartPole-v1")),
    Shape("AsyncVectorEnv", lambda: gymnasium.make_vec("CartPole-v1", num_envs=2, vectorization_mode="async"),
          lambda: gymnasium.make("CartPole-v1")),
    Shape("a vector environment that does not reset itself",
          lambda: gymnasium.make_vec(
              "CartPole-v1", num_envs=2, vectorization_mode="sync",
              vector_kwargs={"autoreset_mode": gymnasium.vector.AutoresetMode.DISABLED}),
          lambda: gymnasium.make("CartPole-v1")),
    Shape("a VecEnv of several games", lambda: VecMonitor(make_vec_env("CartPole-v1", 2)),
          lambda: gymnasium.make("CartPole-v1")),
    Shape("a VecEnv in processes", lambda: make_vec_env("CartPole-v1", 2, vec_env_cls=SubprocVecEnv),
          lambda: gymnasium.make("CartPole-v1")),
    Shape("a VecEnv of one game with wrappers", lambda: VecFrameStack(make_vec_env("CartPole-v1", 1), 3),
          lambda: gymnasium.wrappers.FrameStackObservation(gymnasium.make("CartPole-v1"), 3, padding_type="zero"),
          lambda seen: {"observation": np.ravel(seen)}, lanes=1),
    Shape("Atari by AtariPreprocessing", lambda: stacked_atari, stacked_atari, image),
    Shape("Atari by stable-baselines3", lambda: lambda: AtariWrapper(breakout()),
          lambda: AtariWrapper(breakout())),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("shape", MADE, ids=lambda shape: shape.name)
def test_what_is_recorded_is_what_is_played_by_hand(shape: Shape, tmp_path: Path) -> None:
    given = shape.given()
    played = world(given, **shape.settings)
    subject = reader(played)
    made = iv.record(
        tmp_path / "a.study",
        subject,
        played,
        episodes=3,
        seeds=7,
        lanes=shape.lanes,
        max_steps=STEPS,
        progress=False,
        greedy=played.info.actions.kind == "continuous",
    )
    assert played.info.repeats
    assert not shape.actions or played.info.actions.names == shape.actions
    names = [column.name for column in made.info.columns if column.kind == "action"]
    arrays = {spec.name for spec in made.info.arrays}
    for line in made.groups().iter_rows(named=True):
        rows = made.columns([*names, "reward"], line["start"], line["stop"])
        done = rows[names].to_numpy()[:, 0] if played.info.actions.kind == "discrete" else rows[names].to_numpy()
        steps = list(by_hand(shape, line["seed"], done))
        assert len(steps) == line["length"] <= STEPS
        for row, (parts, reward) in enumerate(steps):
            place = line["start"] + row
            for name, part in parts.items():
                stored = made.array(name if name in arrays else f"observation.{name}", place, place + 1)[0]
                assert np.allclose(stored, np.asarray(part).reshape(stored.shape), atol=1e-6), (name, row)
            assert rows["reward"][row] == pytest.approx(reward, abs=1e-6)
            if "probabilities" in arrays:
                with torch.no_grad():
                    logits = subject.module({n: torch.tensor(np.asarray(p)[None]).float() for n, p in parts.items()})
                said = made.array("probabilities", place, place + 1)[0]
                assert np.allclose(said, torch.softmax(logits, 1)[0].numpy(), atol=1e-6)
    if hasattr(given, "close"):
        given.close()


def by_hand(shape: Shape, seed: int, done: Any) -> Iterator[tuple[Mapping[str, Any], float]]:
    """What the environment gives before each recorded action, and what that earned."""
    env = shape.by_hand()
    seen, _ = env.reset(seed=seed)
    for action in done:
        before = {name: np.array(part) for name, part in shape.parts(seen).items()}
        seen, reward, *_ = env.step(shape.action(action))
        yield before, float(reward)
    env.close()


@pytest.mark.parametrize("make", [stacked_atari, lambda: AtariWrapper(breakout())])
def test_atari_behind_own_wrappers_keeps_its_facts_and_its_screen(make: Callable[[], Any], tmp_path: Path) -> None:
    own, ours = world(make), world("atari:breakout")
    told = {column.name for column in own.info.facts}
    clipped = make is not stacked_atari
    assert told >= {column.name for column in ours.info.facts} - ({"score"} if clipped else set())
    assert clipped == ("score" not in told), "clipped rewards are no points"
    assert own.info.actions.names == ours.info.actions.names
    made = iv.record(tmp_path / "a.study", reader(own), own, episodes=1, max_steps=60, progress=False)
    screens = made.array("picture", 0, made.rows)
    assert screens.shape[1:] == (210, 160, 3) and screens[:, :, :, 0].std() > 0
    seen = made.columns(["lives", "objects", "life_lost"])
    assert seen["lives"][0] == 5 and "paddle" in {thing["name"] for thing in seen["objects"][0]}
    assert (
        seen["life_lost"].sum() == seen["lives"][0] - seen["lives"][-1] or made.groups()["outcome"][0] != "step limit"
    )


def test_a_text_is_a_fact_in_words(tmp_path: Path) -> None:
    played = world("MiniGrid-DoorKey-5x5-v0")
    made = iv.record(tmp_path / "a.study", reader(played), played, episodes=1, max_steps=3, progress=False)
    assert (
        made.columns(["mission"])["mission"].to_list() == ["use the key to open the door and then get to the goal"] * 3
    )


def test_what_is_counted_feeds_a_module_that_takes_one_of_so_many(tmp_path: Path) -> None:
    played = world("FrozenLake-v1", is_slippery=False)
    subject = iv.subject(nn.Linear(16, 4), example=torch.zeros(1, 16), heads="policy")
    made = iv.record(tmp_path / "a.study", subject, played, episodes=1, max_steps=9, progress=False)
    for row in range(made.rows):
        place = int(made.array("observation", row, row + 1)[0, 0])
        logits = subject.module(torch.eye(16)[place][None])
        assert np.allclose(
            made.array("probabilities", row, row + 1)[0], torch.softmax(logits, 1)[0].detach(), atol=1e-6
        )


def test_configs_of_a_folder_are_one_world_and_each_episode_says_which(tmp_path: Path) -> None:
    import vizdoom

    folder = Path(vizdoom.scenarios_path)
    paths = [str(folder / f"{name}.cfg") for name in FREEDOOM]
    several = world(paths, size=(40, 30), actions={"left": ["MOVE_LEFT"], "shoot": ["ATTACK"]})
    made = iv.record(
        tmp_path / "a.study", reader(several), several, episodes=4, seeds=0, lanes=2, max_steps=5, progress=False
    )
    configs = made.columns(["episode", "config"]).unique(maintain_order=True)["config"].to_list()
    assert configs == [*FREEDOOM, *FREEDOOM] and set(several.info.files) == set(FREEDOOM)
    for place, path in enumerate(paths):
        alone = world(path, size=(40, 30), actions={"left": ["MOVE_LEFT"], "shoot": ["ATTACK"]}).open(1)
        start = made.groups()["start"][place]
        assert np.array_equal(
            alone.reset(0, place).observation["observation"], made.array("observation", start, start + 1)[0]
        )
        alone.close()


class Old(gymnasium.Env):
    """An environment as they were written before 2022."""

    observation_space, action_space = BOX, spaces.Discrete(2)

    def __init__(self, reset: Any, step: Any = None) -> None:
        self._reset, self._step = reset, step

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        return self._reset

    def step(self, action: Any) -> Any:
        return self._step


class Seedless(Drawn):
    """Takes no seed at all."""

    def reset(self) -> Any:  # type: ignore[override]
        return self.observation_space.sample(), {}


class Whimsical(Drawn):
    """Takes a seed and ignores it."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        return self.observation_space.sample(), {}


@dataclass
class Broken:
    """Goes wrong at a step."""

    at: int
    how: str

    def __call__(self) -> gymnasium.Env:
        broken = self

        class Breaking(Drawn):
            count = 0

            def reset(self, **given: Any) -> Any:
                self.count = 0
                return super().reset(**given)

            def step(self, action: Any) -> Any:
                self.count += 1
                seen, reward, *rest = super().step(action)
                if self.count == broken.at:
                    return (seen * np.nan, reward, *rest) if broken.how == "seen" else (seen, np.nan, *rest)
                return seen, reward, *rest

        return Breaking(BOX)


SEEN = np.zeros(3, np.float32)
REFUSED = [
    ("reset without info", lambda: Old(SEEN), r"reset\(\) gave a ndarray alone.*\(observation, info\)"),
    ("four values of a step", lambda: Old((SEEN, {}), (SEEN, 0.0, False, {})), r"step\(\) gave 4 values.*terminated"),
    ("no seed", lambda: Seedless(BOX), r"reset\(\) takes no seed.*seed=None"),
    ("actions of words", lambda: Drawn(BOX, spaces.Text(4)), r"Actions of the space Text.*cannot be recorded"),
    ("too many combinations", lambda: Drawn(BOX, spaces.MultiBinary(20)), r"1,048,576 combinations"),
    ("observations of any length", lambda: Drawn(spaces.Sequence(BOX)), r"space Sequence.*cannot be recorded"),
    ("a graph", lambda: Drawn(spaces.Graph(BOX, None)), r"space Graph.*cannot be recorded"),
    ("VecFrameStack of several games", lambda: VecFrameStack(DummyVecEnv([lambda: Drawn(BOX)] * 2), 2),
     r"plays 2 games within VecFrameStack.*n_envs=1"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "make", "words"), REFUSED, ids=lambda each: each if isinstance(each, str) else "")
def test_what_cannot_be_recorded_says_so_in_a_sentence(name: str, make: Callable[[], Any], words: str) -> None:
    with pytest.raises(WorldError, match=words):
        world(make() if "games" in name else make)


@pytest.mark.parametrize(("how", "words"), [("seen", "'observation' holds NaN"), ("reward", "The reward is NaN")])
@pytest.mark.parametrize("at", [1, 3])
def test_nan_is_reported_with_lane_and_step(how: str, words: str, at: int, tmp_path: Path) -> None:
    if how == "reward" and at == 1:
        with pytest.raises(InnerviewError, match=words):
            world(Broken(at, how))
        return
    played = world(Broken(at, how))
    with pytest.raises(InnerviewError, match=rf"game in lane 0 failed at step {at}: {words}"):
        iv.record(tmp_path / "a.study", reader(played), played, episodes=1, lanes=1, progress=False)


def test_an_environment_that_ignores_seeds_is_recorded_and_never_played_again(tmp_path: Path) -> None:
    played = world(lambda: TimeLimit(Whimsical(BOX), 6))
    assert not played.info.repeats
    subject = reader(played)
    made = iv.record(tmp_path / "a.study", subject, played, episodes=2, name="x", progress=False)
    assert made.rows == 12 and "ignores seeds" in made.info.note
    late = iv.EditSet(name="late", edits=(iv.SiteEdit(elements=(0,), site="policy"),))
    with pytest.raises(InnerviewError, match=r"cannot be played again.*'Whimsical' ignores seeds"):
        iv.rerun(tmp_path / "a.study", "x", late, subject, played, progress=False)
    with pytest.raises(InnerviewError, match=r"cannot be played again.*'Whimsical' ignores seeds"):
        iv.what_if(tmp_path / "a.study", "x", row=3, subject=subject, world=played)
