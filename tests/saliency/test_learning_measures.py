"""Figures of maps during training, and when they begin to rise."""

from __future__ import annotations

import numpy as np
import pytest

from innerview.saliency.learning.measures import agreement, contrast, on_objects
from innerview.saliency.learning.rise import in_blocks, intervals, rise


def test_agreement_is_the_correlation_of_sizes() -> None:
    maps = np.random.default_rng(0).normal(size=(3, 2, 4, 5))
    assert np.allclose(agreement(maps, -2 * maps), 1)
    other = np.random.default_rng(1).normal(size=maps.shape)
    wanted = [np.corrcoef(np.abs(a).ravel(), np.abs(b).ravel())[0, 1] for a, b in zip(maps, other, strict=True)]
    assert np.allclose(agreement(maps, other), wanted)
    assert (agreement(maps * 0, other) == 0).all(), "an empty map agrees with nothing"
    assert np.isnan(agreement(maps, other * 0)).all(), "there is nothing to agree with"


def test_the_share_on_objects_by_hand() -> None:
    maps = np.zeros((3, 1, 2, 2))
    maps[0, 0] = [[3, -1], [0, 0]]
    maps[1, 0] = [[1, 1], [1, 1]]
    objects = np.zeros((3, 2, 2), bool)
    objects[0, 0, 0] = objects[2, 0, 0] = True
    share = on_objects(maps, objects)
    assert share[0] == 0.75
    assert np.isnan(share[1:]).all(), "no object; no map"


def test_contrast_counts_neighbours_of_opposite_sign() -> None:
    edge = np.array([[[[2.0, -1.0], [2.0, -1.0]]]])
    assert contrast(edge)[0] == (3 + 3) / 4
    assert contrast(np.abs(edge))[0] == 0
    assert np.isclose(contrast(5 * edge)[0], 5 * contrast(edge)[0]), "it grows with the strength"


def planted(at: int, count: int = 10, blocks: int = 8, noise: float = 0.02) -> np.ndarray:
    """0 before a step and 1 from it on, with noise by block."""
    line = (np.arange(count) >= at).astype(float)
    return line[:, None] + noise * np.random.default_rng(at).normal(size=(count, blocks))


def test_a_planted_rise_is_found_where_it_is() -> None:
    steps = [2**i for i in range(10)]
    for at in (2, 5, 9):
        found = rise(steps, planted(at))
        assert (found.after, found.step) == (steps[at - 1], steps[at])
        assert (found.low, found.high) == (steps[at - 1], steps[at])
        assert found.clear == steps[at]
    falls = rise(steps, -planted(4))
    assert falls.step == steps[4], "a signal may fall"


def test_a_rise_has_to_stay() -> None:
    values = planted(3)
    values[6] = 0.1
    assert rise(range(10), values).step == 7


def test_noise_does_not_rise() -> None:
    noise = np.random.default_rng(3).normal(size=(10, 8))
    found = rise(range(10), noise)
    assert found.step is None and "not beyond chance" in found.why
    assert rise([0], np.ones((1, 4))).step is None
    assert rise([0, 1], np.ones((2, 1))).why == "it ends where it began"


def test_a_noisier_signal_has_a_wider_interval() -> None:
    slope = np.linspace(0, 1, 30)[:, None]
    noise = np.random.default_rng(5).normal(size=(30, 8))
    sharp, dull = (rise(range(30), slope + size * noise) for size in (0.01, 0.2))
    assert sharp.high is not None and sharp.low is not None and dull.high is not None and dull.low is not None
    assert dull.high - dull.low > sharp.high - sharp.low
    assert sharp.low <= 0.25 * 29 <= sharp.high


def test_a_curve_without_spread_lies_between_two_points() -> None:
    found = rise([10, 20, 30, 40], np.array([[0.0], [0.1], [0.6], [1.0]]))
    assert (found.step, found.low, found.high, found.clear) == (30, 20, 30, None)


def test_blocks_are_means_of_their_rows_and_leave_out_what_is_unknown() -> None:
    values = np.array([[1.0, 3.0, np.nan, 5.0]])
    assert np.allclose(in_blocks(values, np.array([0, 0, 1, 1])), [[2, 5]])
    assert np.isnan(in_blocks(values[:, 2:3], np.array([0]))).all()
    low, high = intervals(planted(2))[0]
    assert low < planted(2)[0].mean() < high
    with pytest.raises(IndexError):
        intervals(np.ones(3))
