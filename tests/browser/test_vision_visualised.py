"""Visualised pictures: the lens runs from the legend, what it visualised stands beside what was seen, and is kept."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import expect

import innerview as iv

from .conftest import Show, Visit
from .vision_study import FACTORS, LINK, STEPS, opened, player
from .workbench import Workbench, canvas_of

CUT = """() => {
    const room = document.querySelector('[data-testid="view-factor"] .detail');
    const end = room.getBoundingClientRect().bottom + 0.5;
    const lines = [...room.querySelectorAll("small, button, .class, canvas")];
    if (lines.length < 4) return ["nothing to see"];
    return lines.filter(line => line.getBoundingClientRect().bottom > end).map(line => line.innerText || line.tagName);
}"""
"""What reaches below the panel of the factor."""


@pytest.fixture
def bench(visit: Visit, show: Show, levels: iv.Study) -> Workbench:
    handle = show(levels, subject=player()[0])
    return opened(visit(handle, f"{LINK}?episode=1&step=4&patches=visualised", ready=False))


def visualise(bench: Workbench, what: str) -> None:
    """Few steps, so that it is quick."""
    bench.get(f"run-{what}").click()
    bench.get("parameter-steps").fill("8")
    bench.get("parameter-max_rows").fill("16")
    bench.get(f"run-{what}-start").click()


def test_factors_are_visualised_beside_the_strongest_that_was_seen(bench: Workbench, levels: iv.Study) -> None:
    bench.get("run-visualise").click()
    asked = {name.removeprefix("parameter-") for name in _testids(bench, "parameter-")}
    assert {"jitter", "l2", "tv", "held"} <= asked and not asked & {"factors", "unit", "layer", "row"}
    assert bench.get("parameter-objective").locator("option").all_inner_texts() == ["cell", "layer"]
    bench.page.keyboard.press("Escape")
    visualise(bench, "visualise")
    pictures = bench.get("factor").get_by_test_id("visualised")
    expect(pictures).to_have_count(FACTORS)
    expect(pictures.first).to_have_attribute("data-provisional", "false")
    (result,) = (levels.result(line.id) for line in levels.results(kind="visualise"))
    value = result.value
    assert [line["unit"] for line in value["pictures"]] == list(range(FACTORS))
    reach, (high, wide) = value["reach"], value["grid"]
    left, top = (round((cells // 2 + 0.5) / cells * 64 - reach / 2 + 1e-9) for cells in (wide, high))
    visualised = levels.result_array(result.id, "pictures")[2]
    drawn = canvas_of(pictures.nth(2))
    inside = visualised[max(0, top) : top + reach, max(0, left) : left + reach]
    assert np.array_equal(drawn[max(0, -top) :, max(0, -left) :, :3][: len(inside), : inside.shape[1]], inside)
    line = value["pictures"][0]
    expect(bench.get("visualised-times").first).to_contain_text(f"{line['times']:.1f}×")
    words = bench.get("visualised-words")
    expect(words).to_contain_text("the strongest of 16 seen")
    expect(words).to_have_attribute("title", re.compile("baseline"))
    bench.page.set_viewport_size({"width": 1440, "height": 900})
    bench.until(lambda: not bench.page.evaluate(CUT))
    assert bench.page.evaluate(CUT) == []
    bench.page.reload()
    opened(bench)
    expect(pictures).to_have_count(FACTORS)
    bench.get("factor").first.get_by_test_id("patch").click()
    expect(bench.get("attribution-seen")).to_have_attribute("data-row", str(line["strongest"]["row"]))


def test_a_step_is_exaggerated_and_the_picture_belongs_to_that_step(bench: Workbench, levels: iv.Study) -> None:
    visualise(bench, "caricature")
    picture = bench.get("caricature").get_by_test_id("visualised")
    expect(picture).to_have_attribute("data-unit", str(STEPS + 4))
    (result,) = (levels.result(line.id) for line in levels.results(kind="visualise"))
    assert result.arguments["parameters"]["layer"] == "conv3a" and result.value["objective"] == "caricature"
    bench.page.keyboard.press("ArrowRight")
    expect(picture).to_have_count(0)
    bench.page.keyboard.press("ArrowLeft")
    expect(picture).to_have_count(1)


def test_a_channel_of_a_factor_is_visualised_from_the_page(bench: Workbench, levels: iv.Study) -> None:
    (found,) = (levels.result(line.id) for line in levels.results(kind="factors"))
    channel = found.value["factors"][0]["channels"][1]["channel"]
    bench.page.locator(f'[data-testid="factor-channel"][data-channel="{channel}"]').click()
    bench.settled(f"channel={channel}")
    expect(bench.get("view-factor")).to_contain_text(f"Channel {channel}")
    visualise(bench, "channel")
    picture = bench.get("visualised-detail").get_by_test_id("visualised")
    expect(picture).to_have_attribute("data-unit", str(channel))
    expect(bench.get("channel-words")).to_contain_text("16 seen")
    (result,) = (levels.result(line.id) for line in levels.results(kind="visualise"))
    asked = result.arguments["parameters"]
    assert (asked["unit"], asked["layer"], asked["factors"]) == (channel, "conv3a", "")
    assert [line["kind"] for line in result.value["pictures"]] == ["channel"]
    other = channel + 1 if channel < 2 else 0
    bench.get("channel-number").fill(str(other))
    bench.page.keyboard.press("Enter")
    bench.settled(f"channel={other}")
    expect(picture).to_have_count(0)
    bench.get("factor-pin").nth(2).click()
    bench.page.mouse.move(2, 2)
    expect(bench.get("view-factor")).to_contain_text("Factor 3")
    bench.page.wait_for_url(lambda url: "channel=" not in url)


def test_only_layers_with_height_and_width_are_offered(bench: Workbench) -> None:
    bench.get("run-factors").click()
    offered = bench.get("parameter-layer").locator("option").evaluate_all("all => all.map(one => one.value)")
    assert offered == ["", "conv1a", "conv2a", "conv2b", "conv3a", "conv4a"]


def test_saliency_can_be_asked_for_the_value(visit: Visit, show: Show, levels: iv.Study) -> None:
    bench = visit(show(levels, subject=player()[0]), "#/episodes/levels?episode=1&step=4&heat=on")
    expect(bench.get("heat")).to_have_attribute("data-asked", f"gradient action {STEPS + 4}")
    bench.get("heat-how").select_option("integrated:value")
    expect(bench.get("heat")).to_have_attribute("data-asked", f"integrated value {STEPS + 4}")
    bench.settled("how=integrated")


def _testids(bench: Workbench, beginning: str) -> list[str]:
    found: list[str] = bench.page.locator(f'[data-testid^="{beginning}"]').evaluate_all(
        "all => all.map(one => one.dataset.testid)"
    )
    return found
