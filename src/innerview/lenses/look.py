"""Looks at a recording through a lens, as a job whose result is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from innerview.errors import DamagedPart, LensError, RequestError, StoreError, UnknownName
from innerview.jobs.engine import Progress
from innerview.jobs.runner import Task
from innerview.jobs.terminal import bar
from innerview.lenses.discovery import Looking, all_lenses
from innerview.lenses.rows.recorded import episodes, memory_array, memory_arrays, rows_of
from innerview.schema import Found, Result, to_json
from innerview.store import Recording, Study, damage_named, load_metrics

if TYPE_CHECKING:
    from innerview.subjects import Subject

NO_LENS = "What is told of every row, such as surprise, is a column and no lens: innerview info STUDY RECORDING."


@dataclass(frozen=True, kw_only=True)
class Question:
    """A lens, its parameters and the rows it looks at, checked."""

    looking: Looking
    study: Study
    recording: Recording
    parameters: Mapping[str, Any]
    start: int
    stop: int
    subject: Subject | None = None

    @property
    def title(self) -> str:
        """What is done, in words."""
        return f"{self.looking.lens.name} of {self.recording.name}"

    @property
    def arguments(self) -> dict[str, Any]:
        """All that the answer depends on, beside the recording."""
        asked: dict[str, Any] = {"parameters": dict(self.parameters), "rows": [self.start, self.stop]}
        metrics = to_json(load_metrics(self.study))
        if self.looking.lens.yields != "layout" and any(metrics.values()):
            asked["metrics"] = metrics  # facts are made of them
        if self.subject is not None:
            asked |= {"subject": self.subject.info.name, "weights": self.subject.weights_digest()}
        return asked

    @property
    def id(self) -> str:
        """The id its answer has."""
        return self.study.result_id(self.looking.lens.name, self.recording.name, self.arguments)

    def answer(self, progress: Progress, *, again: bool = False) -> Result:
        """What the lens finds, kept in the study; found there where it was asked before, unless wanted `again`."""
        promised = self.id
        kept = None if again else self._kept(promised)
        if kept is not None:
            return kept
        progress(0, None, "reading")
        return self.keep(self._look(_Watching(self, promised, progress)), promised)

    def keep(self, found: Found, promised: str, *, provisional: bool = False) -> Result:
        """Put what was found, or what is there so far, into the study."""
        return self.study.keep_result(
            self.looking.lens.name,
            recording=self.recording.name,
            arguments=self.arguments,
            value=to_json(found.value),
            arrays=found.arrays,
            title=self.title,
            provisional=provisional,
            result=promised,
        )

    def _kept(self, promised: str) -> Result | None:
        """The whole answer, where it was found before."""
        try:
            kept = self.study.result(promised)
            if not kept.provisional:
                self.study.check_result(promised)
        except UnknownName:
            return None
        except StoreError as error:
            lens = self.looking.lens.name
            raise DamagedPart(
                f"What was kept is damaged: {error} Have it found anew with look(…, again=True), or in the terminal "
                f"with: innerview lens {lens} … --again."
            ) from error
        return None if kept.provisional else kept

    def _look(self, watch: _Watching) -> Found:
        if self.looking.lens.over == "frames":
            return self._look_at_frames(watch)
        arrays = (memory_array(self.recording, str(self.parameters.get("array", ""))),)
        rows = rows_of(self.study, self.recording, arrays, self.start, self.stop)
        given = dict(self.parameters)
        if "array" in given:
            given["array"] = arrays[0]
        if self.looking.lens.over == "recording":
            found: Found = self.looking.look(rows, progress=watch, **given)
            return found
        from innerview.lenses.rows.episode import Steps
        from innerview.lenses.rows.inputs import RowInputs

        assert self.subject is not None
        inputs = RowInputs(self.subject, self.recording)
        steps = Steps(inputs, self.start, self.stop)
        before = inputs.memory_before(range(self.start, self.start + 1))
        found = self.looking.look(self.subject, steps, before, rows=rows, progress=watch, **given)
        return found

    def _look_at_frames(self, watch: _Watching) -> Found:
        from innerview.lenses.rows.frames import frames_of
        from innerview.saliency.integrated import attribute

        assert self.subject is not None
        frames = frames_of(self.subject, self.recording, self.start, self.stop)
        given = dict(self.parameters) | self._results() | self.looking.taken(attribute=attribute)
        found: Found = self.looking.look(self.subject, frames, progress=watch, **given)
        return found

    def _results(self) -> dict[str, Found]:
        """Parameters that name what another lens found, as what it found."""
        named = {p.name: str(self.parameters[p.name]) for p in self.looking.lens.parameters if p.type == "result"}
        kept = {name: self.study.result(id) for name, id in named.items() if id}
        return {
            name: Found(value=r.value, arrays={array: self.study.result_array(r.id, array) for array in r.arrays})
            for name, r in kept.items()
        }


@dataclass(frozen=True)
class _Watching:
    """Passes progress on, and keeps what there is so far where the lens shows it."""

    question: Question
    promised: str
    progress: Progress

    def __call__(self, done: int, total: int | None, message: str = "", so_far: Found | None = None) -> None:
        if so_far is not None:
            self.question.keep(so_far, self.promised, provisional=True)
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
    looking = all_lenses().get(lens, NO_LENS)
    described = looking.lens
    if described.over == "row":
        raise LensError(f"'{lens}' looks at one row at a time, as somebody points at it; it cannot run as a job.")
    if described.settings.get("missing"):
        raise LensError(f"'{lens}' {described.settings['missing']}")
    opened = study.recording(recording)
    chosen = {p.name: p.default for p in described.parameters} | looking.checked(parameters or {})
    for parameter in described.parameters:
        if parameter.type == "array":
            chosen[parameter.name] = memory_array(opened, str(chosen[parameter.name]))
        if parameter.type == "result" and chosen[parameter.name]:
            _check_result(study, parameter.name, str(chosen[parameter.name]))
    if "memory" in described.needs:
        memory_array(opened)
    start, stop = _range(opened, rows)
    if described.over == "episode":
        start, stop = _within_one_episode(opened, start, stop, chosen=rows is not None)
    runs = described.over in ("episode", "frames")
    live = _live_subject(opened, subject, subjects or {}, lens) if runs else None
    return Question(
        looking=looking, study=study, recording=opened, parameters=chosen, start=start, stop=stop, subject=live
    )


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
    rows: tuple[int, int] | None = None,
    subject: Subject | None = None,
    again: bool = False,
    progress: Progress | bool = True,
    **parameters: Any,
) -> Result:
    """Look at a recording (the only one where none is named) through a lens and keep what it finds.

    What was asked before is found in the study, unless it is wanted `again`.
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


def _range(recording: Recording, rows: Any) -> tuple[int, int]:
    if rows is None:
        return 0, recording.rows
    fits = isinstance(rows, Sequence) and len(rows) == 2 and all(type(row) is int for row in rows)
    if not fits or not 0 <= rows[0] < rows[1] <= recording.rows:
        raise RequestError(
            f"rows are [start, stop] with 0 ≤ start < stop ≤ {recording.rows}, not {rows!r:.60}; all where left out."
        )
    return rows[0], rows[1]


def _within_one_episode(recording: Recording, start: int, stop: int, *, chosen: bool) -> tuple[int, int]:
    """The rows, where they lie in one episode; the first episode where none were chosen."""
    found = episodes(recording, start, stop) or ((0, stop - start),)
    if len(found) > 1 and chosen:
        raise LensError(f"Rows {start} to {stop} reach over {len(found)} episodes; choose rows of one.")
    return start + found[0][0], start + found[0][1]


def _check_result(study: Study, kind: str, id: str) -> None:
    found = study.result(id)
    if found.kind != kind:
        raise LensError(f"Result '{id}' was found by '{found.kind}'; what is needed here is one of '{kind}'.")


def _live_subject(recording: Recording, name: Any, subjects: Mapping[str, Subject], lens: str) -> Subject:
    recorded = recording.info.subject
    wanted = name or (recorded.name if recorded and recorded.name in subjects else next(iter(subjects), None))
    if wanted is None:
        raise LensError(
            f"'{lens}' runs the model again and none is live. Give one: look(…, subject=…), or innerview lens … "
            "--subject zoo:NAME (or FILE.py:FUNCTION); for the page innerview serve STUDY --subject zoo:NAME, or "
            "iv.show(study, subject=…)."
        )
    if wanted not in subjects:
        raise UnknownName("live subject", str(wanted), subjects)
    subject = subjects[wanted]
    if name is None and recorded and recorded.weights_digest not in ("", subject.weights_digest()):
        raise LensError(
            f"'{recording.name}' was recorded with other weights than '{subject.info.name}' has now. Record it again, "
            "or name the subject to look at it all the same."
        )
    if len(subject.info.memory) != len(memory_arrays(recording)):
        raise LensError(f"'{subject.info.name}' has other memory than was recorded in '{recording.name}'.")
    if recording.info.arguments.get("edits"):
        of = recording.info.arguments.get("of")
        raise LensError(
            f"'{recording.name}' was played with its memory changed; '{lens}' would run the subject without that. "
            f"Look at {repr(of) if of else 'a recording without edits'} instead."
        )
    return subject
