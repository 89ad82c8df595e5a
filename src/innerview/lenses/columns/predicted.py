"""What a subject predicts as columns: its own, how far each pose is from the recorded one, and from that of a pair."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from innerview.errors import StoreError
from innerview.metrics.pose import (
    ERROR_KINDS,
    areas_of,
    error_kinds,
    gap_kinds,
    gap_names,
    heading_errors,
    position_errors,
)
from innerview.metrics.thresholds import POSE_TOLERANCE
from innerview.schema import POSE, Column, Head, Polygon, PosePart, pose_part, units_per
from innerview.store import Predictions, Recording, Study, load_metrics


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
    error_kind: str
    """Right, in another room, …: in words."""
    heading_error: str = ""
    """Empty where no heading is recorded, or its unit is not known."""
    predicted_heading: str = ""
    """In degrees from 0 to 360; empty as above."""
    gap: str = ""
    """Distance to the place that the same subject predicts in the other domain; empty where it predicts one alone."""
    gap_kind: str = ""
    """Whether the two domains differ, and which is worse: in words."""


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


def predicted_columns(study: Study, recording: Recording) -> list[PredictedColumns]:
    """What is predicted for rows of a recording, oldest first; each knows what it says of the other domain."""
    found = study.predictions(recording.name)
    tolerance = load_metrics(study).thresholds.get(POSE_TOLERANCE.name, POSE_TOLERANCE.default or 0.0)
    domains = {each.id: domain_of(each) for each in found}

    def twin(one: Predictions) -> Predictions | None:
        alike = [each for each in found if domains[one.id] and domains[each.id] not in ("", domains[one.id])]
        same = [each for each in alike if _who(each) == _who(one) and each.is_current]
        # Pictures that go through a filter are compared with those of the other domain that do, or with plain ones.
        fed = [[each for each in same if each.binding.filters == told] for told in (one.binding.filters, "")]
        return next((group[-1] for group in fed if group), None)

    return [PredictedColumns(each, recording, twin=twin(each), tolerance=tolerance) for each in found]


def domain_of(prediction: Predictions) -> str:
    """The domain of the pictures that were seen; empty where they have none, or several."""
    found = {bound.domain for bound in prediction.binding.inputs} - {""}
    return found.pop() if len(found) == 1 else ""


def _who(prediction: Predictions) -> tuple[object, ...]:
    """What two predictions by the same subject share, whatever pictures it saw."""
    subject = prediction.info.subject
    return (prediction.subject, subject.identity if subject else "", prediction.info.edits)


class PredictedColumns:
    """Columns of predictions by name; errors are made when they are asked for."""

    def __init__(
        self,
        prediction: Predictions,
        recording: Recording,
        *,
        twin: Predictions | None = None,
        tolerance: float = POSE_TOLERANCE.default or 0.0,
    ) -> None:
        """`twin` is what the same subject says of the other domain; `tolerance` is how far off a right place may be."""
        self.prediction, self.recording, self.tolerance = prediction, recording, tolerance
        self.domain = domain_of(prediction)
        self.twin = PredictedColumns(twin, recording) if twin else None

    @property
    def digest(self) -> str:
        """Of all that decides what the columns hold."""
        twin = self.twin.prediction.digest if self.twin else ""
        return f"{self.prediction.digest}-{twin}-{self.recording.rows}-{self.tolerance:g}"

    @property
    def sentences(self) -> list[str]:
        """How many rows have which kind of error, and of which kind their gaps are, pose by pose."""
        rows = self.prediction.rows
        found = []
        for pose in self.poses:
            for what, name in (("Errors", pose.error_kind), ("Gaps", pose.gap_kind)):
                if not name or not rows:
                    continue
                counted = self.columns([name], 0, rows).to_series().drop_nulls().value_counts(sort=True)
                told = ", ".join(f"{kind} {count:,}" for kind, count in counted.iter_rows())
                where = f" in {self.domain}" if self.domain else ""
                found.append(f"{what} of '{pose.head}'{where}: {told or 'none is known'}.")
        return found

    @property
    def poses(self) -> tuple[PredictedPose, ...]:
        """Heads whose pose is also recorded."""
        return tuple(each.pose for each in self._joined)

    @property
    def specs(self) -> tuple[Column, ...]:
        """What is predicted, then what is made of it."""
        return (*self.prediction.info.columns, *(c for each in self._joined for c in self._columns(each)))

    def columns(self, names: Sequence[str], start: int, stop: int) -> pl.DataFrame:
        """Some columns of predicted rows, which are not those of the recording: `row` says which they are of."""
        own = {column.name for column in self.prediction.info.columns}
        wanted = [each for each in self._joined if {c.name for c in self._columns(each)} & set(names)]
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
        return tuple(self._with_gap(each) for each in found if each is not None)

    def _with_gap(self, each: _Joined) -> _Joined:
        head, unit = each.pose.head, each.x.recorded.unit
        other = self.twin._of(head) if self.twin else None
        if other is None or other.x.recorded.unit != unit:
            return each
        return replace(each, pose=replace(each.pose, gap=f"{head}_gap", gap_kind=f"{head}_gap_kind"))

    def _columns(self, each: _Joined) -> list[Column]:
        """What is made of a head."""
        pose, made = each.pose, f"from {', '.join(each.said)} and the recorded pose"
        unit = each.x.recorded.unit
        pair = self.twin.domain if self.twin else ""
        numbers = [
            (pose.predicted_x, unit, "Where it believes to be, across."),
            (pose.predicted_y, unit, "Where it believes to be, up."),
            (pose.position_error, unit, "Distance between the predicted and the recorded place."),
            (pose.heading_error, "deg", "Angle between the predicted and the recorded heading, at most 180."),
            (pose.predicted_heading, "deg", "Where it believes to look, from 0 to 360."),
            (pose.gap, unit, f"Distance to the place that it predicts from the picture of {pair}."),
        ]
        words = [
            (pose.error_kind, f"Right up to {self.tolerance:g} {unit}, else where the predicted place lies."),
            (pose.gap_kind, f"Whether the predictions from {self.domain} and {pair} differ, and which is worse."),
        ]
        return [
            *(Column(name=n, type="float", unit=u, description=d, derived=made) for n, u, d in numbers if n),
            *(Column(name=n, type="text", kind="category", description=d, derived=made) for n, d in words if n),
        ]

    def _of(self, head: str) -> _Joined | None:
        return next((each for each in self._joined if each.pose.head == head), None)

    @cached_property
    def _areas(self) -> tuple[Polygon, ...]:
        """Named areas of the map; none where it cannot be read, which the map itself says."""
        scene = self.recording.info.scene
        if not scene:
            return ()
        try:
            return self.recording.scene(scene).polygons
        except StoreError:
            return ()

    def _made(self, each: _Joined, table: pl.DataFrame) -> list[pl.Series]:
        rows, pose = table["row"].to_numpy(), each.pose
        x, y = (table[part.said].to_numpy() * part.factor() for part in (each.x, each.y))
        true_x, true_y = self._recorded(pose.x, rows), self._recorded(pose.y, rows)
        error = position_errors(x, y, true_x, true_y)
        made = {pose.predicted_x: x, pose.predicted_y: y, pose.position_error: error}
        if each.angle is not None:
            true = self._recorded(each.angle.recorded.name, rows) * units_per(each.angle.recorded.unit, "deg")
            said = table[each.angle.said].to_numpy() * each.angle.factor("deg")
            made |= {pose.heading_error: heading_errors(said, true), pose.predicted_heading: said % 360}
        areas = [areas_of(at_x, at_y, self._areas) for at_x, at_y in ((x, y), (true_x, true_y))]
        kinds = error_kinds(error, *areas, tolerance=self.tolerance, areas=len(self._areas))
        words = [_words(pose.error_kind, kinds, ERROR_KINDS)]
        if self.twin is not None and pose.gap:
            other_x, other_y, other_error = self.twin._at(pose.head, rows)
            gap = position_errors(x, y, other_x, other_y)
            made[pose.gap] = gap
            kinds = gap_kinds(gap, error, other_error, tolerance=self.tolerance)
            words.append(_words(pose.gap_kind, kinds, gap_names(self.domain, self.twin.domain)))
        return [*(pl.Series(name, values, pl.Float64) for name, values in made.items()), *words]

    def _at(self, head: str, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The predicted place and its error of some rows of the recording; NaN where they are not predicted."""
        found = np.full((3, len(rows)), np.nan)
        each = self._of(head)
        own = self.prediction.source_rows
        if each is not None and len(rows) and len(own):
            at = np.minimum(np.searchsorted(own, rows), len(own) - 1)
            there = own[at] == rows
            first, last = int(at.min()), int(at.max()) + 1
            names = [each.pose.predicted_x, each.pose.predicted_y, each.pose.position_error]
            table = self.columns(names, first, last).to_numpy()
            found[:, there] = table[at[there] - first].T
        return found[0], found[1], found[2]

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
        error_kind=f"{head.name}_error_kind",
        heading_error=f"{head.name}_heading_error" if angle is not None else "",
        predicted_heading=f"{head.name}_predicted_heading" if angle is not None else "",
    )
    return _Joined(pose=pose, x=x, y=y, angle=angle)


def _part(head: Head, part: PosePart, facts: Sequence[Column], domains: Set[str]) -> _Part | None:
    recorded = pose_part(facts, part, domains)
    if recorded is None or part not in head.pose_parts:
        return None
    place = head.pose_parts.index(part)
    unit = head.units[place] if head.units else recorded.unit
    return _Part(said=head.columns[place], unit=unit or recorded.unit, recorded=recorded)


def _words(name: str, codes: np.ndarray, words: Sequence[str]) -> pl.Series:
    return pl.Series(name, [words[code] if code >= 0 else None for code in codes], pl.String)
