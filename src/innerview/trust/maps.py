"""Maps of several methods made comparable: strength per pixel, ranks, likeness, and a map moved elsewhere."""

from __future__ import annotations

import numpy as np

_WINDOW = 7
"""Side of the window in which structural similarity is measured, in pixels."""
_CONSTANTS = (0.01**2, 0.03**2)
"""They keep structural similarity finite where nothing varies, for values from 0 to 1."""


def strength(heat_nchw: np.ndarray) -> np.ndarray:
    """[row, height, width]: how strongly each pixel is coloured, the strongest channel counting, sign aside."""
    return np.asarray(np.abs(heat_nchw).max(axis=1), np.float32)


def signed_strength(heat_nchw: np.ndarray) -> np.ndarray:
    """[row, height, width]: the value of the strongest channel of each pixel, with its sign."""
    place = np.abs(heat_nchw).argmax(axis=1)[:, None]
    return np.asarray(np.take_along_axis(heat_nchw, place, axis=1)[:, 0], np.float32)


def is_empty(maps: np.ndarray) -> np.ndarray:
    """bool [row]: the same everywhere, so that nothing stands out."""
    flat = maps.reshape(len(maps), -1)
    return np.asarray(flat.max(axis=1) <= flat.min(axis=1))


def ranks(maps: np.ndarray) -> np.ndarray:
    """[row, pixel]: ranks, equal values sharing one, with mean 0 and length 1; 0 for an empty map."""
    from scipy.stats import rankdata  # type: ignore[import-untyped]  # takes a while to load

    ranked = rankdata(maps.reshape(len(maps), -1), axis=1)
    ranked -= ranked.mean(axis=1, keepdims=True)
    length = np.linalg.norm(ranked, axis=1, keepdims=True)
    return np.asarray(np.divide(ranked, length, out=np.zeros_like(ranked), where=length > 0))


def rank_correlation(ranked: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Spearman's, [row], of ranks as `ranks` gives them; 0 where a map is empty: no order is left to share."""
    return np.asarray((ranked * others).sum(axis=1))


def structural_similarity(maps: np.ndarray, others: np.ndarray) -> np.ndarray:
    """[row]: mean SSIM of strengths, each map scaled to its own largest, as it is drawn."""
    from scipy.ndimage import uniform_filter  # type: ignore[import-untyped]  # takes a while to load

    def mean(values: np.ndarray) -> np.ndarray:
        return np.asarray(uniform_filter(values, size=(1, side, side)))

    side = min(_WINDOW, *maps.shape[1:])
    x, y = _scaled(maps), _scaled(others)
    mx, my = mean(x), mean(y)
    vx, vy, both = mean(x * x) - mx * mx, mean(y * y) - my * my, mean(x * y) - mx * my
    a, b = _CONSTANTS
    found = (2 * mx * my + a) * (2 * both + b) / ((mx * mx + my * my + a) * (vx + vy + b))
    return np.asarray(found.mean(axis=(1, 2)))


def moved(maps: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Each map of [row, height, width] shifted at random, wrapping round: its texture stays and its place is gone."""
    height, width = maps.shape[1:]
    down, across = generator.integers(0, height, len(maps)), generator.integers(0, width, len(maps))
    found = [np.roll(m, (int(y), int(x)), axis=(0, 1)) for m, y, x in zip(maps, down, across, strict=True)]
    return np.stack(found)


def _scaled(maps: np.ndarray) -> np.ndarray:
    largest = maps.max(axis=(1, 2), keepdims=True).astype(np.float64)
    return np.asarray(np.divide(maps, largest, out=np.zeros(maps.shape), where=largest > 0))
