"""Runs a subject over rows that are there already and keeps what it says; the same call again continues it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from innerview.capture import GivenRows
from innerview.capture.predictions import PredictionLayout, prediction_layout
from innerview.jobs.context import Context
from innerview.jobs.engine import Progress
from innerview.jobs.work import Product, Work, run_job
from innerview.lenses.rows.inputs import RowInputs
from innerview.lenses.rows.selection import ChosenRows, chosen_rows, row_ranges
from innerview.rollouts.jobs import PredictJob
from innerview.rollouts.record import context_of
from innerview.schema import Binding, Column, Edit, Edits, Origin, PredictedFrom, RecordingInfo, Watch
from innerview.store import Predictions, Study, fitting_block_rows, prediction_id
from innerview.subjects import Output, Subject, as_edits, checked


def predict(
    study: Study | str | Path,
    subject: Subject,
    recording: str,
    *,
    rows: ChosenRows | None = None,
    inputs: Mapping[str, str] | Binding | None = None,
    keep: Sequence[str] = (),
    edits: Edits | None = None,
    progress: Progress | bool = True,
) -> Predictions:
    """What a subject says of rows of a recording, whoever made them: every head, and the sites named by `keep`.

    `rows` are (start, stop), several such ranges, or a NumPy array of row numbers or of true and false; all where left
    out. `inputs` says which array feeds which input ("real.rgb", "real.rgb | resize 64x64"); what is left out is found
    by name, else by shape and role. Where rows have no time a recurrent subject starts afresh at each of them; where
    they have, it is carried along each group. An interrupted prediction continues when it is asked for again.
    """
    context = context_of(study, subject)
    source = context.study.recording(recording)
    bound = inputs.texts if isinstance(inputs, Binding) else dict(inputs or {})
    job = PredictJob(
        recording=recording,
        subject=subject.info.name,
        rows=None if rows is None else row_ranges(chosen_rows(source.rows, rows)),
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
        given = RowInputs(self.subject, source, job.inputs, as_recorded=False)
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
        id = prediction_id(self._info)
        return Product(predictions=id, subject=self.subject.info.name)

    def run(self, part: Any, watch: Watch) -> None:
        """Run the subject and write what it says."""
        run = self._run
        with self.study.prediction_writer(self._info, block_rows=run.block_rows(self._info)) as writer:
            done = writer.rows_committed
            watch(done, len(run.rows))
            if not writer.complete:
                for places, output in run.outputs(done):
                    fresh = places >= done
                    columns, arrays = run.form.said(output)
                    table = {"row": run.rows[places].tolist(), **columns}
                    chosen = np.flatnonzero(fresh)
                    writer.append(
                        {name: [values[place] for place in chosen] for name, values in table.items()},
                        {name: values[fresh] for name, values in arrays.items()},
                    )
                    watch(max(done, int(places[-1]) + 1), len(run.rows))

    def merge(self, given: Sequence[Any]) -> Predictions:
        """The predictions."""
        return self.study.prediction(self.product.predictions)


@dataclass
class _Run:
    """A subject over chosen rows."""

    given: RowInputs
    rows: np.ndarray
    keep: Sequence[str]
    edits: tuple[Edit, ...]

    def __post_init__(self) -> None:
        self._subject = self.given.subject
        self._rows = GivenRows(self._subject, self.given.inputs, keep=self.keep, edits=self.edits, done=self.given.done)
        _, output = next(self._rows.outputs(self.rows[:1]))
        self.form: PredictionLayout = prediction_layout(self._subject, output, keep=self.keep)

    def describe(self) -> RecordingInfo:
        source, subject = self.given.recording, self._subject
        everything = len(self.rows) == source.rows
        made = PredictedFrom(
            recording=source.name,
            digest=source.digest,
            binding=self.given.binding,
            rows="all" if everything else hashlib.sha256(self.rows.astype("<i8").tobytes()).hexdigest(),
            keep=tuple(self.keep),
            edits=self.edits,
        )
        return RecordingInfo(
            name="",
            origin=Origin(kind="predicted", by=subject.info.name, source=source.name),
            row=source.info.row,
            columns=(Column(name="row", type="int", kind="index", description="Of the recording."), *self.form.columns),
            arrays=self.form.arrays,
            subject=replace(subject.info, identity=subject.identity()),
            arguments=made,
        )

    def block_rows(self, info: RecordingInfo) -> int:
        """A whole number of batches, so that what is continued is computed in the same batches."""
        return min(1024, fitting_block_rows(info))

    def outputs(self, done: int) -> Iterator[tuple[np.ndarray, Output]]:
        """Places among the rows, in order, and what the subject says of them; from `done` on, or a little before."""
        carries = self._subject.info.memory and self.given.recording.info.ordering is not None
        return self._rows.outputs(
            self.rows, self.given.recording.group_starts(self.rows) if carries else None, done=done
        )
