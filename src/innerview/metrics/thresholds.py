"""Numbers in the metrics that a person can set."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from innerview.errors import MetricError, UnknownName


@dataclass(frozen=True, kw_only=True)
class Threshold:
    """A number that decides what a metric says."""

    name: str
    description: str
    default: float | None
    """What it is where nobody set it; None where the recording itself suggests it."""
    low: float = 0.0
    high: float = math.inf
    whole: bool = False
    unit: str = ""


AS_PLACES = "as places"
"""The unit of a threshold that is in the unit of the recorded places."""

VIEW_DISTANCE = Threshold(
    name="view distance", description="Things farther away do not count as in view.", default=math.inf, unit=AS_PLACES
)
VIEW_WIDTH = Threshold(
    name="view width", description="Things narrower than this do not count as in view.", default=0.0, unit="pixels"
)
TURNING_ROWS = Threshold(
    name="turning rows", description="Over how many rows turning is added up.", default=3.0, low=2, high=100, whole=True
)
LOOP_RADIUS = Threshold(
    name="loop radius",
    description="How near it must come to where it was to be back there.",
    default=None,
    unit=AS_PLACES,
)
JUMP = Threshold(
    name="memory jump", description="An element that changes by more than this in one row jumps.", default=None
)
DISCOUNT = Threshold(
    name="discount", description="How much a reward one row later counts, as in training.", default=0.999, high=1.0
)
SMOOTHING = Threshold(
    name="advantage smoothing",
    description="How much of the next row's advantage counts as this row's.",
    default=0.95,
    high=1.0,
)
POSE_TOLERANCE = Threshold(
    name="pose tolerance",
    description="A predicted place that is no farther off than this is right; two that are no farther apart agree.",
    default=1.0,
    unit=AS_PLACES,
)
THRESHOLDS: dict[str, Threshold] = {
    one.name: one
    for one in (VIEW_DISTANCE, VIEW_WIDTH, TURNING_ROWS, LOOP_RADIUS, JUMP, DISCOUNT, SMOOTHING, POSE_TOLERANCE)
}


def checked_thresholds(given: Mapping[str, float]) -> dict[str, float]:
    """The thresholds themselves where they make sense, else an error that says what would."""
    for name, value in given.items():
        if name not in THRESHOLDS:
            raise UnknownName("threshold", name, THRESHOLDS)
        told = THRESHOLDS[name]
        if isinstance(value, bool) or not isinstance(value, int | float) or not told.low <= value <= told.high:
            raise MetricError(f"'{name}' is a number from {told.low:g} to {told.high:g}, not {value!r:.40}.")
        if told.whole and value != int(value):
            raise MetricError(f"'{name}' is a whole number, not {value!r:.40}.")
    return {name: float(value) for name, value in given.items()}


def default_jump(changes: np.ndarray) -> float:
    """Where nobody set it, an element jumps when it changes twice as much as elements do typically."""
    known = changes[~np.isnan(changes)]
    spread = float(np.sqrt(np.mean(np.square(known, dtype=np.float64)))) if known.size else 0.0
    return float(f"{2 * spread:.3g}")
