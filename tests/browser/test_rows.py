"""Paired pictures with a pose each, without episode or time, are at home in the page."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
from playwright.sync_api import expect

import innerview as iv
from innerview.serve import Handle

from .conftest import Visit
from .workbench import picture_of


def test_pairs_open_with_columns_and_exact_pictures(visit: Visit, shown_pairs: Handle, pairs: iv.Study) -> None:
    bench = visit(shown_pairs)
    recording = pairs.recording("rooms")
    expect(bench.get("transport")).to_have_count(0)
    expect(bench.get("workspace-rows")).to_have_attribute("aria-current", "page")
    expect(bench.get("workspace-episodes")).to_have_attribute("aria-disabled", "true")
    assert [p.get_attribute("data-domain") for p in bench.get("pair-picture").all()] == ["sim", "real"]
    bench.page.locator('[data-testid="gallery-item"][data-row="17"]').click()
    expect(bench.page.locator('[data-domain="sim"] img')).to_have_attribute("alt", "SIM, row 17")
    for domain in ("sim", "real"):
        image = bench.page.locator(f'[data-domain="{domain}"] img')
        assert np.array_equal(picture_of(image), recording.array(domain, 17, 18)[0])
    row = recording.columns(start=17, stop=18).row(0, named=True)
    values = bench.get("pair-values")
    expect(values).to_contain_text(row["room"])
    told = dict(zip(values.locator("dt").all_inner_texts(), values.locator("dd").all_inner_texts(), strict=True))
    assert set(told) == {"x", "y", "angle", "room"}
    angle, unit = told["angle"].split(" ")
    assert float(angle) == round(row["angle"], 0 if row["angle"] >= 100 else 1)
    assert unit == "deg"


def test_the_gallery_shows_the_recorded_pictures(visit: Visit, shown_pairs: Handle, pairs: iv.Study) -> None:
    bench = visit(shown_pairs)
    bench.get("gallery-array").select_option("sim")
    for row in (0, 5, 12):
        tile = bench.page.locator(f'[data-testid="gallery-item"][data-row="{row}"] img')
        expect(tile).to_have_attribute("src", re.compile("/images/sim/"))
        assert np.array_equal(picture_of(tile), pairs.recording("rooms").array("sim", row, row + 1)[0])


def test_pairs_are_selected_by_condition_and_by_hand(visit: Visit, shown_pairs: Handle, pairs: iv.Study) -> None:
    bench = visit(shown_pairs)
    rows = pairs.recording("rooms").columns()
    bench.get("condition").click()
    bench.get("condition-column").select_option("room")
    bench.get("condition-words").select_option("kitchen")
    bench.get("condition-add").click()
    kitchens = rows.with_row_index().filter(pl.col("room") == "kitchen")
    bench.selected(kitchens.height)

    def shown() -> list[int]:
        rows = bench.get("gallery-item").evaluate_all("items => items.map(item => Number(item.dataset.row))")
        return [int(row) for row in rows]

    bench.until(lambda: shown() == kitchens["index"].to_list()[: len(shown())])
    assert shown() == kitchens["index"].to_list()[: len(shown())]
    bench.get("clear-selection").click()
    for row in (3, 8, 4):
        bench.page.locator(f'[data-testid="gallery-item"][data-row="{row}"]').click(modifiers=["Control"])
    bench.selected(3)
    bench.get("only-selected").click()
    bench.get("chip-not").click()
    bench.selected(rows.height - 3)


def test_the_table_sorts_and_survives_a_reload(visit: Visit, shown_pairs: Handle, pairs: iv.Study) -> None:
    bench = visit(shown_pairs)
    bench.get("rows-form").locator("[data-value=table]").click()
    bench.get("table-sort").filter(has_text="angle").click()
    order = pairs.recording("rooms").columns(["angle"])["angle"].arg_sort().to_list()
    first = bench.get("table-row").first
    expect(first).to_have_attribute("data-row", str(order[0]))
    first.click()
    bench.settled(f"step={order[0]}")
    bench.page.reload()
    expect(bench.get("table-row").first).to_have_attribute("data-row", str(order[0]))
    expect(bench.get("view-pair")).to_contain_text(f"row {order[0]}")
