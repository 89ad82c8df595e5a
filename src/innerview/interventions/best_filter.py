"""Looks for the filter that helps most on some of the pairs, and says whether it helps on the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from innerview.capture import GivenRows
from innerview.errors import RequestError, UnknownName
from innerview.interventions.jobs import BestFilterJob
from innerview.jobs.context import Context
from innerview.jobs.engine import Progress
from innerview.jobs.work import Found, StoredWork, run_job
from innerview.lenses.rows.inputs import RowInputs
from innerview.lenses.rows.selection import ChosenRows, chosen_rows, row_ranges
from innerview.rollouts.gap.errors import TruePoses, pose_head
from innerview.rollouts.gap.sides import sides_of
from innerview.schema import (
    PICTURE_FILTERS,
    Axis,
    Binding,
    Result,
    SavedFilter,
    Step,
    Table,
    Watch,
    checked_numbers,
    to_json,
    with_filters,
)
from innerview.store import Study
from innerview.subjects import Subject
from innerview.transfer.gain import Gain, gain
from innerview.transfer.search import Point, Range, best_of, next_points

SPREAD = 12
"""Filters tried all over the ranges before the search closes in."""
UNITS = {"place": "m", "heading": "°"}
Use = Literal["search", "before", "after", "reference"]


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One filter on some rows; tests are without, with it, and on the reference domain."""

    use: Use
    point: Point


@dataclass(frozen=True, kw_only=True)
class Tried:
    """What a trial gave: errors of its rows, of a search their mean alone."""

    trial: Trial
    mean: float
    errors: np.ndarray | None = None


class BestFilterWork(StoredWork):
    """A search, checked. Its parts are filters on the first rows; what was tried says what is tried next."""

    job: BestFilterJob
    grows = True

    def __init__(self, job: BestFilterJob, context: Context) -> None:
        super().__init__(job, context)
        self.recording = context.study.recording(job.recording)
        self.subject = context.subject(job.subject, self.recording)
        self.sides = sides_of(self.recording, job.domains)
        self.ranges = _ranges(job.filters)
        head = pose_head(self.subject.info.heads, self.subject.info.name)
        self._head = head.name
        self._bindings = [self.sides.binding(self.subject.info, job.inputs, each) for each in self.sides.domains]
        self._truths = [TruePoses(self.recording, each, head) for each in self.sides.domains]
        with_filters(self._bindings[1], _steps(job.filters, self._start), self.recording.info.arrays)
        numbers = chosen_rows(self.recording.rows, job.rows)
        split = round(len(numbers) * job.share)
        if split < 2 or len(numbers) - split < 2:
            raise RequestError(
                f"{len(numbers)} rows, {job.share:g} of them to search on: at least 2 are needed to search and to test."
            )
        first = numbers[:split]
        self.searched = first[np.unique(np.linspace(0, split - 1, min(job.count, split)).round().astype(int))]
        self.tested = numbers[split:]

    @cached_property
    def _start(self) -> Point:
        return tuple(each.start for each in self.ranges)

    @property
    def title(self) -> str:
        """What is done, in words."""
        return f"best filter of {self.recording.name} for {self.subject.info.name}"

    @cached_property
    def identity(self) -> dict[str, Any]:
        """All that the result depends on, beside the recording."""
        job = self.job
        return {
            "subject": self.subject.info.name,
            "identity": self.subject.identity(),
            "bindings": to_json(tuple(self._bindings)),
            "searched": to_json(row_ranges(self.searched)),
            "tested": to_json(row_ranges(self.tested)),
            **{name: to_json(getattr(job, name)) for name in ("filters", "measure", "budget")},
        }

    def left(self) -> Sequence[Tried]:
        """What an interrupted search had tried."""
        try:
            saved = self.study.result(self.id)
        except UnknownName:
            return ()
        if not saved.provisional:
            return ()
        return [
            Tried(trial=Trial(use="search", point=tuple(each["numbers"])), mean=each["error"])
            for each in saved.value["tried"]
        ]

    def parts(self, given: Sequence[Tried]) -> Sequence[Trial]:
        """The next filters to try; at last what was found and no filter, on the rest."""
        tried = _errors(given)
        points = next_points(tried, self.ranges, spread=SPREAD, budget=self.job.budget)
        if points:
            return [Trial(use="search", point=point) for point in points]
        if any(each.trial.use != "search" for each in given):
            return ()
        uses: tuple[Use, ...] = ("reference", "before", "after")
        return [Trial(use=use, point=best_of(tried) if use == "after" else self._start) for use in uses]

    def run(self, part: Trial, watch: Watch) -> Tried:
        """The errors behind one filter."""
        steps = _steps(self.job.filters, part.point)
        told = " | ".join(map(str, steps)) if part.use in ("search", "after") else "no filter"
        watch(0 if part.use == "search" else self.job.budget, self.job.budget, told)
        rows = self.searched if part.use == "search" else self.tested
        side = 0 if part.use == "reference" else 1
        binding = self._bindings[side]
        if part.use in ("search", "after"):
            binding = with_filters(binding, steps, self.recording.info.arrays)
        errors = self._measured(rows, binding, side, watch)
        known = errors[np.isfinite(errors)]
        if not len(known):
            raise RequestError("No row has a true and a predicted pose that are numbers: there is nothing to compare.")
        return Tried(trial=part, mean=float(known.mean()), errors=None if part.use == "search" else errors)

    def _measured(self, rows: np.ndarray, binding: Binding, side: int, watch: Watch) -> np.ndarray:
        inputs = RowInputs(self.subject, self.recording, binding, as_recorded=False)
        said = []
        for _, output in GivenRows(self.subject, inputs.inputs, done=inputs.done).outputs(rows):
            said.append(output.heads[self._head].double().cpu().numpy())
        found = self._truths[side].errors(np.concatenate(said), rows)
        if self.job.measure == "place":
            return found.place_m
        if found.heading_deg is None:
            raise RequestError(f"'{self.recording.name}' has no heading with a known unit: measure the place.")
        return found.heading_deg

    def merge(self, given: Sequence[Tried]) -> Found:
        """What was tried, what was best, and whether it helps on the rest."""
        tried = _errors(given)
        best = best_of(tried)
        tests = {each.trial.use: each.errors for each in given if each.errors is not None}
        found: Gain | None = None
        if len(tests) == 3:
            found = gain(tests["before"], tests["after"], tests["reference"])
        steps = _steps(self.job.filters, best, neutral=False)
        value = {
            "subject": self.subject.info.name,
            "domain": self.sides.domains[1],
            "measure": self.job.measure,
            "unit": UNITS[self.job.measure],
            "filter": " | ".join(map(str, steps)),
            "filters": list(self.job.filters),
            "numbers": list(best),
            "searched": {
                "rows": len(self.searched),
                "before": tried.get(self._start),
                "after": tried[best],
            },
            "tested": {"rows": len(self.tested), **to_json(found)} if found else None,
            "sentence": self._sentence(found, bool(steps)) if found else "",
            "tried": [{"numbers": list(point), "error": error} for point, error in tried.items()],
        }
        table = _table(value, UNITS[self.job.measure])
        arrays = {f"tested.{use}": errors for use, errors in tests.items()}
        return Found(value=value, arrays=arrays, type=table.type, shown=table.shown())

    def save(self, found: Found, *, provisional: bool = False) -> Result:
        """Put it into the study, and the filter under its name where it helps."""
        result = super().save(found, provisional=provisional)
        if self.job.save and not provisional and found.value["tested"]["difference"]["high"] < 0:
            note = f"Found on {self.recording.name} for {self.subject.info.name}. {found.value['sentence']}"
            self.study.save_filter(SavedFilter(name=self.job.save, steps=found.value["filter"], note=note))
        return result

    def _sentence(self, found: Gain, any_filter: bool) -> str:
        unit, digits = UNITS[self.job.measure], 2 if self.job.measure == "place" else 1
        if not any_filter:
            return f"No filter was better than none on the {len(self.searched)} rows it was looked for on."
        off = f"{abs(found.difference.value):.{digits}f} {unit}"
        between = f"95 % interval {found.difference.low:+.{digits}f} to {found.difference.high:+.{digits}f}"
        errors = f"{found.before.value:.{digits}f} to {found.after.value:.{digits}f} {unit}, {between}"
        rest = f"On the {len(self.tested)} rows it was not looked for on"
        if found.difference.sign < 0:
            return f"It helps. {rest}, the mean error goes down by {off} (from {errors})."
        if found.difference.sign > 0:
            return f"It does harm. {rest}, the mean error goes up by {off} (from {errors})."
        return f"It does not help. {rest}, no difference can be told from none (from {errors})."


def _ranges(names: Sequence[str]) -> list[Range]:
    if not names or len(set(names)) < len(names):
        raise RequestError(f"Say which filters to look among, each once: {', '.join(PICTURE_FILTERS)}.")
    found = []
    for name in names:
        if name not in PICTURE_FILTERS:
            raise UnknownName("filter", name, PICTURE_FILTERS)
        for number in PICTURE_FILTERS[name].numbers:
            low, high = number.usual
            found.append(Range(low=low, high=high, start=number.neutral))
    return found


def _steps(names: Sequence[str], point: Point, *, neutral: bool = True) -> tuple[Step, ...]:
    """Filters with their numbers; those that change nothing too, unless not wanted."""
    steps, at = [], 0
    for name in names:
        chosen = PICTURE_FILTERS[name]
        numbers = checked_numbers(chosen, point[at : at + len(chosen.numbers)])
        at += len(chosen.numbers)
        if neutral or numbers != chosen.neutral:
            steps.append(Step(kind=chosen.name, values=numbers))
    return tuple(steps)


def _errors(given: Sequence[Tried]) -> dict[Point, float]:
    return {each.trial.point: each.mean for each in given if each.trial.use == "search"}


def _table(value: Mapping[str, Any], unit: str) -> Table:
    columns = [Axis(name="filter"), Axis(name="rows"), *(Axis(name=n, unit=unit) for n in ("mean error", "from", "to"))]
    searched, tested = value["searched"], value["tested"]
    named = value["filter"] or "none"
    lines: list[tuple[Any, ...]] = [("none, where it was looked for", searched["rows"], searched["before"], None, None)]
    if value["filter"]:
        lines.append((f"{named}, where it was looked for", searched["rows"], searched["after"], None, None))
    if tested:
        parts = [("none, on the rest", "before"), (f"{named}, on the rest", "after"), ("difference", "difference")]
        for title, part in parts if value["filter"] else parts[:1]:
            each = tested[part]
            lines.append((title, tested["rows"], each["value"], each["low"], each["high"]))
    return Table(columns=tuple(columns), lines=lines)


def best_filter(
    study: Study | str | Path,
    subject: Subject,
    recording: str,
    filters: Sequence[str] = BestFilterJob.filters,
    *,
    measure: Literal["place", "heading"] = "place",
    share: float = BestFilterJob.share,
    count: int = BestFilterJob.count,
    budget: int = BestFilterJob.budget,
    domains: Sequence[str] = (),
    rows: ChosenRows | None = None,
    inputs: Mapping[str, str] | None = None,
    save: str = "",
    again: bool = False,
    progress: Progress | bool = True,
) -> Result:
    """Look for the filter of the real pictures with which a subject is closest to the truth, and test it on other rows.

    The first `share` of the rows is searched (at most `count` of them, spread); the rest is only tested. The sentence
    of the result says whether it helps there; `save` names the filter in the study where it does.

        found = iv.best_filter(study, agent, "office", save="mended")
        print(found.value["filter"], found.value["sentence"])
    """
    opened = study if isinstance(study, Study) else Study.open(study)
    source = opened.recording(recording)
    job = BestFilterJob(
        recording=recording,
        subject=subject.info.name,
        filters=(filters,) if isinstance(filters, str) else tuple(filters),
        measure=measure,
        share=share,
        count=count,
        budget=budget,
        domains=tuple(domains),
        rows=None if rows is None else row_ranges(chosen_rows(source.rows, rows)),
        inputs=dict(inputs or {}),
        save=save,
    )
    context = Context(study=opened, subjects={subject.info.name: subject})
    result: Result = run_job(job, context, progress=progress, again=again)
    return result
