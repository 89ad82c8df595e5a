"""How long an element goes on telling a fact that is over."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from innerview.memory.facts import Fact

HORIZON = 100
"""Steps after which nobody asks any more."""
MIN_AUC = 0.75
MIN_ROWS = 5
"""Times a fact must have been over for so many steps before anything is said."""


def since_end(fact: Fact, groups: Sequence[tuple[int, int]]) -> np.ndarray:
    """[rows], steps since the fact ended last; 0 while it holds, -1 where it has not been in this episode.

    What happened once and counts from then on ended in the row in which it happened.
    """
    since = np.full(len(fact.holds), -1)
    for start, stop in groups or [(0, len(fact.holds))]:
        holds, here = fact.holds[start:stop], np.arange(stop - start)
        last = np.maximum.accumulate(np.where(holds, here, -1))
        if fact.lasts:
            first = int(holds.argmax()) if holds.any() else len(holds)
            since[start:stop] = np.where(holds, here - first + 1, -1)
        else:
            since[start:stop] = np.where(last >= 0, here - last, -1)
    return since


def retention_steps(values: np.ndarray, since: np.ndarray, *, direction: np.ndarray, lasts: bool = False) -> np.ndarray:
    """[elements], for how many steps after the end the AUC stays above 0.75 against rows without any trace of the fact.

    `values` [rows, elements]; -1 where the fact was not over often enough to say.
    """
    untouched = since < 0 if lasts else (since < 0) | (since > HORIZON)
    without = np.sort(values[untouched] * direction, axis=0)
    kept = np.full(values.shape[1], -1)
    if len(without) < MIN_ROWS:
        return kept
    going = np.ones(values.shape[1], bool)
    for steps in range(1, HORIZON + 1):
        with_trace = values[since == steps] * direction
        if len(with_trace) < MIN_ROWS or not going.any():
            break
        going &= _beats(with_trace, without) > MIN_AUC
        kept[kept < 0] = 0
        kept[going] = steps
    return kept


def _beats(some: np.ndarray, others: np.ndarray) -> np.ndarray:
    """AUC [elements] of some rows over others, which are sorted."""
    found = np.empty(some.shape[1])
    for i in range(some.shape[1]):
        below = np.searchsorted(others[:, i], some[:, i], side="left")
        equal = np.searchsorted(others[:, i], some[:, i], side="right")
        found[i] = (below + equal).mean() / (2 * len(others))
    return found
