"""k-means and silhouettes against answers that are known."""

from __future__ import annotations

import numpy as np
import pytest

from innerview.memory.clusters import k_means, nearest, silhouette


def test_clusters_far_apart_are_found() -> None:
    random = np.random.default_rng(0)
    truth = np.repeat(np.arange(5), 40)
    centres = np.array([[0, 0], [9, 0], [0, 9], [9, 9], [20, 20.0]])
    points = centres[truth] + random.normal(size=(200, 2))
    found = k_means(points, 5, seed=1)
    labels = nearest(points, found)
    assert len({(int(a), int(b)) for a, b in zip(truth, labels, strict=True)}) == 5
    for state in range(5):
        assert np.allclose(found[state], points[labels == state].mean(0))


def test_the_silhouette_is_that_of_the_book() -> None:
    points = np.array([[0.0], [2.0], [10.0], [14.0]])
    labels = np.array([0, 0, 1, 1])
    by_hand = [1 - 2 / 12, 1 - 2 / 10, 1 - 4 / 9, 1 - 4 / 13]
    assert silhouette(points, labels) == pytest.approx(np.mean(by_hand))
    assert silhouette(points, np.zeros(4, int)) == -1


def test_more_clusters_than_different_points_is_no_trouble() -> None:
    points = np.array([[0.0, 1.0]] * 6 + [[2.0, 2.0]] * 3)
    assert np.isfinite(k_means(points, 4, seed=0)).all()
