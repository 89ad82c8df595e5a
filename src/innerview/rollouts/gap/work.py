"""Predicts what is missing of each model in both domains, and says how far off it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from innerview.errors import RequestError, UnknownName
from innerview.jobs.context import Context
from innerview.jobs.engine import Progress, perform
from innerview.jobs.work import Found, StoredWork, run_job
from innerview.lenses.rows.selection import ChosenRows, chosen_rows, row_ranges
from innerview.rollouts.gap.errors import PoseErrors, pose_errors
from innerview.rollouts.gap.job import GapJob
from innerview.rollouts.gap.sides import sides_of
from innerview.rollouts.gap.table import Model, value_of
from innerview.rollouts.jobs import PredictJob
from innerview.rollouts.predict import PredictWork
from innerview.schema import Binding, Result, Watch, to_json
from innerview.store import Study
from innerview.subjects import Subject


@dataclass(frozen=True, kw_only=True)
class Part:
    """One model in one domain."""

    model: int
    domain: int


class GapWork(StoredWork):
    """Models in two domains, checked. Its parts are predictions, which are kept and continued as all are."""

    job: GapJob

    def __init__(self, job: GapJob, context: Context) -> None:
        super().__init__(job, context)
        self._context = context
        self.recording = context.study.recording(job.recording)
        self.subjects = [context.subject(name) for name in job.subjects or _posed(context)]
        if len({subject.info.name for subject in self.subjects}) < len(self.subjects):
            raise RequestError("Each subject is asked for once.")
        self.sides = sides_of(self.recording, job.domains)
        self.numbers = chosen_rows(self.recording.rows, job.rows)
        self.models = [
            Model(subject=subject.info.name, filter=text, bindings=self._bindings(subject, text))
            for subject in self.subjects
            for text in ("", *job.filters)
        ]
        names = [subject.info.name for subject in self.subjects]
        if job.baseline and job.baseline not in names:
            raise UnknownName("baseline", job.baseline, names)
        self.baseline = job.baseline or names[0]

    def _bindings(self, subject: Subject, text: str) -> tuple[Binding, Binding]:
        filters = self._context.filters(text) if text else ()
        return self.sides.bindings(subject.info, self.job.inputs, filters)

    @property
    def title(self) -> str:
        """What is done, in words."""
        return f"gap of {self.recording.name}"

    @cached_property
    def identity(self) -> dict[str, Any]:
        """All that the result depends on, beside the recording."""
        return {
            "subjects": {subject.info.name: subject.identity() for subject in self.subjects},
            "models": [[model.name, to_json(model.bindings)] for model in self.models],
            "domains": list(self.sides.domains),
            "baseline": self.baseline,
            "rows": to_json(row_ranges(self.numbers)),
        }

    def parts(self, given: Sequence[Any]) -> Sequence[Part]:
        """Each model in each domain; once."""
        if given:
            return ()
        return [Part(model=model, domain=domain) for model in range(len(self.models)) for domain in (0, 1)]

    def run(self, part: Part, watch: Watch) -> str:
        """Predict, where that was not done; the id of the predictions."""
        model = self.models[part.model]
        place, count = 2 * part.model + part.domain, 2 * len(self.models)
        told = f"{model.name}: {self.sides.domains[part.domain]}"

        def report(done: int, total: int | None, message: str = "") -> None:
            watch(place, count, f"{told}, {done:,} of {total:,}" if total else told)

        report(0, None)
        work = PredictWork(
            PredictJob(
                recording=self.recording.name,
                subject=model.subject,
                rows=None if self.job.rows is None else row_ranges(self.numbers),
                inputs=model.bindings[part.domain].texts,
            ),
            self._context,
        )
        return str(perform(work, report).id)

    def merge(self, given: Sequence[str]) -> Found:
        """The table, as it is stored."""
        errors: list[tuple[PoseErrors, PoseErrors]] = []
        for place in range(len(self.models)):
            both = [self.study.prediction(id) for id in given[2 * place : 2 * place + 2]]
            reference, other = self.sides.domains
            errors.append(
                (
                    pose_errors(both[0], self.recording, reference),
                    pose_errors(both[1], self.recording, other),
                )
            )
        value, table, arrays = value_of(
            self.models, errors, given, rows=self.numbers, domains=self.sides.domains, baseline=self.baseline
        )
        return Found(
            value={"recording": self.recording.name, **value}, arrays=arrays, type=table.type, shown=table.shown()
        )


def _posed(context: Context) -> list[str]:
    found = [name for name, each in context.subjects.items() if any(head.kind == "pose" for head in each.info.heads)]
    if not found:
        there = ", ".join(context.subjects) or "none"
        raise RequestError(f"A gap of poses needs a live subject with a pose head. Live: {there}.")
    return found


def gap(
    study: Study | str | Path,
    subjects: Subject | Sequence[Subject],
    recording: str,
    *,
    baseline: str = "",
    filters: Sequence[str] = (),
    domains: Sequence[str] = (),
    rows: ChosenRows | None = None,
    inputs: Mapping[str, str] | None = None,
    again: bool = False,
    progress: Progress | bool = True,
) -> Result:
    """How far off subjects are in the two domains of a paired recording, and the gap between, with intervals.

    Missing predictions are made and kept. The other domain's pictures go through each of `filters` too, which are
    steps ("brightness 1.2 | blur 0.8") or names of saved ones; `baseline` is the subject whose gap the others close.

        found = iv.gap(study, [vanilla, augmented], "office")
        for model in found.value["models"]:
            print(model["name"], model["place"]["median"]["other"]["value"])
    """
    opened = study if isinstance(study, Study) else Study.open(study)
    live = {each.info.name: each for each in ([subjects] if isinstance(subjects, Subject) else subjects)}
    source = opened.recording(recording)
    job = GapJob(
        recording=recording,
        subjects=tuple(live),
        baseline=baseline,
        filters=(filters,) if isinstance(filters, str) else tuple(filters),
        domains=tuple(domains),
        rows=None if rows is None else row_ranges(chosen_rows(source.rows, rows)),
        inputs=dict(inputs or {}),
    )
    result: Result = run_job(job, Context(study=opened, subjects=live), progress=progress, again=again)
    return result
