"""Time in the Vision workspace: totals, squeezed pictures, playback, where to begin, both themes."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import expect

import innerview as iv
from innerview.serve import Handle

from .conftest import Visit
from .vision_study import LINK, ROWS, STEPS, opened
from .workbench import Workbench, box_of, canvas_of

INK = """canvas => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data
    .reduce((sum, value, i) => sum + (i % 4 === 3 && value > 0 ? 1 : 0), 0)"""


@pytest.fixture
def bench(visit: Visit, shown_levels: Handle) -> Workbench:
    bench = opened(visit(shown_levels, f"{LINK}?episode=1&step=4", ready=False))
    bench.page.locator(f'[data-testid="totals-canvas"][data-steps="{STEPS}"]').wait_for()
    return bench


def now(bench: Workbench) -> list[float]:
    told = bench.get("totals-now").inner_text().replace("−", "-")
    return [abs(float(text)) for text in re.findall(r"[+-]?[\d.]+", told)]


def test_totals_are_those_of_the_step(bench: Workbench, still_levels: iv.Study) -> None:
    totals = still_levels.result_array(still_levels.results(kind="factors")[0].id, "totals")
    assert now(bench) == pytest.approx(totals[STEPS + 4].sum(axis=0), rel=0.005)
    above = [bench.get("view-attribution").locator("figcaption").nth(n).inner_text().split()[-1] for n in (1, 2)]
    assert above == bench.get("totals-now").inner_text().split()
    bench.page.keyboard.press("ArrowRight")
    bench.at_step(5)
    assert now(bench) == pytest.approx(totals[STEPS + 5].sum(axis=0), rel=0.02)


def test_one_factor_alone_takes_less_room(bench: Workbench) -> None:
    canvas = bench.get("totals-canvas")
    all_of_them = canvas.evaluate(INK)
    bench.get("factor").nth(4).hover()
    bench.until(lambda: canvas.evaluate(INK) != all_of_them)
    assert 0 < canvas.evaluate(INK) < all_of_them


def test_totals_can_be_lines_and_lead_to_a_step(bench: Workbench) -> None:
    bench.get("totals-form").locator("[data-value=lines]").click()
    bench.settled("totals=lines")
    assert bench.get("totals-canvas").evaluate(INK) > 0
    overlay = bench.get("totals-overlay")
    box = box_of(overlay)
    overlay.click(position={"x": 15.5 / STEPS * box["width"], "y": box["height"] - 12})
    bench.at_step(15)
    expect(bench.get("attribution-good")).to_have_attribute("data-row", str(STEPS + 15))


def test_what_it_saw_is_squeezed_into_lines(bench: Workbench, still_levels: iv.Study) -> None:
    strip = bench.page.locator('[data-testid="totals-squeezed"][data-left="0"]')
    strip.wait_for()
    seen = still_levels.recording("levels").array("observation", STEPS, 2 * STEPS).mean(axis=2)
    shown = canvas_of(strip)[..., :3].transpose(1, 0, 2)
    assert shown.shape == seen.shape
    assert np.abs(shown - seen).max() <= 1


def test_attribution_follows_while_it_plays(bench: Workbench) -> None:
    bench.page.keyboard.press("Space")
    expect(bench.get("attribution-bad")).to_have_attribute("data-row", str(2 * STEPS - 1))


def test_it_begins_with_what_went_worse_than_expected(bench: Workbench, still_levels: iv.Study) -> None:
    first = int(bench.get("begin-row").first.get_attribute("data-row") or -1)
    expect(bench.get("measure")).to_have_value("advantage-low")
    bench.get("begin-row").first.click()
    expect(bench.get("attribution-good")).to_have_attribute("data-row", str(first))
    bench.get("measure").select_option("failures")
    expect(bench.get("begin-under").first).to_contain_text("·")
    ends = [int(row.get_attribute("data-row") or -1) for row in bench.get("begin-row").all()]
    stops = still_levels.recording("levels").groups()["stop"].to_list()
    assert ends and set(ends) <= {stop - 1 for stop in stops}
    assert max(ends) <= ROWS - 1


def test_advantage_has_a_line(bench: Workbench) -> None:
    bench.get("tab-facts").click()
    expect(bench.page.locator('[data-testid="track"][data-column="advantage"]')).to_be_visible()


def test_it_opens_from_the_rail_in_both_themes(visit: Visit, shown_levels: Handle) -> None:
    bench = visit(shown_levels, "#/episodes/levels")
    for theme in ("light", "dark"):
        bench.page.emulate_media(color_scheme=theme)
        bench.get("workspace-episodes").click()
        bench.settled("#/episodes/")
        bench.get("workspace-vision").click()
        opened(bench)
        bench.settled("#/vision/")
        bench.get("view-legend-help").click()
        expect(bench.get("help")).to_contain_text("which things does the layer respond to?")
        bench.page.keyboard.press("Escape")
        expect(bench.get("help")).to_have_count(0)


def test_a_recording_without_pictures_leaves_it_dark(visit: Visit, shown_pairs: Handle) -> None:
    bench = visit(shown_pairs)
    expect(bench.get("workspace-vision")).to_have_attribute("aria-disabled", "true")
    bench.get("workspace-vision").click(force=True)
    expect(bench.get("toasts")).to_contain_text("Vision needs")
