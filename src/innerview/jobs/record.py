"""Records a subject in a world into a study; the same arguments continue what was begun."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from innerview.capture import Layout, Piece, Plan, layout, rollout
from innerview.errors import CaptureError
from innerview.jobs.engine import Progress
from innerview.jobs.terminal import bar
from innerview.schema import RecordingInfo
from innerview.store import Recording, RecordingWriter, Study
from innerview.subjects import Subject
from innerview.worlds import World
from innerview.worlds import world as as_world

USUAL_LANES = 4
BLOCK_ROWS = 256


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
    note: str = "",
    progress: Progress | bool = True,
) -> Recording:
    """Play episodes and keep every step: what was seen, remembered, decided and true.

    `seeds` is one seed per episode, or the first of `episodes` seeds in a row (10 episodes where neither is said).
    `lanes` games run side by side. Actions are sampled unless `greedy`. `keep` names layers whose activations are kept.
    A recording that was interrupted continues when it is asked for with the same arguments.
    """
    opened = study if isinstance(study, Study) else Study.open_or_create(study)
    played = as_world(world)
    chosen = _seeds(episodes, seeds)
    side_by_side = min(lanes or getattr(played, "usual_lanes", USUAL_LANES), len(chosen))
    form = layout(subject, played.info, keep=keep)
    info = RecordingInfo(
        name=name or default_name(subject.info.name, played.info.name),
        row=form.row,
        ordering=form.ordering,
        columns=form.columns,
        arrays=form.arrays,
        group_columns=form.group_columns,
        subject=subject.info,
        world=played.info,
        note=note,
        arguments={
            "seeds": list(chosen),
            "lanes": side_by_side,
            "greedy": greedy,
            "keep": list(keep),
            "max_steps": max_steps,
            "weights": subject.weights_digest(),
            "world": {"name": played.info.name, **played.info.settings},
        },
    )
    plan = Plan(seeds=chosen, lanes=side_by_side, greedy=greedy, max_steps=max_steps)
    with bar(progress, f"Recording {info.name}", "episodes") as report:
        _run(opened, info, plan, form, subject=subject, world=played, report=report)
    return opened.recording(info.name)


def _run(
    study: Study,
    info: RecordingInfo,
    plan: Plan,
    form: Layout,
    *,
    subject: Subject,
    world: World,
    report: Progress,
) -> None:
    with study.writer(info, block_rows=BLOCK_ROWS) as writer:
        total = len(plan.seeds)
        if writer.complete:
            report(total, total)
            return
        played = Plan(**{**plan.__dict__, "first_episode": writer.groups_committed})
        keeper = _Keeper(study, info, writer)
        report(writer.groups_committed, total)
        pieces = rollout(subject, world, played, form)
        try:
            for piece in pieces:
                keeper.keep(piece)
                report(keeper.episodes, total, f"{keeper.rows:,} {info.row.many}")
        except CaptureError:
            writer.close(keep=True)
            raise
        finally:
            pieces.close()  # type: ignore[attr-defined]


class _Keeper:
    """Hands pieces to the writer, less the rows that were committed before an interruption."""

    def __init__(self, study: Study, info: RecordingInfo, writer: RecordingWriter) -> None:
        self._writer = writer
        self.episodes, self.rows = writer.groups_committed, 0
        if writer.groups_committed:
            self.rows = int(study.recording(info.name).groups()["stop"].max())  # type: ignore[arg-type]
        self._known = writer.rows_committed - self.rows
        self._start = self.rows

    def keep(self, piece: Piece) -> None:
        if piece.provisional:
            self._writer.provisional()
        count = len(piece.rows["episode"])
        skipped = min(count, self._known)
        self._known -= skipped
        self.rows += count
        rows = {name: column[skipped:] for name, column in piece.rows.items()}
        self._writer.append(rows, {name: array[skipped:] for name, array in piece.arrays.items()})
        if piece.ending is not None:
            self._end(piece)

    def _end(self, piece: Piece) -> None:
        ending = piece.ending
        assert ending is not None, "only called with an ending"
        line = {
            "episode": piece.episode,
            "seed": ending.seed,
            "start": self._start,
            "stop": self.rows,
            "length": ending.length,
            "return": ending.total_reward,
            "outcome": ending.outcome,
            "scene": self._writer.add_scene(ending.scene) if ending.scene else "",
        }
        self._writer.end_group(line)
        self._start = self.rows
        self.episodes += 1


def default_name(subject: str, world: str) -> str:
    """A recording's name where nobody gave one, made of what a name may hold."""
    return re.sub(r"[^A-Za-z0-9 ._+-]+", "-", f"{subject} in {world}").strip(" .-")[:80] or "recording"


def _seeds(episodes: int | None, seeds: int | Sequence[int]) -> tuple[int, ...]:
    if isinstance(seeds, int):
        count = 10 if episodes is None else episodes
        chosen = tuple(range(seeds, seeds + count))
    else:
        chosen = tuple(int(seed) for seed in seeds)
        if episodes is not None and episodes != len(chosen):
            raise CaptureError(f"episodes is {episodes}, but {len(chosen)} seeds are given. Leave one of them out.")
    if not chosen:
        raise CaptureError("There is nothing to record: episodes must be 1 or more.")
    if min(chosen) < 0:
        raise CaptureError(f"A seed must be 0 or more, not {min(chosen)}.")
    return chosen
