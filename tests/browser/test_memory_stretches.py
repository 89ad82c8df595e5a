"""Two runs side by side: a re-run beside what it was made of, and two stretches of one episode."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest
from playwright.sync_api import Route, expect

import innerview as iv
from innerview.schema import EditSet, SiteEdit
from innerview.serve import Handle

from .conftest import Show, Visit
from .memory_study import LINK, STEPS, agent
from .workbench import Workbench

BEGIN = 20
NAME = "forgets"


def rerun(study: iv.Study) -> iv.Recording:
    """Episode 2 again, without half its memory from step 20 on."""
    subject, world = agent()
    edit = SiteEdit(elements=tuple(range(64)), start=BEGIN)
    made = iv.rerun(
        study, "k-items", EditSet(name="half", edits=(edit,)), subject, world, episodes=[2], name=NAME, progress=False
    )
    return made.recording


def complete(bench: Workbench, *testids: str) -> None:
    for testid in testids:
        expect(bench.get(testid)).to_have_attribute("data-complete", "true")


def test_a_rerun_offers_the_comparison_and_says_where_the_two_part(visit: Visit, show: Show, kitems: iv.Study) -> None:
    made = rerun(kitems)
    before = kitems.recording("k-items").columns(["action", "value"], 2 * STEPS, 3 * STEPS)
    after = made.columns(["action", "value"])
    shorter = min(before.height, after.height)
    other = np.flatnonzero(before["action"].to_numpy()[:shorter] != after["action"].to_numpy()[:shorter])
    parts = int(other[0]) if len(other) else shorter
    assert parts >= BEGIN
    bench = visit(show(kitems), f"#/memory/{NAME}")
    bench.get("compare-original").click()
    bench.settled("middle=stretches&with=k-items")
    expect(bench.get("stretches-summary")).to_contain_text(f"Same seed 1002. They diverge at step {parts}")
    complete(bench, "stretches-first", "stretches-second")
    line = bench.get("stretches-means").locator('tr[data-column="value"] td')
    told = [float(line.nth(i).inner_text().replace("−", "-")) for i in (2, 1)]
    assert told == pytest.approx([before["value"].mean(), after["value"].mean()], rel=0.02, abs=0.002)
    expect(bench.get("stretches-map")).to_be_visible()
    bench.get("stretches-show").locator("[data-value=difference]").click()
    complete(bench, "stretches-difference")
    bench.get("slot-swap").click()
    bench.settled("#/memory/k-items.*episode=2.*with=forgets")
    expect(bench.get("stretches-summary")).to_contain_text(f"Same seed 1002. They diverge at step {parts}")


def test_intervals_of_one_episode_are_put_into_both_stretches(visit: Visit, shown_kitems: Handle) -> None:
    bench = visit(shown_kitems, f"{LINK}?episode=1")
    complete(bench, "memory-canvas")
    bench.brush_steps("memory-plane", 5, 14, of=STEPS)
    bench.get("put-first").click()
    bench.brush_steps("memory-plane", 30, 49, of=STEPS)
    bench.get("put-second").click()
    bench.settled(r"first=1;5-15;k-items.*second=1;30-50;k-items")
    complete(bench, "stretches-first", "stretches-second")
    expect(bench.get("stretches-summary")).to_have_text("Two stretches of the same episode.")
    steps = bench.get("stretches-means").locator("tbody tr").first.locator("td")
    expect(steps.nth(1)).to_have_text("10")
    expect(steps.nth(2)).to_have_text("20")
    bench.get("stretches-align").locator("[data-value=start]").click()
    bench.settled("align=start")
    bench.get("stretch-second-steps").fill("40-44")
    bench.get("stretch-second-steps").press("Enter")
    bench.settled(r"second=1;40-45;k-items")
    expect(steps.nth(2)).to_have_text("5")
    bench.page.reload()
    complete(bench, "stretches-first", "stretches-second")
    expect(steps.nth(2)).to_have_text("5")


def test_the_lists_choose_episodes_and_say_what_is_missing(visit: Visit, shown_kitems: Handle) -> None:
    bench = visit(shown_kitems, f"{LINK}?episode=1&middle=stretches")
    expect(bench.get("stretch-first-episode")).to_have_value("1")
    expect(bench.get("stretch-second-episode")).to_have_value("2")
    bench.get("stretch-first-episode").select_option("6")
    bench.settled(r"first=6;;k-items")
    bench.get("stretch-first-here").click()
    bench.get("stretch-second-episode").select_option("4")
    bench.settled(r"first=1;;k-items.*second=4;;k-items")
    expect(bench.get("stretches-summary")).to_contain_text("Different seeds")
    bench.get("view-stretches-export").click()
    with bench.page.expect_download() as file:
        bench.page.get_by_role("button", name="CSV table").click()
    assert file.value.path().read_text().startswith("metric,mean 1,mean 2")
    complete(bench, "stretches-first", "stretches-second")
    with bench.page.expect_download() as file:
        bench.page.get_by_role("button", name="PNG picture").click()
    assert file.value.path().read_bytes().startswith(b"\x89PNG")


def test_what_comes_late_is_waited_for_and_asked_for_once(visit: Visit, shown_kitems: Handle) -> None:
    def late(route: Route) -> None:
        asked.append(route.request.url)
        if len(asked) < 20:  # who asks for ever is to be found out, not waited for
            time.sleep(0.4)
        route.continue_()

    asked: list[str] = []
    bench = visit(shown_kitems, f"{LINK}?episode=1")
    bench.page.route(re.compile("/columns"), late)
    bench.get("tab-stretches").click()
    expect(bench.get("stretches-summary")).to_contain_text("Different seeds")
    assert len(asked) == len(set(asked))


def test_a_place_that_is_not_there(visit: Visit, shown_kitems: Handle) -> None:
    bench = visit(shown_kitems, f"{LINK}?middle=stretches&first=99;;k-items&second=1;;k-items")
    expect(bench.get("view-stretches-problem")).to_contain_text("has no episode 99")
