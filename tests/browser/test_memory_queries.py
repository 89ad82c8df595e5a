"""Questions over several views: many steps left, in this corner, and something in view; then from answer to answer."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from playwright.sync_api import expect

import innerview as iv
from innerview.lenses.columns.derived import derived
from innerview.serve import Handle

from .conftest import Visit
from .memory_study import LINK
from .workbench import Workbench, box_of


@pytest.fixture(scope="module")
def seen(still_kitems: iv.Study) -> str:
    """The kind of thing that is in view most often."""
    source = derived(still_kitems, "k-items")
    names = [column.name for column in source.specs if column.name.endswith(" in view")]
    table = source.columns(names)
    return max(names, key=lambda name: table[name].sum())


def yes(bench: Workbench, column: str, word: str = "yes") -> None:
    bench.get("condition").click()
    bench.get("condition-column").select_option(column)
    bench.get("condition-words").select_option(word)
    bench.get("condition-operator").select_option("intersection")
    bench.get("condition-add").click()


def test_a_query_over_three_views_and_a_jump_between_its_answers(
    visit: Visit, shown_kitems: Handle, still_kitems: iv.Study, seen: str
) -> None:
    bench = visit(shown_kitems, LINK)
    bench.condition("steps_left", low=480)
    bench.get("map-scope").locator("[data-value=all]").click()
    box = box_of(bench.get("map-brush"))
    bench.drag(bench.get("map-brush"), (8, 8), (box["width"] - 8, box["height"] * 0.62))
    bench.get("operator").first.click()  # a union becomes an intersection
    yes(bench, seen)
    bench.settled(r"select=[ui]v.*;ib.*;iw")
    (_, _, x, x_low, x_high, y, y_low, y_high, *_) = bench.select[1]
    rows = derived(still_kitems, "k-items").columns(["steps_left", x, y, seen]).with_row_index("row")
    found = rows.filter(
        pl.col("steps_left") >= 480,
        pl.col(x).cast(pl.Float32).is_between(float(x_low), float(x_high)),
        pl.col(y).cast(pl.Float32).is_between(float(y_low), float(y_high)),
        pl.col(seen),
    )["row"].to_numpy()
    assert 0 < len(found) < rows[seen].sum(), "the place leaves some out"
    bench.selected(len(found))
    starts = found[np.concatenate([[True], np.diff(found) > 1])]
    if found[0] != 0:
        bench.get("next-selected").click()
    expect(bench.get("observation-canvas")).to_have_attribute("data-row", str(starts[0]))
    for start in starts[1:4]:
        bench.page.keyboard.press("Shift+ArrowRight")
        expect(bench.get("observation-canvas")).to_have_attribute("data-row", str(start))


def test_words_and_truths_are_joined_by_and_or_and_not(
    visit: Visit, shown_kitems: Handle, still_kitems: iv.Study, seen: str
) -> None:
    bench = visit(shown_kitems, LINK)
    rows = derived(still_kitems, "k-items").columns([seen, "action", "loop"])
    bench.get("condition").click()
    bench.get("condition-column").select_option(seen)
    bench.get("condition-words").select_option("yes")
    bench.get("condition-add").click()
    bench.selected(int(rows[seen].sum()))
    yes(bench, "action", "forward")
    forward = still_kitems.recording("k-items").info.columns[2].categories.index("forward")
    both = rows.filter(pl.col(seen), pl.col("action") == forward)
    bench.selected(both.height)
    bench.get("chip-not").nth(1).click()
    bench.selected(rows.filter(pl.col(seen), pl.col("action") != forward).height)
    bench.get("condition").click()
    bench.get("condition-column").select_option("loop")
    bench.get("condition-words").select_option("yes")
    bench.get("condition-operator").select_option("union")
    bench.get("condition-add").click()
    bench.selected(rows.filter((pl.col(seen) & (pl.col("action") != forward)) | pl.col("loop")).height)


def test_a_query_is_drawn_from_values_of_a_derived_line(
    visit: Visit, shown_kitems: Handle, still_kitems: iv.Study
) -> None:
    bench = visit(shown_kitems, LINK)
    track = bench.page.locator('[data-testid="track"][data-column="memory change"]')
    track.scroll_into_view_if_needed()
    bench.still()
    track.scroll_into_view_if_needed()
    height = box_of(track)["height"]
    bench.drag(track, (60, height * 0.25), (60, height - 1), shift=True)
    bench.settled("select=uv")
    (_, _, column, low, high) = bench.select[0]
    assert (column, low) == ("memory change", "")
    values = derived(still_kitems, "k-items").columns([column])[column].cast(pl.Float32)
    bench.selected((values <= float(high)).sum())
