"""Searches for the smallest part of the memory that keeps the performance.

Backward elimination: the elements whose loss changes recorded decisions least are dropped, many at a time, and
played episodes say whether that may be. What was found is played on seeds that the search has not seen.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from innerview.edits import keep_only
from innerview.edits.comparison import mean_of, ratio_of
from innerview.edits.sweep import Descent
from innerview.errors import UnknownName
from innerview.interventions.decisions import Decisions, decisions
from innerview.interventions.jobs import SmallestMemoryJob
from innerview.interventions.reductions import FULL, other_seed, table_for
from innerview.interventions.sweep import decided
from innerview.jobs.context import Context
from innerview.jobs.engine import Progress
from innerview.jobs.recorded import noted
from innerview.jobs.work import Found, StoredWork, run_job
from innerview.rollouts.record import context_of, seeds_of
from innerview.rollouts.rerun import played_alone
from innerview.schema import EditSet, EpisodeSummary, Result, SiteEdit, Watch, to_json
from innerview.store import Study
from innerview.subjects import Subject, checked, fingerprint
from innerview.worlds import world as as_world

PATIENCE = 3
NAME = "smallest memory"


@dataclass(frozen=True, kw_only=True)
class Try:
    """One part of a search: rank elements by what decisions lose without them, or play with some of them."""

    what: Literal["rank", "play", "check"]
    kept: tuple[int, ...]
    number: int
    """How many smaller memories were tried before."""


@dataclass(kw_only=True)
class Search:
    """How far a search is."""

    descent: Descent
    path: list[dict[str, Any]] = field(default_factory=list)
    fresh: Mapping[str, Any] | None = None
    """What was kept on seeds that the search has not seen; None before that was played."""


class SmallestMemoryWork(StoredWork):
    """A search, checked. Each part depends on the one before: they come one by one."""

    job: SmallestMemoryJob
    grows = True

    def __init__(self, job: SmallestMemoryJob, context: Context) -> None:
        super().__init__(job, context)
        self.recording = context.study.recording(job.recording)
        self.table = table_for(job, context)
        played_alone(self.recording)
        self.site = self.table.subject.info.memory_site(job.site)
        self.seeds = seeds_of(job.episodes, other_seed(self.recording) if job.seed is None else job.seed)
        self.fresh_seeds = seeds_of(job.episodes, self.seeds[-1] + 1)

    @property
    def title(self) -> str:
        """What is done, in words."""
        return f"Smallest memory that keeps {self.job.keep:.0%} of {self.job.measure}"

    @cached_property
    def identity(self) -> dict[str, Any]:
        """All that the search depends on."""
        job = self.job
        chosen = {"keep": job.keep, "measure": job.measure, "outcome": job.outcome, "site": self.site.name}
        how = {"seeds": list(self.seeds), "fresh_seeds": list(self.fresh_seeds), "rows": job.rows}
        return {**chosen, **how, "patience": PATIENCE, **self.table.setting, **noted(self.table.other)}

    def parts(self, given: Sequence[Any]) -> Sequence[Try]:
        """What is tried next; nothing after the check on fresh seeds."""
        tries = self._tries(Search(descent=self._start))
        following: Sequence[Try] = (next(tries),)
        for found in given:
            try:
                following = (tries.send(found),)
            except StopIteration:
                return ()
        return following

    def run(self, part: Try, watch: Watch) -> Any:
        """Elements of what is kept, the least important first; or how well a smaller memory does."""
        if part.what == "rank":
            return self._elements_by_effect(part.kept, _inner(watch, part, f"ranking {len(part.kept)} elements"))
        fresh = part.what == "check"
        what = f"checking {len(part.kept)} on fresh seeds" if fresh else f"playing with {len(part.kept)} elements"
        return self._compared(part.kept, self.fresh_seeds if fresh else self.seeds, _inner(watch, part, what))

    def merge(self, given: Sequence[Any]) -> Found:
        """The way that was gone, and what is left."""
        search = Search(descent=self._start)
        tries = self._tries(search)
        next(tries)
        for found in given:
            with suppress(StopIteration):
                tries.send(found)
        kept = [int(e) for e in search.descent.kept]
        reduction = self.reduction(kept)
        value = {
            "kept": kept,
            "elements": self._size,
            "measure": self.job.measure,
            "keep": self.job.keep,
            "path": search.path,
            "fresh": search.fresh,
            "reduction": to_json(reduction) if reduction.edits else None,
            "edits": fingerprint(reduction.edits),
        }
        return Found(value=value)

    def reduction(self, kept: Sequence[int]) -> EditSet:
        """The reduction that keeps these elements alone."""
        note = (
            f"Keeps {len(kept)} of {self._size} elements: {self.job.keep:.0%} of {self.job.measure}, found by search."
        )
        return keep_only(kept, self.site, name=f"{NAME} ({len(kept)})", note=note)

    def _tries(self, search: Search) -> Generator[Try, Any, None]:
        """The search: takes what each try gave, and says which is next."""
        ranked = yield Try(what="rank", kept=search.descent.kept, number=0)
        while not search.descent.over(PATIENCE):
            dropped = search.descent.candidates(ranked)
            kept = tuple(e for e in search.descent.kept if e not in set(dropped))
            told = yield Try(what="play", kept=kept, number=len(search.path))
            well = bool(told["mean"] >= told["needed"])
            step = {"kept": len(kept), "dropped": [int(e) for e in dropped], "went_well": well}
            search.path.append({**step, **told})
            search.descent = search.descent.went(dropped, well=well)
            if well and search.descent.kept:
                ranked = yield Try(what="rank", kept=search.descent.kept, number=len(search.path))
        search.fresh = yield Try(what="check", kept=search.descent.kept, number=len(search.path))

    def _elements_by_effect(self, kept: Sequence[int], progress: Progress) -> list[int]:
        """Kept elements by what decisions would lose without them beside those that are gone already."""
        gone = [e for e in range(self._size) if e not in set(kept)]
        edits = [
            checked([SiteEdit(elements=(*gone, e), site=self.site.address)], self.table.subject.info) for e in kept
        ]
        effects = decided(self.study, self._decisions, edits, progress)
        order = sorted(range(len(edits)), key=lambda place: (effects[place].kl, place))
        return [kept[place] for place in order]

    def _compared(self, kept: Sequence[int], seeds: Sequence[int], progress: Progress) -> dict[str, Any]:
        games = self.table.play([FULL, self.reduction(kept)], seeds, progress)
        full, reduced = ([self._score(line, games.lines[0]) for line in lines] for lines in games.lines)
        base = sum(full) / len(full)
        told, ratio = mean_of(reduced), ratio_of(reduced, full)
        return {
            "mean": told.mean,
            "low": told.low,
            "high": told.high,
            "full": base,
            # A return below zero is kept when it does not fall by more than that share of its size.
            "needed": base - (1 - self.job.keep) * abs(base),
            "ratio": None if ratio is None else {"mean": ratio.mean, "low": ratio.low, "high": ratio.high},
            "episodes": len(seeds),
        }

    def _score(self, line: EpisodeSummary, full: Sequence[EpisodeSummary]) -> float:
        measure = self.job.measure
        if measure == "outcome":
            default = Counter(each.outcome for each in full).most_common(1)[0][0]
            return float(line.outcome == (self.job.outcome or default))
        if measure not in line.measures:
            raise UnknownName("measure", measure, ("outcome", *line.measures))
        return float(line.measures[measure])

    @property
    def _size(self) -> int:
        return math.prod(self.site.shape)

    @property
    def _start(self) -> Descent:
        return Descent(tuple(range(self._size)), max(1, self._size // 2))

    @cached_property
    def _decisions(self) -> Decisions:
        source = decisions(self.table.subject, self.recording, max_rows=self.job.rows)
        source.check()
        return source


def _inner(watch: Watch, part: Try, what: str) -> Progress:
    """How far one try is; how many there will be is not known."""

    def report(done: int, total: int | None, message: str = "") -> None:
        watch(part.number, None, f"{what}: {done} of {total}")

    return report


def smallest_memory(
    study: Study | str | Path,
    recording: str,
    subject: Subject,
    world: Any,
    *,
    keep: float = SmallestMemoryJob.keep,
    measure: str = SmallestMemoryJob.measure,
    outcome: str = "",
    site: str = "",
    episodes: int = SmallestMemoryJob.episodes,
    seed: int | None = None,
    rows: int = SmallestMemoryJob.rows,
    other: bool = False,
    progress: Progress | bool = True,
) -> Result:
    """Search for the fewest elements with which `keep` of a measure is left over `episodes` seeds.

    Another subject or world than was recorded is refused unless `other=True`, and the result then says so.
    """
    played = as_world(world)
    context = context_of(study, subject, played)
    job = SmallestMemoryJob(
        recording=recording,
        keep=keep,
        measure=measure,
        outcome=outcome,
        site=site,
        episodes=episodes,
        seed=seed,
        rows=rows,
        subject=subject.info.name,
        world=played.info.name,
        other=other,
    )
    result: Result = run_job(job, context, progress=progress)
    return result
