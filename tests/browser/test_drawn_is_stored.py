"""What every view draws is what is stored: pixels, numbers, names and axes beside polars, zarr and json alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import expect

import innerview as iv
from innerview.serve import Handle
from innerview.testing.worlds import CountingWorld

from .conftest import ROOT, Show, Visit
from .drawn import hidden, lenses, made, places, rows, sight, time
from .drawn.stored import Stored
from .test_errors import office as office
from .test_saliency import seer
from .vision_study import LINK, STEPS, opened, player
from .workbench import Workbench

Check = Callable[[Workbench, Stored, int], None]
LARGE = {"width": 1600, "height": 1000}


@dataclass(frozen=True)
class Place:
    """Where a view is looked at: an address, the row under the cursor, and what compares it."""

    link: str
    check: Check
    recording: str = "mixed"
    row: int = 0


MIXED = {(0, 4): 4, (1, 24): 64, (2, 0): 65, (3, 17): 83}
"""Rows of `mixed` by episode and step: a gap, a last step, an episode of one row, one in the middle."""


def _mixed(workspace: str, more: str, check: Check, *at: tuple[int, int]) -> tuple[Place, ...]:
    places = at or tuple(MIXED)
    return tuple(Place(f"#/{workspace}/mixed?episode={e}&step={s}{more}", check, row=MIXED[e, s]) for e, s in places)


VIEWS: dict[str, tuple[Place, ...]] = {
    "view-observation": _mixed("episodes", "&boxes=off", time.observation),
    "view-policy": _mixed("episodes", "", time.policy),
    "view-actions": _mixed("episodes", "", time.actions),
    "view-timelines": _mixed("episodes", "", time.timelines),
    "view-map": _mixed("episodes", "", time.world_map, (0, 4), (3, 17)),
    "view-inview": _mixed("episodes", "", time.in_view),
    "view-episodes": _mixed("episodes", "", time.episodes, (3, 17)),
    "view-begin": _mixed("episodes", "", time.begin, (3, 17)),
    "view-memory": _mixed("memory", "", hidden.memory, (0, 4), (3, 17)),
    "view-slit": _mixed("memory", "&side=slit", time.slit, (3, 17)),
    "view-projection": _mixed("memory", "", hidden.projection, (3, 17)),
    "view-flags": _mixed("memory", "&meaning=flags", hidden.flags, (3, 17)),
    "view-strategy": _mixed("memory", "&meaning=strategy", hidden.strategy, (3, 17)),
    "view-align": _mixed("memory", "&middle=align", hidden.align, (3, 17)),
    "view-influence": _mixed("memory", "&meaning=influence", hidden.influence, (3, 17)),
    "view-reductions": _mixed("memory", "&middle=reductions", hidden.reductions, (3, 17)),
    "view-edits": _mixed("memory", "&side=edits&elements=0,3&interval=200-210&scope=recording", hidden.edits, (3, 17)),
    "view-stretches": _mixed("memory", "&middle=stretches", hidden.stretches, (3, 17)),
    "view-scatter": (Place("#/rows/rooms", rows.scatter, recording="rooms", row=0),),
    "view-rows": (Place("#/rows/rooms", rows.gallery, recording="rooms", row=0),),
    "view-pair": (Place("#/rows/rooms", rows.pair, recording="rooms", row=5),),
    "view-saved-results": (Place("#/results/mixed", lenses.saved), Place("#/results/mixed", lenses.result)),
    "view-lenses": (Place("#/results/mixed", lenses.lenses),),
}
"""Views of the recording `mixed`, which needs no model, and of pairs."""
LEVEL = 31
SEEING: dict[str, Check] = {
    "view-attribution": sight.attribution,
    "view-legend": sight.legend,
    "view-factor": sight.factor,
    "view-totals": sight.totals,
    "view-ablation": sight.ablation,
}
"""Views of an agent that sees, at a row of its second level."""
PLAYING: dict[str, Check] = {
    "view-what-if": sight.what_if,
    "view-moves": sight.moves,
    "view-course": sight.course,
}
"""The same with its model and world at hand, at the begin of a what-if rollout."""


def registered() -> set[str]:
    """Every view of the page, by its name in the page."""
    sources = [*(ROOT / "web/src/views").rglob("*.svelte"), *(ROOT / "web/src/workspaces").rglob("*.svelte")]
    return {name for path in sources for name in re.findall(r'testid="(view-[a-z-]+)"', path.read_text("utf-8"))}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("drawn") / "drawn.study"
    made.make(folder)
    return folder


@pytest.fixture(scope="module")
def shown(study: Path) -> Iterator[Handle]:
    with iv.show(study, open_browser=False) as handle:
        yield handle


@pytest.fixture
def look(visit: Visit, shown: Handle, shown_pairs: Handle, study: Path, pairs: iv.Study) -> Callable[[str], None]:
    """Goes to each place of a view and compares."""

    def go(view: str) -> None:
        for place in VIEWS[view]:
            paired = place.recording == "rooms"
            stored = Stored(Path(pairs.path) if paired else study, place.recording)
            bench = visit(shown_pairs if paired else shown, place.link, ready=False, viewport=LARGE)
            expect(bench.get(view).first).to_be_visible()
            if match := re.search(r"step=(\d+)", place.link):
                bench.at_step(int(match[1]))
                if "/results/" not in place.link:
                    bench.get("track").first.wait_for()
            bench.still()
            place.check(bench, stored, place.row)

    return go


def test_every_view_is_compared() -> None:
    of_maps = {
        f"view-{name}" for name in ("saliency-grid", "region", "classes", "memorised", "ignored", "learning", "trust")
    }
    of_pairs = {f"view-{name}" for name in ("geo-map", "models", "kinds", "rooms", "orientation", "joint")}
    entries = {*VIEWS, *SEEING, *PLAYING, *of_pairs, *of_maps}
    assert registered() == entries, "a view without an entry, or an entry without a view"


@pytest.mark.parametrize("view", VIEWS)
def test_view(view: str, look: Callable[[str], None]) -> None:
    look(view)


def test_all_episodes_at_once(visit: Visit, shown: Handle, study: Path) -> None:
    """Actions, timelines and memory of the whole recording; a stretch is named by the steps that it covers."""
    stored = Stored(study, "mixed")
    bench = visit(shown, "#/memory/mixed?episode=3&step=17&scope=recording", ready=False, viewport=LARGE)
    bench.at_step(17)
    bench.still()
    time.all_actions(bench, stored)
    hidden.memory(bench, stored, 83, whole=True)
    hidden.memory_tip(bench, stored, 83, whole=True)
    bench = visit(shown, "#/episodes/mixed?episode=3&step=17&scope=recording", viewport=LARGE)
    bench.still()
    time.all_timelines(bench, stored, 83)
    count = stored.rows.height
    bench.brush_steps("actions-overlay", 50, 200, of=count)
    bench.selected(151)
    bench.settled("select=")
    (first, last) = (stored.place(row) for row in (50, 200))
    (term,) = bench.select
    assert term[1] == f"ep {first[0]}: {first[1]} – ep {last[0]}: {last[1]}", f"the selection is called {term[1]!r}"
    counted = bench.page.locator('[data-testid="episode"]').all()
    for line in counted:
        episode = int(line.get_attribute("data-episode") or -1)
        start, stop = stored.span(episode)
        inside = max(0, min(stop, 201) - max(start, 50))
        assert line.get_by_test_id("episode-selected").inner_text().strip() == (f"{inside}" if inside else "")


def test_many_rows(visit: Visit, shown: Handle, study: Path) -> None:
    """120,000 rows are drawn as means, each row in its place."""
    stored = Stored(study, "many")
    bench = visit(shown, "#/memory/many?episode=0&step=100&scope=recording", ready=False, viewport=LARGE)
    bench.at_step(100)
    bench.still()
    time.all_actions(bench, stored)
    hidden.memory(bench, stored, 100, whole=True)


def test_one_row(visit: Visit, shown: Handle, study: Path) -> None:
    stored = Stored(study, "one")
    bench = visit(shown, "#/episodes/one?episode=0&step=0&boxes=off", viewport=LARGE)
    bench.still()
    for check in (time.observation, time.policy, time.actions, time.timelines, time.in_view, time.episodes):
        check(bench, stored, 0)


def test_damage_is_a_gap(visit: Visit, shown: Handle, study: Path) -> None:
    """A block of rows that cannot be read is unknown wherever it is drawn, and nothing moves into its place."""
    stored = Stored(study, "damaged")
    bench = visit(shown, "#/episodes/damaged?episode=3&step=60", viewport=LARGE)
    bench.watch.expected.append("409")
    bench.still()
    expect(bench.get("timelines-holes")).to_be_visible()
    for check in (time.timelines, time.actions):
        check(bench, stored, 126)
    expect(bench.get("view-actions")).to_contain_text("add up to as little as 0.85: the rest was not recorded")
    bench = visit(shown, "#/memory/damaged?episode=3&step=60", ready=False, viewport=LARGE)
    bench.watch.expected.append("409")
    bench.at_step(60)
    hidden.memory(bench, stored, 126)


def test_what_is_seen(visit: Visit, shown_levels: Handle, still_levels: iv.Study) -> None:
    """Attributions, factors and their totals, all at one row."""
    stored = Stored(Path(still_levels.path), "levels")
    link = f"{LINK}?episode=1&step={LEVEL - STEPS}"
    for view, check in SEEING.items():
        more = "&time=ablation" if view == "view-ablation" else ""
        bench = visit(shown_levels, link + more, ready=False, viewport=LARGE)
        if not more:
            opened(bench)
        bench.get("factor-pin").first.wait_for()
        expect(bench.get(view)).to_be_visible()
        bench.still()
        check(bench, stored, LEVEL)


def test_what_is_rolled_out(visit: Visit, show: Show, levels: iv.Study) -> None:
    """Before the first move everything is as it was recorded."""
    stored = Stored(Path(levels.path), "levels")
    subject, world = player()
    handle = show(levels, subject=subject, world=world)
    bench = opened(visit(handle, f"{LINK}?episode=1&step={LEVEL - STEPS}", ready=False, viewport=LARGE))
    bench.page.keyboard.press("p")
    expect(bench.get("view-what-if")).to_contain_text(f"now at {LEVEL - STEPS}")
    bench.page.locator('[data-testid="what-if-seen"]:not([data-row=""])').wait_for()
    bench.still()
    for view, check in PLAYING.items():
        expect(bench.get(view)).to_be_visible()
        check(bench, stored, LEVEL)


def test_saliency_maps(visit: Visit, show: Show, tmp_path: Path) -> None:
    """Each map is the gradient that torch gives, over the picture of its row."""
    study = iv.Study.create(tmp_path / "seen.study", "seen")
    subject = seer("grown", 1)
    iv.record(study, subject, CountingWorld(length=8), episodes=2, name="x", lanes=2, progress=False)
    bench = visit(
        show(study, subject=subject),
        "#/saliency/x?episode=1&step=3&methods=gradient&targets=value",
        ready=False,
        viewport=LARGE,
    )
    sight.saliency(bench, Stored(Path(study.path), "x"), 11, subject.module)


def test_errors_of_poses(visit: Visit, office: tuple[iv.Study, Handle]) -> None:
    study, handle = office
    bench = visit(handle, "#/rows/rooms", viewport=LARGE)
    expect(bench.get("view-geo-map")).to_be_visible()
    bench.still()
    places.errors(bench, Stored(Path(study.path), "rooms"), 0)
