"""Means, intervals and differences have the values that tables of statistics give."""

from __future__ import annotations

import statistics

import pytest

from innerview.edits.comparison import mean_of, ratio_of, share_of, table_row
from innerview.schema import EpisodeSummary


def fared(seed: int, length: float, outcome: str = "died", **more: float) -> EpisodeSummary:
    return EpisodeSummary(seed=seed, outcome=outcome, length=int(length), total_reward=0.0, counts=more)


@pytest.mark.parametrize(
    ("freedom", "point"), [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (9, 2.262), (99, 1.984)]
)
def test_students_t(freedom: int, point: float) -> None:
    values = [float(value) for value in range(freedom + 1)]
    told, spread = mean_of(values), statistics.stdev(values)
    assert told.high is not None
    assert (told.high - told.mean) * len(values) ** 0.5 / spread == pytest.approx(point, abs=5e-4)


def test_a_mean_has_students_interval() -> None:
    told = mean_of([1.0, 2.0, 3.0, 4.0, 5.0])
    assert told.mean == 3 and told.n == 5
    assert told.high == pytest.approx(3 + 2.776 * (2.5**0.5) / 5**0.5, abs=0.01)
    assert (
        told.low is not None and told.high is not None and told.mean - told.low == pytest.approx(told.high - told.mean)
    )
    assert mean_of([7.0]).low is None


def test_a_share_has_wilsons_interval() -> None:
    told = share_of(17, 100)
    assert (told.low, told.high) == (pytest.approx(0.1089, abs=1e-3), pytest.approx(0.2555, abs=1e-3))
    assert share_of(0, 10).low == pytest.approx(0) and share_of(10, 10).high == pytest.approx(1)


def test_a_ratio_over_the_same_seeds_knows_that_hard_seeds_are_hard_for_both() -> None:
    full = [100.0, 200.0, 300.0, 400.0]
    told = ratio_of([50.0, 100.0, 150.0, 200.0], full)
    assert told is not None and told.mean == 0.5 and told.low == pytest.approx(0.5)
    assert ratio_of([1.0, 2.0], [0.0, 0.0]) is None


def test_a_line_of_the_table() -> None:
    full = [fared(1, 10, coins=1), fared(2, 20, "time limit", coins=3)]
    half = [fared(1, 9, coins=1), fared(2, 17, coins=1), fared(3, 100)]
    row = table_row(half, full)
    assert row["episodes"] == 3
    assert row["measures"]["length"]["mean"] == pytest.approx(42)
    assert row["measures"]["length"]["difference"]["mean"] == pytest.approx(-2), "over the two seeds that both have"
    assert row["measures"]["length"]["ratio"]["mean"] == pytest.approx(26 / 30)
    assert row["measures"]["coins"]["n"] == 2
    assert row["outcomes"]["died"]["count"] == 3 and row["outcomes"]["time limit"]["mean"] == 0
    assert "difference" not in table_row(full, None)["measures"]["length"]
