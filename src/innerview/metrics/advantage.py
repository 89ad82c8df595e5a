"""How much better or worse things turned out than the subject expected."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from innerview.metrics.rows import Stretch

ONE_SIDED, MIN_ROWS = 0.95, 50
"""A share of advantages on one side of 0, over so many rows, that cannot be chance."""


def td_errors(reward: np.ndarray, value: np.ndarray, rows: Stretch, cut: np.ndarray, *, discount: float) -> np.ndarray:
    """What each row earned, plus the discounted value of the next, less its own value; NaN where one is unknown.

    After an episode's end nothing is expected. Where it was `cut` ([rows], true for its rows) something would have
    come: what the subject expected then was not recorded, and the error of the last row is unknown.
    """
    last = rows.stops - 1 == np.arange(rows.count)
    after = np.where(last, np.where(cut, np.nan, 0.0), np.append(value[1:], 0.0))
    errors: np.ndarray = reward + discount * after - value
    return errors


def advantage(
    reward: np.ndarray, value: np.ndarray, rows: Stretch, cut: np.ndarray, *, discount: float, smoothing: float
) -> np.ndarray:
    """Generalised advantage estimates: TD errors of this row and, ever less, of those after it in the episode.

    The sum stops before a row whose error is unknown: there it is bootstrapped from the value, as at a time limit.
    Rows are added up backwards, all episodes side by side.
    """
    errors = td_errors(reward, value, rows, cut, discount=discount)
    known = ~np.isnan(errors)
    total: np.ndarray = np.where(known, errors, 0.0)
    order = np.argsort(rows.stops - np.arange(rows.count), kind="stable")  # how far from its end, nearest first
    from_end = (rows.stops - np.arange(rows.count))[order]
    for distance in range(2, int(from_end[-1]) + 1 if rows.count else 0):
        begin, end = np.searchsorted(from_end, [distance, distance + 1])
        now = order[begin:end]
        total[now] += discount * smoothing * total[now + 1] * known[now]
    total[~known] = np.nan
    return total


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """The straight line that brings values to the scale of the rewards, and on which side of 0 advantages lie now."""

    slope: float
    offset: float
    above: float
    """Share of the known advantages, with values as they are, that lie above 0."""
    rows: int
    """How many those are."""

    def apply(self, value: np.ndarray) -> np.ndarray:
        """Values on the scale of the rewards."""
        return self.slope * value + self.offset

    @property
    def warning(self) -> str:
        """What to say where advantages lie on one side; empty where they do not."""
        share = max(self.above, 1 - self.above)
        if self.rows < MIN_ROWS or share < ONE_SIDED:
            return ""
        return (
            f"It is {'above' if self.above > 0.5 else 'below'} 0 in {share:.0%} of the rows: value and reward are on "
            "different scales, or the discount is not that of training. See 'calibrated advantage'."
        )


def calibrate(
    reward: np.ndarray, value: np.ndarray, rows: Stretch, cut: np.ndarray, *, discount: float, smoothing: float
) -> Calibration | None:
    """The line a value + b whose TD errors go neither with the value nor to one side (LSTD); None without such rows."""
    found = advantage(reward, value, rows, cut, discount=discount, smoothing=smoothing)
    known = ~np.isnan(found)
    if known.sum() < 2:
        return None
    last = rows.stops - 1 == np.arange(rows.count)
    now = np.stack([value, np.ones(rows.count)], axis=1)[known]
    then = np.stack([np.append(value[1:], 0.0), np.ones(rows.count)], axis=1)[known]
    then[last[known]] = 0.0  # after an end there is nothing; rows before a cut are not among those known
    change = now - discount * then
    slope, offset = np.linalg.lstsq(now.T @ change, now.T @ reward[known], rcond=None)[0]
    if slope < 0:  # a value that says the opposite is not turned round: only the mean is right then
        ends = float(change[:, 1].sum())
        slope, offset = 0.0, float(reward[known].sum()) / ends if ends else 0.0
    above = float((found[known] > 0).mean())
    return Calibration(slope=float(slope), offset=float(offset), above=above, rows=int(known.sum()))
