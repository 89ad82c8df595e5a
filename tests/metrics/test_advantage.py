"""TD errors and generalised advantage estimates, as written down by hand."""

from __future__ import annotations

import numpy as np
import pytest

from innerview.metrics import Stretch, standard
from innerview.metrics.advantage import advantage, calibrate, td_errors
from innerview.schema import Column

REWARD = np.array([0.0, 0.0, 1.0, 0.0, 5.0])
VALUE = np.array([0.5, 0.6, 0.9, 2.0, 3.0])
ROWS = Stretch.of(np.array([0, 3]), 0, 5)
OVER = np.zeros(5, bool)
CUT = np.array([False, False, False, True, True])


def test_each_episode_is_added_up_from_its_end() -> None:
    discount, smoothing = 0.9, 0.5
    by_hand = []
    for start, stop in ((0, 3), (3, 5)):
        later = 0.0
        found = []
        for t in reversed(range(start, stop)):
            then = VALUE[t + 1] if t + 1 < stop else 0.0
            later = REWARD[t] + discount * then - VALUE[t] + discount * smoothing * later
            found.append(later)
        by_hand += found[::-1]
    np.testing.assert_allclose(advantage(REWARD, VALUE, ROWS, OVER, discount=discount, smoothing=smoothing), by_hand)


def test_a_subject_that_knows_is_never_surprised() -> None:
    value = np.array([0.81, 0.9, 1.0])
    rows = Stretch.of(np.array([0]), 0, 3)
    found = advantage(np.array([0.0, 0, 1]), value, rows, np.zeros(3, bool), discount=0.9, smoothing=0.95)
    np.testing.assert_allclose(found, 0, atol=1e-12)


def test_an_unknown_value_is_an_unknown_advantage() -> None:
    value = np.array([0.5, np.nan, 0.9, 2.0, 3.0])
    found = advantage(REWARD, value, ROWS, OVER, discount=1.0, smoothing=1.0)
    assert np.isnan(found).tolist() == [True, True, False, False, False], "the row before needs the value, too"


def test_it_is_offered_where_there_are_rewards_and_one_value() -> None:
    columns = (Column(name="reward", type="float", kind="reward"), Column(name="value", type="float", kind="value"))
    assert [one.column.name for one in standard(columns, (), kinds=(), timed=True)] == [
        "TD error",
        "advantage",
        "calibrated advantage",
    ]
    assert standard(columns[:1], (), kinds=(), timed=True) == []
    assert standard(columns, (), kinds=(), timed=False) == []


def test_after_a_cut_nothing_is_made_up() -> None:
    """A time limit is no failure: what was expected after it is not known, and counts for nothing before it."""
    errors = td_errors(REWARD, VALUE, ROWS, CUT, discount=0.9)
    np.testing.assert_allclose(errors, [0.04, 0.21, 0.1, 0.7, np.nan])
    found = advantage(REWARD, VALUE, ROWS, CUT, discount=0.9, smoothing=0.5)
    np.testing.assert_allclose(found[3:], [0.7, np.nan])
    failed = advantage(REWARD, VALUE, ROWS, OVER, discount=0.9, smoothing=0.5)
    np.testing.assert_allclose(failed[3:], [0.7 + 0.45 * 2.0, 2.0])


def test_values_on_another_scale_are_noticed_and_brought_to_that_of_the_rewards() -> None:
    reward = np.random.default_rng(0).uniform(1, 3, 200)
    foretold = np.array([sum(r * 0.9**k for k, r in enumerate(reward[t : t + 300])) for t in range(200)])
    rows, over = Stretch.of(np.zeros(1), 0, 200), np.zeros(200, bool)
    settings = {"discount": 0.9, "smoothing": 0.95}
    scaled = calibrate(reward, foretold / 40 - 3, rows, over, **settings)
    assert scaled is not None and "above 0 in 100 % of the rows" in scaled.warning.replace("100%", "100 %")
    np.testing.assert_allclose(scaled.apply(foretold / 40 - 3), foretold, rtol=1e-6)
    noise = np.random.default_rng(1).normal(0, 1, 200)
    fitting = calibrate(reward, foretold + noise, rows, over, **settings)
    assert fitting is not None and fitting.warning == "" and 0.3 < fitting.above < 0.7


def test_a_value_that_says_the_opposite_is_not_turned_round() -> None:
    reward = np.random.default_rng(0).uniform(0, 1, 100)
    foretold = np.array([sum(r * 0.9**k for k, r in enumerate(reward[t:])) for t in range(100)])
    rows, over = Stretch.of(np.zeros(1), 0, 100), np.zeros(100, bool)
    found = calibrate(reward, -foretold, rows, over, discount=0.9, smoothing=0.95)
    assert found is not None and found.slope == 0
    errors = td_errors(reward, found.apply(-foretold), rows, over, discount=0.9)
    assert errors.mean() == pytest.approx(0, abs=1e-9), "its mean is right all the same"
