"""How much better or worse things turned out than the subject expected."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from innerview.metrics.rows import Stretch


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


def returns(reward: np.ndarray, value: np.ndarray, rows: Stretch, cut: np.ndarray, *, discount: float) -> np.ndarray:
    """Discounted sum of the rewards from each row on; where an episode was cut its last value stands for the rest."""
    last = rows.stops - 1 == np.arange(rows.count)
    total = np.where(last & cut, value, reward).astype(np.float64)
    order = np.argsort(rows.stops - np.arange(rows.count), kind="stable")
    from_end = (rows.stops - np.arange(rows.count))[order]
    for distance in range(2, int(from_end[-1]) + 1 if rows.count else 0):
        begin, end = np.searchsorted(from_end, [distance, distance + 1])
        now = order[begin:end]
        total[now] += discount * total[now + 1]
    return total


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """How values lie beside the returns that followed: the straight line from one to the other, and what differs."""

    slope: float
    offset: float
    mean_value: float
    mean_return: float
    spread: float
    """Standard deviation of return minus value."""

    @property
    def off(self) -> float:
        """How far returns lie above values on average; 0 of a value that is calibrated."""
        return self.mean_return - self.mean_value

    @property
    def differs(self) -> bool:
        """Whether returns lie to one side of the values nearly everywhere, so that advantages say little."""
        return abs(self.off) > 1.5 * self.spread and abs(self.off) > 0.1 * max(abs(self.mean_value), 1e-9)

    def apply(self, value: np.ndarray) -> np.ndarray:
        """Values on the scale of the returns."""
        return self.slope * value + self.offset

    @property
    def warning(self) -> str:
        """What to say where advantages come out on one side; empty where they do not."""
        if not self.differs:
            return ""
        return (
            f"Value and return are on different scales: returns average {self.mean_return:.3g}, values "
            f"{self.mean_value:.3g}. The advantage is {'above' if self.off > 0 else 'below'} 0 nearly everywhere; see "
            "'calibrated advantage', and set the discount to that of training."
        )


def calibrate(value: np.ndarray, found: np.ndarray) -> Calibration | None:
    """The least-squares line from values to returns; None where fewer than two rows are known."""
    known = ~np.isnan(value) & ~np.isnan(found)
    values, totals = value[known], found[known]
    if len(values) < 2:
        return None
    apart = values - values.mean()
    variance = float((apart**2).mean())
    # A value that falls where returns rise says nothing of them: it is not turned round.
    slope = max(0.0, float((apart * (totals - totals.mean())).mean()) / variance) if variance > 0 else 0.0
    return Calibration(
        slope=slope,
        offset=float(totals.mean() - slope * values.mean()),
        mean_value=float(values.mean()),
        mean_return=float(totals.mean()),
        spread=float((totals - values).std()),
    )
