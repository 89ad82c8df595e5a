"""k-means and silhouettes, by scikit-learn, as the strategy chart needs them."""

from __future__ import annotations

import numpy as np

STARTS = 4
ROUNDS = 60


def k_means(points: np.ndarray, count: int, *, seed: int) -> np.ndarray:
    """Centres [count, dimensions] of clusters of points [points, dimensions], the best of a few beginnings."""
    count = min(count, len(np.unique(points, axis=0)))
    return _fitted(points, count, init="k-means++", n_init=STARTS, random_state=seed)


def settle(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Centres moved to the middle of their points until none changes."""
    return _fitted(points, len(centres), init=centres, n_init=1, random_state=0)


def nearest(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """[points], which centre is nearest to each."""
    from sklearn.metrics import pairwise_distances_argmin  # type: ignore[import-untyped]

    return np.asarray(pairwise_distances_argmin(points, centres))


def silhouette(points: np.ndarray, labels: np.ndarray) -> float:
    """How clearly clusters stand apart, from -1 to 1 (Rousseeuw 1987); -1 where there is nothing to compare."""
    from sklearn.metrics import silhouette_score

    if not 1 < len(np.unique(labels)) < len(points):
        return -1.0
    return float(silhouette_score(points, labels))


def _fitted(points: np.ndarray, count: int, **how: object) -> np.ndarray:
    from sklearn.cluster import KMeans  # type: ignore[import-untyped]
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with threadpool_limits(1):  # the machine's other threads belong to others
        return np.asarray(KMeans(count, max_iter=ROUNDS, **how).fit(points).cluster_centers_)
