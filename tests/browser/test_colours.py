"""One name has one colour, on a screen, in every workspace and in whatever order views are opened, in both themes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import pytest

from innerview.serve import Handle

from . import vision_study
from .conftest import Visit
from .workbench import Workbench, canvas_of

ACTIONS = ("left", "right", "forward", "forward+left", "forward+right")
Name = tuple[str, str]
"""Its kind and itself."""
NAMED = """() => [...document.querySelectorAll("[data-colour-kind]")]
    .filter(element => element.checkVisibility())
    .map(element => [element.dataset.colourKind, element.dataset.colourName,
                     getComputedStyle(element).getPropertyValue("--c").trim()])"""
APART = ("action", "object", "factor", "state")
"""Kinds of which each name has a colour of its own; facts about a thing share its colour."""
FIRST = 8
Screen = tuple[str, str, set[str]]
"""A workspace, a tab of it (or none), and kinds that are shown there."""
KITEMS: list[Screen] = [
    ("episodes", "", {"action", "object", "fact"}),
    ("memory", "states", {"action", "object", "fact"}),
    ("memory", "strategy", {"state"}),
    ("memory", "align", {"fact"}),
    ("vision", "", {"action"}),
]
LEVELS: list[Screen] = [
    ("vision", "totals", {"factor", "action"}),
    ("vision", "facts", {"factor", "fact"}),
    ("vision", "actions", {"factor", "action"}),
    ("vision", "ablation", {"factor"}),
    ("episodes", "", {"action", "object", "fact"}),
]


@pytest.fixture(params=["light", "dark"])
def theme(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def seen(bench: Workbench) -> dict[Name, str]:
    """The colour of each name on the screen; no name has two, and no two of the first names of a kind share one."""
    found: dict[Name, set[str]] = defaultdict(set)
    for kind, name, colour in bench.page.evaluate(NAMED):
        found[kind, name].add(colour)
    assert all(re.fullmatch("#[0-9a-f]{6}", colour) for colours in found.values() for colour in colours)
    assert not {name: colours for name, colours in found.items() if len(colours) > 1}
    colour_of = {name: colours.pop() for name, colours in found.items()}
    for kind in APART:
        own = [colour for (its, _), colour in colour_of.items() if its == kind]
        assert len(set(own)) >= min(len(own), FIRST)
    return colour_of


def walk(bench: Workbench, screens: Sequence[Screen]) -> dict[Name, str]:
    """The names of all screens, one after another, where none has another colour than on the one before."""
    together: dict[Name, str] = {}
    for workspace, tab, kinds in screens:
        bench.get(f"workspace-{workspace}").click()
        if tab:
            bench.get(f"tab-{tab}").click()
        for kind in kinds:
            bench.page.locator(f'[data-colour-kind="{kind}"]').first.wait_for()
        bench.still()
        here = seen(bench)
        assert not {name for name, colour in here.items() if together.get(name, colour) != colour}
        together |= here
    return together


def test_a_name_has_one_colour_in_every_workspace(visit: Visit, shown_looked_kitems: Handle, theme: str) -> None:
    link = "?episode=2&step=5&hue=action"
    bench = visit(shown_looked_kitems, f"#/episodes/k-items{link}", color_scheme=theme)
    there = walk(bench, KITEMS)
    assert {name for kind, name in there if kind == "action"} == set(ACTIONS)
    # The other way round, from another episode, in a page that knows nothing yet.
    other = visit(shown_looked_kitems, "#/vision/k-items?episode=4&hue=action", ready=False, color_scheme=theme)
    back = walk(other, KITEMS[::-1])
    assert {name: back[name] for name in there if name in back} == {name: there[name] for name in there if name in back}
    assert {kind for kind, _ in there.keys() & back.keys()} >= {"action", "object", "fact", "state"}


def test_factors_have_one_colour_in_cards_chips_and_details(visit: Visit, shown_levels: Handle, theme: str) -> None:
    bench = visit(shown_levels, f"{vision_study.LINK}?episode=1&step=9", ready=False, color_scheme=theme)
    there = walk(vision_study.opened(bench), LEVELS)
    assert [name for kind, name in there if kind == "factor"] == [str(n) for n in range(vision_study.FACTORS)]
    assert len({colour for (kind, _), colour in there.items() if kind == "factor"}) == vision_study.FACTORS


def test_each_theme_has_colours_of_its_own(visit: Visit, shown_looked_kitems: Handle) -> None:
    bench = visit(shown_looked_kitems, "#/episodes/k-items?episode=2&step=5", color_scheme="light")
    light = seen(bench)
    bench.page.emulate_media(color_scheme="dark")
    bench.until(lambda: seen(bench).keys() == light.keys() and not set(light.values()) & set(seen(bench).values()))
    dark = seen(bench)
    assert not set(light.values()) & set(dark.values())
    pairs = {(light[name], dark[name]) for name in light}
    assert len(pairs) == len(set(light.values())) == len(set(dark.values()))


def test_areas_are_drawn_in_the_colours_of_their_legend(visit: Visit, shown_looked_kitems: Handle) -> None:
    bench = visit(shown_looked_kitems, "#/episodes/k-items?episode=2&step=5")
    canvas = bench.get("actions-canvas")
    named = [colour for (kind, _), colour in seen(bench).items() if kind == "action"]
    wanted = np.array([[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in named])

    def nearest() -> np.ndarray:
        pixels = canvas_of(canvas)[..., None, :3].astype(int)
        return np.asarray((np.abs(pixels - wanted).max(axis=-1) <= 2).reshape(-1, len(wanted)))

    bench.until(lambda: bool(nearest().any(axis=1).mean() > 0.8))
    assert nearest().any(axis=1).mean() > 0.8, "edges between areas aside, there is no other colour"
    assert nearest().any(axis=0).all(), "each action is there"
