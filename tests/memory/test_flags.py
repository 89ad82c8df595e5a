"""Flags that were planted are found, nothing else is, and what time alone tells is not taken for memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from innerview.errors import LensError, UnknownName
from innerview.memory.auc import Half, areas, corrected
from innerview.memory.facts import make_facts
from innerview.memory.flags import look
from innerview.schema import Column, Rows, States
from innerview.testing.planted import PLANTED, RETENTION_STEPS, Planted

WANTED = {(fact, element) for fact, elements in PLANTED.items() for element in elements}


def found(rows: Rows, **parameters: Any) -> dict[tuple[str, int], dict[str, Any]]:
    value = look(rows, thresholds="health=50", **parameters).value
    return {(line["fact"], line["element"]): line for line in value["flags"] if line["significant"]}


@pytest.mark.parametrize("seed", range(3))
def test_all_planted_flags_are_found_and_no_others(seed: int) -> None:
    flags = found(Planted(seed=seed, episodes=32).rows(), seed=seed)
    assert set(flags) == WANTED
    assert all(line["q"] <= 0.05 and line["held_out_auc"] > 0.8 for line in flags.values())


@pytest.mark.parametrize("seed", range(3))
def test_a_memory_that_keeps_nothing_has_no_flags(seed: int) -> None:
    """Elements that wander, keep a level through an episode or count time, against facts that come and last."""
    rows = Planted(seed=seed, episodes=24).rows()
    other = Planted(seed=seed + 100, episodes=24).rows()
    memory = other.memory["memory"].between(0, other.count)
    length = min(rows.count, other.count)
    blind = np.resize(memory[:length], (rows.count, memory.shape[1]))
    assert not found(replace(rows, memory={"memory": States.of(blind)}))


def test_a_line_says_how_and_for_how_long() -> None:
    flags = found(Planted(seed=1, episodes=32).rows())
    lamp, green = flags["lamp in view", 8], flags["gathered green so far", 17]
    assert abs(lamp["retention_steps"] - RETENTION_STEPS) <= 1
    assert lamp["sentence"] == "Element 8 is high while lamp is in view."
    assert (green["direction"], green["sentence"]) == (-1, "Element 17 is low once the green is gathered.")
    assert green["retention_steps"] > 80, "to the end of nearly every episode"
    health = flags["health ≥ 50", 25]
    assert (
        health["sentence"] == "Element 25 is high while health is 50 points or more." and abs(health["threshold"]) < 0.3
    )
    counts = health["histogram"]
    middle = np.linspace(counts["low"], counts["high"], 24)
    assert np.average(middle, weights=counts["with"]) > np.average(middle, weights=counts["without"])


def test_the_best_element_of_a_fact_comes_first() -> None:
    value = look(Planted(seed=2, episodes=32).rows(), thresholds="health=50").value
    best = {line["fact"]: line["element"] for line in value["flags"] if line["best_of_fact"] and line["significant"]}
    assert best["gathered green so far"] in PLANTED["gathered green so far"] and len(best) == 4
    flags = [line for line in value["flags"] if line["significant"]]
    powers = [min(line["auc"], line["held_out_auc"]) for line in flags]
    assert powers == sorted(powers, reverse=True) and value["flags"][: len(flags)] == flags


def test_facts_can_be_chosen_and_arrays_report_every_pair() -> None:
    rows = Planted(seed=0, episodes=12).rows()
    made = look(rows, facts="lamp in view, health", thresholds="health=50")
    assert [fact["fact"] for fact in made.value["facts"]] == ["lamp in view", "health ≥ 50"]
    assert made.arrays["auc"].shape == made.arrays["q"].shape == (64, 2)
    assert "record more" in made.value["note"]
    with pytest.raises(UnknownName, match="Did you mean 'health'"):
        look(rows, facts="helth")
    with pytest.raises(LensError, match="no number"):
        look(rows, thresholds="health=low")
    with pytest.raises(UnknownName, match="column=number"):
        look(rows, thresholds="helth=5")


def test_too_little_to_go_on_is_said() -> None:
    with pytest.raises(LensError, match="8 or more, and there are 4"):
        look(Planted(episodes=4).rows())
    same = replace(Planted(episodes=12).rows(), columns={}, specs={})
    with pytest.raises(LensError, match="No column holds a fact"):
        look(same)


def test_many_rows_are_cut_to_whole_episodes() -> None:
    value = look(Planted(episodes=40).rows(), max_rows=1500, facts="lamp in view").value
    assert sum(value["episodes"].values()) < 20 and value["rows"] <= 1600


def test_the_area_is_the_share_of_pairs_in_the_right_order() -> None:
    random = np.random.default_rng(0)
    values = random.integers(0, 5, (60, 3)).astype(np.float32)  # many ties
    columns = {"on": (random.random(60) < 0.4).astype(float), "gap": np.where(np.arange(60) % 3, 1.0, np.nan)}
    columns["gap"][::2] *= 0
    specs = {name: Column(name=name, type="bool") for name in columns}
    facts = make_facts(Rows(numbers=np.arange(60), columns=columns, specs=specs, groups=((0, 60),)))
    found_areas = areas(Half.of(values, [60]), facts, np.arange(60))
    for j, name in enumerate(columns):
        told = columns[name]
        high, low = values[told == 1], values[told == 0]
        above, equal = high[:, None] > low[None], high[:, None] == low[None]
        by_hand = (above + 0.5 * equal).mean(axis=(0, 1))
        assert np.allclose(found_areas[:, j], by_hand, atol=1e-5)


def test_correction_is_that_of_benjamini_and_hochberg() -> None:
    p = np.array([[0.01, 0.04], [0.03, 0.005]])
    assert np.allclose(corrected(p), [[0.02, 0.04], [0.04, 0.02]])
