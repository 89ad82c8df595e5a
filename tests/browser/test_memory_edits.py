"""Changing the memory: elements are chosen, an episode is played again, and the loss is measured, all from the page."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

import innerview as iv
from innerview.store import import_reductions

from .conftest import Show, Visit
from .memory_study import STEPS, agent
from .workbench import Workbench

EDITS = "#/memory/k-items?side=edits"
REDUCTIONS = "#/memory/k-items?middle=reductions&side=edits"
LONG = 240_000


@pytest.fixture
def live(visit: Visit, show: Show, kitems: iv.Study) -> tuple[iv.Study, Workbench]:
    """The study with its agent loaded."""
    subject, world = agent()
    return kitems, visit(show(kitems, subject=subject, world=world), EDITS)


def choose_first(bench: Workbench, count: int) -> None:
    bench.get("edit-top-count").fill(str(count))
    bench.get("edit-top").click()


def test_an_episode_is_played_again_without_a_part_of_the_memory(live: tuple[iv.Study, Workbench]) -> None:
    study, bench = live
    choose_first(bench, 64)
    expect(bench.get("edit-where")).to_contain_text("before the heads read it and before it is carried")
    bench.get("edit-rerun").click()
    bench.get("edit-open").wait_for(timeout=LONG)
    names = [name for name in study.recordings() if name != "k-items"]
    made = study.recording(names[0])
    assert made.info.of == "k-items"
    assert made.info.played is not None and made.info.played.source is not None
    assert made.info.played.source.episodes == (0,)
    memory = made.array("memory", 0, made.rows)
    assert (memory[:, :64] == 0).all()
    assert np.abs(memory[:, 64:]).max() > 0
    bench.get("edit-open").click()
    bench.settled(re.escape(names[0].replace(" ", "%20")))


def test_keep_only_and_set_and_steps_are_made_as_said(live: tuple[iv.Study, Workbench]) -> None:
    study, bench = live
    choose_first(bench, 3)
    bench.get("edit-side").locator("[data-value=others]").click()
    bench.get("edit-mode").locator("[data-value=set]").click()
    bench.get("edit-value").fill("0.25")
    bench.get("edit-value").press("Tab")
    bench.get("edit-start").fill("10")
    bench.get("edit-start").press("Tab")
    bench.get("edit-stop").fill("20")
    bench.get("edit-stop").press("Tab")
    bench.settled("edit=set(:|%3A)0.25(:|%3A)others(:|%3A)10-20")
    bench.get("edit-rerun").click()
    bench.get("edit-open").wait_for(timeout=LONG)
    made = study.recording(next(name for name in study.recordings() if name != "k-items"))
    memory, before = made.array("memory", 0, STEPS), study.recording("k-items").array("memory", 0, 10)
    assert (memory[10:20, 3:] == 0.25).all()
    assert not (memory[10:20, :3] == 0.25).any()
    np.testing.assert_allclose(memory[:10], before, atol=1e-6)


def test_choices_are_undone_and_turned_round(live: tuple[iv.Study, Workbench]) -> None:
    _, bench = live
    choose_first(bench, 5)
    expect(bench.get("edit-element")).to_have_count(5)
    bench.get("edit-invert").click()
    expect(bench.get("edit-choice")).to_contain_text("change these 123")
    bench.get("undo").click()
    expect(bench.get("edit-element")).to_have_count(5)
    bench.get("edit-element").first.click()
    expect(bench.get("edit-element")).to_have_count(4)
    bench.get("edit-none").click()
    expect(bench.get("edit-element")).to_have_count(0)
    expect(bench.get("edit-rerun")).to_be_disabled()


def test_reductions_are_saved_taken_again_saved_and_forgotten(live: tuple[iv.Study, Workbench], tmp_path: Path) -> None:
    study, bench = live
    choose_first(bench, 4)
    bench.get("reduction-name").fill("first four")
    bench.get("reduction-save").click()
    expect(bench.get("reduction")).to_have_count(1)
    assert [reduction.name for reduction in study.reductions()] == ["first four"]
    bench.get("edit-none").click()
    bench.get("reduction").get_by_text("first four").click()
    expect(bench.get("edit-element")).to_have_count(4)
    with bench.page.expect_download() as saved:
        bench.get("reductions-export").click()
    saved.value.save_as(tmp_path / "r.json")
    assert saved.value.suggested_filename.endswith("-reductions.json")
    assert import_reductions(tmp_path / "r.json") == study.reductions()
    bench.get("reduction-drop").click()
    expect(bench.get("reduction")).to_have_count(0)
    assert study.reductions() == ()


def test_without_a_model_the_page_says_how_to_load_one(visit: Visit, show: Show, kitems: iv.Study) -> None:
    bench = visit(show(kitems), EDITS)
    expect(bench.get("edit-rerun")).to_be_disabled()
    expect(bench.get("view-edits")).to_contain_text("No model is loaded")


def test_a_table_reports_what_full_memory_and_reductions_reach(visit: Visit, show: Show, kitems: iv.Study) -> None:
    subject, world = agent()
    bench = visit(show(kitems, subject=subject, world=world), REDUCTIONS)
    choose_first(bench, 128)
    bench.get("table-episodes").fill("2")
    bench.get("table-start").click()
    expect(bench.get("reduction-line")).to_have_count(2, timeout=LONG)
    (kept,) = kitems.results(kind="table")
    told = kitems.result(kept.id).value["rows"]
    assert [line["kept"] for line in told] == [128, 0]
    expect(bench.get("reduction-line").first).to_contain_text("full memory")
    expect(bench.get("reduction-line").nth(1)).to_contain_text("0/128")


def test_a_sweep_ranks_elements_and_chooses_them(visit: Visit, show: Show, kitems: iv.Study) -> None:
    subject, world = agent()
    bench = visit(show(kitems, subject=subject, world=world), f"{REDUCTIONS}&reductions=sweep")
    bench.get("sweep-start").click()
    bench.get("sweep-line").first.wait_for(timeout=LONG)
    (kept,) = kitems.results(kind="sweep")
    best = kitems.result(kept.id).value["ranked"][0]["elements"]
    line = bench.get("sweep-line").first
    expect(line).to_have_attribute("data-elements", " ".join(map(str, best)))
    line.click()
    expect(bench.get("edit-element")).to_have_text([f"h {best[0]}"])


def test_the_smallest_memory_is_searched_and_can_be_chosen(visit: Visit, show: Show, kitems: iv.Study) -> None:
    subject, world = agent()
    bench = visit(show(kitems, subject=subject, world=world), f"{REDUCTIONS}&reductions=smallest_memory")
    bench.get("smallest-memory-measure").select_option("length")
    bench.get("smallest-memory-share").fill("50")
    bench.get("smallest-memory-episodes").fill("2")
    bench.get("smallest-memory-start").click()
    bench.get("smallest-memory-found").wait_for(timeout=LONG)
    expect(bench.get("smallest-memory-found")).to_contain_text("fresh seeds", timeout=LONG)
    (kept,) = kitems.results(kind="smallest_memory")
    count = len(kitems.result(kept.id).value["kept"])
    expect(bench.get("smallest-memory-found")).to_contain_text(f"{count} of 128 elements")
    bench.get("smallest-memory-choose").click()
    expect(bench.get("edit-element")).to_have_count(min(count, 14))
