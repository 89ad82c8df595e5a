"""Plays many episodes and says only how each went: what happened on the way is seen, acted on and forgotten."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from innerview.capture.layout import Layout, layout
from innerview.capture.step import Answer, Sampler, Stepper, joined
from innerview.capture.summary import Tally
from innerview.errors import CaptureError
from innerview.schema import Column, Edit, EpisodeSummary
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
    edits: Sequence[Sequence[Edit]] = (),
    programs: Sequence[int] = (),
    counted: bool = False,
) -> Generator[list[tuple[int, EpisodeSummary]]]:
    """Play each seed once; after every step of all games, the episodes that ended with it by place among the seeds.

    A seed draws its actions from a generator of its own, so two subjects meet the same chances. The subject sees
    running games alone, so the last few cost little. `noise` is how often any action is taken instead of the chosen
    one; with 1 the subject is not asked at all. `edits` has a set of edits for each program, and `programs` says which
    of them each seed is played with (the first). What is `counted` beside steps and rewards are events and facts.
    """
    sampler = _checked_sampler(world, greedy, noise)
    if not seeds:
        return
    device = None if counted else subject.device
    room = min(default_lanes(world, crowd_on=device) if lanes is None else lanes, len(seeds))
    if room < 1:
        raise CaptureError(f"lanes is how many games run side by side: 1 or more, not {room}.")
    if max_steps is not None and max_steps < 1:
        raise CaptureError(f"max_steps is where an episode is cut: 1 or more, not {max_steps}.")
    form = None if sampler.is_random and not counted else layout(subject, world.info)
    waiting = _Waiting(seeds, programs, form.columns if form and counted else (), max_steps)
    games = crowd(world, room, device=device)
    playing = _Playing(subject, games, sampler, form, waiting, edits=edits, counted=counted)
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
    place: int
    generator: np.random.Generator
    tally: Tally
    program: int


class _Waiting:
    """Games to come, in their order."""

    def __init__(
        self, seeds: Sequence[int], programs: Sequence[int], columns: Sequence[Column], max_steps: int | None
    ) -> None:
        self._seeds, self._programs, self._columns, self._max_steps = seeds, programs, columns, max_steps
        self._next = 0

    def take(self, count: int) -> list[_Game]:
        """The next games, as many as there are."""
        places = range(self._next, min(self._next + count, len(self._seeds)))
        self._next = places.stop
        return [self._game(place) for place in places]

    def _game(self, place: int) -> _Game:
        seed, program = self._seeds[place], self._programs[place] if self._programs else 0
        tally = Tally(seed, self._columns, max_steps=self._max_steps)
        return _Game(place, np.random.default_rng(seed), tally, program)


class _Playing:
    """Games that run, in the order of the crowd."""

    def __init__(
        self,
        subject: Subject,
        games: Crowd,
        sampler: Sampler,
        form: Layout | None,
        waiting: _Waiting,
        *,
        edits: Sequence[Sequence[Edit]],
        counted: bool,
    ) -> None:
        self._games, self._sampler, self._form, self._waiting = games, sampler, form, waiting
        self._stepper = Stepper[Mapping[str, Tensor]](subject, programs=edits, answer=_in_pieces(subject))
        self._counted = form if counted else None
        self.running: list[_Game] = []

    def join(self, count: int) -> None:
        """So many of those that wait begin."""
        fresh = self._waiting.take(count)
        if not fresh:
            return
        self._games.begin([game.tally.seed for game in fresh])
        self.running += fresh
        self._stepper.join(len(fresh))

    def step(self) -> list[tuple[int, EpisodeSummary]]:
        """Everybody acts once; who is done makes room for who waits."""
        output = None if self._sampler.is_random else self._said()
        actions = self._actions(output)
        before = self._facts()
        rewards, endings = self._games.step(actions)
        if output is not None:
            self._stepper.acted(output, actions, rewards)
        self._count(before, self._facts())
        outcomes = [game.tally.step(*each) for game, *each in zip(self.running, rewards, endings, strict=True)]
        ended = [
            (game.place, game.tally.summary(outcome, self._games.facts(place)))
            for place, (game, outcome) in enumerate(zip(self.running, outcomes, strict=True))
            if outcome
        ]
        if ended:
            self._leave(np.array([bool(outcome) for outcome in outcomes]))
            self.join(len(ended))
        return ended

    def _said(self) -> Output:
        assert self._form is not None, "who asks a subject knows what it is given"
        seen = self._games.seen()
        return self._stepper.step(
            self._stepper.subject.inputs({name: seen[name] for name in self._form.fed}),
            steps=[game.tally.length for game in self.running],
            programs=[game.program for game in self.running],
        )

    def _facts(self) -> list[Mapping[str, Any]]:
        return [self._games.facts(place) for place in range(len(self.running))] if self._counted else []

    def _count(self, before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> None:
        if self._counted is None:
            return
        for game, now, then in zip(self.running, before, after, strict=True):
            told = self._counted.facts_of(now, then)
            game.tally.add_rows({column.name: [told.get(column.name)] for column in self._counted.columns})

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
    """One run for all rows; on a processor in pieces that fit its cache, with channels side by side: half the time.

    Edits know all rows together, so where there are any nothing is split.
    """

    def answer(inputs: Mapping[str, Tensor], memory: Mapping[str, Tensor], changes: Changes) -> Output:
        if subject.device.type != "cpu" or changes:
            return subject.run(inputs, memory, edits=changes)
        rows = len(next(iter(inputs.values())))
        close = {name: _side_by_side(value) for name, value in inputs.items()}
        parts = [
            subject.run(
                {name: value[i : i + _PIECE] for name, value in close.items()},
                {site: state[i : i + _PIECE] for site, state in memory.items()},
            )
            for i in range(0, rows, _PIECE)
        ]
        return joined(parts)

    return answer


def _side_by_side(value: Tensor) -> Tensor:
    return value.contiguous(memory_format=torch.channels_last) if value.ndim == 4 else value
