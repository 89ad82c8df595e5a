"""The learning signal: maps of the same observations at every snapshot of a training, beside the scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from innerview.errors import LensError, StoreError, SubjectError, UnknownName
from innerview.features import health
from innerview.jobs.context import Context
from innerview.jobs.engine import Progress
from innerview.jobs.work import Found, StoredWork, run_job
from innerview.lenses.discovery import all_lenses
from innerview.lenses.look import complete_parameters, given_rows, run_lens
from innerview.lenses.needs import check_needs
from innerview.lenses.rows.recorded import recorded_rows
from innerview.lenses.rows.selection import ChosenRows, chosen_rows, row_ranges
from innerview.rollouts.jobs import LearningJob
from innerview.rollouts.learning.ages import load_snapshot
from innerview.rollouts.learning.curve import Curve, check_covered, checked_curve, kept_curve, read_curve
from innerview.rollouts.learning.report import Signal, charted, told
from innerview.rollouts.record import check_subject
from innerview.saliency.learning.measures import measured
from innerview.saliency.learning.rise import SHARE, in_blocks
from innerview.saliency.shares.cover import cover
from innerview.schema import Heat, Result, Rows, Watch, to_json
from innerview.store import Snapshot, Study
from innerview.subjects import Subject

_MIN_BLOCKS, _BLOCKS = 4, 8
_HEALTH_ROWS = 64


@dataclass(frozen=True)
class Looked:
    """What was found of one snapshot."""

    place: int
    measures: Mapping[str, np.ndarray] = field(default_factory=dict)
    """[row] by name of the signal; none where it could not be looked at."""
    health: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""
    maps: np.ndarray | None = None
    """Of the last one: all others are compared with them."""


class LearningWork(StoredWork):
    """Snapshots, rows and a lens, checked. The last snapshot is the first part, as the others are compared with it."""

    job: LearningJob
    grows = True

    def __init__(self, job: LearningJob, context: Context) -> None:
        super().__init__(job, context)
        self.recording = context.study.recording(job.recording)
        self.taken = _taken(context.study, job.run)
        self.looking = all_lenses().get(job.lens)
        lens = self.looking.lens
        if lens.over != "row" or lens.yields != "heat" or not lens.runs_subject:
            raise LensError(f"'{lens.name}' makes no map of a single row. Choose a lens that does, such as 'guided'.")
        self.like = context.subject(job.subject, self.recording)
        check_needs(lens, self.recording.info, self.like.info)
        self.parameters = complete_parameters(context.study, self.looking, self.recording, job.parameters)
        self.numbers = spread_rows(self.recording.rows, job)
        self.curve, self.source = self._curve()
        load_snapshot(context.study, job.run, self.taken[-1].step, like=self.like)  # one that does not fit is refused
        self._last: np.ndarray | None = None

    @property
    def title(self) -> str:
        """What is done, in words."""
        return f"learning signal of {self.job.run}"

    @cached_property
    def identity(self) -> dict[str, Any]:
        """All that the signal depends on, beside the recording."""
        job = self.job
        weights = {str(taken.step): self.study.snapshot_digest(job.run, taken.step) for taken in self.taken}
        asked = {"run": job.run, "weights": weights, "lens": job.lens, "parameters": dict(self.parameters)}
        rows = {"rows": to_json(row_ranges(self.numbers)), "share": job.share, "curve": to_json(self.curve)}
        return {**asked, **rows, "like": self.like.info.name, "inputs": dict(job.inputs), "source": self.source}

    def parts(self, given: Sequence[Looked]) -> Sequence[int]:
        """Places among the snapshots: the last one, then all others in their order."""
        last = len(self.taken) - 1
        if not given:
            return (last,)
        self._last = given[0].maps
        done = {looked.place for looked in given}
        return [place for place in range(last) if place not in done]

    def run(self, part: int, watch: Watch) -> Looked:
        """Look at the rows as they were seen at one snapshot."""
        taken, last = self.taken[part], len(self.taken) - 1
        watch(0 if part == last else part + 1, len(self.taken), f"{taken.step:,} steps")
        try:
            subject, rows, output = self._looked_at(taken)
            maps = next(iter(output.heat.values()))
            beside = maps if part == last else self._last_maps()
            found = measured(maps, beside, objects_in(rows, maps), signed=output.signed)
            return Looked(part, found, health_figures(rows, subject), maps=maps if part == last else None)
        except (LensError, SubjectError) as error:
            if part == last:
                raise type(error)(f"The last snapshot, '{taken.subject}', cannot be looked at: {error}") from error
            return Looked(part, problem=str(error))

    def _looked_at(self, taken: Snapshot) -> tuple[Subject, Rows, Heat]:
        subject = load_snapshot(self.study, taken.run, taken.step, like=self.like)
        rows = self._rows(subject)
        output = run_lens(self.looking, rows, subject, self.parameters)
        assert isinstance(output, Heat)
        return subject, rows, output

    def _last_maps(self) -> np.ndarray:
        """Those that all others are compared with; made once more where this work was not given them."""
        if self._last is None:
            self._last = next(iter(self._looked_at(self.taken[-1])[2].heat.values()))
        return self._last

    def merge(self, given: Sequence[Looked]) -> Found:
        """The signals and scores by step, and which of them rises first."""
        looked = sorted((each for each in given if not each.problem), key=lambda each: each.place)
        steps = [self.taken[each.place].step for each in looked]
        blocks = _blocks(
            self.recording.group_starts(self.numbers) if self.recording.info.ordering else None, self.numbers
        )
        signals = [
            Signal(name, steps, in_blocks(np.stack([each.measures[name] for each in looked]), blocks))
            for name in looked[-1].measures
        ]
        known = [signal for signal in signals if np.isfinite(signal.values).any(1).all()]
        value = told(
            known,
            self.curve,
            source=self.source,
            share=self.job.share,
            health=[{"step": step, **each.health} for step, each in zip(steps, looked, strict=True)],
        )
        value |= {
            "run": self.job.run,
            "lens": self.job.lens,
            "rows": len(self.numbers),
            "blocks": int(blocks.max()) + 1,
        }
        problems = [{"step": self.taken[each.place].step, "problem": each.problem} for each in given if each.problem]
        chart = charted(value)
        return Found(value=to_json({**value, "problems": problems}), type=chart.type, shown=chart.shown())

    def _rows(self, subject: Subject) -> Rows:
        given = given_rows(self.looking.lens, self.recording, subject, self.job.inputs)
        return recorded_rows(self.study, self.recording, self.numbers, given)

    def _curve(self) -> tuple[Curve, str]:
        steps = [taken.step for taken in self.taken]
        if self.job.curve:
            curve, source = checked_curve(self.job.curve), "as given"
        else:
            curve, source = kept_curve(self.study, self.taken)
        if curve:
            check_covered(curve, steps)
        return curve, source


def learning_signal(
    study: Study | str | Path,
    subject: Subject,
    recording: str | None = None,
    *,
    run: str = "training",
    lens: str = LearningJob.lens,
    curve: str | Path | Sequence[tuple[float, float]] | None = None,
    rows: ChosenRows | None = None,
    count: int = LearningJob.count,
    share: float = SHARE,
    inputs: Mapping[str, str] | None = None,
    again: bool = False,
    progress: Progress | bool = True,
    **parameters: Any,
) -> Result:
    """Look at the same observations with every snapshot of a training run, and say whether maps rise before scores.

    `subject` is one built like those that were trained. `curve`: a CSV file with steps and scores, or (step, score).
    `value["words"]` says what came out, `value["ratios"]` has the figures.
    """
    opened = study if isinstance(study, Study) else Study.open(study)
    check_subject(subject)
    names = opened.recordings()
    if recording is None and len(names) != 1:
        raise LensError(f"Say which recording; this study has {', '.join(map(repr, names)) or 'none'}.")
    source = opened.recording(recording or names[0])
    points = () if curve is None else read_curve(Path(curve)) if isinstance(curve, str | Path) else tuple(curve)
    job = LearningJob(
        recording=source.name,
        run=run,
        lens=lens,
        parameters=parameters,
        rows=None if rows is None else row_ranges(chosen_rows(source.rows, rows)),
        count=count,
        share=share,
        curve=tuple((float(x), float(y)) for x, y in points),
        subject=subject.info.name,
        inputs=dict(inputs or {}),
    )
    context = Context(study=opened, subjects={subject.info.name: subject})
    made: Result = run_job(job, context, progress=progress, again=again)
    return made


def _taken(study: Study, run: str) -> list[Snapshot]:
    taken = study.snapshots(run)
    if not taken:
        known = dict.fromkeys(each.run for each in study.snapshots())
        raise UnknownName("training run", run, known, "Save some while you train: iv.snapshot_callback, iv.snapshot.")
    if len(taken) < 2:
        raise StoreError(f"'{run}' has one snapshot, of step {taken[0].step:,}: what changes takes two or more.")
    return taken


def spread_rows(rows: int, job: LearningJob) -> np.ndarray:
    """The rows that are asked for; where none are, so many spread over all."""
    if job.rows is not None:
        return chosen_rows(rows, job.rows)
    return np.unique(np.linspace(0, rows - 1, min(job.count, rows)).round().astype(np.int64))


def _blocks(starts: np.ndarray | None, numbers: np.ndarray) -> np.ndarray:
    """[row]: what is resampled together: episodes where there are several, else as many stretches of rows."""
    if starts is not None and len(np.unique(starts)) >= _MIN_BLOCKS:
        return np.unique(starts, return_inverse=True)[1]
    return np.minimum(np.arange(len(numbers)) * _BLOCKS // max(len(numbers), 1), _BLOCKS - 1)


def objects_in(rows: Rows, maps: np.ndarray) -> np.ndarray | None:
    """bool [row, height, width]: where there is something that the world names; None where it names nothing."""
    if rows.mask is None and rows.things is None:
        return None
    background: np.ndarray = cover(rows, np.arange(rows.count), (maps.shape[2], maps.shape[3]))[:, 0]
    return ~background


def health_figures(rows: Rows, subject: Subject) -> dict[str, Any]:
    """Figures of the network at this age: units that are always 0, gradient energy, warnings."""
    table = health.look(rows, subject, max_rows=_HEALTH_ROWS)
    layers = [line for line in table.lines if line[3] is not None]
    gradients = [float(line[2]) for line in layers]
    return {
        "dead": float(np.mean([line[3] for line in layers])) if layers else 0.0,
        "gradient": gradients[0] if gradients else 0.0,
        "warnings": table.value["warnings"],
    }
