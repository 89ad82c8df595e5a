"""Compares how a subject fares with its memory reduced: means with intervals, and differences seed by seed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from innerview.schema import EpisodeSummary

Z95 = NormalDist().inv_cdf(0.975)
"""So many standard deviations to either side hold 95 % of a normal distribution."""


@dataclass(frozen=True, kw_only=True)
class Interval:
    """A mean and the bounds of its 95 % interval; without bounds where one episode says nothing of the spread."""

    mean: float
    low: float | None
    high: float | None
    n: int


def mean_of(values: Sequence[float]) -> Interval:
    """Mean with Student's 95 % interval."""
    given = np.asarray(values, float)
    return _around(float(given.mean()), given)


def share_of(count: int, n: int) -> Interval:
    """Share with Wilson's 95 % interval, which stays within 0 and 1."""
    from scipy.stats import binomtest  # type: ignore[import-untyped]  # takes a while to load

    bounds = binomtest(count, n).proportion_ci(method="wilson")
    return Interval(mean=count / n, low=float(bounds.low), high=float(bounds.high), n=n)


def ratio_of(reduced: Sequence[float], full: Sequence[float]) -> Interval | None:
    """Ratio of the means over the same seeds, with an interval from the spread of x − ratio · y (delta method)."""
    x, y = np.asarray(reduced, float), np.asarray(full, float)
    base = float(y.mean())
    if base == 0:
        return None
    ratio = float(x.mean()) / base
    return _around(ratio, (x - ratio * y) / base)


def table_row(episodes: Sequence[EpisodeSummary], full: Sequence[EpisodeSummary] | None) -> dict[str, Any]:
    """One line of the table: every measure, outcomes, and differences to full memory over the seeds both have."""
    both = _paired(episodes, full or ())
    names = list(dict.fromkeys(name for episode in episodes for name in episode.measures))
    measures = {name: _measure(name, episodes, both if full else ()) for name in names}
    outcomes = sorted({episode.outcome for episode in (*episodes, *(full or ()))})
    counted = {word: sum(e.outcome == word for e in episodes) for word in outcomes}
    shares = {word: {**_plain(share_of(n, len(episodes))), "count": n} for word, n in counted.items()}
    return {"episodes": len(episodes), "measures": measures, "outcomes": shares}


def _measure(
    name: str, episodes: Sequence[EpisodeSummary], both: Sequence[tuple[EpisodeSummary, EpisodeSummary]]
) -> dict[str, Any]:
    told: dict[str, Any] = _plain(mean_of([e.measures[name] for e in episodes if name in e.measures]))
    pairs = [(a.measures[name], b.measures[name]) for a, b in both if name in a.measures and name in b.measures]
    if pairs:
        reduced, whole = zip(*pairs, strict=True)
        ratio = ratio_of(reduced, whole)
        told["difference"] = _plain(mean_of([a - b for a, b in pairs]))
        told["ratio"] = None if ratio is None else _plain(ratio)
    return told


def _paired(
    episodes: Sequence[EpisodeSummary], full: Sequence[EpisodeSummary]
) -> list[tuple[EpisodeSummary, EpisodeSummary]]:
    by_seed = {episode.seed: episode for episode in full}
    return [(episode, by_seed[episode.seed]) for episode in episodes if episode.seed in by_seed]


def _around(mean: float, spread: np.ndarray) -> Interval:
    n = len(spread)
    if n < 2:
        return Interval(mean=mean, low=None, high=None, n=n)
    from scipy.special import stdtrit  # type: ignore[import-untyped]  # takes a while to load

    half = float(stdtrit(n - 1, 0.975)) * float(spread.std(ddof=1)) / math.sqrt(n)
    return Interval(mean=mean, low=mean - half, high=mean + half, n=n)


def _plain(interval: Interval) -> dict[str, Any]:
    return {"mean": interval.mean, "low": interval.low, "high": interval.high, "n": interval.n}
