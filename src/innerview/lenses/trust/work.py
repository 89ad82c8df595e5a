"""Examines methods of attribution one after the other, as a job whose result is saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from innerview.errors import LensError, UnknownName
from innerview.jobs.context import Context
from innerview.jobs.engine import Progress
from innerview.jobs.recorded import check_recorded, noted
from innerview.jobs.work import Found, StoredWork, run_job
from innerview.lenses.rows.inputs import RowInputs
from innerview.lenses.rows.recorded import recorded_rows
from innerview.lenses.rows.selection import ChosenRows, chosen_rows, row_ranges
from innerview.lenses.trust.job import TrustJob
from innerview.lenses.trust.methods import MethodLens, methods_for
from innerview.lenses.trust.table import value_of
from innerview.schema import Result, Table, Watch, to_json
from innerview.store import Study
from innerview.subjects import Subject
from innerview.trust.examination import Bench, Figures, examine_method
from innerview.trust.held import held
from innerview.trust.question import image_of, question_of
from innerview.trust.randomisation import cascade
from innerview.trust.spread import spread_rows


@dataclass(frozen=True)
class Examined:
    """What one part gave."""

    figures: Figures
    maps: np.ndarray | None


class TrustWork(StoredWork):
    """Every method that fits, checked. Its parts are methods."""

    job: TrustJob
    grows = True

    def __init__(self, job: TrustJob, context: Context) -> None:
        super().__init__(job, context)
        self.recording = context.study.recording(job.recording)
        subject = context.subject(job.subject, self.recording)
        self.other = check_recorded(self.recording, subject=subject, other=job.other)
        image_of(subject)
        self.methods = _chosen(methods_for(self.recording.info, subject.info), job.methods)
        self._given = RowInputs(subject, self.recording, job.inputs)
        if self._given.edits_vary:
            raise LensError(
                f"'{self.recording.name}' was made with edits that hold at some steps only, and many steps are looked "
                "at together. Choose a recording without them."
            )
        self.subject = self._given.edited
        self.numbers = chosen_rows(self.recording.rows, job.rows)

    @property
    def title(self) -> str:
        """What is done, in words."""
        return f"trust of {self.recording.name}"

    @cached_property
    def identity(self) -> dict[str, Any]:
        """All that the result depends on, beside the recording."""
        job, subject = self.job, self._given.subject
        return {
            "subject": subject.info.name,
            "identity": subject.identity(),
            "binding": to_json(self._given.binding),
            "rows": to_json(row_ranges(self.numbers)),
            "methods": [[each.name, dict(each.parameters)] for each in self.methods],
            **{name: getattr(job, name) for name in ("target", "count", "draws", "seed")},
            **noted(self.other),
        }

    def parts(self, given: Sequence[Any]) -> Sequence[MethodLens]:
        """Methods."""
        return self.methods[len(given) :]

    def run(self, part: MethodLens, watch: Watch) -> Examined:
        """Examine one method."""
        place, count = self.methods.index(part), len(self.methods)

        def report(done: int, total: int | None, message: str = "", so_far: Any = None) -> None:
            watch(place, count, message)

        report(0, None, f"{part.name}: reading")
        figures, maps = examine_method(part.method(), self._bench, report)
        named = replace(figures, lens=part.lens.name, parameters=dict(part.parameters))
        return Examined(named, maps)

    def merge(self, given: Sequence[Examined]) -> Found:
        """The table, as it is stored."""
        maps = {each.figures.name: each.maps for each in given if each.maps is not None}
        value, table = value_of([each.figures for each in given], maps, self._bench, self.job)
        return Found(value=value, type=Table.type, shown=table.shown())

    @cached_property
    def _bench(self) -> Bench:
        job = self.job
        whole = recorded_rows(self.study, self.recording, self.numbers, self._given)
        places, spread, runs = spread_rows(whole, job.count)
        rows = held(whole.part(places), self.subject)
        question = question_of(self.subject, rows, job.target)
        drawn = cascade(self.subject, rows, job.target, draws=job.draws, seed=job.seed)
        return Bench(subject=self.subject, rows=rows, question=question, spread=spread, runs=runs, drawn=drawn)


def _chosen(fit: list[MethodLens], names: Sequence[str]) -> list[MethodLens]:
    known = {each.name: each for each in fit}
    for name in names:
        if name not in known:
            raise UnknownName("method of attribution", name, known)
    found = [each for each in fit if not names or each.name in names]
    return found


def examine(
    study: Study | str | Path,
    subject: Subject,
    recording: str | None = None,
    *,
    rows: ChosenRows | None = None,
    target: str = TrustJob.target,
    count: int = TrustJob.count,
    draws: int = TrustJob.draws,
    methods: Sequence[str] = (),
    seed: int = TrustJob.seed,
    inputs: Mapping[str, str] | None = None,
    other: bool = False,
    again: bool = False,
    progress: Progress | bool = True,
) -> Result:
    """Examine every method of attribution that fits a subject, and save which of them can be believed on it.

    `count` rows are taken from `rows` of a recording (the only one of this subject where none is named), and for
    stability some more that follow each other. Each method is asked about what the subject chose, again after its
    weights were randomised `draws` times from the output down, and compared with four edge detectors that must fail.

        found = iv.examine(study, agent)
        for sentence in found.value["recommendation"]["sentences"]:
            print(sentence)
    """
    opened = study if isinstance(study, Study) else Study.open(study)
    source = opened.recording(recording or own_recording(opened, subject))
    job = TrustJob(
        recording=source.name,
        rows=None if rows is None else row_ranges(chosen_rows(source.rows, rows)),
        target=target,
        count=count,
        draws=draws,
        methods=tuple(methods),
        seed=seed,
        subject=subject.info.name,
        inputs=dict(inputs or {}),
        other=other,
    )
    context = Context(study=opened, subjects={subject.info.name: subject})
    result: Result = run_job(job, context, progress=progress, again=again)
    return result


def own_recording(study: Study, subject: Subject) -> str:
    """The one recording that a subject made; the only one of a study where none says who made it."""
    there = {name: study.recording(name).info.subject for name in study.recordings()}
    own = [name for name, made in there.items() if made is not None and made.name == subject.info.name]
    found = own or [*there]
    if len(found) != 1:
        of = f"'{subject.info.name}' made {len(own)} recordings" if own else f"this study has {len(there)} recordings"
        raise LensError(f"Say which recording: {of}{': ' if found else ''}{', '.join(map(repr, found))}.")
    return found[0]
