"""Tiny deterministic worlds with known answers; they need nothing but numpy."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from innerview.schema import ActionSpace, ArraySpec, Column, Moment, Scene, WorldInfo
from innerview.worlds import Game, Lanes, ThreadedLanes

WALLS = ((0.0, 0.0, 10.0, 0.0), (10.0, 0.0, 10.0, 10.0), (10.0, 10.0, 0.0, 10.0), (0.0, 10.0, 0.0, 0.0))
LEFT, RIGHT, FORWARD = 0, 1, 2
TURN_DEG = 30.0
STRIDE = 0.5
COIN = (8.0, 5.0)
COIN_EVERY = 5
FACTS = (
    Column(name="x", type="float", unit="m", pose="x"),
    Column(name="y", type="float", unit="m", pose="y"),
    Column(name="angle", type="float", unit="deg", pose="angle"),
    Column(name="health", type="float", unit="points"),
    Column(name="objects", type="objects", kind="objects"),
    Column(name="picked_up", type="bool", kind="event"),
)


def episode_length(seed: int) -> int:
    """How many steps a counting game with that seed lasts."""
    return 20 + seed % 7


def picture(step: int, seed: int) -> np.ndarray:
    """What is seen at a step, [8, 8, 3]: red is the step, green the seed, blue a gradient that moves."""
    frame_hwc = np.zeros((8, 8, 3), np.uint8)
    frame_hwc[..., 0] = step % 256
    frame_hwc[..., 1] = seed % 256
    frame_hwc[..., 2] = (np.arange(8)[None, :] * 16 + np.arange(8)[:, None] * 4 + step) % 256
    return frame_hwc


@dataclass
class CountingGame:
    """Walks a 10 × 10 m room; a coin comes at every fifth step; reward 1 for going forward."""

    length: int | None = None
    """Steps an episode lasts; None: as `episode_length` says."""
    step_count: int = 0
    seed: int = 0
    x: float = 5.0
    y: float = 5.0
    angle: float = 0.0

    def reset(self, seed: int) -> Moment:
        """Begin in the middle of the room, facing along x."""
        self.step_count, self.seed = 0, seed
        self.x, self.y, self.angle = 5.0, 5.0, 0.0
        return self._moment(scene=Scene(walls=WALLS, unit="m", objects=(("coin", *COIN),)))

    def step(self, action: Any) -> Moment:
        """Turn left, turn right or go forward."""
        if action == FORWARD:
            self.x = min(max(self.x + STRIDE * math.cos(math.radians(self.angle)), 0.0), 10.0)
            self.y = min(max(self.y + STRIDE * math.sin(math.radians(self.angle)), 0.0), 10.0)
        else:
            self.angle = (self.angle + (TURN_DEG if action == LEFT else -TURN_DEG)) % 360
        self.step_count += 1
        return self._moment(reward=float(action == FORWARD))

    def close(self) -> None:
        """Nothing to free."""

    def _moment(self, *, reward: float = 0.0, scene: Scene | None = None) -> Moment:
        step, length = self.step_count, self.length or episode_length(self.seed)
        ended = ("died" if self.seed % 2 else "time limit") if step >= length else ""
        return Moment(
            observation={"observation": picture(step, self.seed)},
            facts=self._facts(step),
            reward=reward,
            ended=ended,
            cut=ended == "time limit",
            scene=scene,
        )

    def _facts(self, step: int) -> dict[str, Any]:
        coin = {
            "name": "coin",
            "x_px": float(step % 8),
            "y_px": 3.0,
            "width_px": 2.0,
            "height_px": 2.0,
            "distance": math.hypot(COIN[0] - self.x, COIN[1] - self.y),
            "x": COIN[0],
            "y": COIN[1],
        }
        return {
            "x": self.x,
            "y": self.y,
            "angle": self.angle,
            "health": 100.0 - step,
            "objects": [coin] if step % 2 == 0 else [],
            "picked_up": step > 0 and step % COIN_EVERY == 0,
        }


class CountingWorld:
    """Pictures of 8 × 8 that tell step and seed, three actions, facts, an event and a map."""

    name = "counting"

    def __init__(self, *, length: int | None = None) -> None:
        self.length = length
        self.opened = 0
        """How many lanes are open: 0 again when everything was closed."""

    @property
    def info(self) -> WorldInfo:
        """Observations, actions and facts."""
        return WorldInfo(
            name=self.name,
            family="testing",
            observations=(_image("observation"),),
            actions=ActionSpace(kind="discrete", names=("left", "right", "forward")),
            facts=FACTS,
            settings={"length": self.length},
        )

    def open(self, lanes: int) -> Lanes:
        """Start that many games."""
        return ThreadedLanes(self._open_game, lanes)

    def game(self, lane: int) -> Game:
        """The game of one lane."""
        return CountingGame(length=self.length)

    def _open_game(self, lane: int) -> Game:
        self.opened += 1
        return _Counted(self, self.game(lane))


class CrashingWorld(CountingWorld):
    """Fails at step 37 of an episode, in one lane or in all."""

    name = "crashing"

    def __init__(self, *, crash_at: int = 37, lane: int | None = None, length: int = 100) -> None:
        super().__init__(length=length)
        self.crash_at, self.lane = crash_at, lane

    def game(self, lane: int) -> Game:
        """A game that will crash, or one that will not."""
        crashes = self.lane is None or self.lane == lane
        return CrashingGame(length=self.length, crash_at=self.crash_at if crashes else None)


@dataclass
class CrashingGame(CountingGame):
    """Raises at a known step."""

    crash_at: int | None = 37

    def step(self, action: Any) -> Moment:
        """As counting, up to the step where it breaks."""
        if self.step_count + 1 == self.crash_at:
            raise RuntimeError(f"the engine broke at step {self.crash_at}")
        return super().step(action)


class SlowWorld(CountingWorld):
    """Waits in every step."""

    name = "slow"

    def __init__(self, *, step_s: float = 0.01, length: int | None = None) -> None:
        super().__init__(length=length)
        self.step_s = step_s

    def game(self, lane: int) -> Game:
        """A game that takes its time."""
        return SlowGame(length=self.length, step_s=self.step_s)


@dataclass
class SlowGame(CountingGame):
    """Sleeps, then steps."""

    step_s: float = 0.01

    def step(self, action: Any) -> Moment:
        """As counting, later."""
        time.sleep(self.step_s)
        return super().step(action)


class DictWorld(CountingWorld):
    """Two observations: the picture "image" and the vector "pose" (x, y in m, angle in deg)."""

    name = "dict"

    @property
    def info(self) -> WorldInfo:
        """Observations, actions and facts."""
        return WorldInfo(
            name=self.name,
            family="testing",
            observations=(_image("image"), ArraySpec(name="pose", shape=(3,), dtype="float32", role="observation")),
            actions=ActionSpace(kind="discrete", names=("left", "right", "forward")),
            facts=FACTS,
        )

    def game(self, lane: int) -> Game:
        """A game seen in two ways."""
        return _Seen(CountingGame(length=self.length))


class ContinuousWorld:
    """A point on a line: the action, in -1…1, is its speed; reward is minus its distance to 0; 15 steps."""

    @property
    def info(self) -> WorldInfo:
        """Observations, actions and facts."""
        return WorldInfo(
            name="continuous",
            family="testing",
            observations=(ArraySpec(name="observation", shape=(2,), dtype="float32", role="observation"),),
            actions=ActionSpace(kind="continuous", names=("speed",), low=(-1.0,), high=(1.0,)),
            facts=(Column(name="x", type="float", unit="m", pose="x"),),
        )

    def open(self, lanes: int) -> Lanes:
        """Start that many games."""
        return ThreadedLanes(lambda lane: ContinuousGame(), lanes)


@dataclass
class ContinuousGame:
    """Starts at a place that the seed tells: seed % 5 - 2."""

    x: float = 0.0
    step_count: int = 0

    def reset(self, seed: int) -> Moment:
        """Begin at the seed's place."""
        self.x, self.step_count = float(seed % 5 - 2), 0
        return self._moment(0.0)

    def step(self, action: Any) -> Moment:
        """Move by the action."""
        self.x += float(np.clip(np.asarray(action, float).reshape(1)[0], -1, 1))
        self.step_count += 1
        return self._moment(-abs(self.x))

    def close(self) -> None:
        """Nothing to free."""

    def _moment(self, reward: float) -> Moment:
        observation = np.array([self.x, self.step_count], np.float32)
        ended = "time limit" if self.step_count >= 15 else ""
        return Moment(observation={"observation": observation}, facts={"x": self.x}, reward=reward, ended=ended)


@dataclass
class _Counted:
    """Tells its world when it closes."""

    world: CountingWorld
    game: Game
    closed: bool = False

    def reset(self, seed: int) -> Moment:
        return self.game.reset(seed)

    def step(self, action: Any) -> Moment:
        return self.game.step(action)

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self.world.opened -= 1
        self.game.close()


@dataclass
class _Seen:
    """Shows a counting game as a picture and a pose."""

    game: CountingGame

    def reset(self, seed: int) -> Moment:
        return self._both(self.game.reset(seed))

    def step(self, action: Any) -> Moment:
        return self._both(self.game.step(action))

    def close(self) -> None:
        self.game.close()

    def _both(self, moment: Moment) -> Moment:
        pose = np.array([self.game.x, self.game.y, self.game.angle], np.float32)
        seen: Mapping[str, np.ndarray] = {"image": moment.observation["observation"], "pose": pose}
        return Moment(
            observation=seen,
            facts=moment.facts,
            reward=moment.reward,
            ended=moment.ended,
            cut=moment.cut,
            scene=moment.scene,
        )


def _image(name: str) -> ArraySpec:
    return ArraySpec(name=name, shape=(8, 8, 3), dtype="uint8", role="observation", axes=("height", "width", "channel"))
