"""Brushing any view selects the rows that polars finds in the same recording."""

from __future__ import annotations

import polars as pl
import pytest
from playwright.sync_api import expect

import innerview as iv
from innerview.serve import Handle
from innerview.testing.worlds import episode_length

from .conftest import Visit
from .workbench import Workbench, box_of

EPISODE = 3


@pytest.fixture
def rows(walks: iv.Study) -> pl.DataFrame:
    return walks.recording("first").columns(["episode", "step", "action", "health", "value", "x", "y", "picked_up"])


@pytest.fixture
def bench(visit: Visit, shown_walks: Handle) -> Workbench:
    return visit(shown_walks, f"#/episodes/first?episode={EPISODE}")


def test_a_stretch_of_time(bench: Workbench, rows: pl.DataFrame) -> None:
    for view, first, last in (("timelines-overlay", 4, 11), ("actions-overlay", 9, 20)):
        bench.brush_steps(view, first, last, of=episode_length(EPISODE))
        bench.selected(rows.filter(pl.col("episode") == EPISODE, pl.col("step").is_between(first, last)).height)
        expect(bench.get("chip-name")).to_have_text(f"ep {EPISODE}: {first}–{last}")
        here = bench.get("episode").nth(EPISODE).get_by_test_id("episode-selected")
        expect(here).to_have_text(str(last - first + 1))
        bench.get("clear-selection").click()


def test_a_rectangle_on_the_map(bench: Workbench, rows: pl.DataFrame) -> None:
    box = box_of(bench.get("map-brush"))
    # The room is 10 × 10 m with a hundredth of air around it, drawn in the middle with a margin of 10 pixels.
    scale = (min(box["width"], box["height"]) - 20) / 10.2
    start = (box["width"] / 2 + (5.2 - 5) * scale, 10 + (10.1 - 8) * scale)
    end = (box["width"] / 2 + (9 - 5) * scale, 10 + (10.1 - 4.4) * scale)
    bench.drag(bench.get("map-brush"), start, end)
    bench.settled("select=ub")
    (_, _, *found) = bench.select[0]
    assert [found[0], found[3]] == ["x", "y"]
    x_low, x_high, y_low, y_high = (float(found[i]) for i in (1, 2, 4, 5))
    assert [x_low, x_high, y_low, y_high] == pytest.approx([5.2, 9, 4.4, 8], abs=2 / scale)
    inside = rows.filter(pl.col("x").is_between(x_low, x_high), pl.col("y").is_between(y_low, y_high))
    assert 0 < inside.height < rows.height
    assert inside["episode"].n_unique() > 1, "a place is selected in all episodes"
    bench.selected(inside.height)


def test_a_rectangle_on_the_map_in_this_episode_only(bench: Workbench, rows: pl.DataFrame) -> None:
    bench.get("map-scope").locator("[data-value=one]").click()
    box = box_of(bench.get("map-brush"))
    bench.drag(bench.get("map-brush"), (1, 1), (box["width"] - 2, box["height"] - 2))
    bench.selected(rows.filter(pl.col("episode") == EPISODE).height)


def test_a_range_of_values(bench: Workbench, rows: pl.DataFrame) -> None:
    for column in ("health", "value"):
        track = bench.page.locator(f'[data-testid="track"][data-column="{column}"]')
        height = box_of(track)["height"]
        bench.drag(track, (60, 0.25 * height), (90, 0.7 * height), shift=True)
        bench.settled(f"select=uv.*,{column},")
        least, most = map(float, bench.select[0][3:])
        seen = rows.filter(pl.col("episode") == EPISODE)[column]
        low, span = seen.min(), seen.max() - seen.min()
        assert [least, most] == pytest.approx([low + 0.3 * span, low + 0.75 * span], abs=0.1 * span)
        inside = rows.filter(pl.col(column).is_between(least, most))
        assert inside.height > 0
        bench.selected(inside.height)
        bench.get("clear-selection").click()


def test_an_event(bench: Workbench, rows: pl.DataFrame) -> None:
    track = bench.page.locator('[data-testid="track"][data-column="picked_up"]')
    track.scroll_into_view_if_needed()
    bench.drag(track, (60, 2), (60, 12), shift=True)
    bench.selected(rows.filter("picked_up").height)


def test_brushes_follow_each_other_and_never_select_text(bench: Workbench) -> None:
    health = bench.page.locator('[data-testid="track"][data-column="health"]')
    for turn in range(3):
        bench.drag(bench.get("map-brush"), (20, 30), (150, 180 + turn))
        bench.drag(health, (60, 4), (90, 15), shift=True)
        bench.brush_steps("timelines-overlay", 2 + turn, 8, of=episode_length(EPISODE))
        expect(bench.get("chip")).to_have_count(3 * (turn + 1))
    assert bench.page.evaluate("getSelection().toString()") == ""


def test_a_condition(bench: Workbench, rows: pl.DataFrame) -> None:
    bench.condition("health", low=82.5, high=90)
    bench.selected(rows.filter(pl.col("health").is_between(82.5, 90)).height)
    bench.get("condition").click()
    bench.get("condition-column").select_option("action")
    bench.get("condition-words").select_option(["left", "right"])
    bench.get("condition-operator").select_option("intersection")
    bench.get("condition-add").click()
    bench.selected(rows.filter(pl.col("health").is_between(82.5, 90), pl.col("action") < 2).height)


def test_keys_select_a_stretch_and_jump_to_it(bench: Workbench) -> None:
    keyboard = bench.page.keyboard
    for key in ["ArrowRight"] * 5 + ["["] + ["ArrowRight"] * 3 + ["]", "Home"]:
        keyboard.press(key)
    bench.selected(4)
    keyboard.press("Shift+ArrowRight")
    bench.at_step(5)


def test_a_rectangle_in_a_scatter_plot(visit: Visit, shown_pairs: Handle, pairs: iv.Study) -> None:
    bench = visit(shown_pairs)
    bench.get("scatter-sx").select_option("x")
    bench.get("scatter-sy").select_option("angle")
    box = box_of(bench.get("scatter-brush"))
    bench.drag(bench.get("scatter-brush"), (box["width"] * 0.3, 20), (box["width"] * 0.8, box["height"] * 0.6))
    bench.settled("select=ub")
    (_, _, x, x_low, x_high, y, y_low, y_high) = bench.select[0]
    assert (x, y) == ("x", "angle")
    rows = pairs.recording("rooms").columns(["x", "angle"])
    inside = rows.filter(
        pl.col("x").is_between(float(x_low), float(x_high)), pl.col("angle").is_between(float(y_low), float(y_high))
    )
    assert 0 < inside.height < rows.height
    bench.selected(inside.height)
