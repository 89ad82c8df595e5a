"""Records a subject in a world into a study; the same arguments continue what was begun."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from innerview.capture import Layout, Piece, Plan, group_line, layout, rollout
from innerview.errors import CaptureError, RequestError
from innerview.jobs.context import Context
from innerview.jobs.engine import Progress
from innerview.jobs.recorded import check_recorded, differences
from innerview.jobs.terminal import bar
from innerview.jobs.work import Product, Work, run_job
from innerview.rollouts.jobs import BLOCK_ROWS, MAX_SEED, RecordJob
from innerview.schema import (
    Edits,
    EpisodeSummary,
    Origin,
    PlayedWith,
    RecordingInfo,
    RerunOf,
    Watch,
    WorldInfo,
)
from innerview.store import Recording, RecordingWriter, Study
from innerview.store.paths import plain_name
from innerview.subjects import Subject, as_edits, checked
from innerview.worlds import World
from innerview.worlds import world as as_world
from innerview.worlds.crowds import default_lanes


def record(
    study: Study | str | Path,
    subject: Subject,
    world: Any,
    *,
    episodes: int | None = None,
    seeds: int | Sequence[int] = 0,
    name: str | None = None,
    lanes: int | None = None,
    greedy: bool = False,
    keep: Sequence[str] = (),
    max_steps: int | None = None,
    edits: Edits | None = None,
    note: str = "",
    block_rows: int = BLOCK_ROWS,
    overwrite: bool = False,
    progress: Progress | bool = True,
) -> Recording:
    """Play episodes and keep every step: what was seen, remembered, decided and true.

    `seeds` is one seed per episode, or the first of `episodes` seeds in a row (10 episodes where neither is said).
    `lanes` games run side by side. Actions are sampled unless `greedy`. `keep` names layers whose activations are kept.
    `edits` change the memory at each step before the heads read it and before it is carried; the changed state is what
    is recorded. A recording that was interrupted continues when it is asked for with the same arguments, and a complete
    one gets more episodes when more are asked for; `block_rows` rows at a time become safe on disk. Where the subject
    or the world is another than was recorded under this name, or changed since, a new version is recorded beside it
    ("name v2"); `overwrite=True` replaces it once the new one is complete.
    """
    played = as_world(world)
    check_subject(subject)
    counted = isinstance(seeds, int | np.integer)
    job = RecordJob(
        recording=name,
        subject=subject.info.name,
        world=played.info.name,
        episodes=episodes,
        seed=int(seeds) if counted else None,  # type: ignore[arg-type]
        seeds=None if counted else tuple(int(seed) for seed in seeds),  # type: ignore[union-attr]
        greedy=greedy,
        lanes=lanes,
        keep=(keep,) if isinstance(keep, str) else tuple(keep),
        max_steps=max_steps,
        edits=as_edits(edits),
        note=note,
        block_rows=block_rows,
        overwrite=overwrite,
    )
    made: Recording = run_job(job, context_of(study, subject, played, create=True), progress=progress)
    return made


class RecordWork(Work):
    """New episodes, checked. One part: the rows of a recording have one writer, who goes on where it was stopped."""

    job: RecordJob

    def __init__(self, job: RecordJob, context: Context) -> None:
        super().__init__(job, context)
        like = context.study.recording(job.like) if job.like else None
        self.subject, self.world = context.subject(job.subject, like), context.world(job.world, like)
        chosen = like if job.seeds is not None or job.same_seeds else None
        self.other = check_recorded(chosen, world=self.world.info, other=job.other) if chosen else ()
        self.plan = _plan(job, like, self.world)
        wanted = job.recording or _default_name(like, self.subject, self.world)
        self.name, self.changed = wanted, ""
        if not job.overwrite:
            self.name, self.changed = version(self.study, wanted, self.subject, self.world)
        self.edits = checked(job.edits, self.subject.info)

    @property
    def title(self) -> str:
        """What is done, in words."""
        return f"Record {len(self.plan.seeds)} episodes of {self.subject.info.name}"

    @property
    def product(self) -> Product:
        """The recording."""
        return Product(recording=self.name, subject=self.subject.info.name)

    @property
    def _remark(self) -> str:
        return "" if self.world.info.repeats else f"It cannot be played again. {ignores_seeds(self.world.info)}"

    def run(self, part: Any, watch: Watch) -> None:
        """Play and write."""
        job = self.job
        record_plan(
            self.study if Study.exists(self.study.path) else self.study.path,
            self.subject,
            self.world,
            self.plan,
            name=self.name,
            note=" ".join(filter(None, (job.note, self.changed, self._remark))),
            overwrite=job.overwrite,
            keep=job.keep,
            edits=self.edits,
            other=self.other,
            block_rows=job.block_rows,
            progress=watch,
        )

    def merge(self, given: Sequence[Any]) -> Recording:
        """The recording."""
        return self.study.recording(self.name)


def _plan(job: RecordJob, like: Recording | None, world: World) -> Plan:
    """How many episodes of which seeds, and how they are played."""
    before = like.info.played if like else None
    seeds: int | tuple[int, ...] = job.seed or 0
    episodes, lanes, greedy, max_steps = job.episodes, job.lanes, job.greedy, job.max_steps
    if job.seeds is not None or job.same_seeds:
        if job.seed is not None or (job.seeds is not None and job.same_seeds):
            raise RequestError("Say one of seed, seeds and same_seeds: they are three ways to choose the episodes.")
        seeds = job.seeds or ()
        if seeds and max(seeds) > MAX_SEED:
            raise RequestError(f"A seed is a whole number from 0 to {MAX_SEED:,}, not {max(seeds):,}.")
        greedy, max_steps = (before.greedy, before.max_steps) if before else (greedy, max_steps)
    if job.same_seeds:
        seeds, episodes, lanes = _first_seeds(like, job.episodes), None, before.lanes if before else None
    chosen = seeds_of(episodes, seeds)
    side_by_side = default_lanes(world, recorded=True) if lanes is None else lanes
    return Plan(seeds=chosen, lanes=side_by_side, greedy=greedy, max_steps=max_steps)


def _first_seeds(like: Recording | None, count: int | None) -> tuple[int, ...]:
    """The seeds of a recording, or the first of them."""
    known = like.info.seeds if like else ()
    if not known:
        raise RequestError("same_seeds needs `like`: a recording that says which seeds it was made of.")
    if count is not None and count > len(known):
        raise RequestError(f"episodes is a whole number from 1 to {len(known)}, as many as `like` has, not {count}.")
    return known[:count]


def _default_name(like: Recording | None, subject: Subject, world: World) -> str:
    """Of another subject than the one that played `like`: named after both."""
    recorded = like.info.subject if like else None
    if like is None or recorded is None or recorded.name == subject.info.name:
        return default_name(subject.info.name, world.info.name)
    return plain_name(f"{like.name} - {subject.info.name}")


def record_plan(
    study: Study | str | Path,
    subject: Subject,
    world: World,
    plan: Plan,
    *,
    name: str | None,
    note: str = "",
    keep: Sequence[str] = (),
    edits: Edits | None = None,
    source: RerunOf | None = None,
    other: Sequence[str] = (),
    block_rows: int = BLOCK_ROWS,
    overwrite: bool = False,
    progress: Progress | bool = True,
) -> Recording:
    """Record what a plan says; `source` and `other` say what it was made from, and how it differs from that."""
    changes = checked(as_edits(edits), subject.info)
    form = layout(subject, world.info, keep=keep)
    played = PlayedWith(
        seeds=tuple(plan.seeds),
        lanes=plan.lanes,
        places=tuple(plan.places),
        greedy=plan.greedy,
        max_steps=plan.max_steps,
        keep=form.sites.keep,
        edits=changes,
        source=source,
        other=tuple(other),
    )
    info = _describe(subject, world.info, form, played, name=name, note=note)
    opened, total = study if isinstance(study, Study) else Study.open_or_create(study), len(plan.seeds)
    with (
        bar(progress, f"Recording {info.name}", "episodes") as report,
        opened.writer(info, block_rows=block_rows, overwrite=overwrite) as writer,
    ):
        begun = writer.groups_committed + writer.restored[1]
        report(total if writer.complete else begun, total)
        if not writer.complete:
            rest = replace(plan, first_episode=begun)
            episode_writer = _EpisodeWriter(writer, Recording(writer.folder))
            _fill(episode_writer, rollout(subject, world, rest, form, edits=[changes]), total, report)
    return opened.recording(info.name)


def context_of(
    study: Study | str | Path, subject: Subject, world: World | None = None, *, create: bool = False
) -> Context:
    """A study with one subject, and one world, as a person has them in hand.

    To `create` says that there need not be a study: it is made when rows are written, and not for what is refused.
    """
    check_subject(subject)
    if not isinstance(study, Study):
        study = Study(Path(study), Path(study).name) if create and not Study.exists(study) else Study.open(study)
    worlds = {} if world is None else {world.info.name: world}
    return Context(study=study, subjects={subject.info.name: subject}, worlds=worlds)


def check_subject(subject: Any) -> None:
    """An error that says how to adapt a model, where something else is given."""
    if not isinstance(subject, Subject):
        raise CaptureError(
            f"A subject is recorded, not a {type(subject).__name__}. Adapt it first: iv.subject(module, …) for a torch "
            "module, iv.from_sb3(model) for stable-baselines3."
        )


def _describe(
    subject: Subject,
    world: WorldInfo,
    form: Layout,
    played: PlayedWith,
    *,
    name: str | None,
    note: str,
) -> RecordingInfo:
    """What the recording will hold."""
    return RecordingInfo(
        name=name or default_name(subject.info.name, world.name),
        origin=Origin(kind="played", by=subject.info.name, source=world.name),
        row=form.row,
        ordering=form.ordering,
        columns=form.columns,
        arrays=form.arrays,
        group_columns=form.group_columns,
        subject=replace(subject.info, identity=subject.identity()),  # it may have learnt since it was adapted
        world=world,
        note=note,
        arguments=played,
    )


def _fill(episode_writer: _EpisodeWriter, pieces: Generator[Piece], total: int, report: Progress) -> None:
    try:
        for piece in pieces:
            episode_writer.write(piece)
            report(episode_writer.episodes, total, f"{episode_writer.rows:,} steps")
    except CaptureError:
        episode_writer.write_unfinished()
        raise
    finally:
        pieces.close()


class _EpisodeWriter:
    """Hands pieces to the writer, less the rows that were committed before an interruption."""

    def __init__(self, writer: RecordingWriter, before: Recording) -> None:
        self._writer, self._before = writer, before
        self._repeated = [c.name for c in before.info.columns if c.kind in ("action", "reward")]
        rows, groups = writer.restored
        self.episodes = writer.groups_committed + groups
        self.rows = int(before.groups()["stop"][-1]) if writer.groups_committed else 0
        self._known = 0 if rows else writer.rows_committed - self.rows
        self.rows = writer.rows_committed + rows if rows else self.rows
        self._added = 0
        self._start = self.rows

    def write(self, piece: Piece) -> None:
        count = len(piece.rows["episode"])
        if piece.provisional and not self._added and count <= self._known:
            self._known = sys.maxsize  # it broke before it came to anything new: there is nothing to add
            return
        if piece.provisional:
            self._writer.provisional()
        skipped = min(count, self._known)
        self._check_repeated(piece, skipped)
        self._known -= skipped
        self._added += count - skipped
        self.rows += count
        if piece.summary is not None and not self._added:
            raise _does_not_repeat(piece.episode, f"its {piece.summary.length} steps are fewer")
        rows = {name: column[skipped:] for name, column in piece.rows.items()}
        self._writer.append(rows, {name: array[skipped:] for name, array in piece.arrays.items()})
        if piece.summary is not None:
            self._end(piece, piece.summary)

    def _check_repeated(self, piece: Piece, skipped: int) -> None:
        """What is played again must be what was committed, or an episode would be joined from two."""
        if not skipped:
            return
        committed = self._before.columns(self._repeated, self.rows, self.rows + skipped)
        for name in self._repeated:
            if committed[name].to_list() != list(piece.rows[name][:skipped]):
                raise _does_not_repeat(piece.episode, f"its {name} is another")

    def write_unfinished(self) -> None:
        """Put what is in hand on disk too, to be looked at."""
        self._writer.close(keep=True)

    def _end(self, piece: Piece, summary: EpisodeSummary) -> None:
        scene = self._writer.add_scene(piece.scene) if piece.scene else ""
        self._writer.end_group(group_line(piece.episode, self._start, summary, cut=piece.cut, scene=scene))
        self._start = self.rows
        self.episodes += 1


def _does_not_repeat(episode: int, how: str) -> CaptureError:
    return CaptureError(
        f"Episode {episode} was played again to go on with the recording, and {how} than the first time: this world "
        "does not repeat itself with the same seed. What is committed is safe; record the rest under another name."
    )


def version(study: Study, wanted: str, subject: Subject, world: World) -> tuple[str, str]:
    """A name that holds no recording of other weights or of another world, and what changed since the one before."""
    base, _, last = wanted.rpartition(" v")
    if not (base and last.isdigit()):
        base, last = wanted, "1"
    name, changed, there = wanted, "", set(study.recordings()) if Study.exists(study.path) else set()
    for number in itertools.count(int(last) + 1):
        found = differences(study.recording(name).info, subject=subject, world=world.info) if name in there else ()
        if not found:
            return name, changed
        changed = f"{' '.join(found)} The one before is '{name}'."
        name = plain_name(base, end=f" v{number}")
    raise AssertionError("numbers do not end")


def ignores_seeds(world: WorldInfo) -> str:
    """What is the matter with a world that does not repeat itself, and what to do."""
    return (
        f"'{world.name}' ignores seeds: reset(seed=0) began in two ways. Call super().reset(seed=seed) in it, and draw "
        "from self.np_random."
    )


def default_name(subject: str, world: str) -> str:
    """A recording's name where nobody gave one, made of what a name may hold."""
    return plain_name(f"{subject} in {world}")


def seeds_of(episodes: int | None, seeds: int | Sequence[int]) -> tuple[int, ...]:
    """One seed per episode, from a list or counted from the first."""
    if isinstance(seeds, int | np.integer):
        first = int(seeds)
        count = 10 if episodes is None else episodes
        chosen = tuple(range(first, first + count))
    else:
        chosen = tuple(int(seed) for seed in seeds)
        if episodes is not None and episodes != len(chosen):
            raise CaptureError(f"episodes is {episodes}, but {len(chosen)} seeds are given. Leave one of them out.")
    if not chosen:
        raise CaptureError("There is nothing to record: episodes must be 1 or more.")
    if min(chosen) < 0:
        raise CaptureError(f"A seed must be 0 or more, not {min(chosen)}.")
    return chosen
