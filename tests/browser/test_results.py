"""Lenses of a package that the page has never heard of: run in the page, each shown by its type."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from playwright.sync_api import expect
from torch import Tensor, nn

import innerview as iv
from innerview.cli.make import load_subject
from innerview.schema import ArraySpec
from innerview.serve import Handle
from tests.plugins.installed import LENSES, installed

from .conftest import ROOT, Show, Visit
from .workbench import Workbench, box_of, canvas_of

EPISODES, LENGTH = 3, 12
ROWS = EPISODES * LENGTH
NUMBER = re.compile(r"−?[\d.,]+(?:e[−+]?\d+)?")


@pytest.fixture(scope="module")
def lamps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[iv.Study, Handle]]:
    with installed():
        subject, world = load_subject("sample:watcher")
        path = tmp_path_factory.mktemp("lamps") / "lamps.study"
        iv.record(path, subject, world, episodes=EPISODES, name="lamps", progress=False)
        study = iv.Study.open(path)
        with iv.show(study, subject=subject, open_browser=False) as handle:
            yield study, handle


def open_results(visit: Visit, handle: Handle) -> Workbench:
    bench = visit(handle, "#/results/lamps", ready=False)
    expect(bench.get("view-lenses")).to_be_visible()
    return bench


def run(bench: Workbench, study: iv.Study, name: str) -> str:
    """Run a lens on all rows from its line in the list; the id of what the study then holds."""
    line = bench.page.locator(f'[data-testid="lens"][data-lens="{name}"]')
    line.scroll_into_view_if_needed()
    line.get_by_test_id(f"run-{name}").click()
    bench.get(f"run-{name}-start").click()
    saved = bench.page.locator(f'[data-testid="saved-result"][data-kind="{name}"][aria-current="true"]')
    saved.wait_for()
    (found,) = (result for result in study.results() if result.kind == name)
    expect(saved).to_have_attribute("data-result", found.id)
    assert found.type == LENSES[name]
    return found.id


def read(text: str) -> float:
    """The first number in a text of the page."""
    found = NUMBER.search(text)
    assert found, text
    return float(found[0].replace("−", "-").replace(",", ""))


def same(text: str, value: float) -> bool:
    """Whether the page shows a value, in about three digits."""
    return bool(np.isclose(read(text), value, rtol=6e-3, atol=6e-4))


def test_no_code_of_the_page_names_these_lenses() -> None:
    words = re.compile(r"\b(rectified|brightest|restless|surety|innerview_sample)\b")
    sources = [*(ROOT / "web/src").rglob("*.ts"), *(ROOT / "web/src").rglob("*.svelte")]
    assert sources
    named = [str(p) for p in sources if ".test." not in p.name and words.search(p.read_text("utf-8"))]
    assert not [p for p in named if Path(p).name != "types.ts"]


def test_heat_is_drawn_over_what_was_seen_with_its_scale(visit: Visit, lamps: tuple[iv.Study, Handle]) -> None:
    study, handle = lamps
    bench = open_results(visit, handle)
    heat_id = run(bench, study, "rectified")
    (name,) = (a for a in study.result(heat_id).arrays if a.startswith("heat."))
    heat = study.result_array(heat_id, name)
    for row in (0, 5):
        if row:
            bench.page.keyboard.press("Escape")
            for _ in range(row):
                bench.page.keyboard.press("ArrowRight")
        canvas = bench.get("result-heat-canvas")
        expect(canvas).to_have_attribute("data-asked", f"{name[5:]} {row} all")
        strongest = np.take_along_axis(heat[row], np.abs(heat[row]).argmax(0)[None], 0)[0]
        reach = float(np.abs(strongest).max())
        assert same(bench.get("result-heat-scale").locator("span").nth(1).inner_text(), reach)
        drawn = canvas_of(canvas)
        assert drawn.shape[:2] == (8, 8)
        opacity = 255 * np.minimum(0.85, np.abs(strongest) / reach * 1.1)
        np.testing.assert_allclose(drawn[..., 3], opacity, atol=1.5)
        strong = drawn[..., 3] > 60
        warm = drawn[..., 0].astype(int) > drawn[..., 2]
        np.testing.assert_array_equal(warm[strong], strongest[strong] > 0)
    bench.get("heat-scale-of").locator("[data-value=all]").click()
    most = bench.get("result-heat-scale").locator("span").nth(1)
    bench.until(lambda: same(most.inner_text(), float(np.abs(heat).max())))
    assert same(most.inner_text(), float(np.abs(heat).max()))
    bench.get("heat-channel").select_option(value="1")
    expect(canvas).to_have_attribute("data-asked", f"{name[5:]} 5 1")
    share = np.abs(heat[5, 1]) / np.abs(heat).max()
    np.testing.assert_allclose(canvas_of(canvas)[..., 3], 255 * np.minimum(0.85, share * 1.1), atol=1.5)


class Locator(nn.Module):
    """A pose from the mean colour of a picture: no action, no value."""

    def __init__(self) -> None:
        super().__init__()
        self.pose = nn.Linear(3, 3)

    def forward(self, rgb: Tensor) -> dict[str, Tensor]:
        return {"pose": self.pose(rgb.mean((2, 3)))}


def test_pictures_that_nobody_recorded_are_asked_for_what_the_live_subject_predicts(
    visit: Visit, show: Show, tmp_path: Path
) -> None:
    study = iv.Study.create(tmp_path / "rooms.study", "rooms")
    seen = ArraySpec(name="rgb", shape=(12, 16, 3), dtype="uint8", axes=("height", "width", "channel"))
    rgb = np.random.default_rng(0).integers(0, 256, (9, 12, 16, 3), dtype=np.uint8)
    iv.write_rows(study, "rooms", columns={"room": [1.0] * 9}, arrays={"rgb": rgb}, specs=[seen])
    subject = iv.subject(Locator(), name="locator", example=torch.zeros(1, 3, 12, 16), heads={"pose": "pose"})
    bench = visit(show(study, subject=subject), "#/results/rooms", ready=False)
    bench.get("run-gradient").click()
    target = bench.get("parameter-target")
    expect(target.locator("option")).to_have_text(["x of pose", "y of pose", "angle of pose"])
    target.select_option("y of pose")
    bench.get("run-gradient-start").click()
    bench.page.locator('[data-testid="saved-result"][data-kind="gradient"][aria-current="true"]').wait_for()
    (made,) = study.results()
    assert made.arguments["parameters"]["target"] == "y of pose"


def test_a_lens_over_single_rows_answers_live(visit: Visit, lamps: tuple[iv.Study, Handle]) -> None:
    study, handle = lamps
    bench = open_results(visit, handle)
    id = run(bench, study, "surety")
    values = study.result_array(id, "values")
    bench.get("result-from").locator("[data-value=live]").click()
    for row in (0, 1):
        shown = bench.get("result-live-value")
        expect(bench.get("result-live-row")).to_contain_text(f"Row {row},")
        assert len(shown.all()) == 2
        assert all(same(text, value) for text, value in zip(shown.all_inner_texts(), values[row], strict=True))
        bench.page.keyboard.press("ArrowRight")


def test_values_per_row_are_lines_over_time(visit: Visit, lamps: tuple[iv.Study, Handle]) -> None:
    study, handle = lamps
    bench = open_results(visit, handle)
    values = study.result_array(run(bench, study, "surety"), "values")
    expect(bench.get("result-rows-known")).to_contain_text(f"{ROWS} steps have values, {LENGTH} of those in sight")
    for row in (0, 3):
        bench.at_step(row)
        reading = bench.get("result-reading")
        bench.until(lambda reading=reading, row=row: same(reading.first.inner_text(), values[row, 0]))
        assert all(same(t, v) for t, v in zip(reading.all_inner_texts(), values[row], strict=True))
        for _ in range(3 - row):
            bench.page.keyboard.press("ArrowRight")
    ranges = [
        text.split("\n")[-1].split(" to ") for text in bench.get("result-per-row").locator(".label").all_inner_texts()
    ]
    first = values[:LENGTH]
    assert all(same(low, first[:, k].min()) and same(high, first[:, k].max()) for k, (low, high) in enumerate(ranges))
    bench.brush_steps("result-overlay", 2, 6, of=LENGTH)
    bench.selected(5)


def test_a_layout_is_a_cloud_with_a_lasso(visit: Visit, lamps: tuple[iv.Study, Handle]) -> None:
    study, handle = lamps
    bench = open_results(visit, handle)
    id = run(bench, study, "said")
    places = study.result_array(id, "places")
    assert places.shape == (ROWS, 2)
    expect(bench.get("result-layout-count")).to_have_text(f"{ROWS} steps")
    expect(bench.get("result-layout-canvas")).to_have_attribute("data-points", str(ROWS))
    expect(bench.get("result-layout")).to_contain_text("first component")
    plot = bench.get("result-layout-plot")
    box = box_of(plot)
    corners = [(2, 2), (box["width"] - 2, 2), (box["width"] - 2, box["height"] - 2), (2, box["height"] - 2), (2, 2)]
    mouse = bench.page.mouse
    mouse.move(box["x"] + 2, box["y"] + 2)
    mouse.down()
    for x, y in corners:
        mouse.move(box["x"] + x, box["y"] + y, steps=6)
    mouse.up()
    bench.selected(ROWS)


def test_values_per_element_are_a_sorted_table_with_bars(visit: Visit, lamps: tuple[iv.Study, Handle]) -> None:
    study, handle = lamps
    bench = open_results(visit, handle)
    values = study.result_array(run(bench, study, "restless"), "values")
    lines = bench.get("result-lines-line")
    expect(lines).to_have_count(len(values))
    bench.get("result-lines-sort").filter(has_text="spread").click()
    bench.get("result-lines-sort").filter(has_text="spread").click()
    order = np.argsort(-values[:, 0], kind="stable")
    expect(lines.first).to_have_attribute("data-line", str(order[0]))
    for line, element in zip(lines.all(), order, strict=True):
        cells = line.get_by_role("cell").all_inner_texts()
        assert int(cells[0]) == element
        assert all(same(cell, value) for cell, value in zip(cells[1:], values[element], strict=True))
    widths = [box_of(line.locator("i").first)["width"] for line in lines.all()]
    np.testing.assert_allclose(np.divide(widths, widths[0]), values[order, 0] / values[order[0], 0], atol=0.03)


def test_a_table_is_sorted_and_saved_as_csv(visit: Visit, lamps: tuple[iv.Study, Handle], tmp_path: Path) -> None:
    study, handle = lamps
    bench = open_results(visit, handle)
    shown = study.result(run(bench, study, "columns")).shown
    lines = bench.get("result-lines-line")
    expect(lines).to_have_count(len(shown["lines"]))
    for line, wanted in zip(lines.all(), shown["lines"], strict=True):
        cells = line.get_by_role("cell").all_inner_texts()
        assert cells[:2] == wanted[:2]
        assert all(same(cell, value) for cell, value in zip(cells[2:], wanted[2:], strict=True))
    bench.get("result-lines-sort").filter(has_text="highest").click()
    highest = [line[4] for line in shown["lines"]]
    expect(lines.first).to_have_attribute("data-line", str(int(np.argmin(highest))))
    bench.get("result-table-export").click()
    with bench.page.expect_download() as coming:
        bench.page.get_by_role("button", name="CSV table").click()
    coming.value.save_as(tmp_path / "table.csv")
    told = (tmp_path / "table.csv").read_text("utf-8").splitlines()
    assert told[0] == "column,unit,lowest,mean,highest" and len(told) == 1 + len(highest)
    np.testing.assert_allclose([float(line.split(",")[4]) for line in told[1:]], highest)


def test_a_chart_has_its_bars_axes_and_svg(visit: Visit, lamps: tuple[iv.Study, Handle], tmp_path: Path) -> None:
    study, handle = lamps
    bench = open_results(visit, handle)
    shown = study.result(run(bench, study, "depth")).shown
    plot = bench.get("result-chart-plot")
    plot.hover()
    expect(bench.get("result-chart-tip")).to_contain_text("see")
    parts = bench.get("result-chart-tip").inner_text().split(" · ")
    assert [part.split(" ")[0] for part in parts[1:]] == ["mean", "largest"]
    assert all(same(part, one["y"][0]) for part, one in zip(parts[1:], shown["series"], strict=True))
    bench.get("result-chart-export").click()
    with bench.page.expect_download() as coming:
        bench.page.get_by_role("button", name="SVG drawing").click()
    coming.value.save_as(tmp_path / "chart.svg")
    drawn = (tmp_path / "chart.svg").read_text("utf-8")
    assert "size of the activation" in drawn and ">layer<" in drawn and ">largest<" in drawn


def test_a_gallery_has_captions_scores_and_leads_to_rows(visit: Visit, lamps: tuple[iv.Study, Handle]) -> None:
    study, handle = lamps
    bench = open_results(visit, handle)
    id = run(bench, study, "brightest")
    shown, pictures = study.result(id).shown, study.result_array(id, "pictures")
    tiles = bench.get("result-picture")
    expect(tiles).to_have_count(len(pictures))
    for at, tile in enumerate(tiles.all()):
        expect(tile).to_contain_text(shown["captions"][at])
        assert same(tile.locator("span").last.inner_text(), shown["scores"][at])
        canvas = tile.locator("canvas")
        bench.until(lambda canvas=canvas: canvas_of(canvas).shape[0] == 8)
        np.testing.assert_array_equal(canvas_of(canvas)[..., :3], pictures[at])
    row = shown["rows"][-1]
    tiles.last.click()
    bench.at_step(row % LENGTH)
    expect(bench.get("view-pair")).to_contain_text(f"row {row}")
