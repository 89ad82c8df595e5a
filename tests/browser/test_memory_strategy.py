"""The strategy chart: states as discs that facts name, their ways, their rows."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from playwright.sync_api import expect

import innerview as iv
from innerview.serve import Handle

from .conftest import Show, Visit
from .memory_study import LINK, STATES
from .test_export import saved
from .workbench import Workbench, box_of

STRATEGY = f"{LINK}?meaning=strategy"


@pytest.fixture(scope="module")
def chart(looked_kitems: iv.Study) -> dict[str, Any]:
    """What the lens found, before the page opens, with the state of each row."""
    result = looked_kitems.result(looked_kitems.results(kind="strategy")[0].id)
    return {**result.value, "state": looked_kitems.result_array(result.id, "state")}


@pytest.fixture
def bench(visit: Visit, shown_looked_kitems: Handle) -> Workbench:
    bench = visit(shown_looked_kitems, STRATEGY)
    bench.get("strategy-chart").wait_for()
    return bench


def called(state: dict[str, Any]) -> str:
    """As the page calls a state."""
    unnamed = state["name"] == f"state {state['state']}"
    return f"state {state['state'] + 1}" if unnamed else str(state["name"]).replace("_", " ")


def test_states_are_found_from_the_page(visit: Visit, show: Show, kitems: iv.Study) -> None:
    bench = visit(show(kitems), STRATEGY)
    bench.get("run-strategy").click()
    bench.get("parameter-states").fill(str(STATES))
    bench.get("run-strategy-start").click()
    bench.get("strategy-chart").wait_for(timeout=120_000)
    result = kitems.result(kitems.results(kind="strategy")[0].id)
    assert result.arguments["parameters"]["states"] == STATES
    expect(bench.get("strategy-state")).to_have_count(len(result.value["states"]))


def test_discs_are_sized_by_time_and_do_not_overlap(bench: Workbench, chart: dict[str, Any]) -> None:
    discs = [box_of(disc) for disc in bench.get("strategy-state").all()]
    shares = [state["share"] for state in chart["states"]]
    largest = int(np.argmax(shares))
    assert discs[largest]["width"] == max(disc["width"] for disc in discs)
    for i, a in enumerate(discs):
        for b in discs[i + 1 :]:
            apart = math.dist(
                (a["x"] + a["width"] / 2, a["y"] + a["width"] / 2), (b["x"] + b["width"] / 2, b["y"] + b["width"] / 2)
            )
            assert apart > (a["width"] + b["width"]) / 2
    names = [called(state) for state in sorted(chart["states"], key=lambda state: -state["share"])]
    expect(bench.get("strategy-line")).to_have_count(len(names))
    assert [line.locator(".grow").inner_text() for line in bench.get("strategy-line").all()] == names


def test_a_state_reports_its_facts_and_selects_its_rows(bench: Workbench, chart: dict[str, Any]) -> None:
    state = chart["states"][1]
    disc = bench.page.locator('[data-testid="strategy-state"][data-state="1"]')
    disc.hover()
    tip = bench.get("strategy-tip")
    expect(tip).to_contain_text(called(state))
    for fact in state["facts"][:3]:
        expect(tip).to_contain_text(f"{fact['fact'].replace('_', ' ')}: {_percent(fact['share'])} here")
    disc.click()
    bench.selected(int((chart["state"] == 1).sum()))
    bench.get("undo").click()
    expect(bench.get("chip")).to_have_count(0)
    disc.focus()
    disc.press("Enter")
    bench.selected(state["rows"])


def test_the_current_state_is_marked_as_time_goes_on(bench: Workbench, chart: dict[str, Any]) -> None:
    states = chart["state"]
    changed = int(np.flatnonzero(np.diff(states[:60]))[0]) + 1
    here = bench.get("strategy-chart")
    expect(here).to_have_attribute("data-state", str(states[0]))
    bench.page.goto(bench.page.url.replace("step=0", f"step={changed}"))
    expect(here).to_have_attribute("data-state", str(states[changed]))
    expect(bench.page.locator('[data-testid="strategy-state"][aria-current="true"]')).to_have_attribute(
        "data-state", str(states[changed])
    )


def test_hidden_states_can_have_the_colours_of_the_chart(
    visit: Visit, shown_looked_kitems: Handle, chart: dict[str, Any]
) -> None:
    bench = visit(shown_looked_kitems, f"{LINK}?hue=strategy%20state")
    expect(bench.get("legend-word")).to_have_count(len(set(chart["state"].tolist())))


def test_every_way_is_saved(bench: Workbench, chart: dict[str, Any], tmp_path: Path) -> None:
    ways = pl.read_csv(saved(bench, "view-strategy", "CSV", tmp_path))
    assert ways["count"].to_list() == [way["count"] for way in chart["transitions"]]
    drawing = saved(bench, "view-strategy", "SVG", tmp_path).read_text("utf-8")
    assert drawing.count("<path") > len(chart["states"])


def _percent(share: float) -> str:
    return f"{math.floor(100 * share + 0.5)} %"
