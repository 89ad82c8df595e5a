"""The metrics that every recording has whose columns and arrays they need."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import polars as pl

from innerview.metrics import loops, things
from innerview.metrics.advantage import Calibration, advantage, td_errors
from innerview.metrics.functions import turned
from innerview.metrics.rows import Stretch
from innerview.metrics.thresholds import (
    DISCOUNT,
    JUMP,
    LOOP_RADIUS,
    SMOOTHING,
    TURNING_ROWS,
    VIEW_DISTANCE,
    VIEW_WIDTH,
)
from innerview.metrics.windows import shifted
from innerview.schema import ArraySpec, Column, Pose, only_number, pose_of

TD_ERROR, ADVANTAGE, CALIBRATED = "TD error", "advantage", "calibrated advantage"
_AT_A_CUT = "Unknown in the last row of an episode that was cut, as by a time limit: what came next was not recorded."

Reach = Literal["row", "before", "group"]
"""Which rows a value is made from: its own, the ones shortly before it in the group, or the whole group."""


@dataclass(frozen=True)
class Given:
    """What a metric is made from, over some rows."""

    table: pl.DataFrame
    arrays: Mapping[str, np.ndarray]
    rows: Stretch
    thresholds: Mapping[str, float]
    cut: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))
    """[rows]: whether the episode of each was cut short rather than over, with reach "group"."""
    calibration: Calibration | None = None
    """How values lie beside rewards in this recording; None where nobody knows."""

    def numbers(self, name: str) -> np.ndarray:
        """A column of numbers, unknown ones as NaN."""
        return self.table[name].cast(pl.Float64).fill_null(float("nan")).to_numpy()

    def place_xy(self, pose: Pose) -> list[np.ndarray] | None:
        """Where it was, across and up; None where nobody says."""
        return [self.numbers(name) for name in pose.placed] or None

    def angle_deg(self, pose: Pose) -> np.ndarray:
        """Where it looked, in degrees."""
        return self.numbers(pose.angle) * (pose.angle_deg or float("nan"))


Make = Callable[[Given], np.ndarray]


@dataclass(frozen=True, kw_only=True)
class DerivedColumn:
    """A column that is made from others: what it reads and how it is made."""

    column: Column
    make: Make
    reads: tuple[str, ...] = ()
    arrays: tuple[str, ...] = ()
    thresholds: tuple[str, ...] = ()
    """Those that decide its values."""
    reach: Reach = "row"
    before: int = 0
    """With reach "before": how many rows."""
    calibrated: bool = False
    """Whether it needs to know how values lie beside rewards."""
    heavy: bool = field(default=True)
    """Worth keeping once made."""


def standard(
    columns: Sequence[Column], arrays: Sequence[ArraySpec], *, kinds: Sequence[str], timed: bool
) -> list[DerivedColumn]:
    """Every metric that these columns and arrays allow, in the order in which people look at them."""
    known = {column.name: column for column in columns}
    pose = pose_of(columns)
    found: list[DerivedColumn] = []
    if "objects" in known and known["objects"].type == "objects":
        found += [_in_view(kind, pose) for kind in kinds]
        if pose.placed and pose.directed:
            found += [_angle_to(kind, pose) for kind in kinds]
        found += [_distance_to(kind, pose) for kind in kinds]
    if timed and pose.directed:
        found.append(_turning(pose))
    if timed and pose.placed:
        found.append(_loop(pose))
    reward, value = (only_number(columns, kind) for kind in ("reward", "value"))
    if timed and reward and value:
        names = reward.name, value.name
        found += [_td_error(*names), _advantage(*names), _calibrated_advantage(*names)]
    if timed:
        found += list(_memory(arrays))
    return [made for made in found if made.column.name not in known]


def _near(given: Given, kind: str, pose: Pose) -> things.Nearest:
    return things.nearest(
        given.table["objects"],
        kind,
        place_xy=given.place_xy(pose),
        max_distance=given.thresholds[VIEW_DISTANCE.name],
        min_px=given.thresholds[VIEW_WIDTH.name],
    )


_SEEN = (VIEW_DISTANCE.name, VIEW_WIDTH.name)


def _in_view(kind: str, pose: Pose) -> DerivedColumn:
    column = Column(
        name=f"{kind} in view",
        type="bool",
        description=f"Whether {kind} is among the things in view, near and wide enough to count.",
        derived="objects, view distance, view width",
    )
    return DerivedColumn(
        column=column,
        reads=("objects", *pose.placed),
        thresholds=_SEEN,
        make=lambda given: _near(given, kind, pose).in_view,
    )


def _angle_to(kind: str, pose: Pose) -> DerivedColumn:
    def make(given: Given) -> np.ndarray:
        x, y = (given.numbers(name) for name in pose.placed)
        return things.direction(_near(given, kind, pose), x=x, y=y, angle_deg=given.angle_deg(pose))

    reads = ("objects", *pose.placed, pose.angle)
    column = Column(
        name=f"angle to {kind}",
        type="float",
        unit="deg",
        description=f"From where it looks to the nearest {kind} in view; left is negative, none in view unknown.",
        derived=f"{', '.join(reads)}, view distance, view width",
    )
    return DerivedColumn(column=column, reads=reads, thresholds=_SEEN, make=make)


def _distance_to(kind: str, pose: Pose) -> DerivedColumn:
    column = Column(
        name=f"distance to {kind}",
        type="float",
        unit=pose.unit,
        description=f"To the nearest {kind} in view; unknown while none is.",
        derived="objects, view distance, view width",
    )
    return DerivedColumn(
        column=column,
        reads=("objects", *pose.placed),
        thresholds=_SEEN,
        make=lambda given: _near(given, kind, pose).distance,
    )


def _turning(pose: Pose) -> DerivedColumn:
    def make(given: Given) -> np.ndarray:
        return turned(given.angle_deg(pose), given.rows, int(given.thresholds[TURNING_ROWS.name]))

    column = Column(
        name="turning",
        type="float",
        unit="deg",
        description="Degrees turned, left and right alike, over the last rows: it hesitates or turns around.",
        derived=f"{pose.angle}, turning rows",
    )
    return DerivedColumn(
        column=column,
        reads=(pose.angle,),
        thresholds=(TURNING_ROWS.name,),
        reach="before",
        before=100,
        make=make,
        heavy=False,
    )


def _loop(pose: Pose) -> DerivedColumn:
    def make(given: Given) -> np.ndarray:
        x, y = (given.numbers(name) for name in pose.placed)
        return loops.loops(x, y, given.rows, given.thresholds[LOOP_RADIUS.name])

    column = Column(
        name="loop",
        type="bool",
        description="Back at a place where it was before in this episode, after it had left it.",
        derived=f"{', '.join(pose.placed)}, loop radius",
    )
    return DerivedColumn(column=column, reads=pose.placed, thresholds=(LOOP_RADIUS.name,), reach="group", make=make)


def _td_error(reward: str, value: str) -> DerivedColumn:
    def make(given: Given) -> np.ndarray:
        discount = given.thresholds[DISCOUNT.name]
        return td_errors(given.numbers(reward), given.numbers(value), given.rows, given.cut, discount=discount)

    column = Column(
        name=TD_ERROR,
        type="float",
        kind="decision",
        description="Reward plus the discounted next value, less the value: how far off it was by one step. "
        + _AT_A_CUT,
        derived=f"{reward}, {value}, discount",
    )
    return DerivedColumn(
        column=column, reads=(reward, value), thresholds=(DISCOUNT.name,), reach="group", make=make, heavy=False
    )


def _advantage(reward: str, value: str) -> DerivedColumn:
    column = Column(
        name=ADVANTAGE,
        type="float",
        kind="decision",
        description="How much better (or, below 0, worse) things turned out from here on than the subject expected: "
        f"generalised advantage estimates (GAE). {_AT_A_CUT}",
        derived=f"{reward}, {value}, discount, advantage smoothing",
    )
    return DerivedColumn(
        column=column,
        reads=(reward, value),
        thresholds=(DISCOUNT.name, SMOOTHING.name),
        reach="group",
        make=lambda given: _estimates(given, given.numbers(reward), given.numbers(value)),
    )


def _calibrated_advantage(reward: str, value: str) -> DerivedColumn:
    def make(given: Given) -> np.ndarray:
        told = given.numbers(value)
        if given.calibration is None:
            return np.full(len(told), np.nan)
        return _estimates(given, given.numbers(reward), given.calibration.apply(told))

    column = Column(
        name=CALIBRATED,
        type="float",
        kind="decision",
        description="The advantage with the value brought to the scale of the rewards: by the straight line whose TD "
        "errors go to neither side in this recording. For values that were trained on scaled rewards.",
        derived=f"{reward}, {value}, discount, advantage smoothing",
    )
    return DerivedColumn(
        column=column,
        reads=(reward, value),
        thresholds=(DISCOUNT.name, SMOOTHING.name),
        reach="group",
        calibrated=True,
        make=make,
    )


def _estimates(given: Given, reward: np.ndarray, value: np.ndarray) -> np.ndarray:
    settings = {"discount": given.thresholds[DISCOUNT.name], "smoothing": given.thresholds[SMOOTHING.name]}
    return advantage(reward, value, given.rows, given.cut, **settings)


def _memory(arrays: Sequence[ArraySpec]) -> Iterator[DerivedColumn]:
    for spec in (spec for spec in arrays if spec.role == "memory"):
        site = spec.name.partition(".")[2]
        suffix = f" {site}" if site else ""
        yield DerivedColumn(
            column=Column(
                name=f"memory change{suffix}",
                type="float",
                kind="decision",
                description="Sum of the absolute changes of all elements of the memory since the row before.",
                derived=spec.name,
            ),
            arrays=(spec.name,),
            reach="before",
            before=1,
            make=_change_maker(spec.name),
        )
        yield DerivedColumn(
            column=Column(
                name=f"memory jumps{suffix}",
                type="float",
                kind="decision",
                unit="elements",
                description="How many elements of the memory changed by more than the threshold since the row before.",
                derived=f"{spec.name}, memory jump",
            ),
            arrays=(spec.name,),
            thresholds=(JUMP.name,),
            reach="before",
            before=1,
            make=_jump_maker(spec.name),
        )


def element_changes(memory: np.ndarray, rows: Stretch) -> np.ndarray:
    """Absolute change of each element since the row before, [rows, elements]; NaN in the first row of a group."""
    flat = memory.reshape(len(memory), -1).astype(np.float32, copy=False)
    changes = np.full(flat.shape, np.nan, np.float32)
    np.abs(flat[1:] - flat[:-1], out=changes[1:])
    changes[np.unique(rows.starts)] = np.nan
    return changes


def _change_maker(name: str) -> Make:
    return lambda given: element_changes(given.arrays[name], given.rows).sum(axis=1, dtype=np.float64)


def _jump_maker(name: str) -> Make:
    def make(given: Given) -> np.ndarray:
        changes = element_changes(given.arrays[name], given.rows)
        jumps = (changes > given.thresholds[JUMP.name]).sum(axis=1).astype(np.float64)
        return np.where(np.isnan(shifted(jumps, given.rows, 1)), np.nan, jumps)

    return make
