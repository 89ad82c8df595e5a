"""k-means and silhouettes, small enough to be read and to leave the machine's other threads alone."""

from __future__ import annotations

import numpy as np

ROUNDS = 60
STARTS = 4


def k_means(points: np.ndarray, count: int, *, seed: int) -> np.ndarray:
    """Centres [count, dimensions] of clusters of points [points, dimensions], the best of a few beginnings."""
    random = np.random.default_rng(seed)
    tried = [settled(points, _spread_out(points, count, random)) for _ in range(STARTS)]
    return min(tried, key=lambda made: made[1])[0]


def nearest(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """[points], which centre is nearest to each."""
    return np.asarray(_squared(points, centres).argmin(axis=1))


def silhouette(points: np.ndarray, labels: np.ndarray) -> float:
    """How clearly clusters stand apart, from -1 to 1: nearness to one's own against the next one's (Rousseeuw 1987)."""
    names = np.unique(labels)
    if not 1 < len(names) < len(points):
        return -1.0
    distances = np.sqrt(np.maximum(_squared(points, points), 0))
    member = (labels[:, None] == names).astype(np.float64)
    sizes = member.sum(axis=0)
    to_each = distances @ member
    own = np.searchsorted(names, labels)
    rows = np.arange(len(points))
    within = to_each[rows, own] / np.maximum(sizes[own] - 1, 1)
    others = to_each / sizes
    others[rows, own] = np.inf
    beside = others.min(axis=1)
    scores = (beside - within) / np.maximum(np.maximum(beside, within), 1e-12)
    return float(np.where(sizes[own] > 1, scores, 0).mean())


def _squared(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Squared distances [points, centres]."""
    return np.asarray((points**2).sum(axis=1)[:, None] - 2 * points @ centres.T + (centres**2).sum(axis=1))


def _spread_out(points: np.ndarray, count: int, random: np.random.Generator) -> np.ndarray:
    """Points to begin with, each likely to be far from those before (Arthur, Vassilvitskii 2007)."""
    chosen = [points[random.integers(len(points))]]
    for _ in range(count - 1):
        far = np.maximum(_squared(points, np.stack(chosen)).min(axis=1), 0).astype(np.float64)
        total = far.sum()
        chosen.append(points[random.choice(len(points), p=far / total if total > 0 else None)])
    return np.stack(chosen)


def settled(points: np.ndarray, centres: np.ndarray) -> tuple[np.ndarray, float]:
    """Centres moved to the middle of their points until none changes, and how far points are from them in all."""
    labels = np.full(len(points), -1)
    for _ in range(ROUNDS):
        squared = _squared(points, centres)
        before, labels = labels, squared.argmin(axis=1)
        if np.array_equal(before, labels):
            break
        for state in range(len(centres)):
            own = points[labels == state]
            # A cluster that lost all its points begins anew at the point that is worst off.
            centres[state] = own.mean(axis=0) if len(own) else points[squared.min(axis=1).argmax()]
    return centres, float(_squared(points, centres).min(axis=1).sum(dtype=np.float64))
