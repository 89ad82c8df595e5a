"""What a subject predicts as columns: its own, and how far each pose is from the recorded one."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from innerview.metrics.pose import heading_errors, position_errors
from innerview.schema import POSE, Column, Head, PosePart, pose_part, units_per
from innerview.store import Predictions, Recording


@dataclass(frozen=True, kw_only=True)
class PredictedPose:
    """A pose head beside the recorded pose. All fields but the first are names of columns."""

    head: str
    x: str
    """Recorded."""
    y: str
    predicted_x: str
    """In the unit of the recorded ones."""
    predicted_y: str
    position_error: str
    heading_error: str = ""
    """Empty where no heading is recorded, or its unit is not known."""


@dataclass(frozen=True, kw_only=True)
class _Part:
    """A number of a pose head, and the recorded column that it is about."""

    said: str
    unit: str
    """Of what is said; where the head has none, that of the recorded one."""
    recorded: Column

    def factor(self, unit: str = "") -> float | None:
        """By what it is multiplied to be in a unit, or in the recorded one; None where that is not known."""
        return units_per(self.unit, unit or self.recorded.unit)


@dataclass(frozen=True, kw_only=True)
class _Joined:
    """A head with what it is compared with."""

    pose: PredictedPose
    x: _Part
    y: _Part
    angle: _Part | None

    @property
    def said(self) -> tuple[str, ...]:
        """Columns of the predictions that are read."""
        return tuple(part.said for part in (self.x, self.y, self.angle) if part is not None)


class PredictedColumns:
    """Columns of predictions by name; errors are made when they are asked for."""

    def __init__(self, prediction: Predictions, recording: Recording) -> None:
        self.prediction, self.recording = prediction, recording

    @property
    def poses(self) -> tuple[PredictedPose, ...]:
        """Heads whose pose is also recorded."""
        return tuple(each.pose for each in self._joined)

    @property
    def specs(self) -> tuple[Column, ...]:
        """What is predicted, then what is made of it."""
        return (*self.prediction.info.columns, *(c for each in self._joined for c in _columns(each)))

    def columns(self, names: Sequence[str], start: int, stop: int) -> pl.DataFrame:
        """Some columns of predicted rows, which are not those of the recording: `row` says which they are of."""
        own = {column.name for column in self.prediction.info.columns}
        wanted = [each for each in self._joined if {c.name for c in _columns(each)} & set(names)]
        read = {name for name in names if name in own} | {"row"} | {said for each in wanted for said in each.said}
        table = self.prediction.columns(sorted(read), start, stop)
        for each in wanted:
            table = table.with_columns(self._made(each, table))
        return table.select(names)

    @cached_property
    def _joined(self) -> tuple[_Joined, ...]:
        info = self.prediction.info
        heads = info.subject.heads if info.subject else ()
        domains = {bound.domain for bound in self.prediction.binding.inputs} - {""}
        found = (_join(head, self.recording.info.columns, domains) for head in heads if head.kind == "pose")
        return tuple(each for each in found if each is not None)

    def _made(self, each: _Joined, table: pl.DataFrame) -> list[pl.Series]:
        rows, pose = table["row"].to_numpy(), each.pose
        x, y = (table[part.said].to_numpy() * part.factor() for part in (each.x, each.y))
        true_x, true_y = self._recorded(pose.x, rows), self._recorded(pose.y, rows)
        made = {pose.predicted_x: x, pose.predicted_y: y, pose.position_error: position_errors(x, y, true_x, true_y)}
        if each.angle is not None:
            true = self._recorded(each.angle.recorded.name, rows) * units_per(each.angle.recorded.unit, "deg")
            said = table[each.angle.said].to_numpy() * each.angle.factor("deg")
            made[pose.heading_error] = heading_errors(said, true)
        return [pl.Series(name, values, pl.Float64) for name, values in made.items()]

    def _recorded(self, name: str, rows: np.ndarray) -> np.ndarray:
        if not len(rows):
            return np.zeros(0)
        first = int(rows.min())
        values = self.recording.columns([name], first, int(rows.max()) + 1)[name].cast(pl.Float64).to_numpy()
        return np.asarray(values[rows - first], np.float64)


def _join(head: Head, facts: Sequence[Column], domains: Set[str]) -> _Joined | None:
    """A head with the recorded columns that its numbers are about: x, y and, where there is one, the heading."""
    x, y, angle = (_part(head, part, facts, domains) for part in POSE)
    if x is None or y is None or x.recorded.unit != y.recorded.unit or None in (x.factor(), y.factor()):
        return None
    if angle is not None and None in (angle.factor("deg"), units_per(angle.recorded.unit, "deg")):
        angle = None
    pose = PredictedPose(
        head=head.name,
        x=x.recorded.name,
        y=y.recorded.name,
        predicted_x=f"{head.name}_predicted_x",
        predicted_y=f"{head.name}_predicted_y",
        position_error=f"{head.name}_position_error",
        heading_error=f"{head.name}_heading_error" if angle is not None else "",
    )
    return _Joined(pose=pose, x=x, y=y, angle=angle)


def _part(head: Head, part: PosePart, facts: Sequence[Column], domains: Set[str]) -> _Part | None:
    recorded = pose_part(facts, part, domains)
    if recorded is None or part not in head.pose_parts:
        return None
    place = head.pose_parts.index(part)
    unit = head.units[place] if head.units else recorded.unit
    return _Part(said=head.columns[place], unit=unit or recorded.unit, recorded=recorded)


def _columns(each: _Joined) -> list[Column]:
    pose, made = each.pose, f"from {', '.join(each.said)} and the recorded pose"
    described = [
        (pose.predicted_x, each.x.recorded.unit, "Where it believes to be, across."),
        (pose.predicted_y, each.x.recorded.unit, "Where it believes to be, up."),
        (pose.position_error, each.x.recorded.unit, "Distance between the predicted and the recorded place."),
        (pose.heading_error, "deg", "Angle between the predicted and the recorded heading, at most 180."),
    ]
    return [
        Column(name=name, type="float", unit=unit, description=words, derived=made)
        for name, unit, words in described
        if name
    ]
