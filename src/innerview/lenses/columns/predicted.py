"""What a subject predicts as columns: its own, and how far each pose is from the recorded one."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from innerview.metrics.pose import DEGREES, METRES, heading_errors, position_errors
from innerview.schema import Column, Head
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
class _Joined:
    """A head with what it is compared with, and what its numbers are multiplied by."""

    pose: PredictedPose
    said: tuple[str, ...]
    place: tuple[float, float]
    """Recorded units per unit of the head's x and y."""
    unit: str
    recorded_angle: str = ""
    degrees: tuple[float, float] = (1.0, 1.0)
    """Degrees per unit of the head's heading, and of the recorded one."""


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
        facts = [column for column in self.recording.info.columns if column.type in ("float", "int")]
        found = (_join(head, facts, domains) for head in heads if head.kind == "pose")
        return tuple(each for each in found if each is not None)

    def _made(self, each: _Joined, table: pl.DataFrame) -> list[pl.Series]:
        rows, pose = table["row"].to_numpy(), each.pose
        x, y = (table[name].to_numpy() * by for name, by in zip(each.said[:2], each.place, strict=True))
        true_x, true_y = self._recorded(pose.x, rows), self._recorded(pose.y, rows)
        errors = position_errors(x, y, true_x, true_y)
        made = {pose.predicted_x: x, pose.predicted_y: y, pose.position_error: errors}
        if pose.heading_error:
            said, recorded = each.degrees
            true = self._recorded(each.recorded_angle, rows) * recorded
            made[pose.heading_error] = heading_errors(table[each.said[2]].to_numpy() * said, true)
        return [pl.Series(name, values, pl.Float64) for name, values in made.items()]

    def _recorded(self, name: str, rows: np.ndarray) -> np.ndarray:
        if not len(rows):
            return np.zeros(0)
        first = int(rows.min())
        values = self.recording.columns([name], first, int(rows.max()) + 1)[name].cast(pl.Float64).to_numpy()
        return np.asarray(values[rows - first], np.float64)


def _join(head: Head, facts: Sequence[Column], domains: Set[str]) -> _Joined | None:
    """A head with the recorded columns that its numbers are about: x, y and, where there is one, the heading."""
    parts = head.names or ("x", "y", "angle")[: head.size]
    found = [_recorded_as(part, facts, domains) for part in parts]
    if len(found) < 2 or (x := found[0]) is None or (y := found[1]) is None or x.unit != y.unit:
        return None
    said, units = head.columns, head.units or ("",) * head.size
    across, up = _factor(units[0], x.unit, METRES), _factor(units[1], y.unit, METRES)
    if across is None or up is None:
        return None
    pose = PredictedPose(
        head=head.name,
        x=x.name,
        y=y.name,
        predicted_x=f"{head.name}_predicted_x",
        predicted_y=f"{head.name}_predicted_y",
        position_error=f"{head.name}_position_error",
    )
    joined = _Joined(pose=pose, said=said, place=(across, up), unit=x.unit)
    angle = found[2] if len(found) > 2 else None
    if angle is None or angle.unit not in DEGREES or (units[2] or angle.unit) not in DEGREES:
        return joined
    return replace(
        joined,
        pose=replace(pose, heading_error=f"{head.name}_heading_error"),
        recorded_angle=angle.name,
        degrees=(DEGREES[units[2] or angle.unit], DEGREES[angle.unit]),
    )


def _recorded_as(part: str, facts: Sequence[Column], domains: Set[str]) -> Column | None:
    """The column that says a part of a pose, by its pair or its name: of the domains that the subject saw, or of none.

    Nothing is guessed: where several domains say it and none of them was seen alone, there is no such column.
    """
    these = [column for column in facts if part in (column.pair, column.name)]
    seen = [column for column in these if column.domain in domains]
    of_all = [column for column in these if not column.domain]
    found = seen or of_all or ([] if domains else these)
    return found[0] if len(found) == 1 else None


def _factor(unit: str, recorded: str, known: dict[str, float]) -> float | None:
    """By what a number is multiplied to be in the recorded unit; None where the units cannot be compared."""
    if not unit or unit == recorded:
        return 1.0
    return known[unit] / known[recorded] if unit in known and recorded in known else None


def _columns(each: _Joined) -> list[Column]:
    pose, made = each.pose, f"from {', '.join(each.said)} and the recorded pose"
    described = [
        (pose.predicted_x, each.unit, "Where it believes to be, across."),
        (pose.predicted_y, each.unit, "Where it believes to be, up."),
        (pose.position_error, each.unit, "Distance between the predicted and the recorded place."),
        (pose.heading_error, "deg", "Angle between the predicted and the recorded heading, at most 180."),
    ]
    return [
        Column(name=name, type="float", unit=unit, description=words, derived=made)
        for name, unit, words in described
        if name
    ]
