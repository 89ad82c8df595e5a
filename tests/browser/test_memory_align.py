"""Event-aligned averages: averages, ranking and the times themselves, as numpy finds them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from playwright.sync_api import expect

import innerview as iv
from innerview.lenses.columns.derived import derived
from innerview.serve import Handle

from .conftest import Show, Visit
from .memory_study import LINK, ROWS, STEPS
from .workbench import Workbench, box_of, canvas_of

BEFORE, AFTER = 3, 5
ALIGNED = f"{LINK}?middle=align&around=loop&aroundbefore={BEFORE}&aroundafter={AFTER}"


@pytest.fixture
def bench(visit: Visit, shown_kitems: Handle) -> Workbench:
    return aligned(visit(shown_kitems, ALIGNED))


def aligned(bench: Workbench) -> Workbench:
    expect(bench.get("align-board")).to_be_visible()
    return bench


def rising(study: iv.Study, column: str) -> np.ndarray:
    holds = derived(study, "k-items").columns([column])[column].to_numpy()
    before = np.concatenate([[True], holds[:-1]])
    before[::STEPS] = True
    return np.flatnonzero(holds & ~before)


def effects(study: iv.Study, rows: np.ndarray) -> np.ndarray:
    """Per element, mean of after minus before over its deviation."""
    memory = study.recording("k-items").array("memory", 0, ROWS).astype(np.float64)
    differences = []
    for row in rows:
        start, stop = row // STEPS * STEPS, (row // STEPS + 1) * STEPS
        before, after = memory[max(start, row - BEFORE) : row], memory[row : min(stop, row + AFTER + 1)]
        if len(before) and len(after):
            differences.append(after.mean(axis=0) - before.mean(axis=0))
    found = np.array(differences)
    return found.mean(axis=0) / found.std(axis=0)


def test_elements_are_ranked_by_how_much_they_change(bench: Workbench, still_kitems: iv.Study) -> None:
    rows = rising(still_kitems, "loop")
    assert len(rows) > 2
    expect(bench.get("align-board")).to_have_attribute("data-total", str(len(rows)))
    expect(bench.get("align-count")).to_have_text(f"{len(rows)} times")
    ranked = [int(e.get_attribute("data-element") or -1) for e in bench.get("align-element").all()]
    effect = effects(still_kitems, rows)
    assert ranked[:5] == np.argsort(-np.abs(effect), kind="stable")[:5].tolist()
    bench.get("align-element").first.click()
    bench.settled(f"elements={ranked[0]}")
    expect(bench.get("align-element").first).to_have_attribute("aria-pressed", "true")


def test_the_heat_map_follows_the_order_of_the_memory(
    bench: Workbench, visit: Visit, shown_kitems: Handle, still_kitems: iv.Study
) -> None:
    canvas = bench.get("align-canvas")
    bench.until(lambda: canvas_of(canvas).shape[:2] == (128, BEFORE + AFTER + 1))
    told = canvas_of(canvas)
    assert told.shape[:2] == (128, BEFORE + AFTER + 1)
    as_is = told.reshape(128, -1)
    bench = visit(shown_kitems, f"{ALIGNED}&order=change,0-{ROWS}")
    canvas = bench.get("align-canvas")
    expect(bench.get("align-board")).to_be_visible()
    memory = still_kitems.recording("k-items").array("memory", 0, ROWS)
    moved = [np.abs(np.diff(memory[start : start + STEPS], axis=0)).sum(axis=0) for start in range(0, ROWS, STEPS)]
    most = int(np.argmax(np.sum(moved, axis=0, dtype=np.float64)))

    def read() -> np.ndarray:
        return canvas_of(canvas).reshape(128, -1)

    bench.until(lambda: bool((read()[0] == as_is[most]).all()))
    ordered = read()
    np.testing.assert_array_equal(ordered[0], as_is[most])
    assert not (ordered == as_is).all()
    assert sorted(map(tuple, ordered)) == sorted(map(tuple, as_is))


def test_a_time_is_one_click_away(bench: Workbench, still_kitems: iv.Study) -> None:
    rows = rising(still_kitems, "loop")
    bench.get("align-time").nth(1).click()
    expect(bench.get("observation-canvas")).to_have_attribute("data-row", str(rows[1]))
    heat = bench.get("align-heat")
    box = box_of(heat)
    bench.page.mouse.click(box["x"] + box["width"] * (BEFORE + 2.5) / (BEFORE + AFTER + 1), box["y"] + 20)
    last = (rows[1] // STEPS + 1) * STEPS - 1
    expect(bench.get("observation-canvas")).to_have_attribute("data-row", str(min(last, rows[1] + 2)))


def test_metrics_are_averaged_too(bench: Workbench) -> None:
    expect(bench.get("align-metric")).to_have_count(2)
    bench.get("align-metrics").click()
    bench.page.locator('[data-testid="align-metric-toggle"][data-column="memory change"]').click()
    bench.page.keyboard.press("Escape")
    expect(bench.page.locator('[data-testid="align-metric"][data-column="memory change"]')).to_be_visible()
    bench.settled("aroundlines=.*memory%2520change")


def test_the_starts_of_the_selected_intervals(bench: Workbench, still_kitems: iv.Study) -> None:
    rows = still_kitems.recording("k-items").columns(["entropy"])["entropy"].cast(pl.Float32)
    limit = round(float(rows.quantile(0.9)), 3)
    bench.condition("entropy", low=limit)
    bench.get("align-event").select_option("(selection)")
    holds = (rows >= limit).to_numpy()
    before = np.concatenate([[False], holds[:-1]])
    before[::STEPS] = False
    starts = np.flatnonzero(holds & ~before)
    expect(bench.get("align-board")).to_have_attribute("data-total", str(len(starts)))
    assert [int(e.get_attribute("data-row") or -1) for e in bench.get("align-time").all()] == starts.tolist()


def test_what_never_happens_is_said(visit: Visit, show: Show, kitems: iv.Study) -> None:
    bench = aligned(visit(show(kitems), ALIGNED))
    bench.get("metric-new").click()
    bench.get("metric-name").fill("never")
    bench.get("metric-expression").fill("step > 1000")
    expect(bench.get("metric-save")).to_be_enabled()
    bench.get("metric-save").click()
    bench.get("align-event").select_option("never")
    expect(bench.get("align-none")).to_contain_text("never happens")
