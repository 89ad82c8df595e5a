"""Runs a subject over rows that are there already: each by itself, or carried along where rows follow each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from torch import Tensor

from innerview.capture.step import Stepper, joined, row_of
from innerview.schema import Edit
from innerview.subjects import Output, Subject

BATCH = 32
_GROUPS = 16
"""Groups that a recurrent subject goes through side by side."""
_STEPS = 32
Inputs = Callable[[np.ndarray], Mapping[str, Tensor]]
"""Gives what the subject takes, [rows, …] by name of the input, for numbers of rows."""


class GivenRows:
    """Rows, and a subject that is run over them."""

    def __init__(
        self, subject: Subject, inputs: Inputs, *, keep: Sequence[str] = (), edits: Sequence[Edit] = ()
    ) -> None:
        self._subject, self._inputs = subject, inputs
        self._keep, self._programs = tuple(keep), (tuple(edits),)

    def outputs(
        self, rows: np.ndarray, starts: np.ndarray | None = None, *, done: int = 0
    ) -> Iterator[tuple[np.ndarray, Output]]:
        """Places among the rows, in order, and what the subject says of them; from `done` on, or a little before.

        `starts` has the first row of each row's group, where rows follow each other: there the subject is carried
        along, and outputs leave out its memory. Else it starts afresh at each row.
        """
        if starts is None:
            for first in range(done - done % BATCH, len(rows), BATCH):
                places = np.arange(first, min(first + BATCH, len(rows)))
                yield places, self._stepper(len(places)).step(self._inputs(rows[places]), steps=[0] * len(places))
            return
        stepper, groups = self._stepper(0), np.unique(starts)
        for first in range(0, len(groups), _GROUPS):
            some = groups[first : first + _GROUPS]
            places = np.flatnonzero((starts >= some[0]) & (starts <= some[-1]))
            if places[-1] < done:
                continue
            chosen = rows[places]
            lasts = {int(s): int(chosen[starts[places] == s].max()) for s in some}
            said = self._carried(stepper, lasts, set(chosen.tolist()), memory=False)
            yield places, joined([said[row] for row in chosen.tolist()])

    def carried(self, start: int, wanted: Sequence[int]) -> dict[int, Output]:
        """What is said of wanted rows of one group, with the memory after each, by row; it begins at row `start`."""
        return self._carried(self._stepper(0), {start: max(wanted)}, set(wanted), memory=True)

    def _stepper(self, rows: int) -> Stepper[Mapping[str, Tensor]]:
        return Stepper(self._subject, rows, programs=self._programs, keep=self._keep)

    def _carried(
        self, stepper: Stepper[Mapping[str, Tensor]], lasts: Mapping[int, int], wanted: set[int], *, memory: bool
    ) -> dict[int, Output]:
        """Groups side by side, each from its first row to its last; `lasts` has the last row by the first."""
        found: dict[int, Output] = {}
        alive = list(lasts)
        stepper.memory = self._subject.initial_memory(len(alive))
        for step in range(max(last - start for start, last in lasts.items()) + 1):
            staying = [place for place, start in enumerate(alive) if start + step <= lasts[start]]
            if len(staying) < len(alive):
                stepper.stay(staying)
                alive = [alive[place] for place in staying]
            if step % _STEPS == 0:
                ahead = [row for s in alive for row in range(s + step, min(s + step + _STEPS, lasts[s] + 1))]
                inputs, place_of = self._inputs(np.array(ahead)), {row: i for i, row in enumerate(ahead)}
            index = [place_of[start + step] for start in alive]
            some = {name: value[index] for name, value in inputs.items()}
            output = stepper.step(some, steps=[step] * len(alive))
            said = output if memory else replace(output, memory={})
            for place, start in enumerate(alive):
                if start + step in wanted:
                    found[start + step] = row_of(said, place)
        return found
