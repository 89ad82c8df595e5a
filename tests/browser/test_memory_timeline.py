"""The memory timeline: exact cells, brushes, zoom, orders and what carries over, on episodes of the k-items agent."""

from __future__ import annotations

import io
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Locator, expect

import innerview as iv
from innerview.schema import ArraySpec, Ordering
from innerview.serve import Handle
from innerview.serve.routes.memory import tiles

from .conftest import Show, Visit
from .memory_study import LINK, STEPS
from .workbench import Workbench, box_of

ELEMENTS = 128
NEGATIVE, ZERO, POSITIVE = (np.array(c, float) for c in ((43, 108, 176), (251, 251, 249), (221, 122, 30)))


@pytest.fixture(scope="module")
def states(still_kitems: iv.Study) -> np.ndarray:
    run = still_kitems.recording("k-items")
    return run.array("memory", 0, run.rows)


@pytest.fixture
def bench(visit: Visit, shown_kitems: Handle) -> Workbench:
    return visit(shown_kitems, f"{LINK}?episode=1&step=30")


def drawn(bench: Workbench, testid: str = "memory-canvas") -> Locator:
    """The heat map once everything of it is here."""
    canvas = bench.get(testid)
    expect(canvas).to_have_attribute("data-complete", "true")
    bench.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return canvas


def pixels(bench: Workbench, testid: str = "memory-canvas") -> np.ndarray:
    """What is on the screen where the heat map is, [height, width, 3]."""
    with Image.open(io.BytesIO(drawn(bench, testid).screenshot())) as picture:
        return np.asarray(picture.convert("RGB")).astype(float)


def colour(value: float) -> np.ndarray:
    """Blue below zero, white at it, orange above; the range is ±1."""
    share = float(np.clip(value, -1, 1))
    return ZERO + (POSITIVE if share > 0 else NEGATIVE) * abs(share) - ZERO * abs(share)


def settings(bench: Workbench) -> dict[str, str]:
    return {key: found[0] for key, found in parse_qs(urlsplit(urlsplit(bench.page.url).fragment).query).items()}


def wheel(bench: Workbench, at: tuple[float, float], turn: float, *, key: str = "") -> None:
    box = box_of(bench.get("memory-plane"))
    bench.page.mouse.move(box["x"] + at[0] * box["width"], box["y"] + at[1] * box["height"])
    if key:
        bench.page.keyboard.down(key)
    bench.page.mouse.wheel(0, turn)
    if key:
        bench.page.keyboard.up(key)


def check_cells(bench: Workbench, states: np.ndarray, order: list[int], *, rows: tuple[int, int]) -> None:
    """Cells that are wider and taller than two pixels have the colour of their value."""
    lines = np.arange(0, len(order), 5)
    steps = np.array([row for row in range(rows[0] + 1, rows[1] - 1, 3) if abs(row - 30 - STEPS) > 2])  # the cursor
    expected = np.array([[colour(states[row, order[line]]) for row in steps] for line in lines])

    def cells() -> np.ndarray:
        seen = pixels(bench)
        height, width = seen.shape[:2]
        y, x = (lines + 0.5) / len(order) * height, (steps - rows[0] + 0.5) / (rows[1] - rows[0]) * width
        return seen[y.astype(int)[:, None], x.astype(int)]

    bench.until(lambda: np.allclose(cells(), expected, rtol=0, atol=3))
    np.testing.assert_allclose(cells(), expected, rtol=0, atol=3)


@pytest.mark.parametrize("draw", ["webgl", "canvas"])
def test_every_cell_has_the_colour_of_its_value(
    visit: Visit, shown_kitems: Handle, states: np.ndarray, draw: str
) -> None:
    bench = visit(shown_kitems, f"{LINK}?episode=1&step=30&draw={draw}")
    drawn(bench)
    expect(bench.get("memory-canvas")).to_have_attribute("data-painter", draw)
    check_cells(bench, states, list(range(ELEMENTS)), rows=(STEPS, 2 * STEPS))


def test_the_gpu_and_the_plain_canvas_draw_the_same_picture(visit: Visit, shown_kitems: Handle) -> None:
    link = f"{LINK}?episode=1&step=0&scope=recording&order=change,0-480&window=11-430"
    one, other = (pixels(visit(shown_kitems, f"{link}&draw={draw}")) for draw in ("webgl", "canvas"))
    assert one.shape == other.shape
    assert np.mean(np.abs(one - other).max(axis=2) > 6) < 0.005


def test_pointing_at_a_cell_reports_its_exact_value(bench: Workbench, states: np.ndarray) -> None:
    box = box_of(drawn(bench))
    row, element = STEPS + 12, 40
    bench.page.mouse.move(
        box["x"] + (12.5 / STEPS) * box["width"], box["y"] + ((element + 0.5) / ELEMENTS) * box["height"]
    )
    tip = bench.get("memory-tip")
    expect(tip).to_contain_text(f"h {element} · step 12 · ")
    told = tip.inner_text().rsplit("· ", 1)[1].replace("−", "-")
    assert float(told) == pytest.approx(float(states[row, element]), abs=1e-6)


ORDERS = ["activation", "change", "stable", "tsne", "cluster"]
ASK_ORDER = """async path => {
    const asked = performance.getEntriesByType("resource").map((entry) => entry.name);
    const [home] = asked.find((address) => /\\/in\\/.*\\/api\\//.test(address)).split("/api/");
    return (await fetch(home + path)).json();
}"""
"""Asks the service as the page does: below the address that this session has."""


def test_an_order_moves_the_lines(bench: Workbench, states: np.ndarray) -> None:
    drawn(bench)
    for by in ORDERS:
        bench.get("memory-order").select_option(by)
        bench.settled(f"order={by},{STEPS}-{2 * STEPS}")
        asked = f"by={by}&array=memory&start={STEPS}&stop={2 * STEPS}"
        found = bench.page.evaluate(ASK_ORDER, f"/api/recordings/k-items/order?{asked}")
        assert sorted(found["order"]) == list(range(ELEMENTS))
        check_cells(bench, states, found["order"], rows=(STEPS, 2 * STEPS))


def test_an_order_by_a_metric_and_by_likeness_to_an_interval(bench: Workbench) -> None:
    drawn(bench)
    bench.get("memory-order").select_option("similar")
    expect(bench.get("toasts")).to_contain_text("Choose an interval first")
    bench.brush_steps("memory-plane", 10, 20, of=STEPS)
    bench.get("memory-order").select_option("similar")
    bench.settled(f"order=similar,{STEPS}-{2 * STEPS}-{STEPS + 10}-{STEPS + 21}")
    bench.get("memory-order").select_option("correlation")
    bench.get("memory-order-column").select_option("value")
    bench.settled("along=value")
    expect(bench.get("view-memory-problem")).to_have_count(0)
    bench.get("memory-order").select_option("change")
    bench.get("memory-order-over").select_option("interval")
    bench.settled(f"order=change,{STEPS}-{2 * STEPS}-{STEPS + 10}-{STEPS + 21}")


def test_an_interval_is_brushed_shown_everywhere_and_selected(bench: Workbench) -> None:
    drawn(bench)
    bench.brush_steps("memory-plane", 10, 20, of=STEPS)
    bench.settled(f"interval={STEPS + 10}-{STEPS + 21}")
    band, plane = box_of(bench.get("memory-interval")), box_of(bench.get("memory-plane"))
    assert band["width"] == pytest.approx(11 / STEPS * plane["width"], abs=3)
    expect(bench.get("timelines-overlay").locator("u")).to_have_count(1)
    bench.get("interval-select").click()
    bench.selected(11)
    expect(bench.get("chip-name")).to_have_text("ep 1: 10–20")
    bench.get("interval-zoom").click()
    bench.settled("window=10-21")
    expect(bench.get("scrubber-window")).to_be_visible()
    bench.get("interval-remove").click()
    expect(bench.get("memory-interval")).to_have_count(0)
    bench.get("undo").click()
    expect(bench.get("memory-interval")).to_have_count(1)


def test_elements_are_brushed_filtered_and_undone(bench: Workbench, states: np.ndarray) -> None:
    box = box_of(drawn(bench))
    each = box["height"] / ELEMENTS
    bench.drag(bench.get("memory-gutter"), (20, 8.5 * each), (20, 19.5 * each))
    bench.settled("elements=8-19")
    expect(bench.get("memory-chosen")).to_contain_text("12 chosen")
    bench.drag(bench.get("memory-plane"), (40, 40.5 * each), (50, 43.5 * each), shift=True)
    bench.settled("elements=40-43")
    bench.get("memory-only").click()
    check_cells(bench, states, [40, 41, 42, 43], rows=(STEPS, 2 * STEPS))
    bench.get("memory-strip").click()
    expect(bench.get("memory-only")).to_have_attribute("aria-pressed", "false")
    bench.page.keyboard.press("Control+z")
    expect(bench.get("memory-only")).to_have_attribute("aria-pressed", "true")
    for _ in range(2):
        bench.page.keyboard.press("Control+z")
    bench.settled("elements=8-19")
    bench.page.keyboard.press("Control+Shift+z")
    bench.settled("elements=40-43")


def test_elements_by_number_and_by_rank(bench: Workbench) -> None:
    drawn(bench)
    bench.get("memory-more").click()
    bench.get("memory-elements").fill("3, 5-7")
    bench.get("memory-elements-choose").click()
    bench.settled("elements=3,5-7")
    bench.get("memory-elements").fill("128")
    bench.get("memory-elements-choose").click()
    expect(bench.get("toasts")).to_contain_text("there are 0 to 127")
    assert settings(bench)["elements"] == "3,5-7"
    bench.get("memory-top-16").click()
    bench.settled("elements=0-15")


def test_time_and_elements_zoom_pan_and_come_back(bench: Workbench) -> None:
    drawn(bench)
    wheel(bench, (0.5, 0.5), -600)
    bench.settled("window=")
    first, last = map(int, settings(bench)["window"].split("-"))
    assert 0 < first < 30 < last < STEPS
    bench.drag(bench.get("memory-axis"), (200, 8), (120, 8))
    bench.settled(rf"window=(?!{first}-)")
    assert int(settings(bench)["window"].split("-")[0]) > first
    wheel(bench, (0.5, 0.25), -600, key="Shift")
    bench.settled("lines=")
    top, bottom = map(int, settings(bench)["lines"].split("-"))
    assert 0 < top < 32 < bottom < ELEMENTS
    bench.get("memory-plane").dblclick(position={"x": 100, "y": 100})
    expect(bench.get("scrubber-window")).to_have_count(0)
    bench.page.wait_for_function("() => !/window=|lines=/.test(location.hash)")


def test_zoomed_in_cells_are_exact(visit: Visit, shown_kitems: Handle, states: np.ndarray) -> None:
    bench = visit(shown_kitems, f"{LINK}?episode=1&step=30&window=10-20&lines=40-50")
    seen = pixels(bench)
    height, width = seen.shape[:2]
    for line in range(10):
        for step in range(10):
            found = seen[int((line + 0.5) * height / 10), int((step + 0.5) * width / 10)]
            np.testing.assert_allclose(found, colour(states[STEPS + 10 + step, 40 + line]), atol=3)


def test_square_cells(bench: Workbench) -> None:
    drawn(bench)
    wheel(bench, (0.5, 0.5), -500)
    bench.get("memory-more").click()
    bench.get("memory-square").check()
    bench.settled("square=on")
    bench.page.wait_for_function("() => /window=.*/.test(location.hash)")

    def ratio() -> float:
        box, told = box_of(drawn(bench)), settings(bench)
        (first, last) = map(int, told["window"].split("-"))
        lines = [float(part) for part in told.get("lines", f"0-{ELEMENTS}").split("-")]
        return box["width"] / (last - first) / (box["height"] / (lines[1] - lines[0]))

    bench.until(lambda: ratio() == pytest.approx(1, rel=0.1))
    assert ratio() == pytest.approx(1, rel=0.1)


def test_keys_do_all_of_it(bench: Workbench) -> None:
    drawn(bench)
    bench.get("memory-plane").focus()
    keyboard = bench.page.keyboard
    for key in ("ArrowDown", "ArrowDown", "e", "Shift+ArrowDown"):
        keyboard.press(key)
    bench.settled("elements=1,2")
    expect(bench.get("memory-tip")).to_contain_text("h 2 · step 30")
    for key in ("i", "ArrowRight", "ArrowRight", "i"):
        keyboard.press(key)
    bench.settled(f"interval={STEPS + 30}-{STEPS + 33}")
    keyboard.press("+")
    keyboard.press("*")
    bench.settled("lines=.*window=")
    keyboard.press("Alt+ArrowRight")
    keyboard.press("0")
    bench.page.wait_for_function("() => !/window=|lines=/.test(location.hash)")
    keyboard.press("o")
    bench.settled("only=on")
    for _ in range(2):
        keyboard.press("Escape")
    bench.page.wait_for_function("() => !/elements=|interval=/.test(location.hash)")


def test_an_order_and_a_choice_carry_over_to_other_episodes(bench: Workbench, states: np.ndarray) -> None:
    drawn(bench)
    bench.get("memory-order").select_option("change")
    bench.get("memory-more").click()
    bench.get("memory-top-8").click()
    bench.get("memory-more").click()
    bench.settled("elements=.*order=")
    before = settings(bench)
    assert before["order"] == f"change,{STEPS}-{2 * STEPS}"
    expect(bench.get("memory-order-here")).to_have_count(0)
    bench.get("workspace-episodes").click()
    bench.page.locator('[data-episode="3"]').click()
    bench.get("workspace-memory").click()
    bench.settled("episode=3")
    assert {key: settings(bench)[key] for key in ("order", "elements")} == {
        key: before[key] for key in ("order", "elements")
    }
    bench.get("memory-order-here").click()
    bench.settled(f"order=change,{3 * STEPS}-{4 * STEPS}")


def test_an_order_and_a_choice_carry_over_to_a_recording_of_the_same_memory(visit: Visit, shown_walks: Handle) -> None:
    bench = visit(shown_walks, "#/memory/first?episode=3&order=change,0-20&elements=1,3")
    drawn(bench)
    bench.get("recording-picker").select_option("second")
    bench.settled("memory/second.*elements=1,3.*order=change,0-20.*orderof=first")
    drawn(bench)
    expect(bench.get("view-memory-problem")).to_have_count(0)
    bench.get("memory-order-here").click()
    bench.page.wait_for_function("() => !/orderof=/.test(location.hash)")


def test_reloading_gives_back_what_was_seen(visit: Visit, shown_kitems: Handle) -> None:
    link = (
        f"{LINK}?episode=1&step=30&order=change,{STEPS}-{2 * STEPS}&elements=3,5-9&only=on"
        f"&interval={STEPS + 5}-{STEPS + 9}&window=2-50&overlay=value&range=0.5"
    )
    bench = visit(shown_kitems, link)
    before = pixels(bench)
    wanted = settings(bench)
    bench.page.reload()
    bench.ready()
    assert np.mean(np.abs(pixels(bench) - before).max(axis=2) > 6) < 0.005
    assert settings(bench) == wanted
    expect(bench.get("memory-overlay")).to_be_visible()


def test_a_metric_is_dropped_onto_the_memory(bench: Workbench) -> None:
    drawn(bench)
    data = bench.page.evaluate_handle(
        "() => { const d = new DataTransfer(); d.setData('application/x-innerview-column', 'value'); return d }"
    )
    for kind in ("dragover", "drop"):
        bench.get("memory-plane").dispatch_event(kind, {"dataTransfer": data})
    bench.settled("overlay=value")
    expect(bench.get("memory-overlay")).to_contain_text("value")
    bench.get("memory-overlay-remove").click()
    expect(bench.get("memory-overlay")).to_have_count(0)
    bench.get("memory-more").click()
    bench.get("memory-overlay-choice").select_option("entropy")
    bench.settled("overlay=entropy")


def test_the_range_of_colours(bench: Workbench) -> None:
    before = pixels(bench)
    bench.get("memory-range").focus()
    for _ in range(3):
        bench.page.keyboard.press("ArrowDown")
    bench.settled("range=0.5")
    assert np.abs(pixels(bench) - before).mean() > 3, "weaker values are stronger now"
    bench.page.keyboard.press("Home")
    bench.page.wait_for_function("() => !/range=/.test(location.hash)")


def test_the_whole_recording(bench: Workbench) -> None:
    drawn(bench)
    bench.get("memory-scope").locator("[data-value=recording]").click()
    bench.settled("scope=recording")
    drawn(bench)
    box = box_of(bench.get("memory-plane"))
    bench.page.mouse.click(box["x"] + box["width"] * (5.5 / 8), box["y"] + 30)
    bench.settled("episode=5&")
    bench.at_step(30)


def test_saving_what_is_drawn(bench: Workbench, states: np.ndarray) -> None:
    drawn(bench)
    bench.get("view-memory-export").click()
    with bench.page.expect_download() as file:
        bench.page.get_by_role("button", name="CSV table").click()
    lines = file.value.path().read_text().splitlines()
    assert len(lines) == 1 + ELEMENTS
    assert lines[0].split(",")[:3] == ["step", "0", "1"]
    name, *values = lines[1 + 40].split(",")
    assert name == "h 40"
    np.testing.assert_allclose([float(v) for v in values], states[STEPS : 2 * STEPS, 40], atol=1e-6)
    with bench.page.expect_download() as file:
        bench.page.get_by_role("button", name="PNG picture").click()
    with Image.open(file.value.path()) as picture:
        assert picture.width > 800
    assert re.fullmatch(r"k-items-episode-1-memory\.png", file.value.suggested_filename)


def test_a_long_memory_is_drawn_from_means_that_are_built_meanwhile(
    visit: Visit, show: Show, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiles, "DIRECT_VALUES", 0)
    rows, stretch = 40_000, 4_000
    values = np.zeros((rows, 8), np.float32)
    for start in range(0, rows, 2 * stretch):
        values[start : start + stretch] = np.linspace(-1, 1, 8)
    values[::2] *= 0.5  # means of neighbours are three quarters
    study = iv.Study.create(tmp_path / "long.study")
    iv.write_rows(
        study,
        "long",
        ordering=Ordering(),
        columns={"episode": np.arange(rows) // 1000, "step": np.arange(rows) % 1000, "health": np.arange(rows) / 7},
        arrays={"memory": values},
        specs=[ArraySpec(name="memory", shape=(8,), dtype="float32", role="memory")],
    )
    bench = visit(show(study), "#/memory/long?scope=recording&step=999&episode=39", ready=False)
    seen = pixels(bench)
    height, width = seen.shape[:2]
    for element in range(8):
        for part in range(rows // stretch):
            found = seen[int((element + 0.5) * height / 8), int((part + 0.5) * stretch / rows * width)]
            expected = 0.0 if part % 2 else 0.75 * np.linspace(-1, 1, 8)[element]
            np.testing.assert_allclose(found, colour(expected), atol=4)
    assert any((study.path / "recordings/long/pyramid").iterdir())


def test_a_recording_without_memory_says_so(visit: Visit, shown_pairs: Handle) -> None:
    place = visit(shown_pairs).get("workspace-memory")
    expect(place).to_have_attribute("aria-disabled", "true")
    expect(place).to_have_attribute("title", re.compile("needs .* a subject with memory"))


def test_each_of_several_memories_can_be_looked_at(visit: Visit, show: Show, tmp_path: Path) -> None:
    rows = 40
    study = iv.Study.create(tmp_path / "two.study")
    states = {
        "memory.hidden": np.full((rows, 3), 0.5, np.float32),
        "memory.cell": np.full((rows, 2, 4), -7, np.float32),
    }
    iv.write_rows(
        study,
        "lstm",
        ordering=Ordering(),
        columns={"episode": np.zeros(rows, int), "step": np.arange(rows), "health": np.arange(rows) / 7},
        arrays=states,
        specs=[ArraySpec(name=n, shape=v.shape[1:], dtype="float32", role="memory") for n, v in states.items()],
    )
    bench = visit(show(study), "#/memory/lstm?elements=1", ready=False)
    drawn(bench)
    expect(bench.get("memory-chosen")).to_contain_text("hidden 1")
    bench.get("memory-more").click()
    bench.get("memory-array").select_option("memory.cell")
    bench.settled("memory=memory.cell")
    bench.page.wait_for_function("() => !/elements=/.test(location.hash)")
    expect(bench.get("view-memory")).to_contain_text("8 elements")
    expect(bench.get("memory-range")).to_have_attribute("aria-valuenow", "10")
    seen = pixels(bench)
    np.testing.assert_allclose(seen[len(seen) // 3, seen.shape[1] // 3], colour(-0.7), atol=3)
