"""Plays episodes under several reductions side by side and keeps only how they went; none is played twice."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

from innerview.capture import Layout, Piece, Plan, layout, rollout
from innerview.edits import Editor, as_edits, checked, fingerprint
from innerview.edits.comparison import EpisodeOutcome
from innerview.errors import CaptureError
from innerview.jobs.engine import Progress
from innerview.schema import Column, EditSet, to_json
from innerview.store import Played, Study
from innerview.subjects import Subject
from innerview.worlds import World

FULL = EditSet(name="full memory", edits=())
USUAL_LANES = 8
"""Games side by side: more than for a recording, as nothing is held of them but counts."""
PICKED, ITEM = "picked_up", "last_item"
"""An event, and the word that says in the row after what it was about."""
_PREVIEW_SEEDS = 5
_POSE = frozenset(("x", "y", "z", "angle", "pitch", "roll"))


@dataclass(frozen=True, kw_only=True)
class Table:
    """Who plays where, and how: what makes two episodes with one seed comparable."""

    study: Study
    subject: Subject
    world: World
    greedy: bool = False
    max_steps: int | None = None
    lanes: int | None = None

    @property
    def setting(self) -> dict[str, Any]:
        """All that an episode depends on beside its seed and its edits."""
        return {
            "weights": self.subject.weights_digest(),
            "world": {"name": self.world.info.name, **self.world.info.settings},
            "greedy": self.greedy,
            "max_steps": self.max_steps,
        }

    def play(
        self,
        reductions: Sequence[EditSet],
        seeds: Sequence[int],
        progress: Progress,
        *,
        so_far: Callable[[Games, Sequence[int]], None] | None = None,
    ) -> Games:
        """Every seed under every reduction; what was played before is not played again.

        `so_far` is told now and then what there is over the seeds that were played under all of them.
        """
        edits = [checked(as_edits(reduction), self.subject.info) for reduction in reductions]
        played = Played(self.study, self.setting)
        known = played.known()
        # Seed by seed, so that a table that is stopped compares what it has over the same seeds.
        cells = [(which, seed) for seed in seeds for which in range(len(edits))]
        missing = [cell for cell in cells if _key(edits[cell[0]], cell[1]) not in known]
        done, total = len(cells) - len(missing), len(cells)
        progress(done, total, _how_far(done, len(edits)))
        for which, line in _episodes(self, edits, missing):
            key = _key(edits[which], line["seed"])
            known[key] = {"key": key, **line}
            played.add([known[key]])
            done += 1
            progress(done, total, _how_far(done, len(edits)))
            whole = [seed for seed in seeds if all(_key(each, seed) in known for each in edits)]
            if so_far and whole and done < total and not done % (_PREVIEW_SEEDS * len(edits)):
                so_far(_games(reductions, edits, known, whole), whole)
        return _games(reductions, edits, known, seeds)


@dataclass(frozen=True, kw_only=True)
class Games:
    """How every seed went under every reduction."""

    reductions: tuple[EditSet, ...]
    lines: tuple[tuple[Mapping[str, Any], ...], ...]

    def began_alike(self, which: int) -> set[int]:
        """Seeds that began under a reduction as they did with full memory: only those are compared one by one."""
        pairs = zip(self.lines[which], self.lines[0], strict=True)
        return {line["seed"] for line, full in pairs if line["begins"] == full["begins"]}

    def fared(self, which: int) -> list[EpisodeOutcome]:
        """Episodes of one reduction; an item that was not picked up counts as none."""
        names = {name for lines in self.lines for line in lines for name in line["measures"]}
        items = sorted(name for name in names if name.startswith(f"{PICKED}: "))
        return [_fared(line, items) for line in self.lines[which]]


def _fared(line: Mapping[str, Any], items: Sequence[str]) -> EpisodeOutcome:
    measures = {**line["measures"], **{item: line["measures"].get(item, 0) for item in items}}
    return EpisodeOutcome(seed=line["seed"], outcome=line["outcome"], measures=measures)


def _games(
    reductions: Sequence[EditSet],
    edits: Sequence[Sequence[Any]],
    known: Mapping[str, Mapping[str, Any]],
    seeds: Sequence[int],
) -> Games:
    lines = tuple(tuple(known[_key(each, seed)] for seed in seeds) for each in edits)
    return Games(reductions=tuple(reductions), lines=lines)


def _how_far(done: int, reductions: int) -> str:
    return f"{done // reductions} seeds under each of {reductions}" if reductions > 1 else ""


def _key(edits: Sequence[Any], seed: int) -> str:
    return f"{fingerprint(edits) or 'full'} {seed}"


def _episodes(
    table: Table, edits: Sequence[Sequence[Any]], cells: Sequence[tuple[int, int]]
) -> Iterable[tuple[int, dict[str, Any]]]:
    """Play cells of (reduction, seed) and tell how each went."""
    if not cells:
        return
    usual = getattr(table.world, "usual_lanes", USUAL_LANES)
    lanes = usual if table.lanes is None else table.lanes
    plan = Plan(
        seeds=[seed for _, seed in cells],
        programs=[which for which, _ in cells],
        lanes=min(lanes, len(cells)),
        greedy=table.greedy,
        max_steps=table.max_steps,
    )
    form = _without_arrays(layout(table.subject, table.world.info))
    editor = Editor(edits, table.subject.info, device=table.subject.device) if any(edits) else None
    counting = _Counting(form.columns)
    with closing(rollout(table.subject, table.world, plan, form, edits=editor)) as pieces:
        for piece in pieces:
            if piece.provisional:
                continue
            counting.add(piece)
            if piece.ending is not None:
                which, seed = cells[piece.episode]
                yield which, {"seed": seed, **counting.line(piece)}
                counting = _Counting(form.columns)


def _without_arrays(form: Layout) -> Layout:
    return replace(form, arrays=(), observations={}, memory={}, activations={})


@dataclass
class _Counting:
    """Sums up one episode from its pieces."""

    columns: Sequence[Column]
    begins: str = ""
    rows: int = 0
    events: Counter[str] = field(default_factory=Counter)
    sums: dict[str, list[float]] = field(default_factory=dict)
    _picked: bool = False

    def add(self, piece: Piece) -> None:
        """Rows that follow those before."""
        facts = [column for column in self.columns if column.kind in ("fact", "category", "objects")]
        if not self.rows:
            first = json.dumps(to_json({c.name: piece.rows[c.name][0] for c in facts}), sort_keys=True, default=str)
            self.begins = hashlib.sha256(first.encode()).hexdigest()[:12]
        self._name_items(piece)
        for column in self.columns:
            values = piece.rows[column.name]
            if column.kind == "event":
                self.events[column.name] += sum(bool(value) for value in values)
            elif column.kind == "fact" and column.type in ("int", "float") and column.unit and column.name not in _POSE:
                self.sums.setdefault(column.name, []).extend(float(v) for v in values if v is not None)
        self.rows += len(piece.rows["episode"])

    def _name_items(self, piece: Piece) -> None:
        """Count what was picked up by its name, which stands in the row after the event."""
        if PICKED not in piece.rows or ITEM not in piece.rows:
            return
        for picked, item in zip(piece.rows[PICKED], piece.rows[ITEM], strict=True):
            if self._picked and item:
                self.events[f"{PICKED}: {item}"] += 1
            self._picked = bool(picked)

    def line(self, piece: Piece) -> dict[str, Any]:
        """How the episode went."""
        ending = piece.ending
        if ending is None:
            raise CaptureError("An episode is summed up when it has ended.")
        facts = {f"mean {name}": sum(v) / len(v) for name, v in self.sums.items() if v}
        return {
            "outcome": ending.outcome,
            "begins": self.begins,
            "measures": {"length": ending.length, "return": ending.total_reward, **self.events, **facts},
        }
