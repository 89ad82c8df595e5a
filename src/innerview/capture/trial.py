"""Plays many episodes and tells only how each went: what happened on the way is seen, acted on and forgotten."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from innerview.capture.rollout import TOO_LONG
from innerview.errors import CaptureError, SubjectError, WorldError
from innerview.subjects import Output, Subject
from innerview.worlds import World
from innerview.worlds.crowds import Crowd, crowd, usual_lanes

_PIECE = 64


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How one episode went."""

    seed: int
    outcome: str
    length: int
    total_reward: float


def trial(
    subject: Subject,
    world: World,
    seeds: Sequence[int],
    *,
    lanes: int | None = None,
    greedy: bool = False,
    max_steps: int | None = None,
) -> Generator[list[Outcome]]:
    """Play each seed once; after every step of all games, the episodes that ended with it, often none.

    A seed draws its actions from a generator of its own, so two subjects meet the same chances. The subject sees
    running games alone, so the last few cost little.
    """
    if not seeds:
        return
    room = min(usual_lanes(world, subject.device) if lanes is None else lanes, len(seeds))
    if room < 1:
        raise CaptureError(f"lanes is how many games run side by side: 1 or more, not {room}.")
    games = crowd(world, room, device=subject.device)
    playing = _Playing(subject, world, games, deque(seeds), greedy=greedy, max_steps=max_steps)
    try:
        playing.join(room)
        while playing.running:
            yield playing.step()
    except (WorldError, SubjectError) as problem:
        raise CaptureError(
            f"'{subject.info.name}' could not play on in '{world.info.name}': {problem} Episodes that ended are kept; "
            "the same command again goes on from there."
        ) from problem
    finally:
        games.close()


@dataclass
class _Game:
    seed: int
    generator: np.random.Generator
    length: int = 0
    total_reward: float = 0.0


class _Playing:
    """Games that run, in the order of the crowd."""

    def __init__(
        self,
        subject: Subject,
        world: World,
        games: Crowd,
        waiting: deque[int],
        *,
        greedy: bool,
        max_steps: int | None,
    ) -> None:
        self._subject, self._space, self._games, self._waiting = subject, world.info.actions, games, waiting
        self._greedy, self._max_steps = greedy, max_steps
        self._fed = _fed(subject, world)
        self._memory = subject.initial_memory(0)
        self.running: list[_Game] = []

    def join(self, count: int) -> None:
        """So many of those that wait begin."""
        seeds = [self._waiting.popleft() for _ in range(min(count, len(self._waiting)))]
        if not seeds:
            return
        self._games.begin(seeds)
        self.running += [_Game(seed, np.random.default_rng(seed)) for seed in seeds]
        fresh = self._subject.initial_memory(len(seeds))
        self._memory = {site: torch.cat((state, fresh[site])) for site, state in self._memory.items()}

    def step(self) -> list[Outcome]:
        """Everybody acts once; who is done makes room for who waits."""
        seen = self._games.seen()
        output = answered(self._subject, self._subject.inputs({name: seen[name] for name in self._fed}), self._memory)
        rewards, endings = self._games.step(self._actions(output))
        self._memory = output.memory
        ended = [self._count(*each) for each in zip(self.running, rewards, endings, strict=True)]
        gone = np.array([one is not None for one in ended])
        if gone.any():
            self._leave(gone)
            self.join(int(gone.sum()))
        return [one for one in ended if one is not None]

    def _actions(self, output: Output) -> np.ndarray:
        if self._subject.acting_head is None:
            return np.zeros(len(self.running), np.int64)
        generators = [game.generator for game in self.running]
        chosen = self._subject.act(output, greedy=self._greedy, generators=generators)
        if self._space.kind != "continuous" or not self._space.low:
            return chosen
        return np.asarray(np.clip(chosen, self._space.low, self._space.high))

    def _count(self, game: _Game, reward: float, ending: str) -> Outcome | None:
        game.length += 1
        game.total_reward += float(reward)
        if not ending and self._max_steps is not None and game.length >= self._max_steps:
            ending = TOO_LONG
        if not ending:
            return None
        return Outcome(seed=game.seed, outcome=ending, length=game.length, total_reward=game.total_reward)

    def _leave(self, gone: np.ndarray) -> None:
        self._games.leave(gone)
        self.running = [game for game, left in zip(self.running, gone, strict=True) if not left]
        stay = torch.as_tensor(np.flatnonzero(~gone))
        self._memory = {site: state[stay.to(state.device)] for site, state in self._memory.items()}


def answered(subject: Subject, inputs: Mapping[str, Tensor], memory: Mapping[str, Tensor]) -> Output:
    """One run for all rows; on a processor in pieces that fit its cache, with channels side by side: half the time."""
    rows = len(next(iter(inputs.values())))
    if subject.device.type != "cpu":
        return subject.run(inputs, memory)
    close = {name: _side_by_side(value) for name, value in inputs.items()}
    parts = [
        subject.run(
            {name: value[i : i + _PIECE] for name, value in close.items()},
            {site: state[i : i + _PIECE] for site, state in memory.items()},
        )
        for i in range(0, rows, _PIECE)
    ]
    return Output(
        heads={name: torch.cat([part.heads[name] for part in parts]) for name in parts[0].heads},
        memory={site: torch.cat([part.memory[site] for part in parts]) for site in parts[0].memory},
    )


def _side_by_side(value: Tensor) -> Tensor:
    return value.contiguous(memory_format=torch.channels_last) if value.ndim == 4 else value


def _fed(subject: Subject, world: World) -> tuple[str, ...]:
    """The observations that the subject is given, by the world's names."""
    from innerview.capture.layout import layout

    return tuple(layout(subject, world.info).fed)
