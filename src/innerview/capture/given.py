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
"""Steps whose inputs are read together."""
HELD_BYTES = 256 << 20
"""What is said of the rows of groups that wait for those before them, at most."""
Inputs = Callable[[np.ndarray], Mapping[str, Tensor]]
"""Gives what the subject takes, [rows, …] by name of the input, for numbers of rows."""
Done = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""Gives what was done and earned in numbers of rows, for subjects that are told of it in the next."""


class GivenRows:
    """Rows, and a subject that is run over them."""

    def __init__(
        self,
        subject: Subject,
        inputs: Inputs,
        *,
        keep: Sequence[str] = (),
        edits: Sequence[Edit] = (),
        done: Done | None = None,
    ) -> None:
        self._done = done if subject.told_names else None
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
        for first, stop in self._rounds(rows, starts):
            if stop > done:
                yield from self._round(rows[first:stop], starts[first:stop], first)

    def _rounds(self, rows: np.ndarray, starts: np.ndarray) -> Iterator[tuple[int, int]]:
        """Places of groups that are run side by side: not too many, nor more rows than can be held together."""
        _, output = next(self.outputs(rows[:1]))
        held = max(1, HELD_BYTES // sum(value.nbytes for value in (*output.heads.values(), *output.sites.values())))
        edges = [*np.flatnonzero(np.diff(starts, prepend=-1)).tolist(), len(rows)]
        at = 0
        while at < len(edges) - 1:
            stop = at + 1
            while stop < len(edges) - 1 and stop - at < _GROUPS and edges[stop + 1] - edges[at] <= held:
                stop += 1
            yield edges[at], edges[stop]
            at = stop

    def _round(self, rows: np.ndarray, starts: np.ndarray, first: int) -> Iterator[tuple[np.ndarray, Output]]:
        """Groups side by side, given on in the order of their rows as soon as that can be."""
        lasts = {int(start): int(rows[starts == start].max()) for start in np.unique(starts)}
        place, held = 0, dict[int, Output]()
        for said in self._carried(self._stepper(0), lasts, set(rows.tolist()), memory=False):
            held |= said
            ready: list[Output] = []
            while place + len(ready) < len(rows) and rows[place + len(ready)] in held:
                ready.append(held.pop(int(rows[place + len(ready)])))
            for some in range(0, len(ready), _STEPS):
                part = ready[some : some + _STEPS]
                yield np.arange(first + place, first + place + len(part)), joined(part)
                place += len(part)

    def carried(self, start: int, wanted: Sequence[int]) -> dict[int, Output]:
        """What is said of wanted rows of one group, with the memory after each, by row; it begins at row `start`."""
        parts = self._carried(self._stepper(0), {start: max(wanted)}, set(wanted), memory=True)
        return {row: output for part in parts for row, output in part.items()}

    def _stepper(self, rows: int) -> Stepper[Mapping[str, Tensor]]:
        return Stepper(self._subject, rows, programs=self._programs, keep=self._keep)

    def _carried(
        self, stepper: Stepper[Mapping[str, Tensor]], lasts: Mapping[int, int], wanted: set[int], *, memory: bool
    ) -> Iterator[dict[int, Output]]:
        """Groups side by side, each from its first row to its last, some steps at a time: what is said of wanted rows.

        `lasts` has the last row of each group by its first.
        """
        found: dict[int, Output] = {}
        alive = list(lasts)
        stepper.memory = self._subject.initial_memory(len(alive))
        for step in range(max(last - start for start, last in lasts.items()) + 1):
            staying = [place for place, start in enumerate(alive) if start + step <= lasts[start]]
            if len(staying) < len(alive):
                stepper.stay(staying)
                alive = [alive[place] for place in staying]
            if step % _STEPS == 0:
                if step:
                    yield found
                    found = {}
                ahead = [row for s in alive for row in range(s + step, min(s + step + _STEPS, lasts[s] + 1))]
                inputs, place_of = self._inputs(np.array(ahead)), {row: i for i, row in enumerate(ahead)}
            index = [place_of[start + step] for start in alive]
            some = {name: value[index] for name, value in inputs.items()}
            output = stepper.step(some, steps=[step] * len(alive))
            if self._done is not None:
                output = stepper.acted(output, *self._done(np.array([start + step for start in alive])))
            said = output if memory else replace(output, memory={})
            for place, start in enumerate(alive):
                if start + step in wanted:
                    found[start + step] = row_of(said, place)
        yield found
