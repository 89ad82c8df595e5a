"""The address holds what is seen: reload and share give it back."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from innerview.serve import Handle
from innerview.testing.worlds import episode_length

from .conftest import Visit
from .workbench import Workbench


def arrange(bench: Workbench) -> None:
    """Change everything that an address can hold."""
    bench.get("recording-picker").select_option("second")
    bench.settled("#/episodes/second")
    bench.get("episode").nth(4).click()
    bench.brush_steps("timelines-overlay", 2, 9, of=episode_length(44))
    bench.condition("health", low=92.5, join="difference")
    bench.get("chip-not").nth(0).click()
    bench.get("chip-name").nth(0).click()
    bench.page.keyboard.type("odd; (name), & ¬")
    bench.page.keyboard.press("Enter")
    bench.get("boxes-toggle").click()
    bench.get("map-scope").locator("[data-value=one]").click()
    bench.get("measure").select_option("td-error")
    bench.get("sort-length").click()
    bench.get("speed").select_option("2")
    bench.get("track-choice").click()
    bench.page.get_by_label("reward", exact=True).uncheck()
    bench.page.keyboard.press("Escape")
    for _ in range(6):
        bench.page.keyboard.press("ArrowRight")
    bench.at_step(6)


def told(bench: Workbench) -> dict[str, object]:
    """What a person sees of all that."""
    bench.at_step(6)
    expect(bench.get("track").first).to_be_visible()
    expect(bench.get("begin-row").first).to_be_visible()
    expect(bench.get("selection-count")).to_have_text(re.compile("of"))
    return {
        "recording": bench.get("recording-picker").input_value(),
        "workspace": bench.page.locator('[aria-current="page"]').inner_text(),
        "episode": bench.page.locator('[data-testid="episode"][aria-selected="true"]').get_attribute("data-episode"),
        "row": bench.drawn()[0],
        "pixels": bench.drawn()[1].tolist(),
        "chips": bench.get("chip-name").all_inner_texts(),
        "operators": bench.get("operator").all_inner_texts(),
        "turned": [chip.get_attribute("aria-pressed") for chip in bench.get("chip-not").all()],
        "count": bench.get("selection-count").inner_text(),
        "boxes": bench.get("boxes-toggle").get_attribute("aria-pressed"),
        "map": bench.get("map-scope").locator("[aria-pressed=true]").inner_text(),
        "measure": bench.get("measure").input_value(),
        "begin": bench.get("begin-row").all_inner_texts(),
        "order": [line.get_attribute("data-episode") for line in bench.get("episode").all()],
        "speed": bench.get("speed").input_value(),
        "tracks": [track.get_attribute("data-column") for track in bench.get("track").all()],
    }


def test_a_reload_and_a_shared_link_show_exactly_the_same(visit: Visit, shown_walks: Handle) -> None:
    bench = visit(shown_walks)
    arrange(bench)
    bench.settled("step=6")
    before, address = told(bench), bench.page.url
    assert before["chips"] == ["odd; (name), & ¬", "health ≥ 92.5"]
    assert "reward" not in before["tracks"]

    bench.page.reload()
    bench.ready()
    assert told(bench) == before
    assert bench.page.url == address

    bench.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    bench.get("share").click()
    expect(bench.get("toasts")).to_contain_text("copied")
    shared = bench.page.evaluate("navigator.clipboard.readText()")
    assert shared == address
    assert "code" not in shared
    other = visit(shown_walks)
    other.page.goto(shared)
    other.ready()
    assert told(other) == before


def test_a_link_that_is_followed_while_another_opens_wins(visit: Visit, shown_walks: Handle) -> None:
    bench = visit(shown_walks)
    for episode in (5, 1, 4, 2):
        bench.page.evaluate(f"location.hash = '#/episodes/first?episode={episode}&step={episode}'")
    bench.at_step(2)
    bench.settled("episode=2&step=2")


def test_an_address_that_cannot_be_followed_says_so_and_shows_the_rest(visit: Visit, shown_walks: Handle) -> None:
    bench = visit(shown_walks, "#/episodes/nowhere?episode=99999&step=abc&select=rubbish&boxes=maybe")
    expect(bench.get("toasts")).to_contain_text("no recording “nowhere”")
    expect(bench.get("episode")).to_have_count(6)
    bench = visit(shown_walks, "#/episodes/first?episode=99999&step=70000&select=(((((")
    expect(bench.get("toasts")).to_contain_text("selection in the address could not be read")
    assert bench.drawn()[0] >= 0
