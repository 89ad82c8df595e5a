"""The search for numbers: it finds what is known, stays in range and within its budget, and goes on where it was."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from innerview.transfer.search import Point, Range, best_of, next_points

RANGES = [Range(low=0.5, high=2, start=1), Range(low=-0.5, high=0.5, start=0)]


def searched(error: Callable[[Point], float], budget: int = 200, until: int = 1000) -> dict[Point, float]:
    tried: dict[Point, float] = {}
    while len(tried) < until and (points := next_points(tried, RANGES, spread=8, budget=budget)):
        tried |= {point: error(point) for point in points[: until - len(tried)]}
    return tried


def bowl(point: Point) -> float:
    return (point[0] - 1.37) ** 2 + (point[1] + 0.21) ** 2


def test_it_finds_the_bottom() -> None:
    found = best_of(searched(bowl))
    assert found[0] == pytest.approx(1.37, abs=0.01)
    assert found[1] == pytest.approx(-0.21, abs=0.01)


def test_it_begins_with_what_changes_nothing_and_stays_there_where_nothing_is_better() -> None:
    tried = searched(lambda point: 1.0)
    assert next(iter(tried)) == (1, 0)
    assert best_of(tried) == (1, 0)


def test_it_keeps_to_ranges_and_budget() -> None:
    tried = searched(lambda point: -point[0] - point[1], budget=37)
    assert len(tried) <= 37
    assert all(0.5 <= a <= 2 and -0.5 <= b <= 0.5 for a, b in tried)
    assert best_of(searched(lambda point: -point[0] - point[1])) == (2, 0.5)


def test_what_was_tried_says_what_comes_next() -> None:
    whole = searched(bowl)
    some = searched(bowl, until=21)
    while points := next_points(some, RANGES, spread=8, budget=200):
        some |= {point: bowl(point) for point in points}
    assert some == whole


@pytest.mark.parametrize("slanted", [True, False])
def test_where_one_number_makes_up_for_another_it_looks_along_both(slanted: bool) -> None:
    ranges = [Range(low=-1, high=1, start=0)] * 2
    tried: dict[Point, float] = {}
    while points := next_points(tried, ranges, spread=0, budget=60, slanted=slanted):
        tried |= {(a, b): 500 * (a + b) ** 2 + (a - 0.4) ** 2 for a, b in points}
    assert (best_of(tried) == pytest.approx((0.4, -0.4), abs=0.02)) == slanted
