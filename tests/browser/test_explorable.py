"""Explorable pages as their readers meet them: opened from a file, with nothing else to be reached."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import innerview_zoo as zoo
import numpy as np
import pytest
import torch
from innerview_zoo.explorable.page import MAX_BYTES, PARTS
from innerview_zoo.testing import COARSE, counted, counting, mazed
from playwright.sync_api import Browser, Page, expect
from torch import nn

import innerview as iv
from tests.subjects.memory_changes import memory_changes

from .pages import PATIENCE_MS
from .workbench import Watch

NEAR = 1e-4
STATES = """edits => { const run = explorable.rollOut(edits);
    return {states: Array.from(run.states), chances: Array.from(run.chances), actions: Array.from(run.actions)}; }"""
Open = Callable[..., Page]


@pytest.fixture
def open_file(browser: Browser) -> Iterator[Open]:
    """Opens a page from disk in a browser without a network, and watches it to the end."""
    opened: list[tuple[Any, Watch]] = []

    def go(path: Path, **settings: Any) -> Page:
        context = browser.new_context(**({"viewport": {"width": 1440, "height": 900}, "offline": True} | settings))
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        watch = Watch(page, path.as_uri())
        opened.append((context, watch))
        page.goto(path.as_uri())
        expect(page.locator("html[data-ready=yes]")).to_be_attached(timeout=120_000)
        return page

    yield go
    for context, _ in opened:
        context.close()
    for _, watch in opened:
        watch.check()


@pytest.fixture(scope="module")
def maze(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page in which an untrained agent plays on in a maze of four cells."""
    folder = tmp_path_factory.mktemp("maze")
    study, subject = mazed(folder / "maze.study")
    return zoo.export_explorable(study, subject, folder / "maze.html", fineness=COARSE, progress=False)


def by_torch(subject: iv.Subject, recording: iv.Recording, episode: int, off: tuple[int, ...]) -> tuple[Any, Any]:
    """States and chances with some elements held at zero, on the recorded observations, by the module itself."""
    start, stop = recording.group_rows(episode)
    frames = recording.array("observation", start, stop)

    def change(site: str, state: torch.Tensor) -> torch.Tensor:
        state = state.clone()
        if not site.endswith("cell"):
            state[:, list(off)] = 0.0
        return state

    memory, states, chances = subject.initial_memory(1), [], []
    for frame in frames:
        output = subject.run(
            subject.inputs({"observation": frame[None]}), memory, edits=memory_changes(subject, change)
        )
        memory = output.memory
        states.append(next(iter(memory.values()))[0].numpy())
        chances.append(subject.probabilities(output)[0])  # type: ignore[index]
    return np.stack(states), np.stack(chances)


@pytest.mark.parametrize("core", [nn.GRUCell, nn.LSTMCell])
def test_the_page_computes_what_torch_does_over_a_whole_episode(open_file: Open, tmp_path: Path, core: Any) -> None:
    subject = counting(core(12, 16), deep=True)
    study = counted(tmp_path / "long.study", subject, length=400)
    path = zoo.export_explorable(study, subject, tmp_path / "page.html", episode=1, progress=False)
    assert path.stat().st_size < MAX_BYTES
    page, recording = open_file(path), study.recording("walks")
    for off in ((), (3,), (0, 2, 5, 9, 15)):
        edits = [{"elements": list(off), "op": "zero"}] if off else []
        told = page.evaluate(STATES, edits)
        states, chances = by_torch(subject, recording, 1, off)
        np.testing.assert_allclose(np.reshape(told["states"], (400, 16)), states, atol=NEAR)
        np.testing.assert_allclose(np.reshape(told["chances"], (400, 3)), chances, atol=NEAR)
        if not off:
            start, stop = recording.group_rows(1)
            assert told["actions"] == recording.columns(["action"], start, stop)["action"].to_list()
    assert page.evaluate("explorable.fidelity.agreement") < NEAR


def test_frozen_and_set_elements_keep_to_their_steps(open_file: Open, tmp_path: Path) -> None:
    subject = counting(nn.GRUCell(12, 8))
    study = counted(tmp_path / "a.study", subject)
    page = open_file(zoo.export_explorable(study, subject, tmp_path / "page.html", progress=False))
    edits = [
        {"elements": [2], "op": "freeze", "start": 10},
        {"elements": [5], "op": "set", "value": 0.25, "start": 4, "stop": 6},
    ]
    states = np.reshape(page.evaluate(STATES, edits)["states"], (30, 8))
    assert (states[9:, 2] == states[9, 2]).all() and states[8, 2] != states[9, 2]
    assert (states[4:6, 5] == 0.25).all() and states[3, 5] != 0.25 and states[6, 5] != 0.25


def test_a_world_without_poses_is_reported_as_recorded(open_file: Open, tmp_path: Path) -> None:
    subject = counting(nn.GRUCell(12, 8), name="<b>bold</b> agent")
    study = counted(tmp_path / "a.study", subject)
    study.save_reduction(iv.EditSet(name="<i>two</i>", edits=(iv.SiteEdit(elements=(1, 6)),)))
    page = open_file(zoo.export_explorable(study, subject, tmp_path / "page.html", progress=False))
    expect(page.get_by_role("heading", level=1)).to_contain_text("<b>bold</b> agent")
    expect(page.get_by_text("cannot be played in a page")).to_be_visible()
    expect(page.locator("[data-chapter=smallest]")).to_be_hidden()
    expect(page.locator("#saidFull")).to_contain_text("after 30 steps")
    expect(page.locator("#saidYours")).to_contain_text("decides as recorded at every step")
    page.get_by_role("button", name="<i>two</i>").click()
    expect(page.get_by_role("button", name="Element 6", exact=True)).to_have_attribute("aria-pressed", "false")
    page.get_by_role("button", name="all off").click()
    expect(page.locator("#saidYours")).to_contain_text("would decide otherwise at")


def test_switching_elements_changes_the_way_it_goes(open_file: Open, maze: Path) -> None:
    assert maze.stat().st_size < MAX_BYTES
    page = open_file(maze)
    way = "Array.from(explorable.stage.yours.way.x)"
    before = page.evaluate(way)
    expect(page.locator("#mapSaid")).to_contain_text("nothing had to be filled in")
    page.get_by_role("button", name="all off").click()
    nothing = page.evaluate(way)
    assert nothing != before
    expect(page.locator("#mapSaid")).to_contain_text("fills in")
    expect(page.locator("#namedYours")).to_have_text("0 of 8")
    page.get_by_role("button", name="Element 3", exact=True).click()
    expect(page.locator("#namedYours")).to_have_text("1 of 8")
    expect(page).to_have_url(re.compile("keep=3"))
    page.get_by_role("button", name="undo").click()
    assert page.evaluate(way) == nothing
    box = page.locator("#heatYours").bounding_box()
    assert box
    page.locator("#heatYours").click(position={"x": 20, "y": box["height"] * 5.5 / 8})
    expect(page.get_by_role("button", name="Element 5", exact=True)).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#attempts tbody tr")).to_have_count(3)


def test_full_memory_plays_as_recorded_and_the_gap_of_the_grid_is_reported(open_file: Open, maze: Path) -> None:
    page = open_file(maze)
    fidelity = page.evaluate("explorable.fidelity")
    assert fidelity["agreement"] < NEAR
    full = page.evaluate("(({length, outcome, divergence}) => [length, outcome, divergence])(explorable.rollOut([]))")
    about = page.evaluate("explorable.stage.about")
    assert full == [about["steps"], about["outcome"], about["steps"]]
    assert 0 < fidelity["playingOn"]["features"] < 2 and fidelity["playingOn"]["control"]["length"] > 0
    expect(page.locator("#featureGap")).to_contain_text("%")
    expect(page.locator("#gridFull")).to_contain_text("map units")
    page.get_by_label("Fill in from the first step on").check()
    expect(page.locator("#mapSaid")).to_contain_text("From the first step on")


def test_its_own_legs_stay_close_to_doom(open_file: Open, maze: Path) -> None:
    walks = np.array(open_file(maze).evaluate("explorable.fidelity.playingOn.walks"))
    assert walks[:20].max() < 2 and np.median(walks) < 24, "map units; the player is 32 wide"


def test_chapters_can_be_worked_by_keyboard_and_search_finds_a_small_memory(open_file: Open, maze: Path) -> None:
    page = open_file(maze)
    page.get_by_role("button", name="Six others").click()
    expect(page.locator("#samples button")).to_have_count(6)
    page.locator("#samples button").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#namedYours")).to_have_text("7 of 8")
    page.locator("#top").focus()
    page.keyboard.press("Home")
    expect(page.locator("#namedYours")).to_have_text("0 of 8")
    page.get_by_role("button", name="Element 0", exact=True).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Element 1", exact=True)).to_have_attribute("aria-pressed", "true")
    page.locator("h1").click()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#now")).to_contain_text("step 2 of")
    page.get_by_role("button", name="Let the page search").click()
    expect(page.get_by_role("button", name="Search again")).to_be_visible(timeout=120_000)
    expect(page.locator("#found")).not_to_be_empty()


FEWEST = """async () => { %s
    const finishes = ([{elements = []} = {}]) => elements.length <= 5 && !elements.includes(2);
    const simulator = {network: {size: 8}, about: {steps: 1}, maze: null,
        rollOut: edits => ({outcome: finishes(edits) ? "all items" : "time limit"})};
    const search = limit => searchSmallest(simulator, {rounds: 4, fromGrid: false, sequences: 0},
        async ({tried}) => tried < limit);
    return [await search(4), await search(Infinity)]; }"""

BEST = """() => { %s
    const attempt = (name, outcome, count, gathered, otherwise = 0) => ({name, remaining: new Set(range(count)),
        run: {outcome, gathered, length: 9, otherwise: range(otherwise)}});
    const played = [attempt("failed", "time limit", 2, 1), attempt("large", "all items", 6, 2),
        attempt("early", "wrong item", 1, 0), attempt("small", "all items", 4, 2)];
    const decided = [attempt("far", "as recorded", 2, 0, 5), attempt("near", "as recorded", 3, 0, 1)];
    return [played, decided].map(all => all.sort(compareAttempts).map(({name}) => name)); }"""


def test_a_search_that_is_stopped_gives_what_it_has_found(browser: Browser) -> None:
    page = browser.new_page()
    stopped, whole = page.evaluate(FEWEST % (PARTS / "search.js").read_text("utf-8"))
    page.close()
    assert 3 < len(stopped) < 8 and 2 in stopped
    assert len(whole) == 3 and 2 in whole


def test_attempts_are_sorted_by_what_they_achieve(browser: Browser) -> None:
    page = browser.new_page()
    played, decided = page.evaluate(BEST % (PARTS / "search.js").read_text("utf-8"))
    page.close()
    assert played == ["small", "large", "failed", "early"] and decided == ["near", "far"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_telephone_in_light_and_dark(open_file: Open, maze: Path, scheme: str) -> None:
    page = open_file(maze, viewport={"width": 390, "height": 844}, color_scheme=scheme)
    wide, room = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide <= room
    expect(page.locator("html")).to_have_attribute("data-theme", scheme)
    page.get_by_label("Light or dark").click()
    expect(page.locator("html")).not_to_have_attribute("data-theme", scheme)
    page.locator("[data-chapter=hand]").scroll_into_view_if_needed()
    page.get_by_role("button", name="all off").click()
    expect(page.locator("#map")).to_be_in_viewport()
    expect(page.locator("#saidYours")).to_be_in_viewport()
