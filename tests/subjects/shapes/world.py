"""A world of noise, whose episodes have several lengths, and what a subject says in it, row by row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from innerview.capture import Plan, layout, rollout
from innerview.schema import ActionSpace, ArraySpec, Moment, WorldInfo
from innerview.subjects import Subject
from innerview.worlds import Lanes, ThreadedLanes

LENGTHS = (20, 3, 20, 6)
"""Steps of the episodes: two are played side by side, so that states of several ages stand beside each other."""


@dataclass(frozen=True)
class Shown:
    """One observation of noise."""

    shape: tuple[int, ...]
    dtype: str = "float32"
    most: int = 2
    """Whole numbers are below this one."""
    size: float = 1.0
    """Other numbers lie between this one and its opposite."""

    @property
    def spec(self) -> dict[str, Any]:
        axes = ("height", "width", "channel") if len(self.shape) == 3 else ()
        return {"shape": self.shape, "dtype": self.dtype, "axes": axes}

    def drawn(self, rng: np.random.Generator) -> np.ndarray:
        if self.dtype == "uint8":
            return rng.integers(0, 256, self.shape).astype(np.uint8)
        if self.dtype == "int64":
            return rng.integers(0, self.most, self.shape)
        return rng.uniform(-self.size, self.size, self.shape).astype(np.float32)


class NoiseGame:
    """Shows noise, and earns noise."""

    def __init__(self, shown: Mapping[str, Shown]) -> None:
        self._shown = shown

    def reset(self, seed: int) -> Moment:
        self._rng, self._left = np.random.default_rng(seed), LENGTHS[seed]
        return self._moment(0.0)

    def step(self, action: Any) -> Moment:
        self._left -= 1
        return self._moment(float(self._rng.uniform(-1, 1)))

    def close(self) -> None: ...

    def _moment(self, reward: float) -> Moment:
        seen = {name: item.drawn(self._rng) for name, item in self._shown.items()}
        return Moment(observation=seen, reward=reward, ended="" if self._left else "over")


class NoiseWorld:
    """Shows what it is told to."""

    def __init__(self, shown: Mapping[str, Shown], actions: ActionSpace) -> None:
        self._shown = shown
        specs = tuple(ArraySpec(name=n, role="observation", **item.spec) for n, item in shown.items())
        self.info = WorldInfo(name="noise", family="testing", observations=specs, actions=actions)

    def open(self, lanes: int) -> Lanes:
        return ThreadedLanes(lambda lane: NoiseGame(self._shown), lanes)


def discrete(count: int) -> ActionSpace:
    return ActionSpace(kind="discrete", names=tuple(f"action {number}" for number in range(count)))


def continuous(count: int) -> ActionSpace:
    names = tuple(f"action {number}" for number in range(count))
    return ActionSpace(kind="continuous", names=names, low=(-1e9,) * count, high=(1e9,) * count)


@dataclass(frozen=True)
class Played:
    """One recorded episode: what was seen, [steps, …], and the columns and arrays of its rows."""

    seen: dict[str, np.ndarray]
    rows: dict[str, list[Any]]
    arrays: dict[str, np.ndarray]

    def steps(self) -> list[dict[str, Tensor]]:
        """Each observation as a batch of one row."""
        count = len(self.rows["step"])
        return [{n: torch.from_numpy(v[t : t + 1].copy()) for n, v in self.seen.items()} for t in range(count)]


def recorded(subject: Subject, world: NoiseWorld, *, greedy: bool = True) -> list[Played]:
    """The episodes as a recording would hold them."""
    form = layout(subject, world.info)
    plan = Plan(seeds=tuple(range(len(LENGTHS))), lanes=2, greedy=greedy)
    found: dict[int, list[Any]] = {}
    for piece in rollout(subject, world, plan, form):
        found.setdefault(piece.episode, []).append(piece)
    return [_joined(found[episode], form.observations) for episode in sorted(found)]


def _joined(pieces: list[Any], observations: Mapping[str, str]) -> Played:
    rows = {name: [value for piece in pieces for value in piece.rows[name]] for name in pieces[0].rows}
    arrays = {name: np.concatenate([piece.arrays[name] for piece in pieces]) for name in pieces[0].arrays}
    return Played({name: arrays[array] for name, array in observations.items()}, rows, arrays)
