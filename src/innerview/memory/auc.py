"""How well each element tells each fact, and how well it would by chance.

The chance is that of memory and facts that have nothing to do with each other but the time of an episode: the memory of
each episode is paired with the facts of another one, step by step. Single rows are never shuffled, as neighbouring rows
are alike and would make anything look significant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from innerview.memory.facts import Fact

STRATUM = 16
"""Episodes that are swapped with each other; more of them would cost more and change nothing."""
NULL_BYTES = 64 << 20
RANKED_TOGETHER = 32


@dataclass(frozen=True, kw_only=True)
class Half:
    """Some episodes with ranks instead of values, ready for comparing."""

    ranks: np.ndarray
    """float32 [rows, elements], from -0.5 for the lowest to 0.5 for the highest."""
    groups: tuple[tuple[int, int], ...]
    """Start and stop of each episode."""

    @staticmethod
    def of(values: np.ndarray, lengths: Sequence[int]) -> Half:
        """Episodes that follow each other in `values` [rows, elements]."""
        stops = np.cumsum(lengths)
        groups = tuple((int(stop - length), int(stop)) for stop, length in zip(stops, lengths, strict=True))
        return Half(ranks=_ranks(values), groups=groups)


def _ranked(values: np.ndarray) -> np.ndarray:
    """Ranks along the first axis, from 1; equal values share their mean rank."""
    from scipy.stats import rankdata  # type: ignore[import-untyped]

    return np.asarray(rankdata(values, axis=0))


def _ranks(values: np.ndarray) -> np.ndarray:
    ranks = np.empty(values.shape, np.float32)
    for first in range(0, values.shape[1], RANKED_TOGETHER):  # ranking takes many times the memory of what is ranked
        part = slice(first, first + RANKED_TOGETHER)
        ranks[:, part] = (_ranked(values[:, part]) - (len(values) + 1) / 2) / max(1, len(values))
    return ranks


def areas(half: Half, facts: Sequence[Fact], rows: np.ndarray) -> np.ndarray:
    """AUC [elements, facts] of each element for each fact; `rows` says where the half's rows stand in the facts."""
    found = np.full((half.ranks.shape[1], len(facts)), np.nan)
    whole = [j for j, fact in enumerate(facts) if fact.known[rows].all()]
    if whole:
        holds = np.stack([facts[j].holds[rows] for j in whole], axis=1).astype(np.float32)
        found[:, whole] = _area(half.ranks, holds)
    for j in set(range(len(facts))) - set(whole):
        known = facts[j].known[rows]
        if known.any():
            found[:, [j]] = _area(_ranks(half.ranks[known]), facts[j].holds[rows][known][:, None].astype(np.float32))
    return found


def _area(ranks: np.ndarray, holds: np.ndarray) -> np.ndarray:
    """AUC from the mean ranks with and without the fact; NaN where it always or never holds."""
    count = holds.sum(axis=0, dtype=np.float64)
    with_fact = ranks.T @ holds
    without = ranks.sum(axis=0, dtype=np.float64)[:, None] - with_fact
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(0.5 + with_fact / count - without / (len(ranks) - count))


def chances(
    half: Half, facts: Sequence[Fact], rows: np.ndarray, *, direction: np.ndarray, swaps: int, seed: int
) -> Iterator[tuple[int, np.ndarray]]:
    """For each fact its place, and p [elements] that an element tells it as well in that direction by chance.

    What is compared: of two episodes at the same step, one with the fact and one without, how often the element is
    higher in the first. So whatever changes with time alone tells nothing. Swaps are pooled over all elements: a few
    episodes can be swapped in few ways, but hundreds of elements in each of them. Swaps leave no episode with its own
    facts, or a true flag would hide among its own traces.
    """
    random = np.random.default_rng(seed)
    strata = _strata(len(half.groups), random)
    orders = [_orders(len(stratum), swaps, random) for stratum in strata]
    as_it_was = [np.arange(len(stratum))[None] for stratum in strata]
    ranks = _within_steps(half.ranks, half.groups)
    each = max(1, NULL_BYTES // (8 * swaps * ranks.shape[1]))
    for first in range(0, len(facts), each):
        sides = np.stack([_side(fact, rows, half.groups) for fact in facts[first : first + each]], axis=-1)
        blocks = [_blocks(ranks, half.groups, sides, stratum) for stratum in strata]
        true, swapped = _summed(blocks, as_it_was)[0], _summed(blocks, orders)
        for j in range(sides.shape[-1]):
            yield first + j, _pooled(true[:, j], swapped[:, :, j], direction[:, first + j])


def _strata(count: int, random: np.random.Generator) -> list[np.ndarray]:
    return np.array_split(random.permutation(count), max(1, round(count / STRATUM)))


def _orders(count: int, swaps: int, random: np.random.Generator) -> np.ndarray:
    """[swaps, count], orders that leave nothing in its place."""
    orders: list[np.ndarray] = []
    while len(orders) < swaps:
        order = random.permutation(count)
        if (order != np.arange(count)).all():
            orders.append(order)
    return np.stack(orders)


def _within_steps(values: np.ndarray, groups: Sequence[tuple[int, int]]) -> np.ndarray:
    """Ranks [rows, elements] among all episodes at the same step, around 0: what only the clock tells is gone."""
    longest = max(stop - start for start, stop in groups)
    ranks = np.empty_like(values)
    for step in range(longest):
        rows = np.array([start + step for start, stop in groups if start + step < stop])
        ranks[rows] = _ranked(values[rows]) - (len(rows) + 1) / 2
    return ranks


def _side(fact: Fact, rows: np.ndarray, groups: Sequence[tuple[int, int]]) -> np.ndarray:
    """[episodes, longest], 1 where a fact holds, -1 where it does not, 0 where that is unknown.

    After an episode's end nothing is known, but what lasts is held to go on.
    """
    side = np.zeros((len(groups), max(stop - start for start, stop in groups)), np.float32)
    for i, (start, stop) in enumerate(groups):
        here = rows[start:stop]
        side[i, : stop - start] = np.where(fact.holds[here], 1, -1) * fact.known[here]
        if fact.lasts:
            side[i, stop - start :] = side[i, stop - start - 1]
    return side


def _blocks(ranks: np.ndarray, groups: Sequence[tuple[int, int]], sides: np.ndarray, stratum: np.ndarray) -> np.ndarray:
    """[episodes · episodes, elements, facts], the sum for each episode's memory with each episode's facts."""
    size, facts = len(stratum), sides.shape[-1]
    sums = np.empty((size, size, ranks.shape[1], facts), np.float32)
    told = np.ascontiguousarray(sides[stratum].transpose(1, 0, 2)).reshape(-1, size * facts)
    for place, memory in enumerate(stratum):
        start, stop = groups[memory]
        product = ranks[start:stop].T @ told[: stop - start]
        sums[place] = product.reshape(-1, size, facts).transpose(1, 0, 2)
    return sums.reshape(-1, *sums.shape[2:])


def _summed(blocks: Sequence[np.ndarray], orders: Sequence[np.ndarray]) -> np.ndarray:
    """[swaps, elements, facts], the blocks that each order takes, added up over episodes and strata."""
    total = np.zeros((len(orders[0]), *blocks[0].shape[1:]), np.float32)
    for sums, order in zip(blocks, orders, strict=True):
        swaps, size = order.shape
        takes = np.zeros((swaps, size * size), np.float32)
        takes[np.arange(swaps)[:, None], np.arange(size) * size + order] = 1
        total += (takes @ sums.reshape(size * size, -1)).reshape(total.shape)
    return total


def _pooled(true: np.ndarray, swapped: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """p [elements] of true sums among swapped ones [swaps, elements], on the side of the direction."""
    moves = np.abs(swapped).max(axis=0) > 0
    pool = np.sort(swapped[:, moves].ravel())
    as_high = len(pool) - np.searchsorted(pool, true, side="left")
    as_low = np.searchsorted(pool, true, side="right")
    return np.where(moves, (1 + np.where(direction > 0, as_high, as_low)) / (1 + len(pool)), 1.0)


def corrected(p: np.ndarray) -> np.ndarray:
    """q by Benjamini and Hochberg: the share of false discoveries among all pairs with a p as small."""
    from scipy.stats import false_discovery_control  # takes a while to load

    return np.asarray(false_discovery_control(p, axis=None)).reshape(p.shape) if p.size else p
