"""The workspace Transfer: every view shows what the nets say when they are run by hand, and selects by it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

import innerview as iv
from innerview.serve import Handle

from . import transfer_study
from .conftest import Visit
from .drawn.reading import check, table
from .transfer_study import COUNT, NETS, Said, gap_kind
from .workbench import Workbench, box_of, canvas_of

LINK = "#/transfer/office"
A, B = NETS
UNITS = {"position": "m", "heading": "°"}
Truth = tuple[np.ndarray, list[str]]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> iv.Study:
    return transfer_study.make(tmp_path_factory.mktemp("transfer") / "transfer.study")


@pytest.fixture(scope="module")
def shown(study: iv.Study) -> Iterator[Handle]:
    with iv.show(study, list(transfer_study.subjects().values()), open_browser=False) as handle:
        yield handle


@pytest.fixture(scope="module")
def said(study: iv.Study) -> dict[tuple[str, str], Said]:
    return dict(transfer_study.by_hand(study))


@pytest.fixture(scope="module")
def truth(study: iv.Study) -> Truth:
    table = study.recording("office").columns(["x", "y", "angle", "room"])
    return table.select("x", "y", "angle").to_numpy(), table["room"].to_list()


@pytest.fixture
def opened(visit: Visit, shown: Handle) -> Callable[..., Workbench]:
    def go(more: str = "", **settings: object) -> Workbench:
        bench = visit(shown, LINK + more, ready=False, viewport={"width": 1600, "height": 1000}, **settings)
        bench.get("model-error").first.wait_for()
        bench.still()
        return bench

    return go


def gaps(said: dict[tuple[str, str], Said], net: str) -> tuple[np.ndarray, list[str]]:
    sim, real = said[net, "sim"], said[net, "real"]
    gap = np.linalg.norm(sim.pose[:, :2] - real.pose[:, :2], axis=1)
    return gap, [gap_kind(*each) for each in zip(sim.position, real.position, gap, strict=True)]


def clear(bench: Workbench) -> None:
    bench.get("clear-selection").click()


def test_models_and_kinds_are_those_of_the_nets(
    opened: Callable[..., Workbench], said: dict[tuple[str, str], Said]
) -> None:
    bench = opened()
    for net in NETS:
        line = bench.page.locator(f'[data-testid="model"][data-model="{net}"]')
        for what in UNITS:
            for side in ("sim", "real"):
                cell = line.locator(f'[data-testid="model-error"][data-domain="{side}"][data-what="{what}"]')
                values = said[net, side].of(what)
                most = max(float(np.quantile(each.of(what), 0.95)) for each in said.values())
                bins = np.minimum(13, np.floor(values / most * 14)).astype(int)
                counts = " ".join(map(str, np.bincount(bins, minlength=14)))
                # The scale is that of all models, and waits for the last of them.
                expect(cell.locator("svg"), f"{net} {side} {what}").to_have_attribute("data-counts", counts)
                check(cell.locator(".mono").inner_text(), float(np.median(values)), f"{net} {side} {what}")
    saved = {line["model"]: line for line in table(bench, "view-models")}
    for (net, side), each in said.items():
        assert math.isclose(float(saved[net][f"{side} position median (m)"]), np.median(each.position), abs_tol=1e-4)
        assert math.isclose(float(saved[net][f"{side} heading 90 %"]), np.quantile(each.heading, 0.9), abs_tol=1e-3)
    # The line of the second net in the plot: a click shows it everywhere, B puts the first beside it.
    names = [line["model"] for line in table(bench, "view-models")]
    assert names == [A, B]
    bench.page.locator(f'[data-model="{B}"] [data-testid="model-a"]').click()
    expect(bench.get("error-map")).to_have_attribute("data-subject", B)
    bench.page.locator(f'[data-model="{A}"] [data-testid="model-b"]').click()
    expect(bench.get("error-map")).to_have_count(2)
    kinds = {
        (each.get_attribute("data-model"), each.get_attribute("data-of")): {
            part.get_attribute("data-kind"): int(part.get_attribute("data-count") or 0)
            for part in each.get_by_test_id("kind").all()
        }
        for each in bench.get("kinds-line").all()
    }
    wanted = {(net, side): dict(Counter(each.kinds)) for (net, side), each in said.items()}
    wanted |= {(net, "gap"): dict(Counter(gaps(said, net)[1])) for net in NETS}
    assert kinds == wanted
    assert len({kind for counted in wanted.values() for kind in counted}) >= 5, "the study shows few kinds"
    lines = table(bench, "view-kinds")
    assert sum(int(line["rows"]) for line in lines) == 6 * COUNT


def test_views_select_and_sets_are_joined(
    opened: Callable[..., Workbench], said: dict[tuple[str, str], Said], truth: Truth
) -> None:
    bench = opened("?overview=rooms")
    errors = said[A, "real"].position
    worst = errors >= np.quantile(errors, 0.85)
    bench.get("worst").click()
    bench.selected(int(worst.sum()))
    # A room beside it: union, intersection, difference, complement, and back again.
    lab = np.array([room == "lab" for room in truth[1]])
    bench.page.locator('[data-testid="room"][data-room="lab"]').click()
    bench.selected(int((worst | lab).sum()))
    bench.get("operator").click()
    bench.selected(int((worst & lab).sum()))
    bench.get("operator").click()
    bench.selected(int((worst & ~lab).sum()))
    bench.get("chip-not").nth(1).click()
    bench.selected(int((worst & lab).sum()))
    bench.get("undo").click()
    bench.selected(int((worst & ~lab).sum()))
    clear(bench)
    best = errors <= np.quantile(errors, 0.15)
    bench.get("best").click()
    bench.selected(int(best.sum()))
    clear(bench)
    bench.get("fail-everywhere").click()
    bench.selected(sum(all(said[net, "real"].kinds[row] != "right" for net in NETS) for row in range(COUNT)))
    clear(bench)
    bench.page.locator('[data-of="gap"] [data-kind="worse in real"]').click()
    bench.selected(gaps(said, A)[1].count("worse in real"))
    # A question stays one: a new page finds the same rows by the address.
    bench.settled("select=")
    bench.page.reload()
    bench.selected(gaps(said, A)[1].count("worse in real"))
    clear(bench)
    bench.still()
    for each in bench.get("room").all():
        here = np.array([room == each.get_attribute("data-room") for room in truth[1]])
        assert int(each.get_attribute("data-count") or 0) == int(here.sum())
        for side in ("sim", "real"):
            drawn = each.locator(f'[data-testid="room-bar"][data-domain="{side}"]').get_attribute("data-median")
            assert math.isclose(float(drawn or "nan"), np.median(said[A, side].position[here]), abs_tol=1e-4)
    lines = {line["room"]: line for line in table(bench, "view-rooms")}
    assert {name: int(line["rows"]) for name, line in lines.items()} == dict(Counter(truth[1]))


def test_headings_are_counted_and_an_arc_selects(
    opened: Callable[..., Workbench], said: dict[tuple[str, str], Said], truth: Truth
) -> None:
    bench = opened("?overview=orientation")
    headings = {"true": np.degrees(truth[0][:, 2]) % 360} | {
        side: np.degrees(said[A, side].pose[:, 2]) % 360 for side in ("sim", "real")
    }
    counts = {name: np.histogram(values, 24, (0, 360))[0] for name, values in headings.items()}
    lines = table(bench, "view-orientation")
    for name, wanted in counts.items():
        bench.get("heading-of").locator(f"[data-value={name}]").click()
        expect(bench.get("orientation-canvas")).to_have_attribute("data-counts", " ".join(map(str, wanted)))
        assert [int(line[name]) for line in lines] == wanted.tolist()
    area = bench.get("orientation-area")
    box = box_of(area)

    def at(degrees: float) -> tuple[float, float]:
        far = min(box["width"], box["height"]) * 0.35
        turned = math.radians(degrees)
        return box["width"] / 2 + far * math.cos(turned), box["height"] / 2 - far * math.sin(turned)

    # Across the seam, of what is predicted from the real pictures; then the same of what is true.
    for name in ("real", "true"):
        bench.get("heading-of").locator(f"[data-value={name}]").click()
        bench.page.mouse.move(*(a + b for a, b in zip((box["x"], box["y"]), at(-30), strict=True)))
        bench.page.mouse.down()
        for degrees in (-10, 20, 50, 70):
            bench.page.mouse.move(*(a + b for a, b in zip((box["x"], box["y"]), at(degrees), strict=True)))
        bench.page.mouse.up()
        inside = (headings[name] + 30) % 360 <= 100
        near = np.abs((headings[name] + 30) % 360 - np.array([[0], [100]])).min(initial=9, axis=0) < 1.5
        counted = int((bench.get("selection-count").inner_text().strip() or "0").split()[0])
        assert abs(counted - int(inside.sum())) <= int(near.sum()), name
        clear(bench)


def test_the_map_draws_pins_and_wedges_where_predictions_lie(
    opened: Callable[..., Workbench], said: dict[tuple[str, str], Said], truth: Truth
) -> None:
    bench = opened("?encoding=pins")
    canvas = bench.get("error-canvas").first
    expect(canvas).to_have_attribute("data-glyphs", str(COUNT))
    box = box_of(canvas)
    scale = min((box["width"] - 20) / 10, (box["height"] - 20) / 6)

    def screen(x: float, y: float) -> tuple[int, int]:
        return round(box["width"] / 2 + (x - 5) * scale), round(10 + (6 - y) * scale)

    def colours(pixels: np.ndarray, x: int, y: int, reach: int) -> np.ndarray:
        dense = pixels.shape[1] / box["width"]
        low, high = (np.maximum(0, np.round((np.array([y, x]) + by) * dense)).astype(int) for by in (-reach, reach + 1))
        return pixels[low[0] : high[0], low[1] : high[1], :3].reshape(-1, 3).astype(int)

    token = "name => getComputedStyle(document.documentElement).getPropertyValue(name).trim()"
    hexes = {side: bench.page.evaluate(token, f"--{side}") for side in ("sim", "real")}
    rgb = {side: np.array([int(text[i : i + 2], 16) for i in (1, 3, 5)]) for side, text in hexes.items()}
    missing, ends, pixels = [], 0, canvas_of(canvas)
    for side in ("sim", "real"):
        for row, (x, y, _) in enumerate(said[A, side].pose):
            long = said[A, side].position[row] * scale > 14  # a short one lies under the dot of the true place
            if long and 0.2 < x < 9.8 and 0.2 < y < 5.8:
                ends += 1
                seen = colours(pixels, *screen(x, y), 3)
                if np.abs(seen - rgb[side]).sum(1).min() > 12:
                    missing.append((side, row))
    assert ends > 15 and not missing, f"of {ends}, no pin ends at {missing[:5]}"
    # The colours, and the numbers beside them, are the gap: in the table to the digit.
    gap = gaps(said, A)[0]
    lines = table(bench, "view-geo-map")
    assert np.allclose([float(line[f"{A}: gap (m)"]) for line in lines], gap, atol=1e-4)
    for side in ("sim", "real"):
        drawn = [float(line[f"{A} {side}: position error (m)"]) for line in lines]
        assert np.allclose(drawn, said[A, side].position, atol=1e-4)
    # Wedges: the longest real one has its colour half-way along its direction.
    bench.get("map-encoding").locator("[data-value=wedges]").click()
    bench.still()
    full = float(np.max([np.quantile(each.position, 0.95) for (net, _), each in said.items() if net == A]))
    check(re.sub(r"^\D+", "", bench.get("map-full").inner_text()), full, "longest wedge")
    row = int(np.argmax(said[A, "real"].position))
    x, y = screen(*truth[0][row, :2])
    way = said[A, "real"].pose[row, :2] - truth[0][row, :2]
    turned = way / np.linalg.norm(way)
    seen = colours(canvas_of(canvas), round(x + 13 * turned[0]), round(y - 13 * turned[1]), 2)
    assert np.abs(seen - rgb["real"]).sum(1).min() <= 12
    # Near the selection: the map shows its neighbourhood, and glyphs of the selected rows alone.
    bench.drag(bench.get("error-brush").first, screen(0, 0), screen(5, 6))
    left = int((truth[0][:, 0] <= 5).sum())
    bench.selected(left)
    expect(canvas).to_have_attribute("data-glyphs", str(left))
    chosen = np.median(said[A, "real"].position[truth[0][:, 0] <= 5])
    check(bench.get("error-median-selected").nth(1).inner_text(), float(chosen), "median of the selection")


def test_a_row_steps_from_the_worst_on_and_shows_heat(
    opened: Callable[..., Workbench], said: dict[tuple[str, str], Said]
) -> None:
    bench = opened()
    order = np.argsort(-said[A, "real"].position, kind="stable")
    place = int(np.flatnonzero(order == 0)[0]) + 1
    expect(bench.get("worst-place")).to_have_text(f"{place} / {COUNT}")
    row = int(order[place])
    bench.get("less-bad").click()
    expect(bench.get("view-pair")).to_contain_text(f"row {row}")
    for side in ("sim", "real"):
        line = bench.page.locator(f'[data-testid="pair-error"][data-domain="{side}"]')
        check(line.locator(".mono").nth(0).inner_text(), float(said[A, side].position[row]), side)
        check(line.locator(".mono").nth(1).inner_text(), float(said[A, side].heading[row]), side)
        expect(line).to_contain_text(said[A, side].kinds[row])
    gap, kinds = gaps(said, A)
    expect(bench.get("pair-gap")).to_contain_text(kinds[row])
    check(bench.get("pair-gap").inner_text().split(":")[1], float(gap[row]), "gap")
    bench.get("pair-heat").select_option("gradient")
    expect(bench.get("pair-heat-layer")).to_have_count(2)  # depth feeds nothing: it has no heat
    wanted = np.abs((NETS[A].pose.weight @ NETS[A].deep.weight).detach().numpy()[0]).max()
    pixels = transfer_study.WIDTH * transfer_study.HEIGHT
    check(bench.get("pair-heat-scale").inner_text(), float(wanted) / pixels, "largest gradient of x")
    assert torch.is_grad_enabled()


def test_both_domains_are_laid_out_together(
    opened: Callable[..., Workbench], study: iv.Study, said: dict[tuple[str, str], Said]
) -> None:
    bench = opened()
    bench.get("run-joint").first.click()
    bench.page.get_by_label("method").select_option("pca")
    bench.get("run-joint-start").click()
    expect(bench.get("joint-canvas")).to_have_attribute("data-points", str(2 * COUNT), timeout=60_000)
    bench.still()
    (result,) = study.results(kind="joint")
    places = study.result_array(result.id, "places")
    assert study.result(result.id).value["model"] == A
    lines = table(bench, "view-joint")
    assert np.allclose([[float(line["x"]), float(line["y"])] for line in lines], places, rtol=1e-5, atol=1e-6)
    assert [int(line["row"]) for line in lines] == np.repeat(np.arange(COUNT), 2).tolist()
    gap = np.repeat(gaps(said, A)[0], 2)
    assert np.allclose([float(line["distance of the two predictions"]) for line in lines], gap, atol=1e-4)
    bench.get("joint-hue").select_option("domain")
    bench.still()
    assert [line["domain"] for line in table(bench, "view-joint")] == ["sim", "real"] * COUNT
    bench.get("joint-hue").select_option("apart")
    bench.still()
    apart = np.repeat(np.linalg.norm(places[::2] - places[1::2], axis=1), 2)
    drawn = [float(line["distance in this plane"]) for line in table(bench, "view-joint")]
    assert np.allclose(drawn, apart, atol=1e-4)
    # A lasso around everything holds every row once.
    plot = bench.get("joint-plot")
    box = box_of(plot)
    corners = [(2, 2), (box["width"] - 2, 2), (box["width"] - 2, box["height"] - 2), (2, box["height"] - 2), (2, 4)]
    bench.page.mouse.move(box["x"] + 2, box["y"] + 2)
    bench.page.mouse.down()
    for x, y in corners[1:]:
        bench.page.mouse.move(box["x"] + x, box["y"] + y, steps=3)
    bench.page.mouse.up()
    bench.selected(COUNT)


def test_where_to_begin_ranks_gaps_by_place(
    opened: Callable[..., Workbench], said: dict[tuple[str, str], Said], truth: Truth
) -> None:
    bench = opened("?overview=begin")
    gap = gaps(said, A)[0]
    rooms = np.array(truth[1])
    medians = {room: float(np.median(gap[rooms == room])) for room in ("hall", "lab")}
    first, second = sorted(medians, key=lambda room: -medians[room])
    wanted = [
        int(row) for room in (first, second) for row in sorted(np.flatnonzero(rooms == room), key=lambda r: -gap[r])[:3]
    ]
    bench.get("begin-row").first.wait_for()
    assert [int(each.get_attribute("data-row") or -1) for each in bench.get("begin-row").all()] == wanted
    expect(bench.get("begin-under").first).to_contain_text(first)


def test_it_is_reached_where_pairs_have_a_pose(visit: Visit, shown: Handle, shown_walks: Handle) -> None:
    bench = visit(shown_walks, "#/episodes/first")
    expect(bench.get("workspace-transfer")).to_have_attribute("aria-disabled", "true")
    bench = visit(shown, "#/rows/office", ready=False)
    bench.get("workspace-transfer").click()
    expect(bench.get("view-models")).to_be_visible()
