"""Averages what happened around an event, over all times it happened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Spread:
    """A value around an event: mean over the times it happened, and a band that holds the middle half of them."""

    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True)
class Aligned:
    """What happened around an event."""

    offsets: np.ndarray
    counts: np.ndarray
    """How many times reached each offset without leaving the group."""
    memory: np.ndarray
    """Mean of each element at each offset, [offsets, elements]; NaN where no time reached it."""
    before: np.ndarray
    after: np.ndarray
    """Mean of each element over the rows before and after, averaged over the times that have both."""
    effect: np.ndarray
    """Per element, the mean of after minus before over its deviation between times; 0 where it never moves."""
    paired: int
    """How many times have rows both before and after."""
    metrics: Mapping[str, Spread]


class Averages:
    """Takes one occurrence after another and keeps sums only, so that any number of them fits."""

    def __init__(self, *, before: int, after: int, elements: int, first_after: int) -> None:
        self.offsets = np.arange(-before, after + 1)
        self._first_after = first_after
        self._sums = np.zeros((len(self.offsets), elements))
        self._counts = np.zeros(len(self.offsets), np.int64)
        self._pairs = np.zeros((4, elements))
        self._paired = 0

    def add(self, memory: np.ndarray, first: int) -> None:
        """The memory around one occurrence, [rows, elements], whose first row stands at offset `first`."""
        start = first - int(self.offsets[0])
        places = slice(start, start + len(memory))
        flat = memory.reshape(len(memory), -1).astype(np.float64)
        self._sums[places] += flat
        self._counts[places] += 1
        edge = self._first_after - first
        if 0 < edge < len(flat):
            before, after = flat[:edge].mean(axis=0), flat[edge:].mean(axis=0)
            difference = after - before
            self._pairs += np.stack([before, after, difference, difference**2])
            self._paired += 1

    def result(self, metrics: Mapping[str, np.ndarray]) -> Aligned:
        """The averages; each metric is given as [occurrences, offsets], NaN where not known."""
        with np.errstate(all="ignore"):
            memory = np.where(self._counts[:, None] > 0, self._sums / np.maximum(self._counts, 1)[:, None], np.nan)
            before, after, difference, squared = self._pairs / max(self._paired, 1)
            spread = np.sqrt(np.maximum(squared - difference**2, 0.0))
            effect = np.where(spread > 1e-12, difference / np.maximum(spread, 1e-12), 0.0)
        return Aligned(
            offsets=self.offsets,
            counts=self._counts,
            memory=memory.astype(np.float32),
            before=before,
            after=after,
            effect=effect,
            paired=self._paired,
            metrics={name: _spread(values) for name, values in metrics.items()},
        )


def _spread(values: np.ndarray) -> Spread:
    mean, low, high = (np.full(values.shape[1], np.nan) for _ in range(3))
    for place in range(values.shape[1]):
        known = values[:, place][~np.isnan(values[:, place])]
        if known.size:
            mean[place] = known.mean()
            low[place], high[place] = np.percentile(known, (25, 75))
    return Spread(mean, low, high)
