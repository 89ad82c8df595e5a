"""Divergence, pairs, and the way down to the smallest memory."""

from __future__ import annotations

import math

import numpy as np
import pytest

from innerview.edits.sweep import Descent, kl_divergence, pairs_of, switched
from innerview.errors import EditError


def test_divergence_has_the_known_value_and_is_zero_for_the_same() -> None:
    p, q = np.array([0.5, 0.5]), np.array([0.25, 0.75])
    assert kl_divergence(p, q) == pytest.approx(0.5 * math.log(2) + 0.5 * math.log(2 / 3))
    assert kl_divergence(p, p) == 0
    assert math.isfinite(kl_divergence(np.array([1.0, 0.0]), np.array([0.0, 1.0])))
    assert switched(np.array([[0.6, 0.4], [0.4, 0.6]]), np.array([[0.3, 0.7], [0.1, 0.9]])).tolist() == [True, False]


def test_pairs() -> None:
    assert pairs_of([2, 0, 1]) == [(0, 2), (1, 2), (0, 1)]
    with pytest.raises(EditError, match="130,816 pairs"):
        pairs_of(range(512))


@pytest.mark.parametrize("needed", [{3}, {0, 7}, set(), set(range(8)), {1, 2, 5}])
def test_the_descent_ends_with_what_is_needed(needed: set[int]) -> None:
    """Ranked as a good sweep would: what is not needed comes first."""
    ranked = sorted(range(8), key=lambda e: (e in needed, e))
    descent, tries = Descent(tuple(range(8)), 4), 0
    while not descent.over(patience=3):
        dropped = descent.candidates(ranked)
        descent = descent.went(dropped, well=not needed & set(dropped))
        tries += 1
        assert tries < 40
    assert set(descent.kept) == needed


def test_a_wrong_first_guess_does_not_end_it() -> None:
    ranked = [0, 1, 2, 3, 4, 5, 6, 7]  # 0 is needed, though it looked the least important
    descent = Descent(tuple(range(8)), 4)
    while not descent.over(patience=3):
        dropped = descent.candidates(ranked)
        descent = descent.went(dropped, well=0 not in dropped)
    assert descent.kept == (0,)
