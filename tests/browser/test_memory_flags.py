"""Flags: found by a job, listed so that they can be read, chosen in the memory, laid over it."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

import innerview as iv
from innerview.serve import Handle
from innerview.testing.worlds import CountingWorld
from tests.rollouts.players import recurrent

from .conftest import Show, Visit
from .memory_study import LINK
from .workbench import Workbench

FLAGS = f"{LINK}?meaning=flags"


@pytest.fixture(scope="module")
def found(looked_kitems: iv.Study) -> list[dict[str, Any]]:
    """What the lens found, before the page opens."""
    flags: list[dict[str, Any]] = looked_kitems.result(looked_kitems.results(kind="flags")[0].id).value["flags"]
    return flags


@pytest.fixture
def bench(visit: Visit, shown_looked_kitems: Handle) -> Workbench:
    bench = visit(shown_looked_kitems, FLAGS)
    bench.get("flags-list").wait_for()
    return bench


def listed(bench: Workbench) -> list[tuple[int, str]]:
    """Element and fact of each line."""
    return [
        (int(line.get_attribute("data-element") or -1), line.get_attribute("data-fact") or "")
        for line in bench.get("flag").all()
    ]


def sure(found: list[dict[str, Any]], q: float = 0.05) -> list[dict[str, Any]]:
    flags = [flag for flag in found if flag["q"] <= q and flag["held_out_auc"] >= 0.65]
    return sorted(flags, key=lambda flag: -flag["held_out_auc"])


def best(flags: list[dict[str, Any]]) -> list[tuple[int, str]]:
    seen: dict[str, int] = {}
    for flag in flags:
        seen.setdefault(flag["fact"], flag["element"])
    return [(element, fact) for fact, element in seen.items()]


def test_flags_are_found_with_one_click(visit: Visit, show: Show, kitems: iv.Study) -> None:
    bench = visit(show(kitems), FLAGS)
    bench.get("start-flags").click()
    bench.get("flags-list").wait_for(timeout=120_000)
    found = sure(kitems.result(kitems.results(kind="flags")[0].id).value["flags"])
    assert found, "a trained agent knows that it has picked something up"
    expect(bench.get("flag")).to_have_count(len(best(found)))
    assert listed(bench) == best(found)


def test_the_list_is_as_strict_as_asked(bench: Workbench, found: list[dict[str, Any]]) -> None:
    bench.get("flags-which").locator("[data-value=all]").click()
    expect(bench.get("flag")).to_have_count(len(sure(found)))
    bench.get("flags-q").select_option("0.2")
    expect(bench.get("flag")).to_have_count(len(sure(found, 0.2)))
    assert len(sure(found, 0.2)) > len(sure(found))
    bench.settled(r"flags-q=0\.2")
    bench.get("flags-sort-element").click()
    elements = [element for element, _ in listed(bench)]
    assert elements == sorted(elements)
    bench.get("flags-words").fill("picked up")
    expect(bench.get("flag").filter(has_not_text="picked up")).to_have_count(0)
    bench.get("flags-words").fill("no such thing")
    expect(bench.get("flags-list")).to_contain_text("No flag of this name")


def test_an_element_is_chosen_in_the_memory(bench: Workbench, found: list[dict[str, Any]]) -> None:
    element, _ = best(sure(found))[0]
    bench.get("flag-element").first.click()
    expect(bench.get("flag-element").first).to_have_attribute("aria-pressed", "true")
    bench.settled(rf"elements={element}\b")
    expect(bench.get("view-memory")).to_contain_text(f"h {element}")
    bench.get("undo").click()
    expect(bench.get("flag-element").first).to_have_attribute("aria-pressed", "false")
    bench.get("flags-choose").click()
    expect(bench.page.locator('[data-testid="flag-element"][aria-pressed="true"]')).to_have_count(len(listed(bench)))


def test_a_flag_reads_as_a_sentence_and_lies_over_the_memory(bench: Workbench, found: list[dict[str, Any]]) -> None:
    flag = sure(found)[0]
    bench.get("flag-fact").first.click()
    detail = bench.get("flag-detail")
    side = "above" if flag["direction"] > 0 else "below"
    expect(detail).to_contain_text(re.compile(rf"h {flag['element']} is (high|low) \({side} "))
    expect(detail).to_contain_text(f"in {int(100 * flag['held_out_auc'])} of 100 pairs")
    expect(bench.get("flag-values")).to_be_visible()
    bench.get("flag-overlay").click()
    bench.settled(rf"overlay={quote(flag['column'])}")
    expect(bench.get("flag-overlay")).to_have_attribute("aria-pressed", "true")
    bench.get("flag-fact").first.press("Enter")
    expect(detail).to_have_count(0)


def test_the_list_is_saved_as_a_table(bench: Workbench, tmp_path: Path) -> None:
    bench.get("view-flags-export").click()
    with bench.page.expect_download() as download:
        bench.page.get_by_role("button", name="CSV table").click()
    path = tmp_path / "flags.csv"
    download.value.save_as(path)
    lines = list(csv.DictReader(path.read_text("utf-8").splitlines()))
    assert [(int(line["element"]), line["fact"]) for line in lines] == listed(bench)
    assert all(0.65 <= float(line["held_out_auc"]) <= 1 for line in lines)


def test_too_few_episodes_say_what_to_do(visit: Visit, show: Show, tmp_path: Path) -> None:
    study = iv.Study.create(tmp_path / "few.study", "few")
    iv.record(study, recurrent(), CountingWorld(), episodes=2, name="few", progress=False)
    bench = visit(show(study), "#/memory/few?meaning=flags")
    bench.get("start-flags").click()
    expect(bench.get("flags-progress-failed")).to_contain_text("Record more")
