"""Where a rollout begins: a recorded row, and how the game is brought to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch

from innerview.capture import GivenRows, Layout, Sampler, layout, within_bounds
from innerview.capture.heads import Values
from innerview.capture.step import joined
from innerview.errors import CaptureError, RequestError, UnknownName, WorldError
from innerview.jobs.context import Context
from innerview.jobs.recorded import check_recorded
from innerview.lenses.rows.inputs import RowInputs
from innerview.rollouts.jobs import WhatIfJob
from innerview.rollouts.rerun import check_repeats, played_with
from innerview.schema import ChangeAt, Edit, Moment, Move, RolledOutFrom, of_kind
from innerview.store import Recording
from innerview.subjects import Output, Subject
from innerview.worlds import Changeable, Lanes, Rewindable, World


@dataclass(frozen=True, kw_only=True)
class Origin:
    """A recorded row, who plays on from it, and in which world."""

    recording: Recording
    row: int
    subject: Subject
    world: World
    form: Layout
    group: Mapping[str, Any]
    """The line of its episode."""
    other: tuple[str, ...] = ()
    """How subject and world differ from those that were recorded, where somebody said to go on all the same."""

    @property
    def step(self) -> int:
        """Of the episode."""
        return self.row - int(self.group["start"])

    @property
    def key(self) -> str:
        """All that a rollout from here depends on."""
        return f"{self.recording.name} {self.recording.digest} {self.row} {self.subject.identity()}"

    def replayed(self, lanes: Lanes) -> Moment:
        """Bring a game to the row with the recorded seed and actions; what it shows is what was recorded, or an error.

        Things that were moved by hand when the recording was made are moved again.
        """
        actions, changes = self._actions(), self._changes()
        moment, done = lanes.reset(0, int(self.group["seed"])), 0
        for stop in sorted({*(step for step in changes if step <= self.step), self.step}):
            if stop > done:
                moment = self._skipped(lanes, actions[done:stop], done)
            for change in changes.get(stop, ()):
                moment = _changed(lanes, change)
            done = stop
        self._check_same(moment)
        return moment

    def memory(self) -> dict[str, torch.Tensor]:
        """What the subject remembers when it comes to the row; another one than was recorded sees what led to it."""
        return self._given.memory_before(np.array([self.row]))

    def said(self, first: int, stop: int) -> Values:
        """What the subject says of steps of the episode before the row, and remembers after them."""
        begin = int(self.group["start"])
        outputs = GivenRows(self.subject, self._given.inputs).carried(begin, range(begin + first, begin + stop))
        return self.form.said(joined([outputs[row] for row in sorted(outputs)]))

    @property
    def edits(self) -> tuple[Edit, ...]:
        """What it was changed by when it recorded; nothing of another subject."""
        return self._given.edits

    @cached_property
    def _given(self) -> RowInputs:
        return RowInputs(self.subject, self.recording)

    def chosen(self, output: Output) -> Any:
        """The subject's most likely action."""
        space = self.world.info.actions
        action = Sampler(space=space, greedy=True).actions(self.subject, output)[0]
        return int(action) if space.kind == "discrete" else action

    def checked_action(self, move: Move) -> Any:
        """An action of one's own, or an error that says which there are."""
        space = self.world.info.actions
        if space.kind == "discrete":
            if move.action is None or not 0 <= move.action < space.size:
                known = ", ".join(f"{number} {name}" for number, name in enumerate(space.names))
                raise RequestError(f"There is no action {move.action}; there are {known}.")
            return move.action
        if len(move.actions) != space.size:
            raise RequestError(
                f"An action is {space.size} numbers ({', '.join(space.names)}), not {list(move.actions)}."
            )
        return within_bounds(space, np.asarray(move.actions, np.float32))

    def _actions(self) -> list[Any]:
        names = [column.name for column in of_kind(self.recording.info.columns, "action")]
        table = self.recording.columns(names, int(self.group["start"]), self.row)
        if self.world.info.actions.kind == "discrete":
            return [int(action) for action in table[names[0]]]
        return list(table.to_numpy().astype(np.float32))

    def _changes(self) -> dict[int, list[Move]]:
        """Moves that took no time, by the step at which they were made."""
        found: dict[int, list[Move]] = {}
        for change in changes_of(self.recording):
            found.setdefault(change.step, []).append(change.move)
        return found

    def _skipped(self, lanes: Lanes, actions: Sequence[Any], done: int) -> Moment:
        try:
            if isinstance(lanes, Rewindable):
                return lanes.skip(0, actions)
            for at, action in enumerate(actions):
                moment = lanes.step({0: action})[0]
                if moment.ended:
                    raise self._differs(f"ended ({moment.ended}) after {done + at + 1} steps")
        except WorldError as problem:
            raise self._differs("stopped") from problem
        return moment

    def _check_same(self, moment: Moment) -> None:
        for name, array in self.form.observations.items():
            if name not in self.form.fed:
                continue
            recorded = self.recording.array(array, self.row, self.row + 1)[0]
            seen = np.asarray(moment.observation[name], recorded.dtype)
            if not np.array_equal(seen, recorded, equal_nan=recorded.dtype.kind == "f"):
                raise self._differs(f"showed another '{name}'")

    def _differs(self, how: str) -> CaptureError:
        return CaptureError(
            f"'{self.recording.name}' cannot be rolled out from step {self.step} of episode {self.group['episode']}: "
            f"this world does not repeat itself. With the same seed and the recorded actions it {how}."
        )


def origin_of(job: WhatIfJob, context: Context) -> Origin:
    """Where somebody's what-if rollout begins."""
    recording = context.study.recording(job.recording)
    subject, world = context.subject(job.subject, recording), context.world(job.world, recording)
    return origin(recording, job.row, subject, world, other=job.other)


def origin(recording: Recording, row: Any, subject: Subject, world: World, *, other: bool = False) -> Origin:
    """Everything checked that a rollout needs; with `other`, subject and world may differ from what was recorded."""
    if isinstance(row, bool) or not isinstance(row, int) or not 0 <= row < recording.rows:
        raise RequestError(f"row must be a number from 0 to {recording.rows - 1}, not {row!r}.")
    if recording.info.ordering is None:
        raise RequestError(f"Rows of '{recording.name}' do not follow each other: there is nothing to roll out.")
    played_with(recording)
    check_repeats(recording)
    differing = check_recorded(recording, subject=subject, world=world.info, other=other)
    line = next((g for g in recording.groups().iter_rows(named=True) if g["start"] <= row < g["stop"]), None)
    if line is None or line.get("seed") is None:
        raise RequestError(
            f"The episode of row {row} has not ended yet, or '{recording.name}' does not say its seed: only whole "
            "episodes with a seed can be rolled out."
        )
    form = layout(subject, world.info)
    kept = {spec.name for spec in recording.info.arrays}
    for name in form.fed:
        if form.observations[name] not in kept:
            raise UnknownName(
                "array", form.observations[name], kept, "The subject is given it, so it must be recorded."
            )
    return Origin(recording=recording, row=row, subject=subject, world=world, form=form, group=line, other=differing)


def changes_of(recording: Recording) -> tuple[ChangeAt, ...]:
    """What was changed by hand when a recording was made."""
    source = played_with(recording).source
    return source.changes if isinstance(source, RolledOutFrom) else ()


def _changed(lanes: Lanes, change: Move) -> Moment:
    if not isinstance(lanes, Changeable):
        raise RequestError("Things were moved when this was recorded, and its world cannot move them any more.")
    if change.do == "remove":
        return lanes.remove(0, change.thing)
    return lanes.move(0, change.thing, (change.by[0], change.by[1]))[0]
