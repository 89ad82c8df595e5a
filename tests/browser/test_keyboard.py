"""Everything can be reached without a mouse, and one sees where one is."""

from __future__ import annotations

from playwright.sync_api import expect

from innerview.serve import Handle

from .conftest import Visit
from .workbench import Workbench

FOCUSED = """() => {
    const element = document.activeElement;
    const style = getComputedStyle(element);
    const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1;
    if (element === document.body) return {name: "", what: "the page", seen: true}; // once around
    return {name: element.dataset?.testid ?? "", what: element.outerHTML.slice(0, 100),
        seen: outlined || style.boxShadow !== "none"};
}"""
MANY = 150


def tab_to(bench: Workbench, testid: str) -> None:
    """Press Tab until something has the focus; all that is passed on the way shows that it has it."""
    passed = []
    for _ in range(MANY):
        bench.page.keyboard.press("Tab")
        at = bench.page.evaluate(FOCUSED)
        passed.append(at["name"])
        assert at["seen"], f"nothing shows that {at['name'] or at['what']} has the focus"
        if at["name"] == testid:
            return
    raise AssertionError(f"Tab does not reach {testid}; it passes {passed}")


def test_tab_reaches_everything_and_keys_work_there(visit: Visit, shown_walks: Handle) -> None:
    bench = visit(shown_walks, "#/episodes/first?speed=0.25")  # the end of the episode does not stop it before a key
    keyboard = bench.page.keyboard
    tab_to(bench, "workspace-episodes")
    tab_to(bench, "recording-picker")
    keyboard.press("ArrowDown")
    bench.settled("#/episodes/second")
    tab_to(bench, "episode-list")
    keyboard.press("ArrowDown")
    keyboard.press("ArrowDown")
    bench.settled("episode=2")
    expect(bench.page.locator('[data-episode="2"]')).to_have_attribute("aria-selected", "true")
    tab_to(bench, "boxes-toggle")
    keyboard.press("Space")
    bench.settled("boxes=off")
    tab_to(bench, "play")
    keyboard.press("Space")
    expect(bench.get("play")).to_have_attribute("aria-label", "Pause")
    keyboard.press("Space")
    expect(bench.get("play")).to_have_attribute("aria-label", "Play")
    tab_to(bench, "scrubber")
    keyboard.press("Home")
    keyboard.press("PageDown")
    bench.at_step(10)
    tab_to(bench, "speed")


def test_a_condition_is_made_without_a_mouse(visit: Visit, shown_walks: Handle) -> None:
    bench = visit(shown_walks)
    keyboard = bench.page.keyboard
    tab_to(bench, "condition")
    keyboard.press("Enter")
    expect(bench.get("condition-column")).to_be_focused()
    bench.get("condition-column").select_option("health")
    tab_to(bench, "condition-low")
    keyboard.type("95")
    keyboard.press("Enter")
    expect(bench.get("chip-name")).to_have_text("health ≥ 95")
    tab_to(bench, "condition")
    keyboard.press("Enter")
    keyboard.press("Escape")
    expect(bench.get("condition-column")).to_have_count(0)
    expect(bench.get("condition")).to_be_focused()


def test_help_opens_beside_what_it_explains_and_closes(visit: Visit, shown_walks: Handle) -> None:
    bench = visit(shown_walks)
    tab_to(bench, "view-map-help")
    bench.page.keyboard.press("Enter")
    expect(bench.get("help")).to_contain_text("map")
    bench.page.keyboard.press("Escape")
    expect(bench.get("help")).to_have_count(0)
