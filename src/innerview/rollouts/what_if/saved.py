"""Saves a what-if rollout as a recording: the episode as it was recorded up to the rollout, and the rollout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from innerview.capture import group_line
from innerview.capture.lane import Episode, Piece
from innerview.capture.sites import site_layout
from innerview.errors import CaptureError, RequestError
from innerview.jobs.context import Context
from innerview.jobs.engine import Progress
from innerview.jobs.recorded import differences
from innerview.jobs.work import Product, Work
from innerview.rollouts.jobs import WhatIfJob
from innerview.rollouts.rerun import played_with
from innerview.rollouts.what_if.origin import Origin, changes_of, origin_of
from innerview.rollouts.what_if.rollout import Node, WhatIfRollout
from innerview.schema import ChangeAt, Move, PlayedWith, RecordingInfo, RolledOutFrom, Scene, Watch, only_number
from innerview.store import Recording, RecordingWriter, Study
from innerview.store.paths import free_name

LEFT_OFF = "left off"
"""How an episode ended that nobody played to its end."""
_CHUNK = 256


class WhatIfWork(Work):
    """A what-if rollout to save, checked. It is played again in a game of its own, as a world repeats itself."""

    job: WhatIfJob

    def __init__(self, job: WhatIfJob, context: Context) -> None:
        super().__init__(job, context)
        if not any(move.takes_time for move in job.moves):
            raise RequestError("Nothing was done yet: take an action, or let the agent take one, and save it then.")
        self.origin = origin_of(job, context)
        self.name = job.name or _free_name(context.study, self.origin, job.moves)

    @property
    def title(self) -> str:
        """What is done, in words."""
        return f"Save a what-if rollout of {self.job.recording}"

    @property
    def product(self) -> Product:
        """The recording."""
        return Product(recording=self.name, subject=self.origin.subject.info.name)

    def run(self, part: Any, watch: Watch) -> None:
        """Play the moves and write."""
        with WhatIfRollout(self.origin) as rollout:
            save_rollout(self.study, rollout, rollout.play(self.job.moves), name=self.name, progress=watch)

    def merge(self, given: Sequence[Any]) -> Recording:
        """The recording."""
        return self.study.recording(self.name)


def save_rollout(
    study: Study, rollout: WhatIfRollout, nodes: Sequence[Node], *, name: str, progress: Progress
) -> Recording:
    """Write it; what was cancelled on the way goes on under the same name."""
    rows, origin = _rows(nodes), rollout.origin
    info = _described(rollout, nodes, name)
    before, total = origin.step, origin.step + len(rows)
    scene = origin.recording.scene(origin.group["scene"]) if origin.group.get("scene") else None
    with study.writer(info) as writer:
        if writer.complete:
            return study.recording(info.name)
        known = writer.rows_committed  # where it was cancelled before
        for first in range(known, before, _CHUNK):
            progress(first, total, "what was recorded")
            _copy(writer, origin, first, min(before, first + _CHUNK))
        progress(before, total, "what was rolled out")
        piece, skipped = _piece(rollout, rows, scene, info), max(0, known - before)
        columns = {name: column[skipped:] for name, column in piece.rows.items()}
        if not writer.groups_committed:  # else all its rows were committed when it was stopped
            writer.append(columns, {name: array[skipped:] for name, array in piece.arrays.items()})
            writer.end_group(_line(origin, piece, scene, writer))
    progress(total, total, "saved")
    return study.recording(info.name)


def _free_name(study: Study, origin: Origin, moves: Sequence[Move]) -> str:
    """ "<recording> - from <episode>.<step>", with a number where there is another one of that name."""
    taken = {name for name in study.recordings() if not _is_saved_as(study, name, origin, moves)}
    end = f" - from {origin.group['episode']}.{origin.step}"
    return free_name(origin.recording.name, lambda name: name not in taken, end=end)


def _is_saved_as(study: Study, name: str, origin: Origin, moves: Sequence[Move]) -> bool:
    """Whether that is the same rollout, saved already or in part."""
    there = study.recording(name).info
    source = there.played.source if there.played else None
    if not isinstance(source, RolledOutFrom) or there.subject is None:
        return False
    wanted = (origin.recording.info.name, (origin.group["episode"],), origin.step, tuple(moves))
    same = (source.of, source.episodes, source.step, source.moves) == wanted
    return same and there.subject.identity == origin.subject.identity()


def _rows(nodes: Sequence[Node]) -> list[tuple[Node, Node]]:
    """Each step: how things stood when the action was taken, and where it led."""
    return [(now, then) for now, then in pairwise(nodes) if then.move is not None and then.move.takes_time]


def _described(rollout: WhatIfRollout, nodes: Sequence[Node], name: str) -> RecordingInfo:
    origin, source = rollout.origin, rollout.origin.recording.info
    before = played_with(origin.recording)
    changes = [ChangeAt(step=n.step, move=n.move) for n in nodes[1:] if n.move and not n.move.takes_time]
    rolled_out = RolledOutFrom(
        of=source.name,
        episodes=(origin.group["episode"],),
        step=origin.step,
        moves=tuple(node.move for node in nodes[1:] if node.move is not None),
        changes=(*(each for each in changes_of(origin.recording) if each.step <= origin.step), *changes),
    )
    return replace(
        source,
        name=name,
        subject=replace(origin.subject.info, identity=origin.subject.identity()),
        world=origin.world.info,
        created_at="",
        note=f"Rolled out by hand from step {origin.step} of episode {origin.group['episode']} of '{source.name}'.",
        arguments=PlayedWith(
            seeds=(origin.group["seed"],),
            lanes=1,
            greedy=True,
            keep=before.keep,
            edits=before.edits,
            source=rolled_out,
            other=origin.other,
        ),
    )


def _copy(writer: RecordingWriter, origin: Origin, first: int, stop: int) -> None:
    """Rows as they were recorded, as those of the only episode; what another subject says of them is put instead."""
    source, start = origin.recording, int(origin.group["start"])
    rows = source.columns(None, start + first, start + stop).to_dict(as_series=False)
    rows["episode"] = [0] * (stop - first)
    arrays = {spec.name: source.array(spec.name, start + first, start + stop) for spec in source.info.arrays}
    if differences(source.info, subject=origin.subject):  # what it says and remembers is its own, from the start
        columns, said = origin.said(first, stop)
        rows |= {name: values for name, values in columns.items() if name in rows}
        arrays |= {name: values for name, values in said.items() if name in arrays}
    writer.append(rows, arrays)


def _piece(
    rollout: WhatIfRollout, rows: Sequence[tuple[Node, Node]], scene: Scene | None, info: RecordingInfo
) -> Piece:
    origin = rollout.origin
    episode = Episode(0, int(origin.group["seed"]), scene, info.columns)
    for now, then in rows:
        values = rollout.form.values_of(now.moment, then.moment, then.action, said=now.values, episode=0, step=now.step)
        episode.add(values, _arrays(rollout, now, info), then.moment.reward)
    end = rows[-1][1].moment
    if not end.ended or end.cut:
        episode.cut_short(end.ended or LEFT_OFF)
    episode.outcome = end.ended or LEFT_OFF
    return episode.take(info.arrays)


def _arrays(rollout: WhatIfRollout, node: Node, info: RecordingInfo) -> dict[str, np.ndarray]:
    form, subject = rollout.form, rollout.origin.subject
    output = node.output
    keep = tuple(spec.label for spec in info.arrays if spec.name.startswith("site."))
    if keep:
        output = rollout.subject_at(node).run(rollout.inputs(node), node.before, keep=keep)
    _, said = replace(form, sites=site_layout(subject.info, keep, output)).said(output)
    arrays = {name: array[0] for name, array in said.items()}
    shown = {form.observations[name]: node.seen.get(name) for name in node.seen.names if name in form.observations}
    arrays |= shown
    missing = [spec.name for spec in info.arrays if spec.name not in arrays]
    if missing:
        raise CaptureError(
            f"'{rollout.origin.recording.name}' keeps '{missing[0]}', which the world does not show now. Serve it with "
            "the world as it was recorded."
        )
    return {spec.name: arrays[spec.name] for spec in info.arrays}


def _line(origin: Origin, piece: Piece, scene: Scene | None, writer: RecordingWriter) -> Mapping[str, Any]:
    rollout = piece.summary
    assert rollout is not None, "the outcome was set"
    start = int(origin.group["start"])
    earned = only_number(origin.recording.info.columns, "reward")
    recorded = origin.recording.columns([earned.name], start, origin.row)[earned.name].sum() if earned else 0.0
    whole = replace(
        rollout, length=origin.step + rollout.length, total_reward=float(recorded or 0.0) + rollout.total_reward
    )
    return group_line(0, 0, whole, cut=piece.cut, scene=writer.add_scene(scene) if scene else "")
