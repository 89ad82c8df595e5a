"""Factors: cards with examples and names; what is pinned or hidden is in the address and can be undone."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

import innerview as iv
from innerview.serve import Handle
from innerview.store.annotations.names import save_names

from .conftest import Show, Visit
from .vision_study import FACTORS, LINK, STEPS, opened
from .workbench import Workbench, canvas_of


@pytest.fixture
def value(still_levels: iv.Study) -> dict[str, Any]:
    found: dict[str, Any] = still_levels.result(still_levels.results("factors")[0].id).value
    return found


@pytest.fixture
def bench(visit: Visit, shown_levels: Handle) -> Workbench:
    return opened(visit(shown_levels, f"{LINK}?episode=1&step=4", ready=False))


def card(bench: Workbench, factor: int) -> Locator:
    return bench.page.locator(f'[data-testid="factor"][data-factor="{factor}"]')


def at_row(bench: Workbench, row: int) -> None:
    expect(bench.get("attribution-seen")).to_have_attribute("data-row", str(row))


def test_there_is_a_card_for_each_factor_with_its_share(bench: Workbench, value: dict[str, Any]) -> None:
    expect(bench.get("factor")).to_have_count(FACTORS)
    told = [int(pin.inner_text().split()[0]) for pin in bench.get("factor-pin").all()]
    assert told == [round(100 * factor["share"]) for factor in value["factors"]]


def test_an_example_is_cut_out_of_what_was_seen_and_leads_there(
    bench: Workbench, still_levels: iv.Study, value: dict[str, Any]
) -> None:
    examples = value["factors"][2]["examples"]
    best = max(examples["good"] + examples["bad"], key=lambda example: float(example["amount"]))
    patch = card(bench, 2).get_by_test_id("patch").first
    canvas = patch.locator(f'canvas[data-row="{best["row"]}"]')
    canvas.wait_for()
    rgba = canvas_of(canvas)
    reach, (high, wide) = value["reach"], value["grid"]
    assert rgba.shape[0] == reach
    left, top = (round((best[k] + 0.5) / cells * 64 - reach / 2 + 1e-9) for k, cells in (("x", wide), ("y", high)))
    frame = still_levels.recording("levels").array("observation", best["row"], best["row"] + 1)[0]
    inside = rgba[..., 3] == 255
    ys, xs = np.nonzero(inside)
    assert len(ys) > 20
    assert np.array_equal(rgba[ys, xs, :3], frame[ys + top, xs + left])
    patch.click()
    at_row(bench, best["row"])


def test_examples_can_be_of_one_sign(bench: Workbench, value: dict[str, Any]) -> None:
    bench.get("legend-which").locator("[data-value=bad]").click()
    bench.settled("examples=bad")
    first = value["factors"][0]["examples"]["bad"][0]
    card(bench, 0).locator(f'canvas[data-row="{first["row"]}"]').first.wait_for()


def test_by_place_each_part_of_the_picture_has_its_own_example(bench: Workbench, still_levels: iv.Study) -> None:
    found = still_levels.results(kind="factors")[0].id
    cells, rows = still_levels.result_array(found, "cells"), still_levels.result_array(found, "cell_rows")
    bench.get("legend-patches").locator("[data-value=places]").click()
    bench.settled("patches=places")
    picture = card(bench, 1).get_by_test_id("patch-map")
    picture.locator("canvas[data-drawn]").wait_for()
    box = picture.bounding_box()
    assert box is not None
    sign = int(cells[1, 1, 5, 2] > cells[1, 0, 5, 2])
    picture.click(position={"x": 2.5 / 8 * box["width"], "y": 5.5 / 8 * box["height"]})
    at_row(bench, int(rows[1, sign, 5, 2]))


def test_a_pinned_factor_stays_alone_and_is_reported_about(bench: Workbench, value: dict[str, Any]) -> None:
    card(bench, 3).get_by_test_id("factor-pin").click()
    bench.page.mouse.move(2, 2)
    bench.settled("factor=3")
    expect(bench.get("view-factor")).to_contain_text("Factor 4")
    classes = [
        c for c in value["factors"][3]["meaning"]["classes"] if c["class"] != "background" and c["share"] >= 0.01
    ]
    expect(bench.get("factor-class").first).to_have_attribute("data-class", classes[0]["class"])
    bench.page.reload()
    opened(bench)
    expect(card(bench, 3).get_by_test_id("factor-pin")).to_have_attribute("aria-pressed", "true")
    card(bench, 3).get_by_test_id("factor-pin").click()
    bench.page.wait_for_url(lambda url: "factor=3" not in url)


def test_hiding_and_pinning_are_undone_in_their_order(bench: Workbench) -> None:
    card(bench, 0).get_by_test_id("factor-hide").click()
    bench.settled("without=0")
    card(bench, 2).get_by_test_id("factor-hide").click()
    bench.settled("without=0,2")
    bench.get("undo").click()
    bench.settled(r"without=0(&|$)")
    bench.get("undo").click()
    bench.page.wait_for_url(lambda url: "without" not in url)
    bench.get("redo").click()
    bench.settled(r"without=0(&|$)")


def test_a_name_is_saved_in_the_study(visit: Visit, show: Show, levels: iv.Study) -> None:
    bench = opened(visit(show(levels), LINK, ready=False))
    card(bench, 1).get_by_test_id("factor-name").click()
    bench.get("factor-name-input").fill("the sky")
    bench.page.keyboard.press("Enter")
    expect(card(bench, 1).get_by_test_id("factor-name")).to_have_text("the sky")
    bench.page.reload()
    opened(bench)
    expect(card(bench, 1).get_by_test_id("factor-name")).to_have_text("the sky")
    kept = json.loads((levels.path / "names.json").read_text("utf-8"))["names"]
    assert kept == {levels.results(kind="factors")[0].id: {"1": "the sky"}}
    card(bench, 1).get_by_test_id("factor-name").click()
    bench.get("factor-name-input").fill("")
    bench.page.keyboard.press("Enter")
    expect(card(bench, 1).get_by_test_id("factor-name")).not_to_have_text("the sky")


def test_factors_that_are_called_the_same_are_distinguished_by_their_number(
    visit: Visit, show: Show, levels: iv.Study
) -> None:
    save_names(levels, levels.results(kind="factors")[0].id, {"1": "sky", "3": "sky", "4": "mud"})
    bench = opened(visit(show(levels), LINK, ready=False))
    assert [card(bench, f).get_by_test_id("factor-hide").inner_text() for f in range(FACTORS)] == list("12345")
    names = [card(bench, f).get_by_test_id("factor-name").inner_text() for f in (1, 3, 4)]
    assert names == ["sky", "sky", "mud"]
    bench.page.keyboard.press("4")
    expect(bench.get("view-factor")).to_contain_text("Factor: sky 4")
    bench.page.keyboard.press("5")
    expect(bench.get("view-factor")).to_contain_text("Factor: mud")


def test_pictures_by_place_fit_into_the_full_screen(bench: Workbench) -> None:
    bench.get("legend-patches").locator("[data-value=places]").click()
    bench.get("view-legend-full").click()
    card(bench, 0).get_by_test_id("patch-map").locator("canvas[data-drawn]").wait_for()
    view = bench.get("view-legend").bounding_box()
    assert view is not None and view["height"] > 500
    for factor in range(FACTORS):
        box = card(bench, factor).bounding_box()
        assert box is not None and box["y"] + box["height"] <= view["y"] + view["height"]


def test_the_keyboard_reaches_a_card(bench: Workbench) -> None:
    pin = card(bench, 0).get_by_test_id("factor-pin")
    card(bench, 0).get_by_test_id("patch").last.focus()
    bench.page.keyboard.press("Tab")
    expect(pin).to_be_focused()
    bench.page.keyboard.press("Enter")
    bench.settled("factor=0")


def test_a_digit_shows_one_factor_alone(bench: Workbench) -> None:
    bench.page.keyboard.press("3")
    bench.settled("factor=2")
    bench.page.keyboard.press("0")
    bench.page.wait_for_url(lambda url: "factor=" not in url)


def test_the_legend_is_exported_as_a_table(bench: Workbench, value: dict[str, Any], tmp_path: Path) -> None:
    bench.get("view-legend-export").click()
    with bench.page.expect_download() as coming:
        bench.page.get_by_role("button", name="CSV table").click()
    coming.value.save_as(tmp_path / "factors.csv")
    lines = list(csv.DictReader((tmp_path / "factors.csv").read_text("utf-8").splitlines()))
    assert [float(line["share"]) for line in lines] == pytest.approx([f["share"] for f in value["factors"]])


def test_episodes_stand_beside_the_factor(bench: Workbench) -> None:
    bench.get("tab-episodes").click()
    bench.settled("beside=episodes")
    bench.page.locator('[data-testid="episode"][data-episode="2"]').click()
    at_row(bench, 2 * STEPS)
