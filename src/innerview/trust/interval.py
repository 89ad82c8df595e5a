"""Means with the interval that resampling rows gives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

RESAMPLES = 2_000


@dataclass(frozen=True, kw_only=True)
class Interval:
    """A mean and its 95 % interval; the bounds are the mean where a single row says nothing of the spread."""

    mean: float
    low: float
    high: float
    n: int
    """Rows that count."""


def bootstrap(values: np.ndarray, *, seed: int = 0) -> Interval | None:
    """Mean of values [row], NaN left out, with the percentile bootstrap over rows; None where no row counts."""
    given = np.asarray(values, np.float64)
    given = given[np.isfinite(given)]
    if not len(given):
        return None
    drawn = np.random.default_rng(seed).integers(0, len(given), (RESAMPLES, len(given)))
    low, high = np.quantile(given[drawn].mean(axis=1), (0.025, 0.975))
    return Interval(mean=float(given.mean()), low=float(low), high=float(high), n=len(given))
