"""Drops each element alone, or in pairs, and ranks them by what that does."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from innerview.edits import checked, fingerprint
from innerview.edits.comparison import mean_of
from innerview.edits.sweep import pairs_of
from innerview.errors import EditError, UnknownName
from innerview.interventions.decisions import Decisions, Effect, decisions
from innerview.interventions.reductions import other_seed, table_like
from innerview.jobs.engine import Progress
from innerview.jobs.terminal import bar
from innerview.rollouts.episodes import FULL, Table
from innerview.rollouts.record import check_subject, seeds_of
from innerview.rollouts.rerun import check_same
from innerview.schema import Edit, EditSet, MemorySite, Result, SiteEdit, SiteOperation
from innerview.store import Played, Recording, Study
from innerview.subjects import Subject
from innerview.worlds import world as as_world

OVER, BY = ("single", "pairs"), ("decisions", "episodes")
USUAL_ROWS, USUAL_EPISODES, USUAL_AMONG = 2_000, 5, 32


@dataclass(frozen=True, kw_only=True)
class SweepQuestion:
    """A sweep that was asked for, checked."""

    table: Table
    recording: Recording
    site: MemorySite
    over: str = "single"
    by: str = "decisions"
    op: SiteOperation = "zero"
    value: float = 0.0
    measure: str = "return"
    """By episodes: what a loss is counted in."""
    among: tuple[int, ...] = ()
    """Elements to look at; all where none are said, for pairs the `USUAL_AMONG` with the largest effect alone."""
    seeds: tuple[int, ...] = ()
    rows: int = USUAL_ROWS

    def __post_init__(self) -> None:
        for what, chosen, known in (("over", self.over, OVER), ("by", self.by, BY)):
            if chosen not in known:
                raise UnknownName(f"choice of '{what}'", str(chosen), known)
        self.edit(self.among or (0,))

    @property
    def title(self) -> str:
        """What is done, in words."""
        what = "each element" if self.over == "single" else "pairs of elements"
        return f"Sweep {what} of {self.site.name} by {self.by}"

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """All that the answer depends on."""
        shared = {"over": self.over, "by": self.by, "op": self.op, "value": self.value, "site": self.site.name}
        how = {"rows": self.rows} if self.by == "decisions" else {"seeds": list(self.seeds), "measure": self.measure}
        return {**shared, **how, "among": list(self.among), **self.table.setting}

    @cached_property
    def id(self) -> str:
        """The id its result has."""
        return self.table.study.result_id("sweep", self.recording.name, self.arguments)

    def edit(self, elements: Sequence[int]) -> tuple[Edit, ...]:
        """The change that drops these elements."""
        edit = SiteEdit(elements=tuple(elements), op=self.op, value=self.value, site=self.site.address)
        return checked([edit], self.table.subject.info)

    def answer(self, progress: Progress) -> Result:
        """Every effect, ranked, kept in the study."""
        with suppress(UnknownName):
            return self.table.study.result(self.id)
        size = math.prod(self.site.shape)
        singles = [(element,) for element in (self.among or range(size))]
        alone = self._effects(singles, progress)
        if self.over == "single":
            return self._keep(_ranked(alone), alone)
        strongest = sorted(alone, key=lambda each: -alone[each]["effect"])[:USUAL_AMONG]
        among = sorted(self.among) if self.among else sorted(element for (element,) in strongest)
        together = self._effects(pairs_of(among), progress)
        for (one, two), told in together.items():
            told["alone"] = [alone[one,]["effect"], alone[two,]["effect"]]
            told["together"] = told["effect"] - sum(told["alone"])
        return self._keep(_ranked(together), together)

    def _effects(self, groups: Sequence[tuple[int, ...]], progress: Progress) -> dict[tuple[int, ...], dict[str, Any]]:
        if self.by == "decisions":
            source = decisions(self.table.subject, self.recording, most_rows=self.rows)
            source.check()
            edits = [self.edit(group) for group in groups]
            found = decided(self.table.study, source, edits, progress)
            return {g: {"effect": e.kl, "switched": e.switched} for g, e in zip(groups, found, strict=True)}
        reductions = [EditSet(name=str(group), edits=self.edit(group)) for group in groups]
        games = self.table.play([FULL, *reductions], self.seeds, progress)
        full = {line.seed: line.measures for line in games.lines[0]}
        known = next(iter(full.values()))
        if self.measure not in known:
            raise UnknownName("measure", self.measure, known)
        return {
            group: _lost([full[line.seed][self.measure] - line.measures[self.measure] for line in lines])
            for group, lines in zip(groups, games.lines[1:], strict=True)
        }

    def _keep(self, ranked: list[dict[str, Any]], found: Mapping[tuple[int, ...], Mapping[str, Any]]) -> Result:
        arrays = {
            "elements": np.array(list(found), np.int32),
            "effect": np.array([told["effect"] for told in found.values()], np.float32),
        }
        value = {"over": self.over, "by": self.by, "op": self.op, "site": self.site.name, "ranked": ranked}
        value["unit"] = "nats" if self.by == "decisions" else f"{self.measure} lost"
        return self.table.study.keep_result(
            "sweep",
            recording=self.recording.name,
            arguments=self.arguments,
            value=value,
            arrays=arrays,
            title=self.title,
            result=self.id,
        )


def decided(study: Study, source: Decisions, edits: Sequence[Sequence[Edit]], progress: Progress) -> list[Effect]:
    """Effects of edits on recorded decisions; those that were computed before are not computed again."""
    kept = Played(
        study,
        {
            "decisions of": source.recording.name,
            "digest": source.recording.digest,
            "episodes": list(source.episodes),
            "weights": source.subject.weights_digest(),
        },
    )
    keys = [fingerprint(each) for each in edits]
    known = kept.known()
    missing = [place for place, key in enumerate(keys) if key not in known]
    done = len(edits) - len(missing)
    progress(done, len(edits), f"{source.rows:,} decisions")

    def tell(places: Sequence[int], found: Sequence[Effect]) -> None:
        nonlocal done
        pairs = zip(places, found, strict=True)
        lines: list[dict[str, Any]] = [{"key": keys[missing[p]], "kl": e.kl, "switched": e.switched} for p, e in pairs]
        known.update((line["key"], line) for line in lines)
        kept.add(lines)
        done += len(lines)
        progress(done, len(edits), f"{source.rows:,} decisions")

    source.effects([edits[place] for place in missing], tell)
    return [Effect(kl=known[key]["kl"], switched=known[key]["switched"]) for key in keys]


def sweep(
    study: Study | str | Path,
    recording: str,
    subject: Subject,
    world: Any,
    *,
    over: str = "single",
    by: str = "decisions",
    op: SiteOperation = "zero",
    value: float = 0.0,
    measure: str = "return",
    elements: Sequence[int] = (),
    site: str = "",
    episodes: int = USUAL_EPISODES,
    seed: int | None = None,
    rows: int = USUAL_ROWS,
    progress: Progress | bool = True,
) -> Result:
    """Drop each element alone, or in pairs, and rank by effect: on recorded decisions, or on newly played episodes."""
    opened = study if isinstance(study, Study) else Study.open(study)
    check_subject(subject)
    source = opened.recording(recording)
    question = ask_sweep(
        table_like(opened, source, subject, as_world(world)),
        source,
        site=site,
        episodes=episodes,
        seed=seed,
        over=over,
        by=by,
        op=op,
        value=value,
        measure=measure,
        among=tuple(elements),
        rows=rows,
    )
    with bar(progress, question.title, "edits") as report:
        return question.answer(report)


def ask_sweep(
    table: Table,
    recording: Recording,
    *,
    site: str = "",
    episodes: int = USUAL_EPISODES,
    seed: int | None = None,
    **given: Any,
) -> SweepQuestion:
    """Check everything about a sweep before any work is done."""
    check_same(recording, table.subject, table.world.info)
    seeds = seeds_of(episodes, other_seed(recording) if seed is None else seed)
    return SweepQuestion(table=table, recording=recording, site=site_of(table.subject, site), seeds=seeds, **given)


def site_of(subject: Subject, name: str) -> MemorySite:
    """The memory site named, or the only one."""
    if not subject.info.memory:
        raise EditError(f"'{subject.info.name}' has no memory: there is nothing to drop.")
    names = [site.name for site in subject.info.memory]
    (edit,) = checked([SiteEdit(elements=(0,), site=f"memory.{name}" if name in names else name)], subject.info)
    for site in subject.info.memory:
        if isinstance(edit, SiteEdit) and site.address == edit.site:
            return site
    raise UnknownName("memory site", name, names)


def _lost(losses: Sequence[float]) -> dict[str, Any]:
    told = mean_of(losses)
    return {"effect": told.mean, "low": told.low, "high": told.high}


def _ranked(found: Mapping[tuple[int, ...], Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Largest effect first."""
    order = sorted(found, key=lambda group: (-found[group]["effect"], group))
    return [{"elements": list(group), **found[group]} for group in order]
