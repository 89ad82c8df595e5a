"""How an arm of an ablation test compares with the original."""

from __future__ import annotations

import math

import pytest

from innerview.edits.ablation_test import MAX_SEEDS, Arm, causes_of, compare_arms, times_of, verdict
from innerview.edits.ablation_test import ArmKind as Kind
from innerview.schema import EpisodeSummary


def arm(name: str, kind: Kind, **counts: int) -> Arm:
    outcomes = [cause for cause, count in counts.items() for _ in range(count)]
    episodes = [
        EpisodeSummary(seed=seed, outcome=cause, length=10, total_reward=float(cause == "coin"))
        for seed, cause in enumerate(outcomes, start=100)
    ]
    return Arm(name=name, kind=kind, episodes=episodes)


ORIGINAL = arm("original", "original", coin=980, saw=10, lava=10)
ABLATED = arm("ablated", "ablated", coin=865, saw=125, lava=10)


def test_shares_have_wilsons_interval_and_times_are_the_ratio_of_shares() -> None:
    told = compare_arms([ORIGINAL, ABLATED], ["coin", "saw", "lava", "time"])
    saw = told["arms"][1]["causes"][1]
    assert saw.pop("seeds") == list(range(965, 965 + MAX_SEEDS)), "the first ones that ended so"
    assert told["arms"][1]["causes"][2]["seeds"] == list(range(1090, 1100))
    assert saw == pytest.approx({"cause": "saw", "count": 125, "share": 0.125, "low": 0.1060, "high": 0.1469}, abs=1e-4)
    assert told["arms"][0]["return"]["mean"] == pytest.approx(0.98) and told["arms"][0]["steps"] == 10
    by_cause = {line["cause"]: line for line in told["compared"]}
    assert by_cause["saw"]["times"] == pytest.approx(12.5) and by_cause["saw"]["apart"]
    assert by_cause["saw"]["low"] < 12.5 < by_cause["saw"]["high"] and by_cause["saw"]["low"] > 6
    assert by_cause["coin"]["times"] < 1 and by_cause["coin"]["apart"]
    assert by_cause["lava"]["times"] == pytest.approx(1) and not by_cause["lava"]["apart"]
    assert told["causes"] == ["coin", "saw", "lava", "time"]
    assert verdict(told, "saw") == "Ended by saw: 1.00% of levels before, 12.50% after, 12.5 times as often."
    assert "no clear difference over 1,000 levels" in verdict(told, "lava") and verdict(told, "mud") == ""


def test_the_least_is_said_only_where_it_is_more_than_once() -> None:
    before = arm("original", "original", coin=1000)
    told = compare_arms([before, arm("ablated", "ablated", coin=950, saw=50)], ["coin", "saw"])
    assert verdict(told, "saw").startswith("Ended by saw: 0.00% of levels before, 5.00% after, at least 6.")
    few = compare_arms([before, arm("ablated", "ablated", coin=992, saw=8)], ["coin", "saw"])
    assert next(line for line in few["compared"] if line["cause"] == "saw")["apart"]
    assert verdict(few, "saw") == "Ended by saw: 0.00% of levels before, 0.80% after."


def test_a_cause_that_never_ended_the_original_has_no_ratio_but_a_least_one() -> None:
    never = times_of((50, 1000), (0, 1000))
    assert never["times"] is None and never["high"] is None
    assert never["low"] is not None and 5 < never["low"] < 50
    gone = times_of((0, 1000), (50, 1000))
    assert gone["times"] == 0 and gone["low"] == 0 and gone["high"] is not None and gone["high"] < 0.2
    neither = times_of((0, 10), (0, 10))
    assert neither == {"times": None, "low": 0.0, "high": None}


def test_the_interval_of_a_ratio_grows_narrow_with_more_levels() -> None:
    wide, narrow = (times_of((10 * n, 100 * n), (5 * n, 100 * n)) for n in (1, 100))
    for told in (wide, narrow):
        assert told["times"] == pytest.approx(2)
        assert math.log(told["high"] or 0) > math.log(2) > math.log(told["low"] or 1)
    assert (narrow["high"] or 0) < (wide["high"] or 0) and (narrow["low"] or 0) > (wide["low"] or 0)


def test_where_the_world_names_no_endings_the_one_that_earns_most_comes_first() -> None:
    assert causes_of([arm("a", "original", lava=5, coin=3, saw=9)]) == ["coin", "saw", "lava"]
    assert causes_of([arm("a", "original", coin=3, mud=1)], ["saw", "coin"]) == ["saw", "coin", "mud"]
