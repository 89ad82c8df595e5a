"""How far a predicted pose is from the recorded one, what kind of error that is, and whether two domains differ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from innerview.schema import Polygon


def position_errors(x: np.ndarray, y: np.ndarray, true_x: np.ndarray, true_y: np.ndarray) -> np.ndarray:
    """Distance in the plane, in the unit of the places."""
    return np.asarray(np.hypot(x - true_x, y - true_y))


def heading_errors(angle_deg: np.ndarray, true_deg: np.ndarray) -> np.ndarray:
    """Angle between two headings, from 0 to 180: 359° is 2° from 1°."""
    return np.asarray(np.abs((angle_deg - true_deg + 180) % 360 - 180))


ERROR_KINDS = ("right", "same room", "other room", "unreachable place", "wrong place")
"""Where a predicted place lies beside the true one; the last where no areas are known."""
BOTH_WRONG = "wrong in both, apart"
NO_GAP = "no gap"


def areas_of(x: np.ndarray, y: np.ndarray, polygons: Sequence[Polygon]) -> np.ndarray:
    """The first polygon that each place lies in, by its number; -1 where it lies in none."""
    found = np.full(len(x), -1)
    for number in reversed(range(len(polygons))):
        found[_inside(x, y, np.asarray(polygons[number].points, float).reshape(-1, 2))] = number
    return found


def _inside(x: np.ndarray, y: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Whether a ray to the right crosses the edge an odd number of times."""
    inside = np.zeros(len(x), bool)
    for (x1, y1), (x2, y2) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        if y1 == y2:
            continue
        crosses = (y1 > y) != (y2 > y)
        inside ^= crosses & (x < (x2 - x1) * (y - y1) / (y2 - y1) + x1)
    return inside


def error_kinds(error: np.ndarray, said: np.ndarray, true: np.ndarray, *, tolerance: float, areas: int) -> np.ndarray:
    """Which of `ERROR_KINDS` each prediction is; -1 where its error is not known. `said` and `true` are areas."""
    elsewhere = np.where(said < 0, 3, np.where(said == true, 1, 2)) if areas else np.full(len(error), 4)
    return np.where(np.isnan(error), -1, np.where(error <= tolerance, 0, elsewhere))


def gap_names(domain: str, other: str) -> tuple[str, str, str, str]:
    """What a gap between two domains can be."""
    return NO_GAP, f"worse in {domain}", f"worse in {other}", BOTH_WRONG


def gap_kinds(gap: np.ndarray, error: np.ndarray, other: np.ndarray, *, tolerance: float) -> np.ndarray:
    """Which of `gap_names` each pair is; -1 where it is not known.

    Two predictions that agree are no gap, right or wrong. Where they do not, the side whose error is larger by more
    than the tolerance is the worse one.
    """
    worse = np.where(error - other > tolerance, 1, np.where(other - error > tolerance, 2, 3))
    # Near the border of what counts as right a difference that is small in error can still be one of right and wrong.
    worse = np.where((worse == 3) & (error > tolerance) & (other <= tolerance), 1, worse)
    worse = np.where((worse == 3) & (other > tolerance) & (error <= tolerance), 2, worse)
    known = ~(np.isnan(gap) | np.isnan(error) | np.isnan(other))
    # Both within the tolerance of the truth are right, however they lie to each other.
    agree = (gap <= tolerance) | ((error <= tolerance) & (other <= tolerance))
    return np.where(known, np.where(agree, 0, worse), -1)
