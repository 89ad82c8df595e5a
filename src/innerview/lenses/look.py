"""Looks at rows through a lens: one row live, or any rows as a job whose result is saved."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from innerview.errors import LensError, StoreError, UnknownName
from innerview.jobs.context import Context
from innerview.jobs.engine import Progress
from innerview.jobs.recorded import check_recorded, noted
from innerview.jobs.work import Found, StoredWork, run_job, spans
from innerview.lenses.discovery import LoadedLens, all_lenses
from innerview.lenses.job import LensJob
from innerview.lenses.needs import check_needs
from innerview.lenses.rows.recorded import episodes, memory_array, named_recording, recorded_rows
from innerview.lenses.rows.selection import ChosenRows, chosen_rows, row_ranges
from innerview.schema import (
    Heat,
    Lens,
    Output,
    Parameter,
    Result,
    Rows,
    Watch,
    join_rows,
    restored_rows,
    to_json,
    unwatched,
)
from innerview.store import Recording, Study, load_metrics

if TYPE_CHECKING:
    from innerview.lenses.rows.inputs import RowInputs
    from innerview.subjects import Subject

NOT_A_LENS = "Values per row, such as the advantage, are columns, not lenses: innerview info STUDY RECORDING."
BATCH_BYTES = 16 << 20
MAX_BATCH = 128
"""Rows that a lens over single rows is given together, at most."""
ROWS_A_PART = 2 * MAX_BATCH


class LensWork(StoredWork):
    """A lens, its parameters and the rows it looks at, checked."""

    job: LensJob

    def __init__(self, job: LensJob, context: Context) -> None:
        super().__init__(job, context)
        self.looking = all_lenses().get(job.lens, NOT_A_LENS)
        lens, self.recording = self.looking.lens, context.study.recording(job.recording)
        runs = lens.runs_subject and context.subjects
        subject = context.subject(job.subject, self.recording) if runs else None
        self.other = check_recorded(self.recording, subject=subject, other=job.other)
        check_needs(lens, self.recording.info, subject.info if subject else None)
        if job.inputs and not runs:
            raise LensError(f"'{lens.name}' runs no subject: there are no inputs to feed. Leave inputs= out.")
        self._given = given_rows(lens, self.recording, subject, job.inputs, differs=self.other)
        self._rows_stored = 0
        self.parameters = complete_parameters(self.study, self.looking, self.recording, job.parameters)
        self.numbers = chosen_rows(self.recording.rows, job.rows)
        if lens.over == "episode":
            self.numbers = _within_one_episode(self.recording, self.numbers, chosen=job.rows is not None)

    @property
    def title(self) -> str:
        """What is done, in words."""
        return f"{self.looking.lens.name} of {self.recording.name}"

    @property
    def result_kind(self) -> str:
        """Results are listed by their lens."""
        return self.looking.lens.name

    @cached_property
    def identity(self) -> dict[str, Any]:
        """All that the result depends on, beside the recording."""
        asked: dict[str, Any] = {"parameters": dict(self.parameters), "rows": to_json(row_ranges(self.numbers))}
        metrics = to_json(load_metrics(self.study))
        if self.looking.lens.yields != "layout" and any(metrics.values()):
            asked["metrics"] = metrics  # facts are made of them
        if "domains" in self.looking.lens.needs:
            asked["predictions"] = [p.digest for p in self.study.predictions(self.recording.name) if p.is_current]
        if self._given is not None:
            subject, binding = self._given.subject, to_json(self._given.binding)
            asked |= {"subject": subject.info.name, "identity": subject.identity(), "binding": binding}
        return asked | noted(self.other)

    def parts(self, given: Sequence[Any]) -> Sequence[tuple[int, int]]:
        """Places among the rows: some at a time for a lens over single rows, else all together."""
        count = len(self.numbers)
        if self.looking.lens.over != "row":
            return () if given else ((0, count),)
        done = _rows_of(given)
        return [(done + first, done + stop) for first, stop in spans(count - done, ROWS_A_PART)]

    def left(self) -> Sequence[Output]:
        """The rows that were looked at before it was stopped."""
        if self.again or self.looking.lens.over != "row":
            return ()
        try:
            result = self.study.result(self.id)
            self.study.check_result(self.id)
        except (UnknownName, StoreError):
            return ()
        return (restored_rows(result, {name: self.study.result_array(self.id, name) for name in result.arrays}),)

    def show_so_far(self, given: Sequence[Output], part: Any = None) -> None:
        """Of single rows, store what there is each time there is twice as much: together that costs little."""
        if self.looking.lens.over != "row":
            super().show_so_far(given, part)
        elif _rows_of(given) >= 2 * self._rows_stored and self.parts(given):
            self.stopped(given)

    def stopped(self, given: Sequence[Output]) -> None:
        """Store all rows there are, for whoever goes on."""
        if self.looking.lens.over == "row" and given:
            self.save(self.merge(given), provisional=True)
            self._rows_stored = _rows_of(given)

    def run(self, part: tuple[int, int], watch: Watch) -> Output:
        """Look at these places."""
        first, stop = part
        if first == 0:
            watch(0, None, "reading")
        rows = self._rows if stop - first == len(self.numbers) else self._rows.part(np.arange(first, stop))

        def report(done: int, total: int | None, message: str = "", so_far: Output | None = None) -> None:
            split = self.looking.lens.over == "row"
            watch(first + done if split else done, len(self.numbers) if split else total, message, so_far)

        return look_at(self.looking, rows, self._given, {**self.parameters, **self._results}, watch=report)

    def merge(self, given: Sequence[Output]) -> Found:
        """What was found, as it is stored."""
        output = given[0] if len(given) == 1 else join_rows(given)
        shown = shown_of(output, self._given)
        return Found(value=to_json(output.value), arrays=output.stored(), type=output.type, shown=shown)

    @cached_property
    def _rows(self) -> Rows:
        return recorded_rows(self.study, self.recording, self.numbers, self._given)

    @cached_property
    def _results(self) -> dict[str, Output]:
        """Parameters that name the result of another lens, as that result."""
        named = {p.name: str(self.parameters[p.name]) for p in self.looking.lens.parameters if p.type == "result"}
        saved = {name: self.study.result(id) for name, id in named.items() if id}
        return {name: self._output(result) for name, result in saved.items()}

    def _domain_of(self, result: Result) -> str:
        """The domain whose pictures heat lies over that does not say so itself."""
        fed = set(result.shown.get("arrays", {}).values())
        return next((spec.domain for spec in self.recording.info.arrays if spec.name in fed and spec.domain), "")

    def _output(self, result: Result) -> Output:
        arrays = {name: self.study.result_array(result.id, name) for name in result.arrays}
        if result.type == Heat.type:
            heat = restored_rows(result, arrays)
            assert isinstance(heat, Heat)
            return heat if heat.domain else replace(heat, domain=self._domain_of(result))
        return Output(value=result.value, arrays=arrays)


def _rows_of(given: Sequence[Output]) -> int:
    return sum(len(output.stored()["rows"]) for output in given)


def given_rows(
    lens: Lens,
    recording: Recording,
    subject: Subject | None,
    inputs: Mapping[str, str],
    *,
    differs: Sequence[str] | None = None,
) -> RowInputs | None:
    """The rows of a recording as a subject takes them, or an error where a lens cannot look at them together."""
    if subject is None:
        return None
    from innerview.lenses.rows.inputs import RowInputs

    given = RowInputs(subject, recording, inputs or _by_domain(lens, recording, subject), differs=differs)
    if given.edits_vary and lens.over != "row":
        of = recording.info.of
        raise LensError(
            f"'{recording.name}' was made with edits that hold at some steps only, and '{lens.name}' looks at many "
            f"steps together. Look at {repr(of) if of else 'a recording without them'} instead."
        )
    return given


def _by_domain(lens: Lens, recording: Recording, subject: Subject) -> dict[str, str]:
    """A lens that looks at two domains is fed with either, where nothing is said: pictures come from the first one."""
    domains = dict.fromkeys(spec.domain for spec in recording.info.arrays if spec.domain and spec.pair)
    if "domains" not in lens.needs or not domains:
        return {}
    return {spec.name: next(iter(domains)) for spec in subject.info.inputs if spec.kind == "image"}


def shown_of(output: Output, given: RowInputs | None) -> dict[str, Any]:
    """What the generic view needs beside the arrays; of heat also which array of the recording fed each input."""
    if not isinstance(output, Heat) or given is None:
        return output.shown()
    side = given.domains.get(output.domain, given)
    return {**output.shown(), "arrays": {name: items[0].array for name, items in side.binding.by_input.items()}}


def look_at(
    looking: LoadedLens, rows: Rows, given: RowInputs | None, parameters: Mapping[str, Any], *, watch: Watch = unwatched
) -> Output:
    """Run a lens on recorded rows, with the subject edited as it was in them."""
    if given is None:
        return run_lens(looking, rows, None, parameters, watch=watch)
    changing = given.edited_in if given.edits_vary else None
    return run_lens(looking, rows, given.edited, parameters, watch=watch, subject_in=changing)


def run_lens(
    looking: LoadedLens,
    rows: Rows,
    subject: Subject | None,
    parameters: Mapping[str, Any],
    *,
    watch: Watch = unwatched,
    subject_in: Callable[[int], Subject] | None = None,
) -> Output:
    """Run a lens on rows, in batches where it looks at each row on its own, and check what it gives.

    `subject_in` gives the subject of one row, where it is another from row to row.
    """
    lens = looking.lens
    if lens.over != "row":
        return _checked(lens, looking.look(rows, subject, watch=watch, **parameters))
    parts, size = [], 1 if subject_in else _batch(rows, subject)
    for first in range(0, rows.count, size):
        watch(first, rows.count, "rows")
        some = rows.part(np.arange(first, min(first + size, rows.count)))
        asked = subject_in(int(some.numbers[0])) if subject_in else subject
        parts.append(_checked(lens, looking.look(some, asked, watch=unwatched, **parameters)))
    return join_rows(parts)


def _checked(lens: Lens, output: Output) -> Output:
    if not isinstance(output, Output) or output.type != lens.yields:
        given = output.type if isinstance(output, Output) else type(output).__name__
        raise LensError(f"Lens '{lens.name}' says that it yields '{lens.yields}', and gave '{given}'.")
    output.check()
    return output


def _batch(rows: Rows, subject: Subject | None) -> int:
    """As many rows as fit some megabytes of inputs."""
    if subject is None:
        return MAX_BATCH
    each = sum(4 * int(np.prod(spec.shape)) for spec in subject.info.inputs)
    return max(1, min(MAX_BATCH, BATCH_BYTES // max(each, 1)))


def complete_parameters(
    study: Study, looking: LoadedLens, recording: Recording, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Every parameter of a lens, checked; the default where none is given."""
    chosen = {p.name: p.default for p in looking.lens.parameters} | looking.checked(given)
    for parameter in looking.lens.parameters:
        if parameter.type == "array":
            chosen[parameter.name] = memory_array(recording, str(chosen[parameter.name]))
        if parameter.type == "result" and chosen[parameter.name]:
            _check_result(study, parameter, recording, str(chosen[parameter.name]))
    return chosen


def look(
    study: Study | str | Path,
    lens: str,
    recording: str | None = None,
    *,
    rows: ChosenRows | None = None,
    subject: Subject | None = None,
    inputs: Mapping[str, str] | None = None,
    other: bool = False,
    again: bool = False,
    progress: Progress | bool = True,
    **parameters: Any,
) -> Result:
    """Look at a recording (the only one where none is named) through a lens and save its result.

    `rows` are (start, stop), several such ranges, or a NumPy array of row numbers or of true and false; all where left
    out. `inputs` says which array feeds which input of the subject ("real.rgb", "real.rgb | resize 64x64"); what is
    left out is found by name, else by shape and role. A subject that did not make the recording, or whose weights
    changed since, is refused unless `other=True`, and the result then says so. What was asked before is read from the
    study, unless it is wanted `again`.
    """
    opened = study if isinstance(study, Study) else Study.open(study)
    source = named_recording(opened, recording)
    job = LensJob(
        lens=lens,
        recording=source.name,
        parameters=parameters,
        rows=None if rows is None else row_ranges(chosen_rows(source.rows, rows)),
        subject=subject.info.name if subject is not None else None,
        inputs=dict(inputs or {}),
        other=other,
    )
    live = {subject.info.name: subject} if subject is not None else {}
    result: Result = run_job(job, Context(study=opened, subjects=live), progress=progress, again=again)
    return result


def _within_one_episode(recording: Recording, numbers: np.ndarray, *, chosen: bool) -> np.ndarray:
    """The rows, where they lie in one episode; the first episode where none were chosen."""
    found = episodes(recording, numbers) or ((0, len(numbers)),)
    if len(found) > 1 and chosen:
        first, last = numbers[0], numbers[-1] + 1
        raise LensError(f"Rows {first} to {last} reach over {len(found)} episodes; choose rows of one.")
    inside = numbers[slice(*found[0])]
    if inside[-1] - inside[0] >= len(inside):
        raise LensError("These rows leave out steps of the episode; choose rows that follow each other.")
    return inside


def _check_result(study: Study, parameter: Parameter, recording: Recording, id: str) -> None:
    found = study.result(id)
    if parameter.of_type and found.recording != recording.name:
        raise LensError(f"Result '{id}' is of recording '{found.recording}'; one of '{recording.name}' is needed.")
    if parameter.of_type and found.type != parameter.of_type:
        raise LensError(
            f"Result '{id}' is of type '{found.type or 'other'}'; one of type '{parameter.of_type}' is needed."
        )
    if not parameter.of_type and found.kind != parameter.name:
        raise LensError(f"Result '{id}' is of lens '{found.kind}'; one of '{parameter.name}' is needed here.")
