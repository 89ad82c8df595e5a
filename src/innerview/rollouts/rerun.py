"""Plays recorded episodes again with the memory changed, and says where the two runs part."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from innerview.capture import Plan
from innerview.edits.divergence import EPSILON, Divergence, Run, begins_alike, find_divergence
from innerview.errors import CaptureError, EditError, UnknownName
from innerview.jobs.context import Context
from innerview.jobs.engine import Progress
from innerview.jobs.recorded import check_recorded
from innerview.jobs.work import Product, Work, run_job
from innerview.rollouts.jobs import RerunJob
from innerview.rollouts.record import context_of, ignores_seeds, record_plan
from innerview.schema import EditSet, PlayedWith, RerunOf, RolledOutFrom, Watch, of_kind, pose_of
from innerview.store import Recording, Study
from innerview.store.paths import plain_name
from innerview.subjects import Subject, as_edits, checked, fingerprint
from innerview.worlds import world as as_world


@dataclass(frozen=True, kw_only=True)
class Pair:
    """An episode that was played again, and where it parts from the first time."""

    episode: int
    of: int
    """The episode of the recording that was run again."""
    seed: int
    divergence: Divergence
    alike: bool
    """Whether the world showed the same until something else was done; else it does not repeat itself."""


@dataclass(frozen=True, kw_only=True)
class Rerun:
    """A recording with the memory changed, beside the one it is a re-run of."""

    recording: Recording
    of: Recording
    pairs: tuple[Pair, ...]


def rerun(
    study: Study | str | Path,
    recording: str,
    reduction: EditSet,
    subject: Subject,
    world: Any,
    *,
    episodes: Sequence[int] | None = None,
    name: str | None = None,
    other: bool = False,
    progress: Progress | bool = True,
) -> Rerun:
    """Play the recorded seeds again in the same way (lanes, greedy, length) with the memory changed.

    The two are the same to the last bit until the change makes a difference. `episodes` says which to play. Another
    subject or world than was recorded is refused unless `other=True`, and the re-run then says so.
    """
    played = as_world(world)
    context = context_of(study, subject, played)
    job = RerunJob(
        recording=recording,
        reduction=reduction,
        episodes=None if episodes is None else tuple(episodes),
        name=name,
        subject=subject.info.name,
        world=played.info.name,
        other=other,
    )
    made: Rerun = run_job(job, context, progress=progress)
    return made


class RerunWork(Work):
    """Recorded episodes to play again, checked. One part, as of any recording."""

    job: RerunJob

    def __init__(self, job: RerunJob, context: Context) -> None:
        super().__init__(job, context)
        self.source = context.study.recording(job.recording)
        self.subject = context.subject(job.subject, self.source)
        self.world = context.world(job.world, self.source)
        played = played_alone(self.source)
        check_repeats(self.source)
        self.other = check_recorded(self.source, subject=self.subject, world=self.world.info, other=job.other)
        self.reduction = context.reduction(job.reduction)
        self.edits = checked(as_edits(self.reduction), self.subject.info)
        if not self.edits:
            raise EditError(f"'{self.reduction.name}' has no edits: it would change nothing. Give it at least one.")
        self.episodes = _chosen(self.source, job.episodes)
        self._keep = played.keep
        self.plan = Plan(
            seeds=[played.seeds[episode] for episode in self.episodes],
            lanes=played.lanes,
            greedy=played.greedy,
            max_steps=played.max_steps,
            places=[played.lane_of(episode) for episode in self.episodes],
        )
        self.name = job.name or self._free_name()

    @property
    def title(self) -> str:
        """What is done, in words."""
        return f"Run {self.source.name} again: {self.reduction.name}"

    @property
    def product(self) -> Product:
        """The recording."""
        return Product(recording=self.name, subject=self.subject.info.name)

    def run(self, part: Any, watch: Watch) -> None:
        """Play and write."""
        record_plan(
            self.study,
            self.subject,
            self.world,
            self.plan,
            name=self.name,
            note=self.reduction.note,
            keep=self._keep,
            edits=self.edits,
            source=self._of,
            other=self.other,
            progress=watch,
        )

    def merge(self, given: Sequence[Any]) -> Rerun:
        """The two recordings, compared."""
        made = self.study.recording(self.name)
        return Rerun(recording=made, of=self.source, pairs=pairs_of(self.study, made))

    @property
    def _of(self) -> RerunOf:
        return RerunOf(of=self.source.name, reduction=self.reduction.name, episodes=self.episodes)

    def _free_name(self) -> str:
        """The usual name; with a mark of its own where that holds other edits or other episodes."""
        wanted, edits = f"{self.source.name} - {self.reduction.name}", fingerprint(self.edits)
        default = plain_name(wanted)
        if default not in self.study.recordings():
            return default
        there = self.study.recording(default).info.played
        asked = (self._of, tuple(self.plan.places), self.other, edits)
        if there is not None and (there.source, there.places, there.other, fingerprint(there.edits)) == asked:
            return default
        return plain_name(wanted, end=f" {_mark(edits, self.episodes)}")


def pairs_of(study: Study, recording: Recording, *, epsilon: float = EPSILON) -> tuple[Pair, ...]:
    """Where the episodes of a re-run part from those they were run again from."""
    played = recording.info.played
    if played is None or played.source is None:
        raise CaptureError(f"'{recording.name}' is no re-run of another recording.")
    of = played.source.of
    if of not in study.recordings():
        raise UnknownName("recording", of, study.recordings(), f"'{recording.name}' is a re-run of it.")
    source = study.recording(of)
    lines = {int(line["episode"]): line for line in source.groups().iter_rows(named=True)}
    found = []
    for line, number in zip(recording.groups().iter_rows(named=True), played.source.episodes, strict=False):
        if number in lines:
            found.append(_pair(recording, line, source, lines[number], epsilon))
    return tuple(found)


def played_alone(recording: Recording) -> PlayedWith:
    """How a subject played a recording by itself, so that it could play it again; an error where it did not."""
    played = played_with(recording)
    if isinstance(played.source, RolledOutFrom):
        raise CaptureError(
            f"'{recording.name}' was rolled out by hand: the subject alone would not play the same again. "
            f"Run '{played.source.of}' again, which it was made from."
        )
    return played


def played_with(recording: Recording) -> PlayedWith:
    """How a recording was played; an error where it does not say."""
    played = recording.info.played
    if played is None:
        raise CaptureError(
            f"'{recording.name}' does not say how it was played (it was {recording.info.origin}): only what innerview "
            "recorded can be run again. Record the subject first: iv.record(study, subject, world)."
        )
    return played


def check_repeats(recording: Recording) -> None:
    """An error where the world of a recording ignores seeds, so that no episode comes again."""
    world = recording.info.world
    if world is not None and not world.repeats:
        raise CaptureError(f"'{recording.name}' cannot be played again. {ignores_seeds(world)}")


def _chosen(recording: Recording, episodes: Sequence[int] | None) -> tuple[int, ...]:
    count = recording.group_count
    if not count:
        raise CaptureError(f"'{recording.name}' holds no whole episode that could be played again.")
    chosen = tuple(range(count)) if episodes is None else tuple(dict.fromkeys(episodes))
    wrong = [e for e in chosen if not isinstance(e, int) or isinstance(e, bool) or not 0 <= e < count]
    if wrong or not chosen:
        said = f"not {wrong[0]!r:.40}" if wrong else "and at least one"
        raise CaptureError(f"Episodes of '{recording.name}' are numbers from 0 to {count - 1}, {said}.")
    return tuple(sorted(chosen))


def _mark(edits: str, episodes: Sequence[int]) -> str:
    """A short mark of what is played."""
    return hashlib.sha256(f"{edits} {list(episodes)}".encode()).hexdigest()[:6]


def _pair(new: Recording, line: Mapping[str, Any], old: Recording, of: Mapping[str, Any], epsilon: float) -> Pair:
    rows, before = (line["start"], line["stop"]), (of["start"], of["stop"])
    divergence = divergence_of(old, before, new, rows, epsilon=epsilon)
    until = min(rows[1] - rows[0], before[1] - before[0]) - 1 if divergence.action is None else divergence.action
    alike = begins_alike(_seen(old, *before, until), _seen(new, *rows, until), until=until)
    return Pair(episode=line["episode"], of=of["episode"], seed=line["seed"], divergence=divergence, alike=alike)


def divergence_of(
    one: Recording, rows: tuple[int, int], other: Recording, other_rows: tuple[int, int], *, epsilon: float = EPSILON
) -> Divergence:
    """Where two runs diverge, rows of any two recordings, counted from the first row of each."""
    return find_divergence(_run(one, *rows), _run(other, *other_rows), epsilon=epsilon)


def _run(recording: Recording, start: int, stop: int) -> Run:
    acted = [column.name for column in of_kind(recording.info.columns, "action")]
    pose = pose_of(recording.info.columns)
    placed = [name for name in (pose.x, pose.y, pose.z) if name]
    table = recording.columns([*acted, *placed], start, stop)
    chances = any(spec.name == "probabilities" for spec in recording.info.arrays)
    return Run(
        actions=table.select(acted).to_numpy(),
        places=table.select(placed).to_numpy().astype(float) if placed else None,
        probabilities=recording.array("probabilities", start, stop) if chances else None,
    )


def _seen(recording: Recording, start: int, stop: int, until: int) -> dict[str, np.ndarray]:
    last = min(stop, start + until + 1)
    names = [spec.name for spec in recording.info.arrays if spec.role == "observation"]
    return {name: recording.array(name, start, last) for name in names}
