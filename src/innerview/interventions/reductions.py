"""The table of reductions: how a subject fares with its full memory and without parts of it, over the same seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from innerview.capture.summary import NAMED
from innerview.edits import keep_only
from innerview.edits.comparison import table_row
from innerview.errors import EditError
from innerview.interventions.jobs import TableJob
from innerview.jobs.context import Context
from innerview.jobs.engine import Progress
from innerview.jobs.recorded import check_recorded, noted
from innerview.jobs.work import Found, StoredWork, run_job, spans
from innerview.lenses.order import order_of
from innerview.rollouts.episodes import Match, Player
from innerview.rollouts.played import Lines, how_played, setting_of
from innerview.rollouts.record import context_of, seeds_of
from innerview.schema import EditSet, EpisodeSummary, MemorySite, Result, SiteEdit, SubjectInfo, Watch, to_json
from innerview.store import Recording, Study
from innerview.subjects import Subject, as_edits, checked, fingerprint
from innerview.worlds import World
from innerview.worlds import world as as_world

FULL = EditSet(name="full memory", edits=())
MAX_REDUCTIONS = 1000
SEEDS_A_PART = 64
RANDOM_SEED = 0
_DOES_NOT_REPEAT = (
    "This world does not always repeat itself with the same seed: {apart} of {all} episodes began otherwise than with "
    "full memory and are left out of differences and ratios."
)


@dataclass(frozen=True, kw_only=True)
class Table:
    """Who plays where, and how: what makes two episodes with one seed comparable."""

    study: Study
    subject: Subject
    world: World
    greedy: bool = False
    max_steps: int | None = None
    lanes: int | None = None
    other: tuple[str, ...] = ()
    """How subject and world differ from those of the recording that it is about, where somebody said to go on."""

    @property
    def setting(self) -> dict[str, Any]:
        """All that an episode depends on beside its seed and its edits."""
        return setting_of(self.subject, self.world, greedy=self.greedy, max_steps=self.max_steps)

    def play(
        self,
        reductions: Sequence[EditSet],
        seeds: Sequence[int],
        progress: Progress,
        *,
        so_far: Callable[[Games], None] | None = None,
    ) -> Games:
        """Every seed under every reduction; `so_far` is given now and then what there is over the first seeds."""

        def show(lines: Lines) -> None:
            if so_far:
                so_far(_games(reductions, lines))

        match = Match(
            players=tuple(
                Player(name=each.name, subject=self.subject, world=self.world, edits=as_edits(each))
                for each in reductions
            ),
            seeds=seeds,
            study=self.study,
            greedy=self.greedy,
            max_steps=self.max_steps,
            lanes=self.lanes,
            counted=True,
        )
        return _games(reductions, match.play(progress, so_far=show))


@dataclass(frozen=True, kw_only=True)
class Games:
    """How every seed went under every reduction."""

    reductions: tuple[EditSet, ...]
    lines: tuple[tuple[EpisodeSummary, ...], ...]

    def began_alike(self, which: int) -> set[int]:
        """Seeds that began under a reduction as they did with full memory: only those are compared one by one."""
        pairs = zip(self.lines[which], self.lines[0], strict=True)
        return {line.seed for line, full in pairs if line.begins == full.begins}

    def fared(self, which: int) -> list[EpisodeSummary]:
        """Episodes of one reduction; what an event did not happen with counts as none."""
        names = {name for lines in self.lines for line in lines for name in line.counts}
        items = dict.fromkeys(sorted(name for name in names if name.partition(NAMED)[0] in names - {name}), 0)
        return [
            replace(line, counts={**line.counts, **{item: line.counts.get(item, 0) for item in items}})
            for line in self.lines[which]
        ]


def _games(reductions: Sequence[EditSet], lines: Lines) -> Games:
    return Games(reductions=tuple(reductions), lines=tuple(map(tuple, lines)))


class TableWork(StoredWork):
    """A table of reductions, checked. Its parts are seeds, each played under every reduction."""

    job: TableJob
    grows = True

    def __init__(self, job: TableJob, context: Context) -> None:
        super().__init__(job, context)
        self.recording = context.study.recording(job.recording)
        self.table = table_for(job, context, greedy=job.greedy, lanes=job.lanes)
        if not job.reductions:
            raise EditError("A table compares one reduction or more with the full memory; none is given.")
        reductions = [context.reduction(each) for each in job.reductions]
        self.reductions = distinct((FULL, *reductions), self.table.subject.info)
        self.seeds = seeds_of(job.episodes, other_seed(self.recording) if job.seed is None else job.seed)

    @property
    def title(self) -> str:
        """What is done, in words."""
        count = len(self.reductions) - 1
        return f"{count} reduction{'s' if count != 1 else ''} of {self.table.subject.info.name}"

    @cached_property
    def identity(self) -> dict[str, Any]:
        """All that the table depends on."""
        return {**self.table.setting, "seeds": list(self.seeds), "reductions": to_json(self.reductions)} | noted(
            self.table.other
        )

    def parts(self, given: Sequence[Any]) -> Sequence[tuple[int, int]]:
        """(first, stop) among the seeds."""
        return spans(len(self.seeds), SEEDS_A_PART)[len(given) :]

    def run(self, part: tuple[int, int], watch: Watch) -> Games:
        """Play some seeds; those that were played before are not played again."""
        first, stop = part
        count, cells = len(self.reductions), len(self.seeds) * len(self.reductions)

        def report(done: int, total: int | None, message: str = "") -> None:
            done += first * count
            watch(done, cells, f"{done // count} seeds under each of {count}")

        def show(games: Games) -> None:
            watch((first + len(games.lines[0])) * count, cells, so_far=games)

        return self.table.play(self.reductions, self.seeds[first:stop], report, so_far=show)

    def merge(self, given: Sequence[Games]) -> Found:
        """The table over all seeds that were played under every reduction."""
        lines = tuple(tuple(chain(*several)) for several in zip(*(games.lines for games in given), strict=True))
        games = Games(reductions=self.reductions, lines=lines)
        return Found(value=table_value(games, self.table.subject, self.recording, self.seeds[: len(lines[0])]))


class JobInputs(Protocol):
    """A job about a recording, and who plays where."""

    @property
    def recording(self) -> str: ...
    @property
    def subject(self) -> str | None: ...
    @property
    def world(self) -> str | None: ...
    @property
    def other(self) -> bool: ...


def table_for(job: JobInputs, context: Context, *, greedy: bool | None = None, lanes: int | None = None) -> Table:
    """Episodes played as in a recording: actions chosen and episodes cut in the same way."""
    recording = context.study.recording(job.recording)
    as_recorded, max_steps = how_played(recording)
    subject, world = context.subject(job.subject, recording), context.world(job.world, recording)
    return Table(
        study=context.study,
        subject=subject,
        world=world,
        other=check_recorded(recording, subject=subject, world=world.info, other=job.other),
        greedy=as_recorded if greedy is None else greedy,
        max_steps=max_steps,
        lanes=lanes,
    )


def reduce_table(
    study: Study | str | Path,
    recording: str,
    reductions: Sequence[EditSet],
    subject: Subject,
    world: Any,
    *,
    episodes: int = TableJob.episodes,
    seed: int | None = None,
    greedy: bool | None = None,
    lanes: int | None = None,
    other: bool = False,
    progress: Progress | bool = True,
) -> Result:
    """Play `episodes` seeds with full memory and under every reduction, and keep the table.

    Actions are chosen as in the recording. Seeds follow the largest one of the recording unless `seed` says the
    first, so that elements chosen by an order of the recording are tried on episodes they were not chosen on. Another
    subject or world than was recorded is refused unless `other=True`, and the table then says so.
    """
    played = as_world(world)
    context = context_of(study, subject, played)
    job = TableJob(
        recording=recording,
        reductions=tuple(reductions),
        episodes=episodes,
        seed=seed,
        greedy=greedy,
        lanes=lanes,
        subject=subject.info.name,
        world=played.info.name,
        other=other,
    )
    result: Result = run_job(job, context, progress=progress)
    return result


def table_value(games: Games, subject: Subject, recording: Recording, seeds: Sequence[int]) -> dict[str, Any]:
    """The table as JSON."""
    overlap = sorted(set(seeds) & set(recording.info.seeds))
    rows = [_row(games, which, subject) for which in range(len(games.reductions))]
    apart = sum(row["began_otherwise"] for row in rows)
    return {
        "rows": rows,
        "elements": _memory_size(subject),
        "seeds": list(seeds),
        "repeats": not apart,
        "chosen_on": {"recording": recording.name, "seeds_in_both": overlap},
        "note": _DOES_NOT_REPEAT.format(apart=apart, all=len(seeds) * (len(rows) - 1)) if apart else "",
    }


def _row(games: Games, which: int, subject: Subject) -> dict[str, Any]:
    reduction, alike = games.reductions[which], games.began_alike(which)
    paired = [episode for episode in games.fared(0) if episode.seed in alike]
    return {
        "name": reduction.name,
        "note": reduction.note,
        "edits": fingerprint(reduction.edits),
        "kept": _memory_size(subject) - touched(reduction, subject.info),
        "began_otherwise": len(games.lines[which]) - len(alike),
        **table_row(games.fared(which), paired if which else None),
    }


def distinct(reductions: Sequence[EditSet], info: SubjectInfo) -> tuple[EditSet, ...]:
    """The reductions, checked; names must tell them apart."""
    if len(reductions) > MAX_REDUCTIONS:
        raise EditError(f"A table has at most {MAX_REDUCTIONS} lines, not {len(reductions)}.")
    names = [reduction.name for reduction in reductions]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise EditError(f"Two reductions are called '{twice[0]}': give one of them another name.")
    return tuple(EditSet(name=each.name, edits=checked(each.edits, info), note=each.note) for each in reductions)


def touched(reduction: EditSet, info: SubjectInfo) -> int:
    """How many elements of the memory a reduction changes."""
    memory = {site.address for site in info.memory}
    mine = [edit for edit in checked(reduction.edits, info) if isinstance(edit, SiteEdit) and edit.site in memory]
    return len({(edit.site, element) for edit in mine for element in edit.elements})


def _memory_size(subject: Subject) -> int:
    return sum(math.prod(site.shape) for site in subject.info.memory)


def other_seed(recording: Recording) -> int:
    """A first seed beyond all seeds of a recording."""
    return max(recording.info.seeds, default=-1) + 1


def keep_by(study: Study, recording: Recording, site: MemorySite, *, by: str, count: int | None = None) -> EditSet:
    """Keep the first `count` elements (half where nothing is said) of an order over a whole recording."""
    size = math.prod(site.shape)
    kept = size // 2 if count is None else count
    if not 0 <= kept <= size:
        raise EditError(f"Between 0 and {size} elements of '{site.name}' can be kept, not {kept}.")
    title = "half" if count is None else str(kept)
    if by == "random":
        order = np.random.default_rng(RANDOM_SEED).permutation(size)
        how = f"drawn at random (generator with seed {RANDOM_SEED})"
    else:
        recorded = recording.info.subject
        array = recorded.memory_arrays.get(site.name, "") if recorded else ""
        found = order_of(study, recording, by=by, array=array)
        order, how = found.order, f"first by {by} over '{recording.name}' ({recording.rows:,} rows). {found.explains}"
    kept_elements = [int(place) for place in order[:kept]]
    return keep_only(kept_elements, site, name=f"{title} by {by}", note=f"Keeps {kept} of {size} elements, {how}")


def nothing_left(site: MemorySite) -> EditSet:
    """Every element of a site zeroed."""
    elements = tuple(range(math.prod(site.shape)))
    edit = SiteEdit(elements=elements, site=site.address)
    return EditSet(name="no memory", edits=(edit,), note=f"All {len(elements)} elements of '{site.name}' zeroed.")
