"""One name has one colour, on a screen, in every workspace and in whatever order views are opened, in both themes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

import innerview as iv
from innerview.serve import Handle

from . import studies, vision_study
from .conftest import Show, Visit
from .workbench import Workbench, canvas_of

ACTIONS = ("left", "right", "forward", "forward+left", "forward+right")
Name = tuple[str, str]
"""Its kind and itself."""
NAMED = """() => [...document.querySelectorAll("[data-colour-kind]")]
    .filter(element => element.checkVisibility())
    .map(element => [element.dataset.colourKind, element.dataset.colourName,
                     ...["--c", "--fill"].map(name => getComputedStyle(element).getPropertyValue(name).trim())])"""
STRAY = """() => {
    const style = getComputedStyle(document.documentElement);
    const probe = document.body.appendChild(document.createElement("i"));
    const colours = Array.from({length: 8}, (_, i) => {
        probe.style.color = style.getPropertyValue(`--c${i}`);
        return getComputedStyle(probe).color;
    });
    probe.remove();
    const drawn = element => {
        const own = getComputedStyle(element);
        const border = parseFloat(own.borderTopWidth) > 0 ? own.borderTopColor : "";
        return [own.backgroundColor, border, own.color].some(colour => colours.includes(colour));
    };
    return [...document.body.querySelectorAll("*")]
        .filter(element => element.checkVisibility() && !element.closest("[data-colour-kind]") && drawn(element))
        .map(element => element.outerHTML.slice(0, 200));
}"""
"""What has the colour of a name and does not say of which."""
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
    found: dict[Name, set[tuple[str, str]]] = defaultdict(set)
    for kind, name, colour, fill in bench.page.evaluate(NAMED):
        assert re.fullmatch("#[0-9a-f]{6}", colour)
        found[kind, name].add((colour, fill))
    assert not bench.page.evaluate(STRAY)
    assert not {name: looks for name, looks in found.items() if len(looks) > 1}
    colour_of = {name: looks.pop()[0] for name, looks in found.items()}
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


@pytest.fixture(scope="module")
def consoles(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Handle]:
    study = studies.consoles(tmp_path_factory.mktemp("consoles") / "consoles.study")
    with iv.show(study, open_browser=False) as handle:
        yield handle


def fills(bench: Workbench, testid: str, kind: str = "action") -> dict[str, str]:
    """How names look in one view: colour and stripes."""
    inside = bench.get(testid).locator(f'[data-colour-kind="{kind}"]')
    inside.first.wait_for()
    return {
        str(name): str(fill)
        for name, fill in inside.evaluate_all(
            "all => all.map(e => [e.dataset.colourName, getComputedStyle(e).getPropertyValue('--fill').trim()])"
        )
    }


def test_eighteen_actions_have_eighteen_looks_the_same_in_bars_areas_and_clouds(
    visit: Visit, consoles: Handle, theme: str
) -> None:
    bench = visit(consoles, "#/memory/consoles?episode=1&step=5&hue=action", ready=False, color_scheme=theme)
    bench.get("projection-legend").wait_for()
    bench.still()
    seen(bench)
    cloud, bars, areas = (fills(bench, view) for view in ("view-projection", "view-policy", "view-actions"))
    assert len(set(cloud.values())) == len(cloud) == studies.ACTIONS
    assert bars.items() <= cloud.items() and areas.items() <= cloud.items()
    assert len(bars) == 9 and len(areas) > 8
    wanted = {name: [int(colour[at : at + 2], 16) for at in (1, 3, 5)] for name, colour in colours_of(bench).items()}
    pixels = canvas_of(bench.get("projection-canvas"))
    drawn = pixels[pixels[..., 3] > 120][:, :3].astype(int)
    assert all((np.abs(drawn - np.array(rgb)).max(axis=-1) <= 6).any() for rgb in wanted.values())


def colours_of(bench: Workbench) -> dict[str, str]:
    return {name: colour for (kind, name), colour in seen(bench).items() if kind == "action"}


def test_policy_entropy_has_the_colour_of_its_line(visit: Visit, shown_looked_kitems: Handle, theme: str) -> None:
    bench = visit(shown_looked_kitems, "#/episodes/k-items?episode=2&step=5", color_scheme=theme)
    bench.still()
    seen(bench)
    lines, bars = fills(bench, "view-timelines", "fact"), fills(bench, "view-policy", "fact")
    assert bars == {"entropy": lines["entropy"]}


def test_two_sources_have_the_same_colours(visit: Visit, consoles: Handle, theme: str) -> None:
    bench = visit(consoles, "#/episodes/consoles?episode=1&step=5&with=others", ready=False, color_scheme=theme)
    bench.get("side-b").first.wait_for()
    bench.get("policy-difference").first.wait_for()
    bench.still()
    assert {kind for kind, _ in seen(bench)} >= {"action", "fact"}


def test_rows_and_results_have_the_same_colours(
    visit: Visit, consoles: Handle, shown_pairs: Handle, theme: str
) -> None:
    bench = visit(consoles, "#/results/consoles?hue=action", ready=False, color_scheme=theme)
    bench.get("saved-result").first.click()
    bench.page.locator('[data-colour-kind="action"]').first.wait_for()
    assert len({colour for (kind, _), colour in seen(bench).items() if kind == "action"}) == FIRST
    pairs = visit(shown_pairs, "#/rows/rooms", ready=False, color_scheme=theme)
    pairs.get("view-pair").wait_for()
    seen(pairs)


def test_what_is_rolled_out_has_the_same_colours(visit: Visit, show: Show, still_levels: iv.Study, theme: str) -> None:
    subject, world = vision_study.player()
    handle = show(still_levels, subject=subject, world=world)
    bench = visit(handle, f"{vision_study.LINK}?episode=1&step=9", ready=False, color_scheme=theme)
    before = seen(vision_study.opened(bench))
    bench.page.keyboard.press("p")
    bench.page.locator('[data-testid="what-if-good"]:not([data-row=""])').wait_for()
    after = seen(bench)
    both = before.keys() & after.keys()
    assert {kind for kind, _ in after} >= {"action", "object", "factor"} and {kind for kind, _ in both} >= {"factor"}
    assert {name: before[name] for name in both} == {name: after[name] for name in both}
