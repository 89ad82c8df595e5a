"""Looks at rows through a lens: one row live, or any rows as a job whose result is saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from innerview.errors import DamagedPart, LensError, StoreError, UnknownName
from innerview.jobs.engine import Progress
from innerview.jobs.runner import Task
from innerview.jobs.terminal import bar
from innerview.lenses.discovery import Looking, all_lenses
from innerview.lenses.needs import check_needs, choose_subject
from innerview.lenses.rows.recorded import episodes, memory_array, recorded_rows
from innerview.lenses.rows.selection import as_ranges, chosen_rows
from innerview.schema import Heat, Lens, Output, Result, Rows, Watch, bind, join_rows, to_json, unwatched
from innerview.store import Recording, Study, damage_named, load_metrics

if TYPE_CHECKING:
    from innerview.subjects import Subject

NOT_A_LENS = "Values per row, such as the advantage, are columns, not lenses: innerview info STUDY RECORDING."
BATCH_BYTES = 8 << 20
MAX_BATCH = 64
"""Rows that a lens over single rows is given together, at most."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """A lens, its parameters and the rows it looks at, checked."""

    looking: Looking
    study: Study
    recording: Recording
    parameters: Mapping[str, Any]
    numbers: np.ndarray
    """Row numbers, ascending."""
    subject: Subject | None = None

    @property
    def title(self) -> str:
        """What is done, in words."""
        return f"{self.looking.lens.name} of {self.recording.name}"

    @property
    def arguments(self) -> dict[str, Any]:
        """All that the result depends on, beside the recording."""
        asked: dict[str, Any] = {"parameters": dict(self.parameters), "rows": as_ranges(self.numbers)}
        metrics = to_json(load_metrics(self.study))
        if self.looking.lens.yields != "layout" and any(metrics.values()):
            asked["metrics"] = metrics  # facts are made of them
        if self.subject is not None:
            asked |= {"subject": self.subject.info.name, "weights": self.subject.weights_digest()}
        return asked

    @property
    def id(self) -> str:
        """The id its result has."""
        return self.study.result_id(self.looking.lens.name, self.recording.name, self.arguments)

    def answer(self, progress: Progress, *, again: bool = False) -> Result:
        """The result, saved in the study; read from there where it was asked before, unless wanted `again`."""
        promised = self.id
        saved = None if again else self._saved(promised)
        if saved is not None:
            return saved
        progress(0, None, "reading")
        rows = recorded_rows(self.study, self.recording, self.numbers, self.subject)
        given = {**self.parameters, **self._results()}
        watch = _Watching(self, promised, progress)
        return self.save(run_lens(self.looking, rows, self.subject, given, watch=watch), promised)

    def save(self, output: Output, promised: str, *, provisional: bool = False) -> Result:
        """Put an output, or what there is of it so far, into the study."""
        return self.study.keep_result(
            self.looking.lens.name,
            recording=self.recording.name,
            arguments=self.arguments,
            value=to_json(output.value),
            arrays=output.stored(),
            type=output.type,
            shown=shown_of(output, self.recording, self.subject),
            title=self.title,
            provisional=provisional,
            result=promised,
        )

    def _saved(self, promised: str) -> Result | None:
        """The whole result, where there is one."""
        try:
            saved = self.study.result(promised)
            if not saved.provisional:
                self.study.check_result(promised)
        except UnknownName:
            return None
        except StoreError as error:
            lens = self.looking.lens.name
            raise DamagedPart(
                f"The saved result is damaged: {error} Compute it anew with look(…, again=True), or in the terminal "
                f"with: innerview lens {lens} … --again."
            ) from error
        return None if saved.provisional else saved

    def _results(self) -> dict[str, Output]:
        """Parameters that name the result of another lens, as that result."""
        named = {p.name: str(self.parameters[p.name]) for p in self.looking.lens.parameters if p.type == "result"}
        saved = {name: self.study.result(id) for name, id in named.items() if id}
        return {
            name: Output(value=r.value, arrays={array: self.study.result_array(r.id, array) for array in r.arrays})
            for name, r in saved.items()
        }


def shown_of(output: Output, recording: Recording, subject: Subject | None) -> dict[str, Any]:
    """What the generic view needs beside the arrays; of heat also which array of the recording fed each input."""
    if not isinstance(output, Heat) or subject is None:
        return output.shown()
    fed = bind(subject.info.inputs, recording.info.arrays, None, where=recording.name).inputs
    return {**output.shown(), "arrays": {item.input: item.array for item in fed}}


def run_lens(
    looking: Looking, rows: Rows, subject: Subject | None, parameters: Mapping[str, Any], *, watch: Watch = unwatched
) -> Output:
    """Run a lens on rows, in batches where it looks at each row on its own, and check what it gives."""
    lens = looking.lens
    if lens.over != "row":
        return _checked(lens, looking.look(rows, subject, watch=watch, **parameters))
    parts, size = [], _batch(rows, subject)
    for first in range(0, rows.count, size):
        watch(first, rows.count, "rows")
        some = rows.part(np.arange(first, min(first + size, rows.count)))
        parts.append(_checked(lens, looking.look(some, subject, watch=unwatched, **parameters)))
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


@dataclass(frozen=True)
class _Watching:
    """Passes progress on, and saves what there is so far where the lens shows it."""

    question: Question
    promised: str
    progress: Progress

    def __call__(self, done: int, total: int | None, message: str = "", so_far: Output | None = None) -> None:
        if so_far is not None:
            self.question.save(so_far, self.promised, provisional=True)
        self.progress(done, total, message)


def ask(
    study: Study,
    lens: str,
    recording: str,
    *,
    parameters: Any = None,
    rows: Any = None,
    subject: str | None = None,
    subjects: Mapping[str, Subject] | None = None,
) -> Question:
    """Check everything about a question before any work is done."""
    looking = all_lenses().get(lens, NOT_A_LENS)
    described, opened = looking.lens, study.recording(recording)
    live = choose_subject(described, opened, subject, subjects or {})
    check_needs(described, opened.info, live.info if live else None)
    if live is not None:
        _refuse_edited(opened, lens)
    chosen = complete_parameters(study, looking, opened, parameters or {})
    numbers = chosen_rows(opened.rows, rows)
    if described.over == "episode":
        numbers = _within_one_episode(opened, numbers, chosen=rows is not None)
    return Question(looking=looking, study=study, recording=opened, parameters=chosen, numbers=numbers, subject=live)


def complete_parameters(
    study: Study, looking: Looking, recording: Recording, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Every parameter of a lens, checked; the default where none is given."""
    chosen = {p.name: p.default for p in looking.lens.parameters} | looking.checked(given)
    for parameter in looking.lens.parameters:
        if parameter.type == "array":
            chosen[parameter.name] = memory_array(recording, str(chosen[parameter.name]))
        if parameter.type == "result" and chosen[parameter.name]:
            _check_result(study, parameter.name, str(chosen[parameter.name]))
    return chosen


def lens_task(study: Study, subjects: Mapping[str, Subject], arguments: Mapping[str, Any]) -> Task:
    """A job that looks through a lens, from what somebody asked over the wire."""
    question = ask(
        study,
        str(arguments.get("lens", "")),
        str(arguments.get("recording", "")),
        parameters=arguments.get("parameters"),
        rows=arguments.get("rows"),
        subject=arguments.get("subject"),
        subjects=subjects,
    )
    promise, again = {"result": question.id}, arguments.get("again") is True

    def work(progress: Progress) -> dict[str, Any]:
        return {"result": question.answer(progress, again=again).id}

    return Task(title=question.title, work=work, promise=promise)


def look(
    study: Study | str | Path,
    lens: str,
    recording: str | None = None,
    *,
    rows: tuple[int, int] | Sequence[tuple[int, int]] | np.ndarray | None = None,
    subject: Subject | None = None,
    again: bool = False,
    progress: Progress | bool = True,
    **parameters: Any,
) -> Result:
    """Look at a recording (the only one where none is named) through a lens and save its result.

    `rows` are (start, stop), several such ranges, or a NumPy array of row numbers or of true and false; all where left
    out. What was asked before is read from the study, unless it is wanted `again`.
    """
    opened = study if isinstance(study, Study) else Study.open(study)
    names = opened.recordings()
    if recording is None and len(names) != 1:
        there = ", ".join(map(repr, names)) or "none"
        raise LensError(f"Say which recording; this study has {there}.{damage_named(opened.damaged())}")
    live = {subject.info.name: subject} if subject is not None else {}
    named = subject.info.name if subject is not None else None
    question = ask(opened, lens, recording or names[0], parameters=parameters, rows=rows, subject=named, subjects=live)
    with bar(progress, question.title, "") as report:
        return question.answer(report, again=again)


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


def _check_result(study: Study, kind: str, id: str) -> None:
    found = study.result(id)
    if found.kind != kind:
        raise LensError(f"Result '{id}' is of lens '{found.kind}'; one of '{kind}' is needed here.")


def _refuse_edited(recording: Recording, lens: str) -> None:
    if recording.info.arguments.get("edits"):
        of = recording.info.arguments.get("of")
        raise LensError(
            f"'{recording.name}' was played with its memory changed; '{lens}' would run the subject without that. "
            f"Look at {repr(of) if of else 'a recording without edits'} instead."
        )
