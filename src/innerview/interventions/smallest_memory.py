"""Searches for the smallest part of the memory that keeps the performance.

Backward elimination: the elements whose loss changes recorded decisions least are dropped, many at a time, and
played episodes say whether that may be. What was found is played on seeds that the search has not seen.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from innerview.edits import checked, keep_only
from innerview.edits.comparison import mean_of, ratio_of
from innerview.edits.sweep import Descent
from innerview.errors import EditError, UnknownName
from innerview.interventions.decisions import Decisions, decisions
from innerview.interventions.reductions import other_seed, table_like
from innerview.interventions.sweep import decided, site_of
from innerview.jobs.engine import Progress
from innerview.jobs.terminal import bar
from innerview.rollouts.episodes import FULL, Table
from innerview.rollouts.record import check_subject, seeds_of
from innerview.rollouts.rerun import check_same
from innerview.schema import EditSet, EpisodeSummary, MemorySite, Result, SiteEdit, to_json
from innerview.store import Recording, Study
from innerview.subjects import Subject, fingerprint
from innerview.worlds import world as as_world

USUAL_EPISODES, USUAL_ROWS, PATIENCE = 20, 600, 3
NAME = "smallest memory"


@dataclass(frozen=True, kw_only=True)
class MinimalQuestion:
    """A search that was asked for, checked."""

    table: Table
    recording: Recording
    site: MemorySite
    keep: float
    """Share of the full memory's performance that must be left."""
    measure: str
    outcome: str
    """With measure "outcome": which one; the most frequent with full memory where nothing is said."""
    seeds: tuple[int, ...]
    fresh_seeds: tuple[int, ...]
    """Seeds that the search does not see, for the last word."""
    rows: int = USUAL_ROWS
    patience: int = PATIENCE
    _path: list[dict[str, Any]] = field(default_factory=list, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 0 < self.keep <= 1:
            raise EditError(f"keep is the share of the performance that must be left, from 0 to 1, not {self.keep}.")

    @property
    def title(self) -> str:
        """What is done, in words."""
        return f"Smallest memory that keeps {self.keep:.0%} of {self.measure}"

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """All that the answer depends on."""
        chosen = {"keep": self.keep, "measure": self.measure, "outcome": self.outcome, "site": self.site.name}
        how = {"seeds": list(self.seeds), "fresh_seeds": list(self.fresh_seeds), "rows": self.rows}
        return {**chosen, **how, "patience": self.patience, **self.table.setting}

    @cached_property
    def id(self) -> str:
        """The id its result has."""
        return self.table.study.result_id("minimal", self.recording.name, self.arguments)

    def answer(self, progress: Progress) -> Result:
        """Search, check on fresh seeds, keep the way that was gone."""
        with suppress(UnknownName):
            kept = self.table.study.result(self.id)
            if not kept.provisional:
                return kept
        self._path.clear()
        source = decisions(self.table.subject, self.recording, most_rows=self.rows)
        source.check()
        size = math.prod(self.site.shape)
        descent = Descent(tuple(range(size)), max(1, size // 2))
        ranked = self._least_first(source, descent, progress)
        while not descent.over(self.patience):
            dropped = descent.candidates(ranked)
            well = self._holds([e for e in descent.kept if e not in set(dropped)], dropped, progress)
            descent = descent.went(dropped, well=well)
            self._keep(descent, None)
            if well and descent.kept:
                ranked = self._least_first(source, descent, progress)
        return self._keep(descent, self._last_word(descent, progress))

    def reduction(self, kept: Sequence[int]) -> EditSet:
        """The reduction that keeps these elements alone."""
        size = math.prod(self.site.shape)
        note = f"Keeps {len(kept)} of {size} elements: {self.keep:.0%} of {self.measure}, found by search."
        return keep_only(kept, self.site, name=f"{NAME} ({len(kept)})", note=note)

    def _least_first(self, source: Decisions, descent: Descent, progress: Progress) -> list[int]:
        """Kept elements by what decisions would lose without them beside those that are gone already."""
        gone = [e for e in range(math.prod(self.site.shape)) if e not in set(descent.kept)]
        edits = [
            checked([SiteEdit(elements=(*gone, e), site=self.site.address)], self.table.subject.info)
            for e in descent.kept
        ]
        effects = decided(self.table.study, source, edits, self._inner(progress, f"ranking {len(edits)} elements"))
        order = sorted(range(len(edits)), key=lambda place: (effects[place].kl, place))
        return [descent.kept[place] for place in order]

    def _holds(self, kept: Sequence[int], dropped: Sequence[int], progress: Progress) -> bool:
        told = self._compared(kept, self.seeds, self._inner(progress, f"playing with {len(kept)} elements"))
        well = bool(told["mean"] >= told["needed"])
        self._path.append({"kept": len(kept), "dropped": [int(e) for e in dropped], "went_well": well, **told})
        return well

    def _last_word(self, descent: Descent, progress: Progress) -> dict[str, Any]:
        count = len(descent.kept)
        return self._compared(descent.kept, self.fresh_seeds, self._inner(progress, f"checking {count} on fresh seeds"))

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
            "needed": base - (1 - self.keep) * abs(base),
            "ratio": None if ratio is None else {"mean": ratio.mean, "low": ratio.low, "high": ratio.high},
            "episodes": len(seeds),
        }

    def _score(self, line: EpisodeSummary, full: Sequence[EpisodeSummary]) -> float:
        if self.measure == "outcome":
            usual = Counter(each.outcome for each in full).most_common(1)[0][0]
            return float(line.outcome == (self.outcome or usual))
        if self.measure not in line.measures:
            raise UnknownName("measure", self.measure, ("outcome", *line.measures))
        return float(line.measures[self.measure])

    def _inner(self, progress: Progress, what: str) -> Progress:
        def report(done: int, total: int | None, message: str = "") -> None:
            progress(len(self._path), None, f"{what}: {done} of {total}")

        return report

    def _keep(self, descent: Descent, last: Mapping[str, Any] | None) -> Result:
        size, kept = math.prod(self.site.shape), [int(e) for e in descent.kept]
        reduction = self.reduction(kept)
        value = {
            "kept": kept,
            "elements": size,
            "measure": self.measure,
            "keep": self.keep,
            "path": list(self._path),
            "fresh": last,
            "reduction": to_json(reduction) if reduction.edits else None,
            "edits": fingerprint(reduction.edits),
        }
        return self.table.study.keep_result(
            "minimal",
            recording=self.recording.name,
            arguments=self.arguments,
            value=value,
            title=self.title,
            provisional=last is None,
            result=self.id,
        )


def ask_minimal(
    table: Table,
    recording: Recording,
    *,
    site: str = "",
    keep: float = 0.95,
    measure: str = "length",
    outcome: str = "",
    episodes: int = USUAL_EPISODES,
    seed: int | None = None,
    rows: int = USUAL_ROWS,
) -> MinimalQuestion:
    """Check everything about a search before any work is done."""
    check_same(recording, table.subject, table.world.info)
    seeds = seeds_of(episodes, other_seed(recording) if seed is None else seed)
    return MinimalQuestion(
        table=table,
        recording=recording,
        site=site_of(table.subject, site),
        keep=keep,
        measure=measure,
        outcome=outcome,
        seeds=seeds,
        fresh_seeds=seeds_of(episodes, seeds[-1] + 1),
        rows=rows,
    )


def minimal(
    study: Study | str | Path,
    recording: str,
    subject: Subject,
    world: Any,
    *,
    keep: float = 0.95,
    measure: str = "length",
    outcome: str = "",
    site: str = "",
    episodes: int = USUAL_EPISODES,
    seed: int | None = None,
    rows: int = USUAL_ROWS,
    progress: Progress | bool = True,
) -> Result:
    """Search for the fewest elements with which `keep` of a measure is left over `episodes` seeds."""
    opened = study if isinstance(study, Study) else Study.open(study)
    check_subject(subject)
    source = opened.recording(recording)
    question = ask_minimal(
        table_like(opened, source, subject, as_world(world)),
        source,
        site=site,
        keep=keep,
        measure=measure,
        outcome=outcome,
        episodes=episodes,
        seed=seed,
        rows=rows,
    )
    with bar(progress, question.title, "tries") as report:
        return question.answer(report)
