"""Plays episodes in several lanes at once and yields their rows in order.

Episode e is always played in lane e modulo the number of lanes, and the subject is always given a full batch: what a
lane sees is computed by the same operations in the same place, so a recording that was interrupted goes on exactly as
it would have gone on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch

from innerview.capture.heads import decisions, output_arrays
from innerview.capture.lane import Episode, Piece
from innerview.capture.layout import Layout
from innerview.errors import CaptureError, EditError, SubjectError, WorldError
from innerview.schema import ActionSpace, Moment
from innerview.subjects import Changes, Output, Subject
from innerview.worlds import Lanes, World

_PIECE_ROWS = 64
_MOST_BYTES_AHEAD = 1 << 30
"""What all lanes together may hold before the lanes that are ahead wait."""
_MOST_AHEAD = 2
"""Finished episodes that a lane may hold while earlier ones are still being played."""
TOO_LONG = "step limit"


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

    def program_of(self, episode: int) -> int:
        """Which program it is played with."""
        return self.programs[episode] if self.programs else 0

    def __post_init__(self) -> None:
        if self.lanes < 1:
            raise CaptureError(f"lanes is how many games run side by side: 1 or more, not {self.lanes}.")
        if self.max_steps is not None and self.max_steps < 1:
            raise CaptureError(f"max_steps is where an episode is cut: 1 or more, not {self.max_steps}.")


class Editing(Protocol):
    """Edits made in every lane at its own step."""

    def changes(self, before: Mapping[str, torch.Tensor], steps: Sequence[int], programs: Sequence[int]) -> Changes:
        """The changes of one step: the carried state, and for each lane its step and the program it is played with."""


def rollout(
    subject: Subject, world: World, plan: Plan, form: Layout, *, edits: Editing | None = None
) -> Generator[Piece]:
    """Yield every episode of the plan in order, piece by piece; with edits, of the subject as they change it."""
    lanes = world.open(plan.lanes)
    threads = torch.get_num_threads()
    try:
        # Games need cores too; on a small machine torch's threads would wait for each other most of the time.
        torch.set_num_threads(max(1, threads // 2))
        playing = _Playing(subject, lanes, plan, form, world.info.actions, edits)
        try:
            while playing.unfinished:
                playing.step()
                yield from playing.ready()
        except (WorldError, SubjectError, EditError) as problem:
            yield from playing.cut_short(problem)
            raise CaptureError(
                f"The recording stopped in episode {playing.next_episode}: {problem} "
                "Every row up to there is kept; run it again with the same arguments to go on."
            ) from problem
    finally:
        torch.set_num_threads(threads)
        lanes.close()


class _Playing:
    """The state of a rollout between two steps."""

    def __init__(
        self,
        subject: Subject,
        lanes: Lanes,
        plan: Plan,
        form: Layout,
        space: ActionSpace,
        edits: Editing | None = None,
    ) -> None:
        self.subject, self.lanes, self.plan, self.form, self.space = subject, lanes, plan, form, space
        self._edits = edits
        self.next_episode = plan.first_episode
        self.memory = subject.initial_memory(plan.lanes)
        self._moments: list[Moment | None] = [None] * plan.lanes
        self._episodes: list[deque[Episode]] = [deque() for _ in range(plan.lanes)]
        self._generators = [np.random.default_rng(0)] * plan.lanes
        self._active = [False] * plan.lanes
        self._upcoming: list[deque[int]] = [deque() for _ in range(plan.lanes)]
        for episode in range(plan.first_episode, len(plan.seeds)):
            self._upcoming[plan.lane_of(episode)].append(episode)
        self._programs = [0] * plan.lanes
        self._idle = np.random.default_rng(0)
        self._can_wait = getattr(lanes, "can_wait", True)
        self._most_rows = max(_PIECE_ROWS, _MOST_BYTES_AHEAD // (plan.lanes * form.row_bytes))
        self._actions = tuple(c.name for c in form.columns if c.kind == "action")
        self._events = tuple(c.name for c in form.columns if c.kind == "event")

    @property
    def unfinished(self) -> bool:
        return self.next_episode < len(self.plan.seeds)

    def step(self) -> None:
        """One step in every lane that has something to play."""
        self._begin_episodes()
        active = [lane for lane, playing in enumerate(self._active) if playing and not self._must_wait(lane)]
        batch = self._batch()
        output = self.subject.run(
            self.subject.inputs(batch), self.memory, keep=tuple(self.form.activations), edits=self._changes()
        )
        drawing = [self._generators[lane] if lane in active else self._idle for lane in range(self.plan.lanes)]
        actions = self._chosen(output, drawing)
        after = self.lanes.step({lane: actions[lane] for lane in active})
        self.memory = self._remembered(output, active)
        self._keep_rows(active, output, actions, after)

    def _changes(self) -> Changes:
        """What the edits change in this step."""
        if self._edits is None:
            return Changes()
        steps = [self._episodes[lane][-1].length if playing else 0 for lane, playing in enumerate(self._active)]
        return self._edits.changes(self.memory, steps, self._programs)

    def _must_wait(self, lane: int) -> bool:
        """Whether a lane holds so much for later that the episode whose turn it is should catch up first."""
        if lane == self.plan.lane_of(self.next_episode) or not self._can_wait:
            return False
        return sum(episode.waiting for episode in self._episodes[lane]) >= self._most_rows

    def _remembered(self, output: Output, active: list[int]) -> dict[str, torch.Tensor]:
        """The new memory, but in lanes that waited the old one."""
        waiting = [lane for lane, playing in enumerate(self._active) if playing and lane not in active]
        if not waiting:
            return output.memory
        kept = {site: new.clone() for site, new in output.memory.items()}
        for site, new in kept.items():
            new[waiting] = self.memory[site][waiting]
        return kept

    def ready(self) -> Iterator[Piece]:
        """Pieces of the episode whose turn it is, and of those behind it that are over."""
        while self.unfinished:
            episodes = self._episodes[self.plan.lane_of(self.next_episode)]
            if not episodes or episodes[0].number != self.next_episode:
                return
            episode = episodes[0]
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
                episode.outcome = episode.outcome or f"stopped: {type(cause or problem).__name__}"
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
            self._episodes[lane].append(Episode(number, seed, moment.scene, self.form.columns))
            self._generators[lane] = np.random.default_rng(seed)
            self._active[lane] = fresh[lane] = True
            self._programs[lane] = self.plan.program_of(number)
        if fresh.any():
            self.memory = self.subject.reset_memory(self.memory, fresh)

    def _is_far_ahead(self, lane: int) -> bool:
        return len(self._episodes[lane]) > _MOST_AHEAD

    def _batch(self) -> dict[str, np.ndarray]:
        """Every lane's observation; a lane that stands still shows its last one, or that of another lane."""
        filler = next(moment for moment in self._moments if moment is not None)
        shown = [moment or filler for moment in self._moments]
        return {name: np.stack([moment.observation[name] for moment in shown]) for name in self.form.fed}

    def _chosen(self, output: Output, drawing: list[np.random.Generator]) -> np.ndarray:
        """An action per lane; a subject that does not act takes the only one there is."""
        if self.subject.acting_head is None:
            return np.zeros(self.plan.lanes, np.int64)
        return self._within_bounds(self.subject.act(output, greedy=self.plan.greedy, generators=drawing))

    def _within_bounds(self, actions: np.ndarray) -> np.ndarray:
        """What is recorded is what was done: a continuous action may lie outside of what the world takes."""
        if self.space.kind != "continuous" or not self.space.low:
            return actions
        return np.asarray(np.clip(actions, self.space.low, self.space.high))

    def _keep_rows(self, active: list[int], output: Output, actions: np.ndarray, after: Mapping[int, Moment]) -> None:
        arrays = output_arrays(self.subject, self.form, output)
        decided = decisions(self.form, output, arrays.get("probabilities"))
        for lane in active:
            now, then, episode = self._moments[lane], after[lane], self._episodes[lane][-1]
            assert now is not None, "an active lane has a moment"
            told, caused = now.facts, then.facts
            values = dict(told)
            values.update((name, bool(caused.get(name))) for name in self._events)
            values.update((name, column[lane]) for name, column in decided.items())
            values.update(episode=episode.number, step=episode.length, reward=then.reward)
            values.update(self._action_values(actions[lane]))
            rows = {name: array[lane] for name, array in arrays.items()}
            rows.update((array, now.observation[name]) for name, array in self.form.observations.items())
            episode.add(values, rows, then.reward)
            self._move_on(lane, episode, then)

    def _move_on(self, lane: int, episode: Episode, then: Moment) -> None:
        self._moments[lane] = then
        episode.outcome = then.ended
        if not episode.outcome and self.plan.max_steps is not None and episode.length >= self.plan.max_steps:
            episode.outcome = TOO_LONG
        self._active[lane] = not episode.outcome

    def _action_values(self, action: Any) -> dict[str, Any]:
        return dict(zip(self._actions, np.atleast_1d(action).tolist(), strict=True))
