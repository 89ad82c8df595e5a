"""Orders of elements against table 4.1, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from innerview.errors import LensError, UnknownName
from innerview.memory.orders import BY, Order, Span, sort_elements
from innerview.schema import States, rows

LENGTHS = (13, 7, 20)


@pytest.fixture(params=[None, 3], ids=["one piece", "pieces of three rows"])
def states(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    values = np.random.default_rng(3).normal(size=(sum(LENGTHS), 6)).astype(np.float32) + np.arange(6)
    if request.param:
        monkeypatch.setattr(rows, "PIECE_BYTES", 4 * 6 * request.param)
    return values


def span(values: np.ndarray, interval: tuple[int, int] | None = None) -> Span:
    begins = np.zeros(len(values), bool)
    begins[np.cumsum((0, *LENGTHS[:-1]))] = True
    return Span(states=States.of(values), begins=begins, start=0, stop=len(values), interval=interval)


def check(order: Order, scores: np.ndarray) -> None:
    assert np.allclose(order.scores, scores, rtol=1e-5)
    assert order.order.tolist() == np.argsort(-scores, kind="stable").tolist()
    assert order.explains


def test_activation_is_the_sum_of_absolute_values(states: np.ndarray) -> None:
    check(sort_elements("activation", span(states)), np.abs(states).sum(0))
    check(sort_elements("activation", span(states, (5, 18))), np.abs(states[5:18]).sum(0))


def test_change_never_counts_the_border_of_an_episode(states: np.ndarray) -> None:
    episodes = np.split(states, np.cumsum(LENGTHS)[:-1])
    change = sum(np.abs(np.diff(episode, axis=0)).sum(0) for episode in episodes)
    check(sort_elements("change", span(states)), change)
    check(sort_elements("stable", span(states)), 1 / change)
    inside = np.abs(np.diff(states[9:13], axis=0)).sum(0) + np.abs(np.diff(states[13:16], axis=0)).sum(0)
    check(sort_elements("change", span(states, (9, 16))), inside)


def test_an_element_that_never_changes_is_the_most_stable(states: np.ndarray) -> None:
    states[:, 4] = 1.5
    made = sort_elements("stable", span(states))
    assert made.order[0] == 4 and np.isinf(made.scores[4])


def test_similar_compares_the_interval_with_the_whole(states: np.ndarray) -> None:
    check(sort_elements("similar", span(states, (2, 9))), np.abs(states.mean(0) - states[2:9].mean(0)))
    with pytest.raises(LensError, match="brush an interval"):
        sort_elements("similar", span(states))


def test_correlation_keeps_its_sign_and_leaves_unknown_rows_out(states: np.ndarray) -> None:
    told = -states[:, 2] + 0.1 * states[:, 0] + 1e6
    told[[4, 30]] = np.nan
    states[4, 2] = 1e3
    made = sort_elements("correlation", span(states), column=told.astype(float), column_name="health")
    known = np.isfinite(told)
    by_hand = [np.corrcoef(states[known, i], told[known])[0, 1] for i in range(6)]
    assert np.allclose(made.scores, by_hand, atol=1e-3)
    assert made.order[0] == 2 and made.scores[2] < -0.9 and "'health'" in made.explains


@pytest.mark.parametrize("column", [None, np.array(["a"] * 40, object), np.ones(40), np.full(40, np.nan)])
def test_columns_that_cannot_correlate_are_refused(column: np.ndarray | None) -> None:
    values = np.zeros((40, 3), np.float32)
    with pytest.raises(LensError, match="column"):
        sort_elements("correlation", span(values), column=column)


@pytest.mark.parametrize("by", ["tsne", "cluster"])
def test_like_elements_stand_together(by: str) -> None:
    random = np.random.default_rng(0)
    waves = np.abs(np.cumsum(random.normal(size=(300, 3)), axis=0))
    family = random.permutation(np.repeat(np.arange(3), 10))
    values = (waves[:, family] + random.normal(size=(300, 30)) * 0.2).astype(np.float32)
    whole = Span(states=States.of(values), begins=np.arange(300) == 0, start=0, stop=300)
    made = sort_elements(by, whole)
    assert sorted(made.order) == list(range(30))
    assert np.count_nonzero(np.diff(family[made.order])) == 2, "each family is one block"
    assert np.array_equal(made.order, sort_elements(by, whole).order)


@pytest.mark.parametrize("elements", [1, 2, 4])
@pytest.mark.parametrize("by", set(BY) - {"similar", "correlation"})
def test_small_and_constant_memories_have_an_order_too(by: str, elements: int) -> None:
    values = np.zeros((40, elements), np.float32)
    assert sorted(sort_elements(by, span(values)).order) == list(range(elements))


def test_unknown_orders_name_the_nearest(states: np.ndarray) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'activation'"):
        sort_elements("activaton", span(states))
    assert sort_elements("model", span(states)).order.tolist() == list(range(6))
