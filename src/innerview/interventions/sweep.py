"""Drops each element alone, or in pairs, and ranks them by what that does."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from innerview.edits.comparison import mean_of
from innerview.edits.sweep import pairs_of
from innerview.errors import UnknownName
from innerview.interventions.decisions import Decisions, Effect, decisions
from innerview.interventions.jobs import SweepJob
from innerview.interventions.reductions import FULL, other_seed, table_for
from innerview.jobs.context import Context
from innerview.jobs.engine import Progress
from innerview.jobs.recorded import noted
from innerview.jobs.work import Found, StoredWork, run_job, spans
from innerview.rollouts.record import context_of, seeds_of
from innerview.rollouts.rerun import played_alone
from innerview.schema import Edit, EditSet, Result, SiteEdit, SiteOperation, Watch
from innerview.store import KeyedLog, Study
from innerview.subjects import Subject, checked, fingerprint
from innerview.worlds import world as as_world

MAX_AMONG = 32
"""Elements of which pairs are looked at, where none are named."""
GROUPS_A_PART = 512
Group = tuple[int, ...]
Effects = Mapping[Group, dict[str, Any]]


class SweepWork(StoredWork):
    """A sweep, checked. Its parts are groups of elements; pairs come in a second round, after each element alone."""

    job: SweepJob

    def __init__(self, job: SweepJob, context: Context) -> None:
        super().__init__(job, context)
        self.recording = context.study.recording(job.recording)
        self.table = table_for(job, context)
        played_alone(self.recording)
        self.site = self.table.subject.info.memory_site(job.site)
        self.seeds = seeds_of(job.episodes, other_seed(self.recording) if job.seed is None else job.seed)
        self.edit(job.elements or (0,))
        self._singles = [(element,) for element in (job.elements or range(math.prod(self.site.shape)))]

    @property
    def title(self) -> str:
        """What is done, in words."""
        what = "each element" if self.job.over == "single" else "pairs of elements"
        return f"Sweep {what} of {self.site.name} by {self.job.by}"

    @cached_property
    def identity(self) -> dict[str, Any]:
        """All that the ranking depends on."""
        job = self.job
        shared = {"over": job.over, "by": job.by, "op": job.op, "value": job.value, "site": self.site.name}
        how = {"rows": job.rows} if job.by == "decisions" else {"seeds": list(self.seeds), "measure": job.measure}
        return {**shared, **how, "among": list(job.elements), **self.table.setting, **noted(self.table.other)}

    def edit(self, elements: Sequence[int]) -> tuple[Edit, ...]:
        """The change that drops these elements."""
        edit = SiteEdit(elements=tuple(elements), op=self.job.op, value=self.job.value, site=self.site.address)
        return checked([edit], self.table.subject.info)

    def parts(self, given: Sequence[Effects]) -> Sequence[Sequence[Group]]:
        """Groups of elements to drop together."""
        alone = _split(self._singles)
        if len(given) < len(alone) or self.job.over == "single":
            return alone[len(given) :]
        return _split(self._pairs(_joined(given[: len(alone)])))[len(given) - len(alone) :]

    def run(self, part: Sequence[Group], watch: Watch) -> Effects:
        """The effect of each group."""
        if self.job.by == "decisions":
            edits = [self.edit(group) for group in part]
            found = decided(self.study, self._decisions, edits, watch)
            return {g: {"effect": e.kl, "switched": e.switched} for g, e in zip(part, found, strict=True)}
        measure = self.job.measure
        reductions = [EditSet(name=str(group), edits=self.edit(group)) for group in part]
        games = self.table.play([FULL, *reductions], self.seeds, watch)
        full = {line.seed: line.measures for line in games.lines[0]}
        known = next(iter(full.values()))
        if measure not in known:
            raise UnknownName("measure", measure, known)
        return {
            group: _lost([full[line.seed][measure] - line.measures[measure] for line in lines])
            for group, lines in zip(part, games.lines[1:], strict=True)
        }

    def merge(self, given: Sequence[Effects]) -> Found:
        """Every effect, ranked."""
        job, rounds = self.job, len(_split(self._singles))
        alone, effects = _joined(given[:rounds]), _joined(given[rounds:] if job.over == "pairs" else given)
        if job.over == "pairs":
            for (one, two), told in effects.items():
                told["alone"] = [alone[one,]["effect"], alone[two,]["effect"]]
                told["together"] = told["effect"] - sum(told["alone"])
        arrays = {
            "elements": np.array(list(effects), np.int32),
            "effect": np.array([told["effect"] for told in effects.values()], np.float32),
        }
        value = {"over": job.over, "by": job.by, "op": job.op, "site": self.site.name, "ranked": _ranked(effects)}
        value["unit"] = "nats" if job.by == "decisions" else f"{job.measure} lost"
        return Found(value=value, arrays=arrays)

    def _pairs(self, alone: Effects) -> Sequence[Group]:
        strongest = sorted(alone, key=lambda each: -alone[each]["effect"])[:MAX_AMONG]
        elements = self.job.elements or [element for (element,) in strongest]
        return pairs_of(sorted(elements))

    @cached_property
    def _decisions(self) -> Decisions:
        source = decisions(self.table.subject, self.recording, max_rows=self.job.rows)
        source.check()
        return source


def _split(groups: Sequence[Group]) -> list[Sequence[Group]]:
    return [groups[first:stop] for first, stop in spans(len(groups), GROUPS_A_PART)]


def _joined(given: Sequence[Effects]) -> dict[Group, dict[str, Any]]:
    return {group: dict(effect) for effects in given for group, effect in effects.items()}


def decided(study: Study, source: Decisions, edits: Sequence[Sequence[Edit]], progress: Progress) -> list[Effect]:
    """Effects of edits on recorded decisions; those that were computed before are not computed again."""
    kept = KeyedLog(
        study,
        {
            "decisions of": source.recording.name,
            "digest": source.recording.digest,
            "episodes": list(source.episodes),
            "identity": source.subject.identity(),
        },
    )
    keys = [fingerprint(each) for each in edits]
    known = kept.known()
    missing = [place for place, key in enumerate(keys) if key not in known]
    done = len(edits) - len(missing)
    progress(done, len(edits), f"{source.rows:,} decisions")

    def report(places: Sequence[int], found: Sequence[Effect]) -> None:
        nonlocal done
        pairs = zip(places, found, strict=True)
        lines: list[dict[str, Any]] = [{"key": keys[missing[p]], "kl": e.kl, "switched": e.switched} for p, e in pairs]
        known.update((line["key"], line) for line in lines)
        kept.add(lines)
        done += len(lines)
        progress(done, len(edits), f"{source.rows:,} decisions")

    source.effects([edits[place] for place in missing], report)
    return [Effect(kl=known[key]["kl"], switched=known[key]["switched"]) for key in keys]


def sweep(
    study: Study | str | Path,
    recording: str,
    subject: Subject,
    world: Any,
    *,
    over: Literal["single", "pairs"] = SweepJob.over,
    by: Literal["decisions", "episodes"] = SweepJob.by,
    op: SiteOperation = SweepJob.op,
    value: float = SweepJob.value,
    measure: str = SweepJob.measure,
    elements: Sequence[int] = (),
    site: str = "",
    episodes: int = SweepJob.episodes,
    seed: int | None = None,
    rows: int = SweepJob.rows,
    other: bool = False,
    progress: Progress | bool = True,
) -> Result:
    """Drop each element alone, or in pairs, and rank by effect: on recorded decisions, or on newly played episodes.

    Another subject or world than was recorded is refused unless `other=True`, and the result then says so.
    """
    played = as_world(world)
    context = context_of(study, subject, played)
    job = SweepJob(
        recording=recording,
        over=over,
        by=by,
        op=op,
        value=value,
        measure=measure,
        elements=tuple(elements),
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


def _lost(losses: Sequence[float]) -> dict[str, Any]:
    told = mean_of(losses)
    return {"effect": told.mean, "low": told.low, "high": told.high}


def _ranked(found: Mapping[tuple[int, ...], Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Largest effect first."""
    order = sorted(found, key=lambda group: (-found[group]["effect"], group))
    return [{"elements": list(group), **found[group]} for group in order]
