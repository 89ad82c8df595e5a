"""Runs a subject over rows that are there already and keeps what it says; the same call again continues it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch

from innerview.capture.predictions import PredictionLayout, prediction_layout
from innerview.edits import Editor, as_edits, checked
from innerview.errors import RequestError
from innerview.jobs.context import Context
from innerview.jobs.engine import Progress
from innerview.jobs.work import Product, Watch, Work, run_job
from innerview.lenses.rows.inputs import RowInputs
from innerview.lenses.rows.selection import chosen_rows, row_ranges
from innerview.rollouts.jobs import PredictJob
from innerview.rollouts.record import context_of
from innerview.schema import Binding, Column, Edit, Edits, Origin, RecordingInfo, to_json
from innerview.store import Predictions, Recording, Study, fitting_block_rows, prediction_id
from innerview.subjects import Changes, Output, Subject

BATCH = 32
_GROUPS = 16
"""Groups that a recurrent subject goes through side by side."""
_STEPS = 32


def predict(
    study: Study | str | Path,
    subject: Subject,
    recording: str,
    *,
    rows: Sequence[int] | range | np.ndarray | None = None,
    inputs: Mapping[str, str] | Binding | None = None,
    keep: Sequence[str] = (),
    edits: Edits | None = None,
    progress: Progress | bool = True,
) -> Predictions:
    """What a subject says of rows of a recording, whoever made them: every head, and the sites named by `keep`.

    `inputs` says which array feeds which input ("real.rgb", "real.rgb | resize 64x64"); what is left out is found by
    name, else by shape and role. Where rows have no time a recurrent subject starts afresh at each of them; where they
    have, it is carried along each group. An interrupted prediction continues when it is asked for again.
    """
    context = context_of(study, subject)
    source = context.study.recording(recording)
    bound = {item.input: item.text for item in inputs.inputs} if isinstance(inputs, Binding) else dict(inputs or {})
    job = PredictJob(
        recording=recording,
        subject=subject.info.name,
        rows=None if rows is None else row_ranges(_checked_rows(source, rows)),
        inputs=bound,
        keep=(keep,) if isinstance(keep, str) else tuple(keep),
        edits=as_edits(edits),
    )
    made: Predictions = run_job(job, context, progress=progress)
    return made


class PredictWork(Work):
    """A subject over chosen rows, checked. One part: predictions have one writer, who goes on where it was stopped."""

    job: PredictJob

    def __init__(self, job: PredictJob, context: Context) -> None:
        super().__init__(job, context)
        source = context.study.recording(job.recording)
        self.subject = context.subject(job.subject, source)
        given = RowInputs(self.subject, source, job.inputs, recorded_memory=False)
        edits = checked(job.edits, self.subject.info)
        self._run = _Run(given, chosen_rows(source.rows, job.rows), job.keep, edits)
        self._info = self._run.describe()

    @property
    def title(self) -> str:
        """What is done, in words."""
        return f"Predict {self.job.recording} by {self.subject.info.name}"

    @cached_property
    def product(self) -> Product:
        """The predictions."""
        id = prediction_id(dict(self._info.arguments))
        return Product(predictions=id, subject=self.subject.info.name)

    def run(self, part: Any, watch: Watch) -> Predictions:
        """Run the subject and write what it says."""
        run = self._run
        with self.study.prediction_writer(self._info, block_rows=run.block_rows(self._info)) as writer:
            done = writer.rows_committed
            watch(done, len(run.rows))
            if not writer.complete:
                for places, output in run.outputs(done):
                    fresh = places >= done
                    columns, arrays = run.form.values(output)
                    table = {"row": run.rows[places].tolist(), **columns}
                    chosen = np.flatnonzero(fresh)
                    writer.append(
                        {name: [values[place] for place in chosen] for name, values in table.items()},
                        {name: values[fresh] for name, values in arrays.items()},
                    )
                    watch(int(places[-1]) + 1, len(run.rows))
        return self.study.prediction(writer.name)


def _checked_rows(recording: Recording, rows: Sequence[int] | range | np.ndarray) -> np.ndarray:
    wanted = np.asarray(rows)
    if wanted.dtype == bool and wanted.shape == (recording.rows,):
        wanted = np.flatnonzero(wanted)
    fits = wanted.ndim == 1 and wanted.size and np.issubdtype(wanted.dtype, np.integer)
    if not fits or wanted.min() < 0 or wanted.max() >= recording.rows:
        raise RequestError(f"rows are numbers from 0 to {recording.rows - 1}, at least one; not {rows!r:.60}.")
    return np.unique(wanted)


@dataclass
class _Run:
    """A subject over chosen rows."""

    given: RowInputs
    rows: np.ndarray
    keep: Sequence[str]
    edits: tuple[Edit, ...]

    def __post_init__(self) -> None:
        self._subject = self.given.subject
        self._editor = Editor([self.edits], self._subject.info, device=self._subject.device) if self.edits else None
        first = self.rows[:1]
        fresh = self._subject.initial_memory(1)
        output = self._answer(self.given.inputs(first), fresh, [0])
        self.form: PredictionLayout = prediction_layout(self._subject.info, output, keep=self.keep)

    def describe(self) -> RecordingInfo:
        source, subject, weights = self.given.recording, self._subject, self._subject.weights_digest()
        everything = len(self.rows) == source.rows
        arguments: dict[str, Any] = {
            "recording": source.name,
            "digest": source.digest,
            "subject": subject.info.name,
            "weights": weights,
            "binding": to_json(self.given.binding),
            "rows": "all" if everything else hashlib.sha256(self.rows.astype("<i8").tobytes()).hexdigest(),
            "keep": list(self.keep),
            "edits": to_json(self.edits),
        }
        return RecordingInfo(
            name="",
            origin=Origin(kind="predicted", by=subject.info.name, source=source.name),
            row=source.info.row,
            columns=(Column(name="row", type="int", kind="index", description="Of the recording."), *self.form.columns),
            arrays=self.form.arrays,
            subject=replace(subject.info, weights_digest=weights),
            arguments=arguments,
        )

    def block_rows(self, info: RecordingInfo) -> int:
        """A whole number of batches, so that what is continued is computed in the same batches."""
        return min(1024, fitting_block_rows(info))

    def outputs(self, done: int) -> Iterator[tuple[np.ndarray, Output]]:
        """Places among the rows, in order, and what the subject says of them; from `done` on, or a little before."""
        if self._subject.info.memory and self.given.recording.info.ordering is not None:
            yield from self._carried(done)
            return
        for first in range(done - done % BATCH, len(self.rows), BATCH):
            places = np.arange(first, min(first + BATCH, len(self.rows)))
            memory = self._subject.initial_memory(len(places))
            yield places, self._answer(self.given.inputs(self.rows[places]), memory, [0] * len(places))

    def _carried(self, done: int) -> Iterator[tuple[np.ndarray, Output]]:
        """Some groups side by side, each from its first row to the last that is wanted."""
        starts = self.given.group_starts(self.rows)
        groups = np.unique(starts)
        for first in range(0, len(groups), _GROUPS):
            some = groups[first : first + _GROUPS]
            places = np.flatnonzero((starts >= some[0]) & (starts <= some[-1]))
            if places[-1] < done:
                continue
            lasts = {int(s): int(self.rows[places][starts[places] == s].max()) for s in some}
            said = self._group_outputs(lasts, set(self.rows[places].tolist()))
            parts = [said[row] for row in self.rows[places].tolist()]
            yield places, _joined(parts)

    def _group_outputs(self, lasts: Mapping[int, int], wanted: set[int]) -> dict[int, Output]:
        """What is said of wanted rows, by row; `lasts` has the last row of each group by its first."""
        found: dict[int, Output] = {}
        memory, alive = self._subject.initial_memory(len(lasts)), list(lasts)
        for step in range(max(last - start for start, last in lasts.items()) + 1):
            staying = [place for place, start in enumerate(alive) if start + step <= lasts[start]]
            if len(staying) < len(alive):
                memory = {site: state[staying] for site, state in memory.items()}
                alive = [alive[place] for place in staying]
            if step % _STEPS == 0:
                ahead = [row for s in alive for row in range(s + step, min(s + step + _STEPS, lasts[s] + 1))]
                inputs, place_of = self.given.inputs(np.array(ahead)), {row: i for i, row in enumerate(ahead)}
            index = [place_of[start + step] for start in alive]
            output = self._answer({name: value[index] for name, value in inputs.items()}, memory, [step] * len(alive))
            memory = output.memory
            for place, start in enumerate(alive):
                if start + step in wanted:
                    found[start + step] = _row_of(output, place)
        return found

    def _answer(
        self, inputs: Mapping[str, torch.Tensor], memory: Mapping[str, torch.Tensor], steps: list[int]
    ) -> Output:
        changes = self._editor.changes(memory, steps, [0] * len(steps)) if self._editor else Changes()
        return self._subject.run(inputs, memory, keep=self.keep, edits=changes)


def _row_of(output: Output, place: int) -> Output:
    return Output(
        heads={name: value[place : place + 1] for name, value in output.heads.items()},
        sites={name: value[place : place + 1] for name, value in output.sites.items()},
    )


def _joined(parts: Sequence[Output]) -> Output:
    return Output(
        heads={name: torch.cat([part.heads[name] for part in parts]) for name in parts[0].heads},
        sites={name: torch.cat([part.sites[name] for part in parts]) for name in parts[0].sites},
    )
