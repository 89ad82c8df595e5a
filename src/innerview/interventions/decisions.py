"""Replays recorded observations with the memory changed in many ways at once and compares what would be decided."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from innerview.capture.step import Stepper, fewer_threads
from innerview.edits.sweep import kl_divergence, switched
from innerview.errors import EditError
from innerview.lenses.rows.inputs import RowInputs
from innerview.schema import Edit
from innerview.store import Recording
from innerview.subjects import Subject
from innerview.subjects.memory.replay import Replay

SIDE_BY_SIDE = 128
_TOLERANCE = 1e-3


@dataclass(frozen=True, kw_only=True)
class Effect:
    """What a change of the memory does to decisions on observations that were recorded without it."""

    kl: float
    """Mean divergence of the action probabilities from those with full memory, in nats."""
    switched: float
    """Share of rows in which another action is the most probable one."""


@dataclass(frozen=True)
class Decisions:
    """Whole episodes of a recording, ready to be run again."""

    subject: Subject
    recording: Recording
    episodes: tuple[int, ...]

    @cached_property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """First row of each episode and the one after its last."""
        lines = {
            int(e): (int(a), int(b)) for e, a, b in self.recording.groups()["episode", "start", "stop"].iter_rows()
        }
        return tuple(lines[episode] for episode in self.episodes)

    @property
    def rows(self) -> int:
        """How many decisions are compared."""
        return sum(stop - start for start, stop in self.spans)

    def effects(
        self, programs: Sequence[Sequence[Edit]], report: Callable[[Sequence[int], Sequence[Effect]], None]
    ) -> None:
        """Tell the effect of every program, some at a time."""
        with fewer_threads():
            self._report_effects(programs, report)

    def _report_effects(
        self, programs: Sequence[Sequence[Edit]], report: Callable[[Sequence[int], Sequence[Effect]], None]
    ) -> None:
        for first in range(0, len(programs), SIDE_BY_SIDE):
            some = programs[first : first + SIDE_BY_SIDE]
            kl, other = np.zeros(len(some)), np.zeros(len(some))
            for number in range(len(self.spans)):
                chances = self._chances(number, some)  # [steps, 1 + programs, actions]; first with full memory
                kl += kl_divergence(chances[:, :1], chances[:, 1:]).sum(axis=0)
                other += switched(chances[:, :1], chances[:, 1:]).sum(axis=0)
            shares = zip(kl / self.rows, other / self.rows, strict=True)
            found = [Effect(kl=float(a), switched=float(b)) for a, b in shares]
            report(range(first, first + len(some)), found)

    def check(self) -> None:
        """An error where the subject, run again, does not decide as recorded."""
        start, stop = self.spans[0]
        if not any(spec.name == "probabilities" for spec in self.recording.info.arrays):
            return
        now = self._chances(0, [])[:, 0]
        worst = float(np.abs(now - self.recording.array("probabilities", start, stop)).max())
        if worst > _TOLERANCE:
            raise EditError(
                f"Run again on '{self.recording.name}', '{self.subject.info.name}' does not decide as recorded "
                f"(probabilities differ by up to {worst:.3f}): other weights, other preprocessing or edited memory."
            )

    def _chances(self, number: int, programs: Sequence[Sequence[Edit]]) -> np.ndarray:
        replay = self._replays[number]
        start, stop = self.spans[number]
        states = len(programs) + 1
        stepper = Stepper(self.subject, states, programs=[(), *programs], answer=replay.run)
        found = []
        for step in range(stop - start):
            output = stepper.step(step, steps=[step] * states, programs=range(states))
            chances = self.subject.probabilities(output)
            if chances is None:
                raise EditError(f"'{self.subject.info.name}' has continuous actions: sweep it by episodes instead.")
            found.append(chances)
            if self.subject.told_names:
                done, earned = RowInputs(self.subject, self.recording).done(np.array([start + step]))
                stepper.acted(output, np.repeat(done, states, axis=0), np.repeat(earned, states))
        return np.stack(found)

    @cached_property
    def _replays(self) -> list[Replay]:
        given = RowInputs(self.subject, self.recording)
        return [Replay(self.subject, given.inputs(range(*span))) for span in self.spans]


def decisions(subject: Subject, recording: Recording, *, max_rows: int) -> Decisions:
    """The first episodes of a recording, as many as have that many rows or fewer together; one at least."""
    if recording.info.edits:
        raise EditError(f"'{recording.name}' was recorded with edits: sweep the recording that it was made from.")
    if not recording.group_count:
        raise EditError(f"'{recording.name}' holds no whole episode to run again.")
    lines = recording.groups()["episode", "length"].rows()
    chosen, rows = [int(lines[0][0])], int(lines[0][1])
    for episode, length in lines[1:]:
        if rows + length > max_rows:
            break
        chosen.append(int(episode))
        rows += int(length)
    return Decisions(subject, recording, tuple(chosen))
