"""What dropping elements does to decisions, and how to go down to the smallest memory that will do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from innerview.errors import EditError

_SMALL = 1e-12
MAX_PAIRS = 5_000


def kl_divergence(full: np.ndarray, reduced: np.ndarray) -> np.ndarray:
    """Kullback–Leibler divergence of [.., actions] in nats: the surprise at `full` where `reduced` was expected."""
    p, q = np.clip(full, _SMALL, 1.0), np.clip(reduced, _SMALL, 1.0)
    told: np.ndarray = np.maximum((p * np.log(p / q)).sum(axis=-1), 0.0)
    return told


def switched(full: np.ndarray, reduced: np.ndarray) -> np.ndarray:
    """Whether the most probable action is another one."""
    told: np.ndarray = full.argmax(axis=-1) != reduced.argmax(axis=-1)
    return told


def pairs_of(elements: Sequence[int]) -> list[tuple[int, int]]:
    """Every pair of elements, or an error where that would be too many."""
    count = len(elements) * (len(elements) - 1) // 2
    if count > MAX_PAIRS:
        raise EditError(f"{len(elements)} elements make {count:,} pairs; choose fewer (at most {MAX_PAIRS:,} pairs).")
    return [(min(pair), max(pair)) for pair in combinations(elements, 2)]


@dataclass(frozen=True)
class Descent:
    """Where a search for the smallest memory stands: what is kept, and how many are tried to be dropped at once."""

    kept: tuple[int, ...]
    chunk: int
    failed: int = 0
    """How many single elements could not be spared in a row."""

    def candidates(self, by_effect: Sequence[int]) -> tuple[int, ...]:
        """The elements to try without: the least important ones, or the next single one after those that failed."""
        ranked = [element for element in by_effect if element in set(self.kept)]
        start = self.failed if self.chunk == 1 else 0
        return tuple(ranked[start : start + self.chunk])

    def went(self, dropped: Sequence[int], *, well: bool) -> Descent:
        """The next try: as many again where it went well, half as many where it did not."""
        if well:
            kept = tuple(element for element in self.kept if element not in set(dropped))
            return Descent(kept, max(1, min(self.chunk, len(kept) // 2)))
        if self.chunk > 1:
            return Descent(self.kept, self.chunk // 2)
        return Descent(self.kept, 1, self.failed + 1)

    def over(self, patience: int) -> bool:
        """Whether nothing more can be dropped, or enough single ones were tried in vain."""
        return not self.kept or self.failed >= min(patience, len(self.kept))
