"""How much of what varies is explained by place, in episodes that were left out of the fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from innerview.saliency.shares.sightings import Sightings

_FOLDS = 10
_RESAMPLES = 2000
_RIDGE = 3.0
"""A cell that was seen so many times counts half as much as its mean says."""
_LEVELS = 10
"""Bins of how strong a whole map is."""
MIN_CLUSTERS = 4


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A share of variance, with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Explained:
    """What place explains: alone, and beyond where the thing lies from the player."""

    place: Figure
    beyond: Figure | None
    """None where nobody says where the player is."""


def clusters(groups: np.ndarray, wanted: int = 12, shortest: int = 20) -> np.ndarray:
    """int [row]: which cluster a row belongs to: its episode, or a stretch of it where episodes are few."""
    episodes = np.unique(groups)
    if len(episodes) >= wanted // 2:
        return groups
    each = max(1, int(np.ceil(wanted / len(episodes))))
    found, number = np.zeros(len(groups), np.int64), 0
    for episode in episodes:
        rows = np.flatnonzero(groups == episode)
        parts = max(1, min(each, len(rows) // shortest))
        found[rows] = number + np.arange(len(rows)) * parts // len(rows)
        number += parts
    return found


def explained(seen: Sightings, cluster: np.ndarray, *, seed: int) -> Explained | None:
    """Of the ranks of responses, beyond how strong the whole map is in each row.

    None where there are too few clusters, or nothing varies.
    """
    cluster = cluster[seen.row]
    known = np.unique(cluster)
    if len(known) < MIN_CLUSTERS or len(np.unique(seen.cell)) < 2 or np.ptp(seen.response) == 0:
        return None
    random = np.random.default_rng(seed)
    fold = random.permutation(len(known))[np.searchsorted(known, cluster)] % min(_FOLDS, len(known))
    y, place = ranks(seen.response), _one_hot(seen.cell)
    level = _one_hot((ranks(seen.level) * (_LEVELS - 1)).round())
    related = bool((seen.relation >= 0).all() and len(np.unique(seen.relation)) > 1)
    near = np.hstack([level, _one_hot(seen.relation)]) if related else level
    designs = (level, np.hstack([level, place]), near, np.hstack([near, place]))
    errors = [_errors(y, design, fold) for design in designs]
    sums = np.stack([np.bincount(np.searchsorted(known, cluster), error, len(known)) for error in errors], 1)
    drawn = sums[random.integers(0, len(known), (_RESAMPLES, len(known)))].sum(1)
    return Explained(
        place=_figure(sums.sum(0), drawn, 0, 1),
        beyond=_figure(sums.sum(0), drawn, 2, 3) if related else None,
    )


def ranks(values: np.ndarray) -> np.ndarray:
    """Ranks from 0 to 1; equal values share theirs."""
    _, inverse, count = np.unique(values, return_inverse=True, return_counts=True)
    middle = np.cumsum(count) - (count + 1) / 2
    shared: np.ndarray = middle[inverse] / max(len(values) - 1, 1)
    return shared


def _figure(sums: np.ndarray, drawn: np.ndarray, without: int, with_it: int) -> Figure:
    """By how much a fit errs less with something than without, as a share of what is left without it."""
    shares = 1 - drawn[:, with_it] / np.maximum(drawn[:, without], 1e-12)
    low, high = np.quantile(shares, (0.025, 0.975))
    return Figure(value=float(1 - sums[with_it] / max(sums[without], 1e-12)), low=float(low), high=float(high))


def _one_hot(values: np.ndarray) -> np.ndarray:
    kinds, inverse = np.unique(values, return_inverse=True)
    return np.eye(len(kinds))[inverse]


def _errors(y: np.ndarray, design: np.ndarray, fold: np.ndarray) -> np.ndarray:
    """Squared errors of each value, predicted by what was fitted to the other folds."""
    errors = np.zeros(len(y))
    for one in np.unique(fold):
        out = fold == one
        mean = y[~out].mean() if (~out).any() else y.mean()
        weights = np.zeros(design.shape[1])
        if design.shape[1]:
            fitted = design[~out]
            weights = np.linalg.solve(fitted.T @ fitted + _RIDGE * np.eye(fitted.shape[1]), fitted.T @ (y[~out] - mean))
        errors[out] = (y[out] - mean - design[out] @ weights) ** 2
    return errors
