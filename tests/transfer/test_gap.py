"""Errors in two domains: hand-computed figures, and intervals that mean something."""

from __future__ import annotations

import numpy as np
import pytest

from innerview.transfer.gain import gain
from innerview.transfer.gap import gaps
from innerview.transfer.interval import RESAMPLES, estimate, resampled


def both(reference: list[float], other: list[float]) -> np.ndarray:
    return np.array([reference, other])


def test_figures_are_those_of_hand() -> None:
    errors = {"first": both([1, 2, 3], [5, 6, 10]), "second": both([1, 1, 1], [2, 3, 4])}
    mean = gaps(errors, baseline="first", statistic="mean")
    assert (mean["first"].reference.value, mean["first"].other.value, mean["first"].gap.value) == (2, 7, 5)
    assert mean["second"].gap.value == 2
    assert mean["first"].closed is None
    assert mean["second"].closed is not None
    assert mean["second"].closed.value == pytest.approx(1 - 2 / 5)
    median = gaps(errors, baseline="first", statistic="median")
    assert (median["first"].gap.value, median["second"].gap.value) == (4, 2)


def test_a_gap_that_is_the_same_in_every_pair_is_certain_however_far_errors_spread() -> None:
    reference = np.random.default_rng(0).random(40) * 9
    found = gaps({"a": np.stack([reference, reference + 2])}, baseline="a", statistic="mean")["a"]
    assert found.gap.low == pytest.approx(2)
    assert found.gap.high == pytest.approx(2)
    assert found.reference.high - found.reference.low > 1


def test_equally_wrong_in_both_domains_is_no_gap_and_closes_nothing() -> None:
    rng = np.random.default_rng(0)
    wrong = {"a": rng.normal(6, 1, (2, 50)), "b": rng.normal(1, 0.1, (2, 50))}
    found = gaps(wrong, baseline="a", statistic="mean")
    assert found["a"].gap.sign == 0
    assert found["b"].closed is None


def test_every_draw_takes_the_same_rows_of_all_models() -> None:
    values = np.stack([np.arange(30.0), 2 * np.arange(30.0)])
    drawn = resampled(values, np.mean)
    assert drawn.shape == (RESAMPLES, 2)
    np.testing.assert_allclose(drawn[:, 1], 2 * drawn[:, 0])
    assert np.array_equal(drawn, resampled(values, np.mean))


def test_many_rows_are_drawn_in_parts() -> None:
    values = np.random.default_rng(0).normal(0, 1, (1, 20_000))
    drawn = resampled(values, np.mean)
    assert drawn.shape == (RESAMPLES, 1)
    found = estimate(float(values.mean()), drawn[:, 0])
    assert found.high - found.low == pytest.approx(2 * 1.96 / np.sqrt(20_000), rel=0.1)


def test_a_gain_is_after_less_before_and_leaves_out_what_is_no_number() -> None:
    found = gain(np.array([4.0, 6, np.nan]), np.array([2.0, 4, 1]), np.array([1.0, 1, 1]))
    assert (found.before.value, found.after.value, found.difference.value) == (5, 3, -2)
    assert (found.difference.sign, found.left_out) == (-1, 1)
    assert found.closed is not None
    assert found.closed.value == pytest.approx(2 / 4)
