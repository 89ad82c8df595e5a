"""What-if rollouts: other moves from a recorded step, things moved and taken away, and both courses side by side."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import expect

import innerview as iv
from innerview.rollouts.what_if.factors import amounts
from innerview.rollouts.what_if.rollout import WhatIfRollout
from innerview.rollouts.what_if.sessions import what_if
from innerview.schema import Move
from innerview.serve import Handle

from .conftest import Show, Visit
from .vision_study import LINK, STEPS, opened, player
from .workbench import Workbench, box_of, canvas_of

BEGIN = 7
ROW = STEPS + BEGIN


def served(show: Show, levels: iv.Study) -> Handle:
    subject, world = player()
    return show(levels, subject=subject, world=world)


def rollout(levels: iv.Study) -> WhatIfRollout:
    """The same played here, to compare with."""
    subject, world = player()
    return what_if(levels, "levels", row=ROW, subject=subject, world=world)


def begun(visit: Visit, show: Show, levels: iv.Study) -> Workbench:
    bench = opened(visit(served(show, levels), f"{LINK}?episode=1&step={BEGIN}", ready=False))
    bench.page.keyboard.press("p")
    return at(bench, BEGIN)


def at(bench: Workbench, step: int) -> Workbench:
    """Wait until the played picture of a step is drawn."""
    expect(bench.get("view-what-if")).to_contain_text(f"now at {step}")
    bench.page.locator('[data-testid="what-if-seen"]:not([data-row=""])').wait_for()
    return bench


def pixels(bench: Workbench) -> np.ndarray:
    """What is rolled out, as it is drawn."""
    return canvas_of(bench.get("what-if-seen-picture"))[..., :3]


def value(bench: Workbench) -> float:
    return float(bench.get("what-if-value").inner_text().replace("−", "-"))


def test_totals_are_those_of_what_is_rolled_out(visit: Visit, show: Show, levels: iv.Study) -> None:
    bench = begun(visit, show, levels)
    bench.get("tab-totals").click()
    bench.page.keyboard.press("3")
    at(bench, BEGIN + 1)
    canvas = bench.page.locator('[data-testid="totals-canvas"][data-played="2"]')
    canvas.wait_for()
    drawn, told = canvas_of(canvas), bench.get("totals-now").inner_text().replace("−", "-").split()
    way = rollout(levels)
    found = levels.results(kind="factors")[0].id
    mine = amounts(levels, found, way, way.play([Move(do="act", action=2)])[1])[:-1]
    good, bad = mine.clip(0).sum(), mine.clip(max=0).sum()
    assert [float(text) for text in told] == pytest.approx([good, bad], abs=0.0006)
    recorded = levels.result_array(found, "totals")[ROW + 1, :, 0].sum()
    assert abs(good - recorded) > 0.0012, "else what was recorded would do as well"
    bench.get("what-if-leave").click()
    bench.page.locator('[data-testid="totals-canvas"][data-played="0"]').wait_for()
    assert not np.array_equal(canvas_of(bench.get("totals-canvas")), drawn)


def test_another_action_leads_elsewhere_and_back_again(visit: Visit, show: Show, levels: iv.Study) -> None:
    bench = begun(visit, show, levels)
    recorded = levels.recording("levels")
    seen = recorded.array("observation", ROW, ROW + 1)[0]
    assert np.array_equal(pixels(bench), seen), "it begins where it was"
    told = bench.get("what-if-value").inner_text()
    assert float(told.replace("−", "-")) == pytest.approx(recorded.columns(["value"])["value"][ROW], abs=0.005)
    bench.page.keyboard.press("2")  # right
    at(bench, BEGIN + 1)
    bench.get("what-if-act").nth(0).click()  # left
    at(bench, BEGIN + 2)
    bench.settled(rf"play={BEGIN}(~|%7E)1(;|%3B)0")
    mine = rollout(levels).play([Move(do="act", action=1), Move(do="act", action=0)])
    assert np.array_equal(pixels(bench), mine[2].seen.get("observation"))
    assert value(bench) == pytest.approx(mine[2].values["value"], abs=0.005)
    expect(bench.get("step")).to_have_text(re.compile(rf"^{BEGIN + 2} / ")), "the recording stands at the same step"
    bench.page.keyboard.press("ArrowLeft")
    at(bench, BEGIN + 1)
    bench.page.keyboard.press("End")
    at(bench, BEGIN + 2)
    bench.page.keyboard.press("Backspace")
    at(bench, BEGIN + 1)
    bench.page.keyboard.press("Control+z")
    at(bench, BEGIN + 2)
    bench.get("what-if-reset").click()
    at(bench, BEGIN)
    bench.page.keyboard.press("Escape")
    expect(bench.get("attribution-seen")).to_be_visible()
    bench.page.wait_for_url(lambda url: "play=" not in url)


def test_a_thing_is_dragged_and_taken_away_and_attribution_follows(visit: Visit, show: Show, levels: iv.Study) -> None:
    bench = begun(visit, show, levels)
    bench.page.locator('[data-testid="what-if-good"]:not([data-row=""])').wait_for()
    first = bench.get("what-if-good").get_attribute("data-row")
    mine = rollout(levels)
    thing = next(t for t in mine.things(0) if t.removable and t.movable and t.width_px > 2)
    box = bench.page.locator(f'[data-thing="{thing.id}"]')
    scale = box_of(bench.get("what-if-seen"))["width"] / 64
    up = round(2 * thing.unit_px * scale)
    bench.watch.expected.append("422")  # the browser says so when a move is refused
    bench.drag(box, (3, 3), (3, 3 + up / 2))
    expect(bench.get("what-if-problem")).to_contain_text("Choose a free cell")
    bench.drag(box, (3, 3), (3, 3 - up))
    bench.settled(r"play=7(~|%7E)m")
    moved = mine.play([Move(do="move", thing=thing.id, by=(0.0, 2.0))])[1]
    expect(bench.get("what-if-good")).to_have_attribute("data-row", moved.key)
    assert moved.key != first
    assert np.array_equal(pixels(bench), moved.seen.get("observation"))
    assert value(bench) == pytest.approx(moved.values["value"], abs=0.005)
    bench.page.locator(f'[data-thing="{moved.thing}"]').press("Delete")
    gone = mine.play([*[n.move for n in mine.nodes[1:2] if n.move], Move(do="remove", thing=moved.thing)])[2]
    expect(bench.get("what-if-good")).to_have_attribute("data-row", gone.key)
    expect(bench.page.locator(f'[data-thing="{moved.thing}"]')).to_have_count(0)
    at(bench, BEGIN)


def test_the_agent_goes_on_and_the_rollout_is_saved(visit: Visit, show: Show, levels: iv.Study) -> None:
    bench = begun(visit, show, levels)
    bench.page.keyboard.press("1")
    at(bench, BEGIN + 1)
    mine = rollout(levels).go_on([Move(do="act", action=0)], 600)
    bench.page.keyboard.press("g")
    end, steps = mine[-1].moment.ended, mine[-1].step
    expect(bench.get("course-outcome-played")).to_contain_text(f"{end} after {steps} steps")
    expect(bench.get("step")).to_have_text(f"{STEPS - 1} + {steps - STEPS + 1}")
    expect(bench.get("what-if-on")).to_be_disabled()
    bench.page.locator('[data-testid="course-played"]:not([data-drawn="0"])').wait_for()
    expect(bench.get("course-outcome-real")).to_contain_text(f"step limit after {STEPS} steps")
    bench.get("what-if-save").click()
    bench.get("what-if-open").click()
    name = f"levels - from 1.{BEGIN}"
    expect(bench.get("recording-picker")).to_contain_text(name)
    kept = levels.recording(name)
    assert np.array_equal(
        kept.array("observation", 0, BEGIN + 1), levels.recording("levels").array("observation", STEPS, ROW + 1)
    )
    assert kept.columns(["action"])["action"][BEGIN] == 0
    assert kept.groups()["outcome"].to_list() == [end]


def test_a_link_opens_what_was_rolled_out(
    visit: Visit, show: Show, levels: iv.Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    fixed = "World 'levels' cannot move or remove things."
    monkeypatch.setattr(WhatIfRollout, "why_fixed", fixed)
    handle = served(show, levels)
    bench = visit(handle, f"{LINK}?episode=1&step={BEGIN}&play={BEGIN}~1;a*3", ready=False)
    at(bench, BEGIN + 4)
    expect(bench.get("course-canvas")).to_have_attribute("data-steps", "5")
    expect(bench.get("what-if-fixed")).to_have_text(fixed)
    bench.get("tab-episodes").click()
    bench.get("episode").nth(0).click()
    expect(bench.get("attribution-seen")).to_be_visible()
    bench.page.wait_for_url(lambda url: "play=" not in url)
    # In that level the agent would go on for hundreds of steps.
    bench.get("what-if-begin").click()
    at(bench, 0)
    bench.page.keyboard.press("g")
    bench.until(lambda: int(bench.get("course-canvas").get_attribute("data-steps") or 0) > 8)
    bench.page.keyboard.press("g")
    expect(bench.get("what-if-on")).to_be_enabled()
    expect(bench.get("course-outcome-played")).to_contain_text("not over after")


def test_without_a_world_it_says_what_to_do(visit: Visit, show: Show, levels: iv.Study) -> None:
    bench = opened(visit(show(levels, subject=player()[0]), LINK, ready=False))
    expect(bench.get("what-if-begin")).to_be_disabled()
    assert "its world" in (bench.get("what-if-begin").get_attribute("title") or "")
