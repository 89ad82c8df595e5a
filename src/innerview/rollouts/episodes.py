"""Plays episodes under several reductions side by side and keeps only how they went; none is played twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from innerview.capture import Layout, Plan, layout, rollout
from innerview.capture.sites import SiteLayout
from innerview.capture.summary import NAMED
from innerview.jobs.engine import Progress
from innerview.rollouts.played import Lines, Standing, played_episodes, setting_of
from innerview.schema import Edit, EditSet, EpisodeSummary
from innerview.store import Study
from innerview.subjects import Subject, as_edits, checked, fingerprint
from innerview.worlds import World

FULL = EditSet(name="full memory", edits=())
DEFAULT_LANES = 8
"""Games side by side: more than for a recording, as nothing is held of them but counts."""
_PREVIEW_SEEDS = 5


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
        so_far: Callable[[Games, Sequence[int]], None] | None = None,
    ) -> Games:
        """Every seed under every reduction; what was played before is not played again.

        `so_far` is given now and then what there is over the first seeds that were played under all of them.
        """
        edits = [checked(as_edits(reduction), self.subject.info) for reduction in reductions]
        prints = [fingerprint(each) for each in edits]
        played = played_episodes(self.study, self.setting, driver="rollout", edits=prints)
        standing = Standing(played, seeds)
        # Seed by seed, so that a table that is stopped compares what it has over the same seeds.
        cells = [(which, seed) for seed in seeds for which in range(len(edits))]
        missing = [(which, seed) for which, seed in cells if seed not in played[which]]
        done, total = len(cells) - len(missing), len(cells)
        progress(done, total, _how_far(done, len(edits)))
        for which, summary in _episodes(self, edits, missing):
            played[which].add([summary])
            done += 1
            progress(done, total, _how_far(done, len(edits)))
            if so_far and done < total and not done % (_PREVIEW_SEEDS * len(edits)) and standing.whole():
                so_far(_games(reductions, standing.lines()), seeds[: standing.whole()])
        return _games(reductions, [[each[seed] for seed in seeds] for each in played])


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


def _how_far(done: int, reductions: int) -> str:
    return f"{done // reductions} seeds under each of {reductions}" if reductions > 1 else ""


def _episodes(
    table: Table, edits: Sequence[Sequence[Edit]], cells: Sequence[tuple[int, int]]
) -> Iterable[tuple[int, EpisodeSummary]]:
    """Play cells of (reduction, seed); for each the reduction and how it went."""
    if not cells:
        return
    default = getattr(table.world, "default_lanes", DEFAULT_LANES)
    lanes = default if table.lanes is None else table.lanes
    plan = Plan(
        seeds=[seed for _, seed in cells],
        programs=[which for which, _ in cells],
        lanes=min(lanes, len(cells)),
        greedy=table.greedy,
        max_steps=table.max_steps,
    )
    form = _without_arrays(layout(table.subject, table.world.info))
    with closing(rollout(table.subject, table.world, plan, form, edits=edits)) as pieces:
        for piece in pieces:
            if piece.summary is not None and not piece.provisional:
                yield cells[piece.episode][0], piece.summary


def _without_arrays(form: Layout) -> Layout:
    return replace(form, arrays=(), observations={}, memory={}, sites=SiteLayout())
