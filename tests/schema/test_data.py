"""What columns of recordings hold, whoever wrote them."""

from __future__ import annotations

import numpy as np
import pytest

from innerview.schema import entropy


def test_entropy_runs_from_certain_to_coin_toss() -> None:
    rows = np.array([[1, 0, 0, 0], [0.25, 0.25, 0.25, 0.25], [0.5, 0.5, 0, 0]])
    assert entropy(rows) == pytest.approx([0, 1, 0.5], abs=1e-6)
    assert entropy(rows[:, :1]).tolist() == [0, 0, 0], "who has no choice is certain"


def test_entropy_stands_rounded_probabilities() -> None:
    assert entropy(np.array([[0.2, 0.7], [0.3, 0.3]])) == pytest.approx(entropy(np.array([[2 / 9, 7 / 9], [0.5, 0.5]])))
