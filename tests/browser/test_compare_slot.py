"""Two sources side by side in every workspace: what both show, what differs, and what the address keeps of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

import innerview as iv
from innerview.serve import Handle
from tests.copies import copied

from . import compare_study
from .compare_study import ENDLESS, HUNDRED, SMALL, STEPS
from .conftest import Visit
from .workbench import Workbench, canvas_of


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> iv.Study:
    return compare_study.levels(tmp_path_factory.mktemp("compared") / "levels.study")


@pytest.fixture(scope="module")
def shown(study: iv.Study) -> Iterator[Handle]:
    with iv.show(study, open_browser=False) as handle:
        yield handle


@pytest.fixture(scope="module")
def mazes(recorded_kitems: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Handle]:
    study = copied(recorded_kitems, tmp_path_factory.mktemp("mazes") / "kitems.study")
    compare_study.add_small(study)
    with iv.show(study, open_browser=False) as handle:
        yield handle


def side(bench: Workbench, letter: str, testid: str) -> Locator:
    return bench.page.locator(f'[data-testid="side-{letter}"] [data-testid="{testid}"]')


def points(difference: float) -> re.Pattern[str]:
    """A difference of shares as the page says it."""
    return re.compile(rf"{'−' if difference < 0 else '[+]'}\s*{round(abs(difference) * 100)}\s*%")


def picture(bench: Workbench, letter: str, row: int) -> np.ndarray:
    canvas = side(bench, letter, "observation-canvas")
    expect(canvas).to_have_attribute("data-row", str(row))
    return canvas_of(canvas)[..., :3]


def test_another_recording_stands_beside_at_the_same_step(visit: Visit, shown: Handle, study: iv.Study) -> None:
    seen = {name: study.recording(name).array("observation", 0, 2 * STEPS) for name in (ENDLESS, HUNDRED)}
    bench = visit(shown, f"#/episodes/{ENDLESS}?episode=1&step=3")
    bench.get("compare-with").select_option(HUNDRED)
    bench.settled(f"with={HUNDRED}")
    for letter, name in (("a", ENDLESS), ("b", HUNDRED)):
        assert np.array_equal(picture(bench, letter, STEPS + 3), seen[name][STEPS + 3])
        expect(side(bench, letter, "view-observation")).to_contain_text(name)
    bench.page.keyboard.press("ArrowRight")
    assert np.array_equal(picture(bench, "b", STEPS + 4), seen[HUNDRED][STEPS + 4])
    bench.get("episode").first.click()
    assert np.array_equal(picture(bench, "b", 0), seen[HUNDRED][0])
    # What B would rather do, in points of a hundred.
    bench.page.keyboard.press("ArrowRight")
    both = [study.recording(name).array("probabilities", 1, 2)[0] for name in (ENDLESS, HUNDRED)]
    first = both[1][0] - both[0][0]
    expect(bench.get("policy-difference").first).to_have_text(points(first))
    values = [study.recording(name).columns(["value"])["value"][1] for name in (ENDLESS, HUNDRED)]
    line = bench.get("timelines-values").locator("span").first
    expect(line).to_have_text(re.compile(r"\S+ \| \S+"))
    numbers = [float(part.replace("−", "-")) for part in line.inner_text().split(" | ")]
    assert numbers == pytest.approx(values, rel=0.01, abs=0.002)


def test_a_reload_keeps_it_and_swap_and_close_work_by_keyboard(visit: Visit, shown: Handle) -> None:
    bench = visit(shown, f"#/episodes/{ENDLESS}?episode=0&step=20&with={HUNDRED}")
    before = picture(bench, "a", 20), picture(bench, "b", 20)
    assert not np.array_equal(*before)
    bench.page.reload()
    bench.ready()
    again = picture(bench, "a", 20), picture(bench, "b", 20)
    assert all(np.array_equal(*pair) for pair in zip(before, again, strict=True))
    bench.get("slot-swap").focus()
    bench.page.keyboard.press("Enter")
    bench.settled(f"#/episodes/{HUNDRED}.*episode=0&step=20.*with={ENDLESS}")
    expect(side(bench, "a", "view-observation")).to_contain_text(HUNDRED)
    assert np.array_equal(picture(bench, "a", 20), before[1])
    assert np.array_equal(picture(bench, "b", 20), before[0])
    bench.get("slot-help").focus()
    bench.page.keyboard.press("Enter")
    expect(bench.get("help")).to_contain_text("How it misleads")
    bench.page.keyboard.press("Escape")
    bench.get("slot-close").focus()
    bench.page.keyboard.press("Enter")
    expect(bench.get("side-b")).to_have_count(0)
    expect(bench.get("compare-with")).to_be_focused()
    bench.page.wait_for_function("() => !location.hash.includes('with=')")


def test_a_brush_in_one_selects_the_same_steps_in_the_other(visit: Visit, shown: Handle) -> None:
    bench = visit(shown, f"#/vision/{ENDLESS}?episode=1&step=5&with={HUNDRED}", ready=False)
    overlay = side(bench, "b", "totals-overlay")
    overlay.wait_for()
    width = overlay.bounding_box()["width"]  # type: ignore[index]
    bench.drag(overlay, (4.5 / STEPS * width, 9), (9.5 / STEPS * width, 12))
    bench.selected(6)
    expect(bench.get("chip-name")).to_have_text("ep 1: 4–9")


def test_vision_shows_the_factors_of_both(visit: Visit, shown: Handle) -> None:
    bench = visit(shown, f"#/vision/{ENDLESS}?step=2&with={HUNDRED}", ready=False)
    for letter in "ab":
        good = side(bench, letter, "attribution-good")
        expect(good).to_have_attribute("data-row", "2")
        expect(side(bench, letter, "factor")).to_have_count(4)
    assert not np.array_equal(*(canvas_of(side(bench, letter, "totals-canvas")) for letter in "ab"))
    # A factor belongs to its own source: to hide one leaves the other's as they are.
    side(bench, "b", "factor").nth(1).click(position={"x": 14, "y": 14})
    bench.settled(r"b\.without=1")
    assert "&without=" not in bench.page.url
    bench.page.reload()
    expect(side(bench, "b", "attribution-good")).to_have_attribute("data-row", "2")
    assert "b.without=1" in bench.page.url


def test_another_subject_over_the_same_rows_is_known_by_its_predictions(
    visit: Visit, shown: Handle, study: iv.Study
) -> None:
    (prediction,) = study.predictions(ENDLESS)
    bench = visit(shown, f"#/episodes/{ENDLESS}?step=4")
    bench.get("compare-with").focus()
    option = bench.get("compare-with").locator("optgroup").first.locator("option")
    expect(option).to_contain_text("predictions")
    bench.get("compare-with").select_option(option.get_attribute("value"))
    bench.settled(f"with={ENDLESS};{quote(quote(prediction.subject))}")
    assert np.array_equal(picture(bench, "a", 4), picture(bench, "b", 4))
    expect(bench.get("slot-swap")).to_be_disabled()
    own = study.recording(ENDLESS).array("probabilities", 4, 5)[0]
    other = prediction.array(next(a.name for a in prediction.info.arrays if a.role == "probabilities"), 4, 5)[0]
    first = float(other[0] - own[0])
    expect(bench.get("policy-difference").first).to_have_text(points(first))
    bench.get("workspace-vision").click()
    for letter in "ab":
        expect(side(bench, letter, "attribution-good")).to_have_attribute("data-row", "4")


def test_memory_shows_both_and_where_they_part(visit: Visit, mazes: Handle) -> None:
    bench = visit(mazes, f"#/memory/k-items?episode=1&step=10&with={SMALL}")
    for letter in "ab":
        expect(side(bench, letter, "memory-canvas")).to_have_attribute("data-complete", "true")
    expect(side(bench, "a", "view-memory")).to_contain_text("128 elements")
    expect(side(bench, "b", "view-memory")).to_contain_text("32 elements")
    bench.get("tab-stretches").click()
    expect(bench.get("stretches-summary")).to_contain_text("Same seed 1001.")
    bench.get("stretches-show").locator("[data-value=difference]").click()
    expect(bench.get("view-stretches")).to_contain_text("1 has 128 elements, 2 has 32: they cannot be subtracted.")
    bench.page.reload()
    expect(bench.get("stretches-summary")).to_contain_text("Same seed 1001.")
    assert f"with={SMALL}" in bench.page.url


def test_what_is_not_there_is_said(visit: Visit, mazes: Handle) -> None:
    bench = visit(mazes, f"#/episodes/k-items?episode=5&with={SMALL}", ready=False)
    expect(bench.get("side-b-why").first).to_contain_text("has no episode with seed 1005")
    bench.get("episode").first.click()
    expect(side(bench, "b", "observation-canvas")).to_be_visible()
    gone = visit(mazes, "#/episodes/k-items?with=nowhere", ready=False)
    gone.watch.expected.append("404")
    expect(gone.get("side-b-why").first).to_contain_text("nowhere")
    gone.get("slot-close").click()
    expect(gone.get("side-b")).to_have_count(0)
