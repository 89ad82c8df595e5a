"""Surprise: generalised advantage estimates, as written down by hand."""

from __future__ import annotations

import numpy as np

from innerview.metrics import Stretch, standard
from innerview.metrics.advantage import advantage
from innerview.schema import Column

REWARD = np.array([0.0, 0.0, 1.0, 0.0, 5.0])
VALUE = np.array([0.5, 0.6, 0.9, 2.0, 3.0])
ROWS = Stretch.of(np.array([0, 3]), 0, 5)


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
    np.testing.assert_allclose(advantage(REWARD, VALUE, ROWS, discount=discount, smoothing=smoothing), by_hand)


def test_a_subject_that_knows_is_never_surprised() -> None:
    value = np.array([0.81, 0.9, 1.0])
    found = advantage(np.array([0.0, 0, 1]), value, Stretch.of(np.array([0]), 0, 3), discount=0.9, smoothing=0.95)
    np.testing.assert_allclose(found, 0, atol=1e-12)


def test_an_unknown_value_is_an_unknown_advantage() -> None:
    value = np.array([0.5, np.nan, 0.9, 2.0, 3.0])
    found = advantage(REWARD, value, ROWS, discount=1.0, smoothing=1.0)
    assert np.isnan(found).tolist() == [False, True, False, False, False]


def test_it_is_offered_where_there_are_rewards_and_one_value() -> None:
    columns = (Column(name="reward", type="float", kind="reward"), Column(name="value", type="float", kind="value"))
    assert [one.column.name for one in standard(columns, (), kinds=(), timed=True)] == ["advantage"]
    assert standard(columns[:1], (), kinds=(), timed=True) == []
    assert standard(columns, (), kinds=(), timed=False) == []
