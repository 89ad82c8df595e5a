"""Selections as sets: joined, turned around, named, kept, undone."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import expect

import innerview as iv
from innerview.serve import Handle
from innerview.testing.worlds import episode_length
from tests.killed.disks import read_only

from . import studies
from .conftest import Show, Visit
from .workbench import Workbench

STRETCH = (pl.col("episode") == 1) & pl.col("step").is_between(3, 12)
HEALTHY = pl.col("health") >= 93


@pytest.fixture
def rows(walks: iv.Study) -> pl.DataFrame:
    return walks.recording("first").columns(["episode", "step", "health"])


@pytest.fixture
def bench(visit: Visit, shown_walks: Handle) -> Workbench:
    """A page with two chips: a stretch of an episode, and healthy rows of all."""
    bench = visit(shown_walks, "#/episodes/first?episode=1")
    bench.brush_steps("timelines-overlay", 3, 12, of=episode_length(1))
    bench.condition("health", low=93, join="union")
    expect(bench.get("chip")).to_have_count(2)
    return bench


def test_union_intersection_difference_and_complement(bench: Workbench, rows: pl.DataFrame) -> None:
    def has(condition: pl.Expr) -> None:
        bench.selected(rows.filter(condition).height)

    operator = bench.get("operator")
    expect(operator).to_have_text("∪")
    has(STRETCH | HEALTHY)
    operator.click()
    expect(operator).to_have_text("∩")
    has(STRETCH & HEALTHY)
    operator.click()
    expect(operator).to_have_text("−")
    has(STRETCH & ~HEALTHY)
    bench.get("chip-not").nth(1).click()
    has(STRETCH & HEALTHY)
    bench.get("chip-not").nth(0).click()
    has(~STRETCH & HEALTHY)
    bench.get("combine").click()
    expect(bench.get("chip")).to_have_count(1)
    bench.get("chip-not").click()
    has(~(~STRETCH & HEALTHY))
    bench.get("clear-selection").click()
    expect(bench.get("chip")).to_have_count(0)
    expect(bench.get("selection-count")).to_have_count(0)


def test_a_chip_is_removed_and_renamed(bench: Workbench, rows: pl.DataFrame) -> None:
    bench.get("chip-remove").nth(1).click()
    bench.selected(rows.filter(STRETCH).height)
    bench.get("chip-name").click()
    bench.page.keyboard.type("the fall")
    bench.page.keyboard.press("Enter")
    expect(bench.get("chip-name")).to_have_text("the fall")
    bench.selected(rows.filter(STRETCH).height)
    bench.settled("the%20fall")


def test_undo_and_redo_by_buttons_and_keys(bench: Workbench, rows: pl.DataFrame) -> None:
    both, one = rows.filter(STRETCH | HEALTHY).height, rows.filter(STRETCH).height
    bench.get("undo").click()
    bench.selected(one)
    bench.page.keyboard.press("Control+z")
    expect(bench.get("chip")).to_have_count(0)
    expect(bench.get("undo")).to_be_disabled()
    bench.page.keyboard.press("Control+Shift+z")
    bench.selected(one)
    bench.get("redo").click()
    bench.selected(both)
    expect(bench.get("redo")).to_be_disabled()
    bench.get("undo").click()
    bench.brush_steps("actions-overlay", 0, 4, of=episode_length(1))
    expect(bench.get("redo")).to_be_disabled()
    bench.selected(
        rows.filter((pl.col("episode") == 1) & ~pl.col("step").is_in([13, 14]) & (pl.col("step") <= 12)).height
    )


def test_a_read_only_study_is_shown_and_says_why_nothing_is_saved(visit: Visit, show: Show, tmp_path: Path) -> None:
    study = studies.walks(tmp_path / "kept.study")
    with read_only(study.path):
        bench = visit(show(study))
        bench.watch.expected.append("status of 403")
        bench.condition("health", low=90)
        bench.get("saved").click()
        bench.get("saved-name").fill("healthy")
        bench.get("saved-save").click()
        expect(bench.get("toasts")).to_contain_text("This study is read-only")
        expect(bench.get("saved-name")).to_have_value("healthy")
        expect(bench.get("saved-use")).to_have_count(0)


def test_a_named_selection_is_saved_in_the_study(visit: Visit, show: Show, tmp_path: Path) -> None:
    study = studies.walks(tmp_path / "kept.study")
    rows = study.recording("first").columns(["health"])
    bench = visit(show(study))
    bench.condition("health", low=90)
    bench.get("saved").click()
    bench.get("saved-name").fill("healthy")
    bench.get("saved-save").click()
    expect(bench.get("saved-use")).to_have_text("healthy")
    again = visit(show(tmp_path / "kept.study"))
    again.get("saved").click()
    again.get("saved-use").click()
    expect(again.get("chip-name")).to_have_text("healthy")
    again.selected(rows.filter(pl.col("health") >= 90).height)
