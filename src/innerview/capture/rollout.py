"""Plays episodes in several lanes at once and yields their rows in order.

Episode e is always played in lane e modulo the number of lanes, and the subject is always given a full batch: what a
lane sees is computed by the same operations in the same place, so a recording that was interrupted goes on exactly as
it would have gone on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from innerview.capture.lane import Episode, Piece
from innerview.capture.layout import Layout
from innerview.capture.step import Sampler, Stepper, fewer_threads
from innerview.errors import CaptureError, EditError, SubjectError, WorldError
from innerview.schema import Edit, Moment
from innerview.subjects import Output, Subject, replay
from innerview.worlds import Lanes, World

_PIECE_ROWS = 64
_TRIED = 4
"""Steps that are replayed before the first row is handed out."""
_MAX_BYTES_AHEAD = 1 << 30
"""What all lanes together may hold before the lanes that are ahead wait."""
_MAX_AHEAD = 2
"""Finished episodes that a lane may hold while earlier ones are still being played."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to play."""

    seeds: Sequence[int]
    """One episode each."""
    lanes: int = 4
    greedy: bool = False
    max_steps: int | None = None
    first_episode: int = 0
    """Episodes before this one were recorded already."""
    programs: Sequence[int] = ()
    """Which of the edits' programs each episode is played with; the first where nothing is said."""
    places: Sequence[int] = ()
    """The lane of each episode: to the last bit, what a network says depends on the place in the batch."""

    def lane_of(self, episode: int) -> int:
        """Where an episode is played."""
        return self.places[episode] if self.places else episode % self.lanes

    @property
    def games(self) -> int:
        """Games that are needed: fewer than lanes where there are fewer episodes; the batch is full all the same."""
        played = (self.lane_of(episode) for episode in range(self.first_episode, len(self.seeds)))
        return max(played, default=0) + 1

    def program_of(self, episode: int) -> int:
        """Which program it is played with."""
        return self.programs[episode] if self.programs else 0

    def __post_init__(self) -> None:
        if self.lanes < 1:
            raise CaptureError(f"lanes is how many games run side by side: 1 or more, not {self.lanes}.")
        if self.max_steps is not None and self.max_steps < 1:
            raise CaptureError(f"max_steps is where an episode is cut: 1 or more, not {self.max_steps}.")


def rollout(
    subject: Subject, world: World, plan: Plan, form: Layout, *, edits: Sequence[Sequence[Edit]] = ()
) -> Generator[Piece]:
    """Yield every episode of the plan in order, piece by piece; `edits` has a set of edits for each program."""
    lanes = world.open(plan.games)
    try:
        with fewer_threads():
            playing = _Playing(subject, lanes, plan, form, Sampler(space=world.info.actions, greedy=plan.greedy), edits)
            try:
                while playing.unfinished:
                    playing.step()
                    yield from playing.ready()
            except (WorldError, SubjectError, EditError) as problem:
                yield from playing.cut_short(problem)
                raise CaptureError(
                    f"The recording stopped in episode {playing.next_episode}: {problem} "
                    "Every row up to there is saved; run it again with the same arguments to go on."
                ) from problem
    finally:
        lanes.close()


class _Playing:
    """The state of a rollout between two steps."""

    def __init__(
        self,
        subject: Subject,
        lanes: Lanes,
        plan: Plan,
        form: Layout,
        sampler: Sampler,
        edits: Sequence[Sequence[Edit]],
    ) -> None:
        self.subject, self.lanes, self.plan, self.form = subject, lanes, plan, form
        self._sampler = sampler
        self._stepper = Stepper[Mapping[str, Any]](subject, plan.lanes, programs=edits, keep=form.sites.keep)
        self.next_episode = plan.first_episode
        self._moments: list[Moment | None] = [None] * plan.lanes
        self._episodes: list[deque[Episode]] = [deque() for _ in range(plan.lanes)]
        self._generators = [np.random.default_rng(0)] * plan.lanes
        self._active = [False] * plan.lanes
        self._upcoming: list[deque[int]] = [deque() for _ in range(plan.lanes)]
        for episode in range(plan.first_episode, len(plan.seeds)):
            self._upcoming[plan.lane_of(episode)].append(episode)
        self._programs = [0] * plan.lanes
        self._idle = np.random.default_rng(0)
        self._tried: list[dict[str, Tensor]] | None = []
        self._can_wait = getattr(lanes, "can_wait", True)
        self._max_rows = max(_PIECE_ROWS, _MAX_BYTES_AHEAD // (plan.lanes * form.row_bytes))

    @property
    def unfinished(self) -> bool:
        return self.next_episode < len(self.plan.seeds)

    def step(self) -> None:
        """One step in every lane that has something to play."""
        self._begin_episodes()
        active = [lane for lane, playing in enumerate(self._active) if playing and not self._must_wait(lane)]
        waiting = [lane for lane, playing in enumerate(self._active) if playing and lane not in active]
        steps = [self._episodes[lane][-1].length if playing else 0 for lane, playing in enumerate(self._active)]
        inputs = self.subject.inputs(self._batch())
        self._replay_first(inputs)
        output = self._stepper.step(inputs, steps=steps, programs=self._programs, waiting=waiting)
        drawing = [self._generators[lane] if lane in active else self._idle for lane in range(self.plan.lanes)]
        actions = self._sampler.actions(self.subject, output, drawing)
        after = self.lanes.step({lane: actions[lane] for lane in active})
        rewards = np.array([after[lane].reward if lane in after else 0.0 for lane in range(self.plan.lanes)])
        output = self._stepper.acted(output, actions, rewards, active)
        self._add_rows(active, output, actions, after)

    def _replay_first(self, inputs: Mapping[str, Tensor]) -> None:
        """What is seen in the first steps is believed when the module says the same, called as its author calls it."""
        if self._tried is None:
            return
        began = any(self._active[lane] and not self._episodes[lane][-1].length for lane in range(self.plan.lanes))
        if not self._tried or not began:
            told = {name: self._stepper.memory[name] for name in self.subject.told_names}
            self._tried.append({**inputs, **told})
        if len(self._tried) == _TRIED or (began and len(self._tried) > 1):
            self.replay_tried()

    def replay_tried(self) -> None:
        """An error where the steps so far cannot be believed; they are tried once."""
        steps, self._tried = self._tried, None
        if not steps:
            return
        try:
            replay(self.subject, steps)
        except SubjectError as problem:
            raise CaptureError(f"Nothing is recorded. On what the world shows first: {problem}") from problem

    def _must_wait(self, lane: int) -> bool:
        """Whether a lane holds so much for later that the episode whose turn it is should catch up first."""
        if lane == self.plan.lane_of(self.next_episode) or not self._can_wait:
            return False
        return sum(episode.waiting for episode in self._episodes[lane]) >= self._max_rows

    def ready(self) -> Iterator[Piece]:
        """Pieces of the episode whose turn it is, and of those behind it that are over."""
        while self.unfinished:
            episodes = self._episodes[self.plan.lane_of(self.next_episode)]
            if not episodes or episodes[0].number != self.next_episode:
                return
            episode = episodes[0]
            if episode.outcome or episode.waiting >= _PIECE_ROWS:
                self.replay_tried()
            if not episode.outcome:
                if episode.waiting >= _PIECE_ROWS:
                    yield episode.take(self.form.arrays)
                return
            episodes.popleft()
            self.next_episode += 1
            yield episode.take(self.form.arrays)

    def cut_short(self, problem: Exception) -> Iterator[Piece]:
        """Everything that was played and not yet yielded, in order; unfinished episodes say why they stopped."""
        held = sorted((e for episodes in self._episodes for e in episodes), key=lambda e: e.number)
        for episode in held:
            if episode.length:
                cause = problem.__cause__
                if not episode.outcome:
                    episode.cut_short(f"stopped: {type(cause or problem).__name__}")
                yield episode.take(self.form.arrays, provisional=True)

    def _begin_episodes(self) -> None:
        fresh = np.zeros(self.plan.lanes, bool)
        for lane in range(self.plan.lanes):
            if self._active[lane] or not self._upcoming[lane] or self._is_far_ahead(lane):
                continue
            number = self._upcoming[lane].popleft()
            seed = self.plan.seeds[number]
            moment = self.lanes.reset(lane, seed)
            self._moments[lane] = moment
            episode = Episode(number, seed, moment.scene, self.form.columns, max_steps=self.plan.max_steps)
            self._episodes[lane].append(episode)
            self._generators[lane] = np.random.default_rng(seed)
            self._active[lane] = fresh[lane] = True
            self._programs[lane] = self.plan.program_of(number)
        self._stepper.begin(fresh)

    def _is_far_ahead(self, lane: int) -> bool:
        return len(self._episodes[lane]) > _MAX_AHEAD

    def _batch(self) -> dict[str, np.ndarray]:
        """Every lane's observation; a lane that stands still shows its last one, or that of another lane."""
        filler = next(moment for moment in self._moments if moment is not None)
        shown = [moment or filler for moment in self._moments]
        return {name: np.stack([moment.observation[name] for moment in shown]) for name in self.form.fed}

    def _add_rows(self, active: list[int], output: Output, actions: np.ndarray, after: Mapping[int, Moment]) -> None:
        decided, arrays = self.form.said(output)
        for lane in active:
            now, then, episode = self._moments[lane], after[lane], self._episodes[lane][-1]
            assert now is not None, "an active lane has a moment"
            said = {name: column[lane] for name, column in decided.items()}
            values = self.form.values_of(
                now, then, actions[lane], said=said, episode=episode.number, step=episode.length
            )
            rows = {name: array[lane] for name, array in arrays.items()}
            rows.update((array, now.observation[name]) for name, array in self.form.observations.items())
            episode.add(values, rows, then.reward, then.ended, cut=then.cut)
            self._moments[lane] = then
            self._active[lane] = not episode.outcome
