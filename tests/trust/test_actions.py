"""Whether maps tell actions apart, on a network where it is known."""

from __future__ import annotations

import numpy as np
import pytest

from innerview.trust.actions import ActionDifference, action_difference, difference_of, elsewhere, more_discriminative
from innerview.trust.question import question_of

from .planted import deep, halves, method, pictures


def measured(name: str) -> ActionDifference | None:
    subject = halves()
    rows = pictures(subject)
    return action_difference(method(name), rows, subject, question_of(subject, rows, "action"))


def test_guided_backpropagation_shares_what_speaks_for_both() -> None:
    found = measured("guided")
    assert found is not None and found.actions == 2 and found.empty == 0
    assert np.isclose(found.differs.mean, 15 / 45), "30 of 45 lies in the row that both are read off"
    assert found.differs.low == found.differs.mean == found.differs.high, "the same in every row"


def test_action_discriminative_maps_share_nothing() -> None:
    found, plain = measured("discriminative"), measured("guided")
    assert found is not None and plain is not None
    assert found.differs.mean == pytest.approx(1), "what speaks for the one speaks against the other"
    more = more_discriminative(found, plain)
    assert more is not None and more.low == pytest.approx(2 / 3) and more.n == 6


def test_a_method_that_is_not_asked_about_actions_has_no_figure() -> None:
    subject = halves()
    rows = pictures(subject)
    question = question_of(subject, rows, "action")
    assert action_difference(method("laplacian"), rows, subject, question) is None
    assert action_difference(method("blurring"), rows, subject, question) is None


def test_of_many_actions_the_chosen_one_and_those_that_came_next() -> None:
    subject = deep()
    rows = pictures(subject)
    question = question_of(subject, rows, "action")
    said = subject.run(rows.inputs(np.arange(6))).heads["policy"].numpy()
    assert np.array_equal(question.order, np.argsort(-said, axis=1))
    found = action_difference(method("gradient"), rows, subject, question)
    assert found is not None and found.actions == 3 and 0.1 < found.differs.mean < 1


def test_mass_that_lies_elsewhere_by_hand() -> None:
    one = np.array([[[2.0, 2.0, 0.0, 0.0]], [[1.0, 0.0, 0.0, 0.0]], [[0.0] * 4], [[1.0, -1.0, 0.0, 0.0]]])
    other = np.array([[[0.0, 1.0, 1.0, 0.0]], [[0.0, 0.0, 0.0, 9.0]], [[1.0] * 4], [[-1.0, 1.0, 0.0, 0.0]]])
    found = elsewhere(one, other)
    assert found[:2].tolist() == [0.5, 1.0] and np.isnan(found[2]) and found[3] == 1.0, "another sign is elsewhere"
    made = difference_of([one, other])
    assert made is not None and made.empty == 0.25 and made.by_row == (0.5, 1.0, None, 1.0)
    assert difference_of([np.zeros((2, 1, 4)), other[:2]]) is None
