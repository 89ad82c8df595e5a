"""Derived columns have the values that geometry says."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from innerview.errors import MetricError, UnknownName
from innerview.metrics import Averages, Given, Stretch, checked_thresholds, loops, standard, things
from innerview.metrics.rows import Stretch as Rows
from innerview.schema import ArraySpec, Column
from innerview.store.recordings.tables import build_table, table_schema

OBJECTS = Column(name="objects", type="objects", kind="objects")
PLACE = (
    Column(name="east", type="float", unit="m", pose="x"),
    Column(name="north", type="float", unit="m", pose="y"),
    Column(name="looks", type="float", unit="deg", pose="angle"),
)
DEFAULTS = {"view distance": math.inf, "view width": 0.0, "turning rows": 3.0, "loop radius": 1.0, "memory jump": 0.5}


def thing(name: str, x: float, y: float, **more: Any) -> dict[str, Any]:
    return {"name": name, "x": x, "y": y, **more}


def made(name: str, columns: tuple[Column, ...], values: dict[str, list[Any]], **thresholds: float) -> list[Any]:
    found = {one.column.name: one for one in standard(columns, (), kinds=["coin", "imp"], timed=True)}[name]
    table = build_table(values, table_schema(columns))
    rows = Stretch.of(np.zeros(1, np.int64), 0, table.height)
    given = {**DEFAULTS, **{key.replace("_", " "): value for key, value in thresholds.items()}}
    return found.make(Given(table=table, arrays={}, rows=rows, thresholds=given)).tolist()


SEEN: dict[str, list[Any]] = {
    "objects": [
        [thing("coin", 3, 0, distance=3.0, width_px=8.0), thing("coin", 0, 1, distance=1.0, width_px=2.0)],
        [thing("imp", 1, 1)],
        [],
        [thing("coin", 0, -2, distance=2.0, width_px=4.0)],
        [thing("coin", 4.0, 3.0)],
    ],
    "east": [0.0] * 5,
    "north": [0.0] * 5,
    "looks": [0.0, 0.0, 0.0, 270.0, 350.0],
}
BOTH = (OBJECTS, *PLACE)


def test_what_is_in_view_and_how_far() -> None:
    assert made("coin in view", BOTH, SEEN) == [True, False, False, True, True]
    assert made("imp in view", BOTH, SEEN) == [False, True, False, False, False]
    distance = made("distance to coin", BOTH, SEEN)
    np.testing.assert_array_equal(distance, [1, math.nan, math.nan, 2, 5])  # the last is told by its place alone


def test_angles_to_the_nearest_are_negative_on_the_left() -> None:
    angle = made("angle to coin", BOTH, SEEN)
    expected = [-90.0, math.nan, math.nan, 0.0, -math.degrees(math.atan2(3, 4)) - 10]
    np.testing.assert_allclose(angle, expected, atol=1e-9)


def test_what_is_too_far_or_too_small_does_not_count() -> None:
    assert made("coin in view", BOTH, SEEN, view_distance=2.0) == [True, False, False, True, False]
    np.testing.assert_array_equal(made("distance to coin", BOTH, SEEN, view_width=3.0), [3, math.nan, math.nan, 2, 5])


def test_angles_may_be_reported_in_radians() -> None:
    radians = (OBJECTS, *PLACE[:2], Column(name="looks", type="float", unit="rad", pose="angle"))
    values = {**SEEN, "looks": [math.radians(a) for a in SEEN["looks"]]}
    np.testing.assert_allclose(made("angle to coin", radians, values), made("angle to coin", BOTH, SEEN), atol=1e-9)
    turns = {"looks": [0.0, math.pi / 2, math.pi]}
    np.testing.assert_allclose(made("turning", radians[-1:], turns), [math.nan, 90, 180])


def test_turning_adds_up_left_and_right_over_the_last_rows() -> None:
    angle = {"looks": [350.0, 10.0, 0.0, 0.0, None]}
    np.testing.assert_allclose(made("turning", PLACE[2:], angle), [math.nan, 20, 30, 10, 0])
    np.testing.assert_allclose(made("turning", PLACE[2:], angle, turning_rows=2), [math.nan, 20, 10, 0, math.nan])


def test_kinds_are_counted() -> None:
    objects = build_table({"objects": SEEN["objects"]}, table_schema([OBJECTS]))["objects"]
    assert things.kinds(objects) == {"coin": 4, "imp": 1}
    assert things.kinds(pl.Series("objects", [[]], dtype=objects.dtype)) == {}


def test_a_recording_gets_what_its_columns_allow() -> None:
    def names(columns: tuple[Column, ...], arrays: tuple[ArraySpec, ...] = (), timed: bool = True) -> list[str]:
        return [one.column.name for one in standard(columns, arrays, kinds=["coin"], timed=timed)]

    memory = ArraySpec(name="memory", shape=(4,), dtype="float32", role="memory")
    assert names((OBJECTS,)) == ["coin in view", "distance to coin"]
    assert names(PLACE) == ["turning", "loop"]
    assert names(PLACE, timed=False) == []
    assert names((*PLACE[:2], replace(PLACE[2], unit="turns"))) == ["loop"], "nothing is known of the unit"
    named = tuple(Column(name=name, type="float", unit="deg") for name in ("x", "y", "angle"))
    assert names(named) == [], "nothing is read off names"
    assert names((), (memory,)) == ["memory change", "memory jumps"]
    sites = tuple(ArraySpec(name=f"memory.{s}", shape=(4,), dtype="float32", role="memory") for s in "hc")
    assert names((), sites) == ["memory change h", "memory jumps h", "memory change c", "memory jumps c"]
    own = Column(name="loop", type="int")
    assert names((*PLACE, own)) == ["turning"], "a recorded column keeps its name"


def test_memory_changes_are_summed_over_elements_and_begin_anew_in_each_episode() -> None:
    memory = ArraySpec(name="memory", shape=(2, 2), dtype="float32", role="memory")
    values = np.zeros((5, 2, 2), np.float32)
    values[1] = 1.0
    values[4, 0] = [0.25, -2.0]
    given = Given(pl.DataFrame(), {"memory": values}, Rows.of(np.array([0, 3]), 0, 5), DEFAULTS)
    change, jumps = (one.make(given) for one in standard((), (memory,), kinds=[], timed=True))
    np.testing.assert_array_equal(change, [math.nan, 4, 4, math.nan, 2.25])
    np.testing.assert_array_equal(jumps, [math.nan, 4, 4, math.nan, 1])


def test_a_loop_is_a_place_that_was_left_and_is_come_back_to() -> None:
    around = np.linspace(0, 2 * math.pi, 41)
    x, y = 10 * np.cos(around), 10 * np.sin(around)
    found = loops.loops(x, y, Stretch.of(np.zeros(1, np.int64), 0, 41), 1.0)
    assert np.flatnonzero(found).tolist() == [40], "only the end of the circle meets its beginning"
    twice = np.tile(np.arange(41), 2)
    again = loops.loops(x[twice], y[twice], Stretch.of(np.zeros(1, np.int64), 0, 82), 1.0)
    assert not again[:40].any()
    assert again[41:].all()
    apart = loops.loops(x[twice], y[twice], Stretch.of(np.array([0, 41]), 0, 82), 1.0)
    assert np.flatnonzero(apart).tolist() == [40, 81], "each episode knows only its own way"


def test_standing_still_or_trembling_is_no_loop() -> None:
    random = np.random.default_rng(0)
    rows = Stretch.of(np.zeros(1, np.int64), 0, 500)
    for size in (0.0, 0.4):
        x, y = random.uniform(-size, size, (2, 500))
        assert not loops.loops(x, y, rows, 1.0).any()
    assert not loops.loops(np.full(500, np.nan), np.zeros(500), rows, 1.0).any()
    assert not loops.loops(np.zeros(500), np.zeros(500), rows, 0.0).any()


def test_the_default_radius_is_three_strides() -> None:
    x = np.array([0.0, 0.5, 1.0, 1.0, 50.0, 50.5])
    assert loops.default_radius(x, np.zeros(6), Stretch.of(np.array([0, 4]), 0, 6)) == 1.5
    assert loops.default_radius(np.zeros(6), np.zeros(6), Stretch.of(np.array([0]), 0, 6)) == 0.0


def test_thresholds_are_checked() -> None:
    assert checked_thresholds({"view distance": 3, "turning rows": 4}) == {"view distance": 3.0, "turning rows": 4.0}
    with pytest.raises(UnknownName, match="Did you mean 'view distance'"):
        checked_thresholds({"viewdistance": 1.0})
    for wrong in ({"view distance": -1.0}, {"turning rows": 2.5}, {"turning rows": 1}, {"loop radius": math.nan}):
        with pytest.raises(MetricError):
            checked_thresholds(wrong)


def test_averages_around_an_event() -> None:
    averages = Averages(before=2, after=2, elements=2, first_after=0)
    averages.add(np.array([[0, 0], [0, 1], [4, 0], [4, 1], [4, 2.0]]), -2)
    averages.add(np.array([[2, 1], [4, 1], [4, 1.0]]), -1)
    found = averages.result({"health": np.array([[1, 2, 3, 4, math.nan], [math.nan, 4, 5, 6, math.nan]])})
    assert found.counts.tolist() == [1, 2, 2, 2, 1]
    np.testing.assert_array_equal(found.memory[:, 0], [0, 1, 4, 4, 4])
    assert found.paired == 2
    np.testing.assert_allclose(found.after - found.before, [3.0, (0.5 + 0.0) / 2])
    assert found.effect[0] > found.effect[1] > 0
    np.testing.assert_array_equal(found.metrics["health"].mean, [1, 3, 4, 5, math.nan])
    np.testing.assert_array_equal(found.metrics["health"].low, [1, 2.5, 3.5, 4.5, math.nan])


def test_an_event_at_the_edge_of_an_episode_has_no_pair() -> None:
    averages = Averages(before=3, after=3, elements=1, first_after=1)
    averages.add(np.ones((1, 1)), 0)
    found = averages.result({})
    assert found.paired == 0
    assert found.effect.tolist() == [0.0]
    assert np.isnan(found.memory[0, 0])
