"""Figures of maps that change while a network learns."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np


def agreement(maps: np.ndarray, last: np.ndarray) -> np.ndarray:
    """[row]: correlation of the sizes of maps [row, channel, height, width] with those of the last snapshot.

    0 where a map is the same everywhere, NaN where the last one is.
    """
    one, other = (np.abs(values).reshape(len(values), -1).astype(np.float64) for values in (maps, last))
    one, other = one - one.mean(1, keepdims=True), other - other.mean(1, keepdims=True)
    size = np.sqrt((one**2).sum(1) * (other**2).sum(1))
    found = np.divide((one * other).sum(1), size, out=np.zeros(len(one)), where=size > 0)
    return np.where((other != 0).any(1), found, np.nan)


def on_objects(maps: np.ndarray, objects: np.ndarray) -> np.ndarray:
    """[row]: the share of a map's sizes that falls on objects [row, height, width], true where there is one.

    NaN where a row has no object, or a map is 0 everywhere.
    """
    sizes = np.abs(maps).sum(1, dtype=np.float64)
    whole = sizes.sum((1, 2))
    known = (whole > 0) & objects.any((1, 2))
    share = np.divide((sizes * objects).sum((1, 2)), whole, out=np.full(len(maps), np.nan), where=known)
    return np.asarray(share)


def contrast(maps: np.ndarray) -> np.ndarray:
    """[row]: how strongly positive and negative parts meet: the mean step between neighbours of opposite sign.

    Over all pairs of neighbours, down and across in the same channel; a pair of one sign counts 0.
    """
    values = maps.astype(np.float64)
    sums, pairs = np.zeros(len(values)), 0
    for one, other in ((values[:, :, 1:], values[:, :, :-1]), (values[..., 1:], values[..., :-1])):
        sums += np.where(one * other < 0, np.abs(one - other), 0).sum((1, 2, 3))
        pairs += int(np.prod(one.shape[1:]))
    return np.asarray(sums / max(pairs, 1))


def measured(
    maps: np.ndarray, last: np.ndarray, objects: np.ndarray | None, *, signed: bool
) -> Mapping[str, np.ndarray]:
    """All that can be said of maps [row, channel, height, width] beside those of the last snapshot, each [row]."""
    found = {"agreement": agreement(maps, last)}
    if objects is not None:
        found["on objects"] = on_objects(maps, objects)
    if signed:
        found["contrast"] = contrast(maps)
    return found
