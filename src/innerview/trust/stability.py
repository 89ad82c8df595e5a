"""Whether a highlight stays: the paper calls stable what is seen in most frames, and unstable what flickers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from innerview.trust.interval import Interval, bootstrap
from innerview.trust.maps import is_empty, moved

HIGHLIGHT = 0.01
"""The highlight is this share of the pixels: the strongest."""
REACH = 0.04
"""A highlight may move so far from one step to the next, as a share of the picture's shorter side."""
MOST, FEW = 0.5, 0.25
"""Seen in most frames, and in every fourth or fewer, in the paper's words."""
_CHANCES = 3


@dataclass(frozen=True, kw_only=True)
class Stability:
    """How much of what stands out in one step stands out in the next, in the same place or close by."""

    seen_again: Interval
    """Share of highlighted pixels that have a highlighted pixel within reach in the following step."""
    by_chance: float
    """The same where the following map is shifted at random."""
    steps: int
    """Pairs of steps that follow each other."""
    reach_px: int

    @property
    def word(self) -> Literal["stable", "flickers", "partly"]:
        """In the paper's terms: seen again in most frames, in every fourth or fewer, or in between."""
        if self.seen_again.low > MOST:
            return "stable"
        return "flickers" if self.seen_again.high <= FEW else "partly"


def stability(maps: np.ndarray, runs: Sequence[tuple[int, int]], *, seed: int = 0) -> Stability | None:
    """Of strengths [row, height, width] in runs (start, stop) of steps that follow each other.

    None where no two maps follow each other that both show something.
    """
    pairs = [(place, place + 1) for start, stop in runs for place in range(start, stop - 1)]
    empty = is_empty(maps)
    pairs = [(now, after) for now, after in pairs if not (empty[now] or empty[after])]
    if not pairs:
        return None
    before, following = (np.array(side) for side in zip(*pairs, strict=True))
    reach = max(1, round(REACH * min(maps.shape[1:])))
    lit = highlight(maps, seed=seed)
    values = seen_again(lit[before], lit[following], reach)
    generator = np.random.default_rng(seed)
    chance = [seen_again(lit[before], moved(lit[following], generator), reach).mean() for _ in range(_CHANCES)]
    found = bootstrap(values)
    assert found is not None  # there are pairs
    return Stability(seen_again=found, by_chance=float(np.mean(chance)), steps=len(pairs), reach_px=reach)


def highlight(maps: np.ndarray, *, seed: int = 0) -> np.ndarray:
    """bool [row, height, width]: the strongest pixels; of equal ones at the edge of that, some at random, none of 0."""
    flat = maps.reshape(len(maps), -1)
    count = max(1, round(HIGHLIGHT * flat.shape[1]))
    tie = np.random.default_rng(seed).random(flat.shape)
    strongest = np.lexsort((tie, -flat), axis=1)[:, :count]
    lit = np.zeros(flat.shape, bool)
    np.put_along_axis(lit, strongest, True, axis=1)
    return np.asarray((lit & (flat > 0)).reshape(maps.shape))


def seen_again(lit: np.ndarray, following: np.ndarray, reach_px: int) -> np.ndarray:
    """[pair]: share of lit pixels with one of the following within reach; squares stand for discs."""
    from scipy.ndimage import maximum_filter  # type: ignore[import-untyped]  # takes a while to load

    side = 2 * reach_px + 1
    near = maximum_filter(following.astype(np.uint8), size=(1, side, side), mode="constant").astype(bool)
    counted = lit.sum(axis=(1, 2))
    return np.asarray((lit & near).sum(axis=(1, 2)) / np.maximum(counted, 1))
