"""Ablation: factors are ablated from a subject, it plays new levels, and what it lost is told cause by cause."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

import innerview as iv
from innerview.edits.ablation_test import Arm, ArmKind, compare_arms
from innerview.schema import EpisodeSummary
from innerview.store import edited_subjects, load_edited, read_weights

from .conftest import Show, Visit
from .vision_study import EPISODES, NAME, opened, player
from .workbench import Workbench, box_of

PROVE = f"#/vision/{NAME}?episode=1&step=4&time=ablation"
LEVELS = 1000
ENDINGS = ("coin", "saw", "enemy", "lava")
FAILURES = {"original": (4, 20), "ablated": (120, 22), "control": (5, 18), "invisible": (310, 2)}
"""Of a thousand levels: by saw and by enemy."""


@pytest.fixture
def live(visit: Visit, show: Show, levels: iv.Study) -> Workbench:
    """The study with its agent loaded, open where edits are made."""
    subject, world = player()
    bench = visit(show(levels, subject=subject, world=world), PROVE, ready=False)
    bench.get("ablate-factor").first.wait_for()
    return bench


def factor(bench: Workbench, index: int) -> Locator:
    return bench.page.locator(f'[data-testid="ablate-factor"][data-factor="{index}"]')


def cell(bench: Workbench, kind: ArmKind, cause: str) -> Locator:
    row = bench.page.locator(f'[data-testid="ablation-test-arm"][data-kind="{kind}"]')
    return row.locator(f'[data-testid="ablation-test-cell"][data-cause="{cause}"]')


def arm(name: str, kind: ArmKind) -> Arm:
    saw, enemy = FAILURES[kind]
    outcomes = ["saw"] * saw + ["enemy"] * enemy + ["coin"] * (LEVELS - saw - enemy)
    episodes = [
        EpisodeSummary(seed=seed, outcome=outcome, length=50, total_reward=10.0 * (outcome == "coin"))
        for seed, outcome in enumerate(outcomes, start=10**9)
    ]
    return Arm(name=name, kind=kind, episodes=episodes)


def save_ablation_test(
    study: iv.Study, edited: str, *, done: int = LEVELS, others: dict[str, str] | None = None, **asked: Any
) -> dict[str, Any]:
    """An ablation test with known numbers, as the job keeps it."""
    names: dict[ArmKind, str] = {"original": "original", "ablated": edited, "control": "random directions"}
    arms = [arm(name, kind) for kind, name in {**names, "invisible": "saw invisible"}.items()]
    told = {"levels": LEVELS, "done": done, "seed": 10**9, **compare_arms(arms, ENDINGS)}
    identity = {edited: load_edited(study, edited).info.identity} | (others or {})
    kinds = [{"name": each.name, "kind": each.kind, "identity": identity.get(each.name, "")} for each in arms]
    arguments = {"edited": edited, "levels": LEVELS, "arms": kinds}
    study.save_result("ablation_test", recording=NAME, arguments=arguments, value=told, title="ablation test", **asked)
    return told


def test_a_subject_is_ablated_renamed_recorded_and_opened(live: Workbench, levels: iv.Study, tmp_path: Path) -> None:
    expect(live.get("ablate-start")).to_be_disabled()
    factor(live, 0).click()
    factor(live, 3).click()
    live.settled("ablate=0(,|%2C)3")
    live.get("ablate-start").click()
    live.get("edited-history").wait_for()
    (made,) = edited_subjects(levels)
    assert [each.index for each in made.last.factors] == [0, 3]
    expect(live.get("edited")).to_have_attribute("data-name", made.name)
    expect(live.get("edited-history")).to_contain_text(f"out of {made.last.layer}, as {made.last.after} reads it")

    live.get("edited-rename").click()
    live.get("edited-name").fill("half ablated")
    live.page.keyboard.press("Enter")
    expect(live.get("edited")).to_have_attribute("data-name", "half ablated")
    with live.page.expect_download() as coming:
        live.get("edited-weights").click()
    coming.value.save_as(tmp_path / "taken.safetensors")
    assert f"{made.last.after}.weight" in read_weights(tmp_path / "taken.safetensors")

    live.get("edited-record").click()
    live.get("edited-record-open").click()
    opened(live, drawn=False)
    played, before = levels.recording(f"{NAME} - half ablated"), levels.recording(NAME)
    assert played.group_count == EPISODES
    assert played.info.seeds == before.info.seeds
    assert played.info.subject is not None and before.info.subject is not None
    assert played.info.subject.identity == edited_subjects(levels)[0].info.identity
    assert played.info.subject.identity != before.info.subject.identity


def test_it_is_tested_by_ablation_over_new_levels(live: Workbench, levels: iv.Study) -> None:
    live.page.keyboard.press("3")
    expect(factor(live, 2)).to_have_attribute("aria-pressed", "true")
    live.get("ablate-name").fill("try")
    live.get("ablate-start").click()
    live.get("ablation-levels").fill("2")
    offered = live.get("ablation-invisible").locator("option").evaluate_all("all => all.map(one => one.value)")
    assert offered == ["", *player()[1].hidable] and "saw" in offered  # type: ignore[attr-defined]
    live.get("ablation-invisible").select_option("saw")
    live.get("ablation-start").click()
    live.get("verdict").wait_for()
    expect(live.get("verdict-head")).to_contain_text("2 levels say little")
    (kept,) = levels.results(kind="ablation_test")
    told = levels.result(kept.id).value
    kinds = [row.get_attribute("data-kind") for row in live.get("ablation-test-arm").all()]
    assert kinds == ["original", "ablated", "control", "invisible"] == [each["kind"] for each in told["arms"]]
    assert told["arms"][1]["name"] == "try"
    assert told["done"] == 2
    assert told["seed"] not in levels.recording(NAME).info.seeds
    ended = next(each for each in told["arms"][0]["causes"] if each["count"])
    expect(cell(live, "original", ended["cause"])).to_contain_text(f"{100 * ended['share']:.0f} %")


def test_a_taken_name_is_refused_and_what_is_deleted_is_gone(live: Workbench, levels: iv.Study) -> None:
    live.watch.expected.append("409")
    for index in (0, 1):
        factor(live, index).click()
        live.get("ablate-name").fill("mole")
        live.get("ablate-start").click()
        expect(live.get("ablate-problem" if index else "edited")).to_contain_text("mole")
    expect(live.get("ablate-problem")).to_contain_text("Choose another name")
    live.get("edited-delete").click()
    assert len(edited_subjects(levels)) == 1
    live.get("edited-delete-sure").click()
    expect(live.get("edited")).to_have_count(0)
    assert edited_subjects(levels) == []


def test_an_ablation_test_is_said_in_words_drawn_and_saved(
    visit: Visit, show: Show, levels: iv.Study, tmp_path: Path
) -> None:
    subject, _ = player()
    name = iv.ablate(levels, subject, levels.results(kind="factors")[0], factors=[1], name="no saws").info.name
    told = save_ablation_test(levels, name)
    bench = visit(show(levels), PROVE, ready=False)
    expect(bench.get("verdict-head")).to_contain_text("It fails by saw 30 times as often")
    expect(bench.get("verdict-head")).to_contain_text("in 12.0 % of 1,000 levels instead of 0.40 %")
    lines = {line.get_attribute("data-kind"): line.inner_text() for line in bench.get("verdict-line").all()}
    assert "no clear difference" in lines["others"]
    assert "nothing like it (saw 1.3×)" in lines["control"]
    assert "saw in 31.0 %; the edit goes 38 % of that way" in lines["invisible"]
    expect(bench.get("ablation-test-foot")).to_contain_text("Never: lava")

    apart = {kind: cell(bench, kind, "saw").get_attribute("data-apart") for kind in ("ablated", "control", "invisible")}
    assert apart == {"ablated": "true", "control": "false", "invisible": "true"}
    expect(cell(bench, "ablated", "saw")).to_contain_text("30×")
    places = [box_of(cell(bench, kind, "saw").locator(".dot"))["x"] for kind in ("original", "ablated", "invisible")]
    assert places == sorted(places)
    assert places[1] - places[0] > 10
    linear = places[1]
    bench.get("ablation-test-scale").locator("[data-value=log]").click()
    bench.settled("ablation-test=log")
    assert box_of(cell(bench, "ablated", "saw").locator(".dot"))["x"] > linear + 20

    bench.get("view-ablation-export").click()
    with bench.page.expect_download() as coming:
        bench.page.get_by_role("button", name="CSV table").click()
    coming.value.save_as(tmp_path / "test.csv")
    saved = list(csv.DictReader((tmp_path / "test.csv").read_text("utf-8").splitlines()))
    ablated = next(line for line in saved if line["kind"] == "ablated" and line["cause"] == "saw")
    share = next(each for each in told["arms"][1]["causes"] if each["cause"] == "saw")
    assert (int(ablated["count"]), float(ablated["low"])) == (120, pytest.approx(share["low"]))
    with bench.page.expect_download() as coming:
        bench.page.get_by_role("button", name="SVG drawing").click()
    coming.value.save_as(tmp_path / "test.svg")
    drawn = (tmp_path / "test.svg").read_text("utf-8")
    assert "saw invisible" in drawn and "12.0 %" in drawn


def test_levels_that_ended_in_one_way_are_played_again_and_looked_at(
    visit: Visit, show: Show, levels: iv.Study
) -> None:
    subject, world = player()
    iv.ablate(levels, subject, levels.results(kind="factors")[0], factors=[1], name="no saws")
    told = save_ablation_test(levels, "no saws")
    bench = visit(show(levels, subject=subject, world=world), PROVE, ready=False)
    for kind, cause in (("control", "saw"), ("invisible", "saw"), ("ablated", "coin")):
        bench.get("ablation-test").wait_for()
        assert cell(bench, kind, cause).get_by_role("button").count() == 0, "nobody could play these"  # type: ignore[arg-type]
    cell(bench, "ablated", "saw").get_by_role("button").click()
    expect(bench.get("ablation-test-levels")).to_contain_text("ended 120 levels by saw.")
    bench.settled("cell=ablated")
    cell(bench, "ablated", "saw").get_by_role("button").press("Enter")
    expect(bench.get("ablation-test-levels")).to_have_count(0)
    cell(bench, "original", "saw").get_by_role("button").click()
    bench.get("ablation-test-levels-record").click()
    bench.get("ablation-test-levels-open").click()
    bench.settled("ended%20by%20saw")
    bench.get("view-ablation").wait_for(state="detached")
    (made,) = [name for name in levels.recordings() if name.startswith("ended by saw - original ")]
    seeds = told["arms"][0]["causes"][1]["seeds"]
    assert levels.recording(made).groups()["seed"].to_list() == seeds == list(range(10**9, 10**9 + 4))

    before = levels.results(kind="factors")[0]
    expect(bench.get("known-factors")).to_contain_text(NAME)
    bench.get("known-use").click()
    bench.get("factor").first.wait_for()
    (now,) = levels.results(kind="factors", recording=made)
    assert now.arguments["parameters"]["factors"] == before.id
    assert np.array_equal(levels.result_array(now.id, "directions"), levels.result_array(before.id, "directions"))

    bench.get("run-factors").click()
    bench.get("parameter-factors").select_option(now.id)
    bench.get("run-factors-subject").select_option("no saws")
    bench.get("run-factors-start").click()
    expect(bench.get("attribution-result").locator("option")).to_have_count(2)
    expect(bench.get("attribution-result")).to_contain_text("by no saws: ")
    expect(bench.get("view-attribution")).to_contain_text("Seen by no saws")


def test_without_a_model_what_was_tested_can_be_read_but_nothing_be_made(
    visit: Visit, show: Show, levels: iv.Study
) -> None:
    subject, _ = player()
    iv.ablate(levels, subject, levels.results(kind="factors")[0], factors=[1], name="no saws")
    save_ablation_test(levels, "no saws", done=400, provisional=True)
    save_ablation_test(levels, "no saws", done=700, provisional=True, others={"no saws": "of one that was removed"})
    bench = visit(show(levels), f"{PROVE}&factor=1", ready=False)
    expect(bench.get("verdict-head")).to_contain_text("so far, 400 of 1,000 levels")
    assert bench.get("ablation-test").get_by_role("button").count() == 0, "more levels may come"
    for button in ("ablate-start", "ablation-start", "edited-record"):
        expect(bench.get(button)).to_be_disabled()
    expect(bench.get("ablate-why")).to_contain_text("No model is loaded")
    bench.get("view-ablation-help").click()
    expect(bench.get("help")).to_contain_text("what if it could not see that?")
