"""Puts elements that behave alike next to each other."""

from __future__ import annotations

import numpy as np

from innerview.errors import LensError
from innerview.schema import States

MAX_ROWS = 20_000
MAX_ELEMENTS = 4096


def sampled(states: States, start: int, stop: int) -> np.ndarray:
    """At most 20,000 rows of start to stop, the same distance apart, [rows, elements]."""
    if states.elements > MAX_ELEMENTS:
        raise LensError(f"Comparing {states.elements} elements with each other is too much; {MAX_ELEMENTS} is most.")
    step = -(-(stop - start) // MAX_ROWS)
    parts = []
    for first, values in states.pieces(start, stop):
        parts.append(values[(start - first) % step :: step].copy())
    return np.concatenate(parts)


def along_tsne(rows: np.ndarray) -> np.ndarray:
    """[elements], where a one-dimensional t-SNE of the absolute values puts each element."""
    points = _principal(np.abs(rows).T.astype(np.float64))
    count = len(points)
    first = points[:, 0]
    if count < 5 or np.ptp(first) == 0:
        return first
    from openTSNE import TSNE  # type: ignore[import-untyped]

    settings = {
        "n_components": 1,
        "perplexity": min(30.0, (count - 1) / 3),
        "initialization": (first / first.std() * 1e-4)[:, None],
        "neighbors": "exact",
        "negative_gradient_method": "bh" if count < 200 else "fft",
        "random_state": 0,
        "n_jobs": 1,
    }
    return np.asarray(TSNE(**settings).fit(points))[:, 0]


def along_tree(rows: np.ndarray) -> np.ndarray:
    """[elements], the place of each as a leaf of the tree that joins the most correlated elements first."""
    from scipy.cluster.hierarchy import leaves_list, linkage  # type: ignore[import-untyped]
    from scipy.spatial.distance import squareform  # type: ignore[import-untyped]

    count = rows.shape[1]
    if count < 3:
        return np.arange(count, dtype=np.float64)
    centred = rows - rows.mean(axis=0, dtype=np.float64)
    norms = np.sqrt((centred * centred).sum(axis=0))
    unit = np.divide(centred, norms, out=np.zeros_like(centred), where=norms > 0)
    distance = np.clip(1 - unit.T @ unit, 0, 2)
    np.fill_diagonal(distance, 0)
    tree = linkage(squareform(distance, checks=False), method="average", optimal_ordering=count <= 512)
    places = np.empty(count)
    places[leaves_list(tree)] = np.arange(count)
    return places


def _principal(points: np.ndarray, most: int = 50) -> np.ndarray:
    """The same points turned into their own main axes, the widest first: distances stay, up to the axes left out."""
    from sklearn.decomposition import KernelPCA  # type: ignore[import-untyped]  # takes a while to load

    # There are fewer elements than rows: what they have in common is the smaller table.
    axes = min(most, len(points))
    return np.asarray(KernelPCA(n_components=axes, eigen_solver="dense").fit_transform(points - points.mean(axis=0)))
