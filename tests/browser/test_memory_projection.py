"""Hidden states as a cloud: laid out by a job, coloured by any column, selected with a lasso."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

import innerview as iv
from innerview.lenses.look import look
from innerview.schema import ArraySpec, Ordering
from innerview.serve import Handle

from .conftest import Show, Visit
from .memory_study import LINK, ROWS, STEPS
from .workbench import Workbench, box_of

AIR = 12
PIXEL = """(canvas, [x, y]) => {
    const dense = canvas.width / canvas.clientWidth;
    const pixel = canvas.getContext("2d").getImageData(Math.round(x * dense), Math.round(y * dense), 1, 1).data;
    return Array.from(pixel);
}"""
CATEGORY = "code => getComputedStyle(document.documentElement).getPropertyValue(`--c${code}`).trim()"


@pytest.fixture
def bench(visit: Visit, shown_looked_kitems: Handle) -> Workbench:
    """The hidden states laid out before the page opens."""
    bench = visit(shown_looked_kitems, LINK)
    drawn(bench, ROWS)
    return bench


def drawn(bench: Workbench, points: int) -> None:
    expect(bench.get("projection-canvas")).to_have_attribute("data-points", str(points), timeout=120_000)


def places(study: iv.Study) -> np.ndarray:
    """Where the rows lie, [rows, 2]."""
    return study.result_array(study.results(kind="pca")[0].id, "places").astype(np.float64)


def on_screen(study: iv.Study, plot: Locator) -> np.ndarray:
    """Pixels of the rows in the plot while it shows everything, [rows, 2]."""
    at, box = places(study), box_of(plot)
    low, high = at.min(axis=0), at.max(axis=0)
    room = np.array([box["width"], box["height"]]) - 2 * AIR
    scale = (room / (high - low)).min()
    return np.array([box["width"], box["height"]]) / 2 + (at - (low + high) / 2) * scale * np.array([1, -1])


def rows_in_address(bench: Workbench) -> set[int]:
    """The rows of the first term of the selection."""
    rows: set[int] = set()
    at = 0
    for pair in bench.select[0][2].split("."):
        gap, length = (int(part, 36) for part in pair.split("-"))
        rows |= set(range(at + gap, at + gap + length))
        at += gap + length
    return rows


def lasso(bench: Workbench, corners: list[tuple[float, float]]) -> None:
    box = box_of(bench.get("projection-plot"))
    bench.page.mouse.move(box["x"] + corners[0][0], box["y"] + corners[0][1])
    bench.page.mouse.down()
    for x, y in corners[1:]:
        bench.page.mouse.move(box["x"] + x, box["y"] + y)
    bench.page.mouse.up()


def test_a_first_look_runs_with_one_click(visit: Visit, show: Show, kitems: iv.Study) -> None:
    bench = visit(show(kitems), LINK)
    expect(bench.get("view-projection")).to_contain_text("PCA has not been run")
    bench.get("start-pca").click()
    drawn(bench, ROWS)
    expect(bench.get("view-projection")).to_contain_text(f"{ROWS} states")
    assert [r.kind for r in kitems.results()] == ["pca"]


def apart(places: np.ndarray) -> float:
    """The middle of the widest gap between two neighbours near the middle: no point is near it."""
    some = np.sort(places)[len(places) // 2 - 40 : len(places) // 2 + 40]
    widest = int(np.diff(some).argmax())
    return float(some[widest : widest + 2].mean())


def test_a_lasso_selects_exactly_the_rows_inside_and_can_be_undone(bench: Workbench, looked_kitems: iv.Study) -> None:
    spots = on_screen(looked_kitems, bench.get("projection-plot"))
    right, low = apart(spots[:, 0]), apart(spots[:, 1])
    inside = set(np.flatnonzero((spots[:, 0] < right) & (spots[:, 1] < low) & (spots > 2).all(axis=1)).tolist())
    assert 10 < len(inside) < ROWS - 10
    lasso(bench, [(2, 2), (right, 2), (right, low), (2, low), (2, 3)])
    bench.selected(len(inside))
    bench.settled("select=ur,lasso%201")
    assert rows_in_address(bench) == inside
    bench.get("undo").click()
    expect(bench.get("chip")).to_have_count(0)
    bench.get("redo").click()
    bench.selected(len(inside))
    bench.settled("select=ur")
    bench.page.reload()
    drawn(bench, ROWS)
    bench.selected(len(inside))


def test_hovering_reports_the_step_and_clicking_goes_there(bench: Workbench, looked_kitems: iv.Study) -> None:
    plot = bench.get("projection-plot")
    spots = on_screen(looked_kitems, plot)
    row = loneliest(spots)
    x, y = spots[row]
    plot.hover(position={"x": x, "y": y})
    tip = bench.get("projection-tip")
    expect(tip).to_contain_text(f"Ep {row // STEPS}, step {row % STEPS}")
    expect(tip.locator("img")).to_have_attribute("src", re.compile(rf"/images/observation/{row}\?"))
    plot.click(position={"x": x, "y": y})
    bench.at_step(row % STEPS)
    expect(bench.get("projection-top")).to_have_attribute("data-row", str(row))


def test_the_current_step_moves_through_the_cloud(bench: Workbench, looked_kitems: iv.Study) -> None:
    spots = on_screen(looked_kitems, bench.get("projection-plot"))
    top = bench.get("projection-top")
    for row in range(3):
        expect(top).to_have_attribute("data-row", str(row))
        told = [int(part) for part in (top.get_attribute("data-spot") or "").split(",")]
        assert np.allclose(told, spots[row], atol=1)
        bench.page.keyboard.press("ArrowRight")


def test_points_have_the_colour_of_their_word_and_a_word_selects(bench: Workbench, looked_kitems: iv.Study) -> None:
    bench.get("projection-hue").select_option("action")
    names = looked_kitems.recording("k-items").info.columns[2].categories
    actions = looked_kitems.recording("k-items").columns(["action"])["action"].to_numpy()
    expect(bench.get("legend-word")).to_have_text([names[code] for code in sorted(set(actions))])
    spots = on_screen(looked_kitems, bench.get("projection-plot"))
    row = loneliest(spots)
    wanted = bench.page.evaluate(CATEGORY, int(actions[row]))
    colour = [int(wanted[i : i + 2], 16) for i in (1, 3, 5)]

    def pixel() -> list[int]:
        return bench.get("projection-canvas").evaluate(PIXEL, spots[row].tolist())[:3]

    bench.until(lambda: np.allclose(pixel(), colour, atol=6))
    assert np.allclose(pixel(), colour, atol=6)
    word = names[actions[0]]
    bench.get("legend-word").get_by_text(word, exact=True).click()
    bench.selected(int((actions == actions[0]).sum()))


def test_numbers_have_a_scale(bench: Workbench) -> None:
    bench.get("projection-hue").select_option("steps_left")
    expect(bench.get("projection-legend")).to_contain_text(re.compile(r"\d"))
    bench.settled("hue=steps_left")
    bench.get("projection-hue").select_option("")
    expect(bench.get("projection-legend")).to_have_count(0)


def test_an_element_that_is_chosen_colours_the_states(bench: Workbench, looked_kitems: iv.Study) -> None:
    bench.get("projection-hue").select_option("chosen element")
    expect(bench.get("view-projection")).to_contain_text("Choose an element in the memory")
    bench.settled("hue=chosen")
    values = looked_kitems.recording("k-items").array("memory", 0, ROWS)[:, 7]
    bench.page.goto(f"{bench.page.url}&elements=7")
    size = float(np.abs(np.quantile(values, [0.01, 0.99], method="nearest")).max())
    expect(bench.get("projection-legend")).to_contain_text(f"{size:.3f}".rstrip("0"))
    spots = on_screen(looked_kitems, bench.get("projection-plot"))
    row = loneliest(spots)

    def is_warm() -> bool:
        red, _, blue, _ = bench.get("projection-canvas").evaluate(PIXEL, spots[row].tolist())
        return bool(red > blue)

    bench.until(lambda: is_warm() == (values[row] > 0))
    assert is_warm() == (values[row] > 0)


def test_the_keyboard_zooms_moves_and_selects(bench: Workbench) -> None:
    plot = bench.get("projection-plot")
    plot.focus()
    plot.press("+")
    bench.settled(r"cloud=[^&]*1\.4")
    spot = bench.get("projection-top").get_attribute("data-spot")
    plot.press("Alt+ArrowRight")
    expect(bench.get("projection-top")).not_to_have_attribute("data-spot", spot or "")
    plot.press("0")
    bench.page.wait_for_url(re.compile(r"^(?!.*cloud=)"))
    plot.press("Enter")
    bench.settled("select=ur,lasso%201")
    assert 0 in rows_in_address(bench)
    assert len(rows_in_address(bench)) < ROWS


def test_tsne_is_seen_while_it_runs_and_can_be_stopped(visit: Visit, show: Show, kitems: iv.Study) -> None:
    look(kitems, "pca", progress=False)
    bench = visit(show(kitems), LINK)
    bench.get("projection-layout").locator("[data-value=tsne]").click()
    bench.get("run-tsne").click()
    bench.get("parameter-iterations").fill("5000")
    bench.get("run-tsne-start").click()
    expect(bench.get("projection-moving")).to_have_text("still moving")
    expect(bench.get("projection-progress")).to_contain_text(re.compile(r"of 5,250"))
    drawn(bench, ROWS)
    bench.get("projection-progress-cancel").click()
    expect(bench.get("projection-moving")).to_have_text("stopped on the way")
    assert kitems.results(kind="tsne")[0].provisional
    bench.get("projection-layout").locator("[data-value=pca]").click()
    expect(bench.get("projection-moving")).to_have_count(0)


def test_what_is_not_installed_says_so(bench: Workbench) -> None:
    umap = bench.get("projection-layout").locator("[data-value=umap]")
    if find_spec("umap") is None:
        expect(umap).to_have_attribute("aria-disabled", "true")
        expect(umap).to_have_attribute("title", re.compile("umap-learn"))
        umap.click(force=True)
        expect(bench.get("toasts")).to_contain_text("umap-learn")
        drawn(bench, ROWS)
    else:
        expect(umap).to_have_attribute("aria-disabled", "false")


def test_a_hundred_thousand_states_are_drawn_and_a_lasso_over_them_has_a_short_address(
    visit: Visit, show: Show, tmp_path: Path
) -> None:
    rows = 100_000
    states = np.random.default_rng(0).standard_normal((rows, 6), np.float32)
    study = iv.Study.create(tmp_path / "many.study", "many")
    iv.write_rows(
        study,
        "many",
        ordering=Ordering(),
        columns={"episode": np.arange(rows) // 500, "step": np.arange(rows) % 500, "value": states[:, 0].astype(float)},
        arrays={"memory": states},
        specs=[ArraySpec(name="memory", shape=(6,), dtype="float32", role="memory")],
    )
    look(study, "pca", max_rows=rows, progress=False)
    bench = visit(show(study), "#/memory/many", ready=False)
    drawn(bench, rows)
    spots = on_screen(study, bench.get("projection-plot"))
    (left, top), (right, low) = np.median(spots, axis=0) - 30.3, np.median(spots, axis=0) + 20.3
    inside = ((spots > (left, top)) & (spots < (right, low))).all(axis=1).sum()
    lasso(bench, [(left, top), (right, top), (right, low), (left, low), (left, top + 1)])
    bench.settled("select=ul,lasso%201")
    expect(bench.get("selection-count")).to_contain_text(" of ")
    count = int(bench.get("selection-count").inner_text().split(" of")[0].replace(",", ""))
    assert abs(count - inside) < 0.005 * inside, "the line is told with five digits"
    assert len(bench.page.url) < 1000
    bench.page.reload()
    drawn(bench, rows)
    bench.selected(count)


def loneliest(spots: np.ndarray) -> int:
    """The row that is farthest from all others."""
    distance = np.linalg.norm(spots[:, None] - spots[None], axis=2) + 1e9 * np.eye(len(spots))
    return int(distance.min(axis=1).argmax())
