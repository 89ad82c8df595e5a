"""Plays many episodes and says only how each went: what happened on the way is seen, acted on and forgotten."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from innerview.capture.layout import layout
from innerview.capture.step import Answer, Sampler, Stepper, joined
from innerview.capture.summary import Tally
from innerview.errors import CaptureError
from innerview.schema import EpisodeSummary
from innerview.subjects import Changes, Output, Subject
from innerview.worlds import World
from innerview.worlds.crowds import Crowd, crowd, default_lanes

_PIECE = 64


def evaluate(
    subject: Subject,
    world: World,
    seeds: Sequence[int],
    *,
    lanes: int | None = None,
    greedy: bool = False,
    noise: float = 0.0,
    max_steps: int | None = None,
) -> Generator[list[EpisodeSummary]]:
    """Play each seed once; after every step of all games, the episodes that ended with it, often none.

    A seed draws its actions from a generator of its own, so two subjects meet the same chances. The subject sees
    running games alone, so the last few cost little. `noise` is how often any action is taken instead of the chosen
    one; with 1 the subject is not asked at all.
    """
    sampler = _checked_sampler(world, greedy, noise)
    if not seeds:
        return
    room = min(default_lanes(world, subject.device) if lanes is None else lanes, len(seeds))
    if room < 1:
        raise CaptureError(f"lanes is how many games run side by side: 1 or more, not {room}.")
    if max_steps is not None and max_steps < 1:
        raise CaptureError(f"max_steps is where an episode is cut: 1 or more, not {max_steps}.")
    fed = () if sampler.is_random else layout(subject, world.info).fed
    games = crowd(world, room, device=subject.device)
    playing = _Playing(subject, games, sampler, fed, deque(seeds), max_steps=max_steps)
    try:
        playing.join(room)
        while playing.running:
            yield playing.step()
    finally:
        games.close()


def _checked_sampler(world: World, greedy: bool, noise: float) -> Sampler:
    space = world.info.actions
    if not 0 <= noise <= 1:
        raise CaptureError(f"noise is the share of random actions, from 0 to 1, not {noise}.")
    if noise and space.kind != "discrete":
        raise CaptureError(f"noise takes random actions, which must be discrete; '{world.info.name}' has others.")
    return Sampler(space=space, greedy=greedy, noise=noise)


@dataclass
class _Game:
    generator: np.random.Generator
    tally: Tally


class _Playing:
    """Games that run, in the order of the crowd."""

    def __init__(
        self,
        subject: Subject,
        games: Crowd,
        sampler: Sampler,
        fed: Sequence[str],
        waiting: deque[int],
        *,
        max_steps: int | None,
    ) -> None:
        self._games, self._sampler, self._fed = games, sampler, fed
        self._waiting, self._max_steps = waiting, max_steps
        self._stepper = Stepper[Mapping[str, Tensor]](subject, answer=_in_pieces(subject))
        self.running: list[_Game] = []

    def join(self, count: int) -> None:
        """So many of those that wait begin."""
        seeds = [self._waiting.popleft() for _ in range(min(count, len(self._waiting)))]
        if not seeds:
            return
        self._games.begin(seeds)
        self.running += [_Game(np.random.default_rng(s), Tally(s, max_steps=self._max_steps)) for s in seeds]
        self._stepper.join(len(seeds))

    def step(self) -> list[EpisodeSummary]:
        """Everybody acts once; who is done makes room for who waits."""
        output = None if self._sampler.is_random else self._said()
        actions = self._actions(output)
        rewards, endings = self._games.step(actions)
        if output is not None:
            self._stepper.acted(output, actions, rewards)
        outcomes = [game.tally.step(*each) for game, *each in zip(self.running, rewards, endings, strict=True)]
        ended = [
            game.tally.summary(outcome, self._games.facts(place))
            for place, (game, outcome) in enumerate(zip(self.running, outcomes, strict=True))
            if outcome
        ]
        if ended:
            self._leave(np.array([bool(outcome) for outcome in outcomes]))
            self.join(len(ended))
        return ended

    def _said(self) -> Output:
        seen = self._games.seen()
        return self._stepper.step(self._stepper.subject.inputs({name: seen[name] for name in self._fed}))

    def _actions(self, output: Output | None) -> np.ndarray:
        generators = [game.generator for game in self.running]
        if output is None:
            return self._sampler.random_actions(generators)
        return self._sampler.actions(self._stepper.subject, output, generators)

    def _leave(self, gone: np.ndarray) -> None:
        self._games.leave(gone)
        self.running = [game for game, left in zip(self.running, gone, strict=True) if not left]
        self._stepper.stay(np.flatnonzero(~gone))


def _in_pieces(subject: Subject) -> Answer[Mapping[str, Tensor]]:
    """One run for all rows; on a processor in pieces that fit its cache, with channels side by side: half the time."""

    def answer(inputs: Mapping[str, Tensor], memory: Mapping[str, Tensor], changes: Changes) -> Output:
        if subject.device.type != "cpu":
            return subject.run(inputs, memory, edits=changes)
        rows = len(next(iter(inputs.values())))
        close = {name: _side_by_side(value) for name, value in inputs.items()}
        parts = [
            subject.run(
                {name: value[i : i + _PIECE] for name, value in close.items()},
                {site: state[i : i + _PIECE] for site, state in memory.items()},
                edits=changes,
            )
            for i in range(0, rows, _PIECE)
        ]
        return joined(parts)

    return answer


def _side_by_side(value: Tensor) -> Tensor:
    return value.contiguous(memory_format=torch.channels_last) if value.ndim == 4 else value
