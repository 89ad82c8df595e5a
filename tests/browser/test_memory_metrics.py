"""Timelines beside the memory: derived lines, thresholds, metrics of one's own, and lines over the memory."""

from __future__ import annotations

import json
import re

import numpy as np
import polars as pl
import pytest
from playwright.sync_api import Locator, expect

import innerview as iv
from innerview.lenses.columns.derived import Derived, derived
from innerview.schema import Metrics
from innerview.serve import Handle

from .conftest import Show, Visit
from .memory_study import LINK, STEPS
from .workbench import Workbench

PAINTED = """canvas => {
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    return Array.from({length: canvas.width}, (_, x) => {
        for (let y = 0; y < canvas.height; y++) if (pixels[4 * (y * canvas.width + x) + 3] > 0) return 1;
        return 0;
    });
}"""


@pytest.fixture(scope="module")
def seen(still_kitems: iv.Study) -> tuple[str, int]:
    """The kind of thing that is in view most often, and an episode in which it comes and goes."""
    source = derived(still_kitems, "k-items")
    names = [column.name for column in source.specs if column.name.endswith(" in view")]
    table = source.columns([*names, "episode"])
    shares = table.group_by("episode", maintain_order=True).agg(pl.col(names).mean())
    half = {name: (shares[name] - 0.5).abs().arg_min() for name in names}
    name = min(names, key=lambda each: abs(shares[each][half[each]] - 0.5))
    return name, int(shares["episode"][half[name]])


@pytest.fixture
def bench(visit: Visit, shown_kitems: Handle, seen: tuple[str, int]) -> Workbench:
    return visit(shown_kitems, f"{LINK}?episode={seen[1]}")


@pytest.fixture
def own(visit: Visit, show: Show, kitems: iv.Study, seen: tuple[str, int]) -> Workbench:
    """For who changes the study."""
    return visit(show(kitems), f"{LINK}?episode={seen[1]}")


def track(bench: Workbench, column: str) -> Locator:
    return bench.page.locator(f'[data-testid="track"][data-column="{column}"]')


def painted(bench: Workbench, column: str) -> np.ndarray:
    """Whether something is drawn at the middle of each step."""
    line = np.array(track(bench, column).locator("canvas").evaluate(PAINTED))
    return line[((np.arange(STEPS) + 0.5) / STEPS * len(line)).astype(int)].astype(bool)


def strip_shows(bench: Workbench, column: str, expected: np.ndarray) -> None:
    """Wait until a strip is drawn just where the column holds."""
    bench.until(lambda: bool((painted(bench, column) == expected).all()))
    np.testing.assert_array_equal(painted(bench, column), expected)


def test_what_is_in_view_is_drawn_where_it_is(bench: Workbench, still_kitems: iv.Study, seen: tuple[str, int]) -> None:
    name, episode = seen
    rows = derived(still_kitems, "k-items").columns([name, "episode"]).filter(pl.col("episode") == episode)
    assert 0 < rows[name].sum() < STEPS
    strip_shows(bench, name, rows[name].to_numpy())
    expect(bench.get("view-timelines")).to_contain_text("Timelines")
    for usual in ("turning", "memory change", "entropy"):
        expect(track(bench, usual)).to_have_count(1)


def test_lines_are_chosen_and_the_choice_is_in_the_address(bench: Workbench, seen: tuple[str, int]) -> None:
    hidden, shown = f"distance to {seen[0].removesuffix(' in view')}", "turning"
    expect(track(bench, hidden)).to_have_count(0)
    bench.get("track-choice").click()
    for name in (hidden, shown):
        bench.page.locator(f'[data-testid="track-toggle"][data-column="{name}"]').click()
    bench.page.keyboard.press("Escape")
    bench.settled("hide=turning")
    bench.page.reload()
    bench.ready()
    expect(track(bench, hidden)).to_have_count(1)
    expect(track(bench, shown)).to_have_count(0)


def test_a_threshold_changes_what_is_in_view(own: Workbench, kitems: iv.Study, seen: tuple[str, int]) -> None:
    bench, (name, episode) = own, seen
    recording = kitems.recording("k-items")
    distance = derived(kitems, "k-items").columns([f"distance to {name.removesuffix(' in view')}"]).to_series()
    limit = round(float(distance.median()), 1)
    bench.get("thresholds").click()
    field = bench.page.locator('[data-testid="threshold"][data-name="view distance"]')
    expect(field).to_have_attribute("placeholder", "no bound")
    field.fill(str(limit))
    field.press("Enter")
    expect(field).to_have_value(str(limit))
    near = Derived(recording, Metrics(thresholds={"view distance": limit})).columns([name, "episode"])
    assert 0 < near[name].sum() < distance.is_not_null().sum()
    strip_shows(bench, name, near.filter(pl.col("episode") == episode)[name].to_numpy())
    field.fill("-3")
    field.press("Enter")
    expect(bench.get("threshold-problem")).to_contain_text("from 0 to inf")
    bench.watch.expected.append("400")
    bench.page.keyboard.press("Escape")
    bench.get("condition").click()
    bench.get("condition-column").select_option(name)
    bench.get("condition-words").select_option("yes")
    bench.get("condition-add").click()
    bench.selected(int(near[name].sum()))


def write(bench: Workbench, name: str, expression: str) -> None:
    bench.get("metric-new").click()
    bench.get("metric-name").fill(name)
    bench.get("metric-expression").fill(expression)


def test_a_metric_of_ones_own_is_written_drawn_selected_changed_and_deleted(
    own: Workbench, kitems: iv.Study, seen: tuple[str, int]
) -> None:
    bench, (name, episode) = own, seen
    write(bench, "newly seen", f'since(rises(col("{name}"))) < 5')
    expect(bench.get("metric-status")).to_contain_text("Gives yes or no")
    bench.get("metric-save").click()
    expect(track(bench, "newly seen")).to_have_count(1)
    kept = json.loads((kitems.path / "metrics.json").read_text("utf-8"))
    assert [one["name"] for one in kept["own"]] == ["newly seen"]
    rows = derived(kitems, "k-items").columns(["newly seen", "episode"])
    strip_shows(bench, "newly seen", rows.filter(pl.col("episode") == episode)["newly seen"].to_numpy())
    bench.get("condition").click()
    bench.get("condition-column").select_option("newly seen")
    bench.get("condition-words").select_option("yes")
    bench.get("condition-add").click()
    bench.selected(int(rows["newly seen"].sum()))

    bench.get("metric-new").click()
    bench.get("metric-edit").click()
    expect(bench.get("metric-expression")).to_have_value(re.compile("rises"))
    bench.get("metric-name").fill("left")
    bench.get("metric-expression").fill("2 * steps_left")
    expect(bench.get("metric-status")).to_contain_text("Gives a number")
    bench.get("metric-save").click()
    expect(track(bench, "left")).to_have_count(1)
    expect(track(bench, "newly seen")).to_have_count(0)
    bench.watch.expected.append("404")  # the selection still asks for what is gone

    bench.page.reload()
    bench.ready()
    expect(track(bench, "left")).to_have_count(1)
    bench.get("metric-new").click()
    bench.get("metric-delete").click()
    expect(track(bench, "left")).to_have_count(0)
    assert json.loads((kitems.path / "metrics.json").read_text("utf-8"))["own"] == []


MISTAKES = [
    ("import os", 0, "“import” is not allowed"),
    ("value + __import__('os')", 8, "no function '__import__'"),
    ("value > entrpy", 8, "Did you mean 'entropy'?"),
    ("value >", 7, "cannot be read"),
    ("value.real", 0, "not allowed"),
]


def test_a_mistake_is_shown_where_it_stands(bench: Workbench) -> None:
    write(bench, "mine", "value")
    expect(bench.get("metric-save")).to_be_enabled()
    for expression, at, words in MISTAKES:
        bench.get("metric-expression").fill(expression)
        expect(bench.get("metric-status")).to_contain_text(words)
        expect(bench.get("metric-status")).to_have_attribute("data-at", str(at))
        expect(bench.get("metric-save")).to_be_disabled()


def test_a_line_is_dragged_onto_the_memory(bench: Workbench, seen: tuple[str, int]) -> None:
    label = bench.page.locator(f'[data-testid="track-label"][data-column="{seen[0]}"]')
    label.drag_to(bench.get("memory-plane"))
    expect(bench.get("memory-overlay")).to_contain_text(seen[0])
    expect(label).to_have_attribute("aria-pressed", "true")
    bench.settled("overlay=")
    painting = bench.get("memory-overlay").locator("canvas")
    bench.until(lambda: any(painting.evaluate(PAINTED)))
    painted_columns = painting.evaluate(PAINTED)
    assert 0 < sum(painted_columns) < len(painted_columns)
    bench.get("memory-overlay-remove").click()
    expect(bench.get("memory-overlay")).to_have_count(0)


def test_a_line_is_laid_over_the_memory_with_the_keyboard(bench: Workbench) -> None:
    label = bench.page.locator('[data-testid="track-label"][data-column="memory change"]')
    label.focus()
    bench.page.keyboard.press("Enter")
    expect(bench.get("memory-overlay")).to_contain_text("memory change")
    bench.page.keyboard.press("Enter")
    expect(bench.get("memory-overlay")).to_have_count(0)
