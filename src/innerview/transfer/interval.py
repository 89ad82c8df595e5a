"""Estimates with the interval that drawing rows again gives; what is compared is drawn together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

RESAMPLES = 2_000
_AT_ONCE = 2_000_000
Statistic = Callable[..., np.ndarray]
"""Takes values and `axis`: np.mean, np.median."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A figure and its 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def sign(self) -> int:
        """1 or -1 where the interval is on one side of zero, else 0."""
        return 1 if self.low > 0 else -1 if self.high < 0 else 0


def resampled(values: np.ndarray, statistic: Statistic, *, seed: int = 0) -> np.ndarray:
    """A statistic of values [..., rows] over rows drawn again [draws, ...]: every draw takes the same rows of all."""
    rows = values.shape[-1]
    drawn = [statistic(values[..., some], axis=-1) for some in _draws(values.size, rows, seed)]
    return np.moveaxis(np.concatenate(drawn, axis=-1), -1, 0)


def _draws(size: int, rows: int, seed: int) -> Iterator[np.ndarray]:
    rng = np.random.default_rng(seed)
    at_once = int(np.clip(_AT_ONCE // max(size, 1), 1, RESAMPLES))
    for first in range(0, RESAMPLES, at_once):
        yield rng.integers(0, rows, (min(at_once, RESAMPLES - first), rows))


def estimate(value: float, drawn: np.ndarray) -> Estimate:
    """A figure with the middle 95 % of what it is over draws; those that say nothing are left out."""
    known = drawn[np.isfinite(drawn)]
    low, high = np.quantile(known, (0.025, 0.975)) if len(known) else (np.nan, np.nan)
    return Estimate(value=float(value), low=float(low), high=float(high))
