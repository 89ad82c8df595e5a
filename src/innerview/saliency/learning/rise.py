"""When a signal begins to rise during training: one criterion for maps and for rewards, with an interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

SHARE = 0.25
"""Of its final rise, that a signal has to reach and to stay beyond."""
SAMPLES = 1000


@dataclass(frozen=True, kw_only=True)
class Rise:
    """The step from which on a signal stays beyond a share of its final rise."""

    step: float | None
    """None where it does not rise."""
    after: float | None = None
    """The step before, in which it was not there: it happened between the two."""
    low: float | None = None
    """With `high` a 95 % interval; where nothing was resampled, that between the two steps."""
    high: float | None = None
    clear: float | None = None
    """The first step from which on it differs from the fresh network, each by a paired 95 % interval."""
    why: str = ""
    """Why there is none."""


def rise(
    steps: Sequence[float], values: np.ndarray, *, share: float = SHARE, paired: bool = True, seed: int = 0
) -> Rise:
    """Of values [step, block]: blocks are resampled, the same in every step where they are `paired`; NaN is left out.

    With a single block nothing is resampled: a curve that comes without its spread.
    """
    means = block_means(values)
    if len(means) < 2:
        return Rise(step=None, why="there is one step alone")
    drawn = _resampled(values, paired, seed) if values.shape[1] > 1 else means[None]
    change = drawn[:, -1] - drawn[:, 0]
    if len(drawn) > 1:
        low, high = np.percentile(change, [2.5, 97.5])
        if low <= 0 <= high:
            return Rise(
                step=None, why=f"its change over the training, {means[-1] - means[0]:+.3g}, is not beyond chance"
            )
    elif means[-1] == means[0]:
        return Rise(step=None, why="it ends where it began")
    place = _reached(means, share)
    places = np.array([_reached(line, share) for line in drawn if line[-1] != line[0]])
    first, last = np.percentile(places, [2.5, 97.5], method="inverted_cdf").astype(int)
    return Rise(
        step=float(steps[place]),
        after=float(steps[place - 1]),
        low=float(steps[first - 1]),
        high=float(steps[last]),
        clear=_clear(steps, drawn) if len(drawn) > 1 else None,
    )


def block_means(values: np.ndarray) -> np.ndarray:
    """[step], over the blocks that are known in each."""
    known = np.isfinite(values)
    sums: np.ndarray = np.where(known, values, 0).sum(1) / np.maximum(known.sum(1), 1)
    return sums


def intervals(values: np.ndarray, *, seed: int = 0) -> np.ndarray:
    """95 % intervals of the means of values [step, block], [step, 2]; the mean itself where there is one block."""
    if values.shape[1] < 2:
        return np.repeat(block_means(values)[:, None], 2, axis=1)
    edges: np.ndarray = np.percentile(_resampled(values, True, seed), [2.5, 97.5], axis=0).T
    return edges


def in_blocks(values: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """Values [step, row] as means of the rows of each block [row], [step, block]; NaN where none is known."""
    count = int(blocks.max()) + 1
    return np.stack([_mean_known(values[:, blocks == block]) for block in range(count)], axis=1)


def _mean_known(values: np.ndarray) -> np.ndarray:
    known = np.isfinite(values)
    counts = known.sum(1)
    sums = np.where(known, values, 0).sum(1)
    means: np.ndarray = np.divide(sums, counts, out=np.full(len(values), np.nan), where=counts > 0)
    return means


def _resampled(values: np.ndarray, paired: bool, seed: int) -> np.ndarray:
    """Means of blocks drawn again, [sample, step]."""
    random, (steps, blocks) = np.random.default_rng(seed), values.shape
    if paired:
        chosen = random.integers(0, blocks, (SAMPLES, blocks))
        return np.stack([block_means(values[:, some]) for some in chosen])
    return np.stack(
        [
            block_means(np.take_along_axis(values, random.integers(0, blocks, (steps, blocks)), axis=1))
            for _ in range(SAMPLES)
        ]
    )


def _reached(line: np.ndarray, share: float) -> int:
    """The first place from which on a line stays beyond a share of its final rise, which it does at its end."""
    beyond = (line - line[0]) / (line[-1] - line[0]) >= share
    short = np.flatnonzero(~beyond)
    return int(short[-1]) + 1


def _clear(steps: Sequence[float], drawn: np.ndarray) -> float | None:
    """The first step from which on the difference to the first has an interval on the side of the last."""
    apart = (drawn - drawn[:, :1]) * np.sign(np.median(drawn[:, -1] - drawn[:, 0]))
    low = np.percentile(apart, 2.5, axis=0)
    short = np.flatnonzero(low <= 0)
    place = int(short[-1]) + 1
    return float(steps[place]) if place < len(steps) else None
