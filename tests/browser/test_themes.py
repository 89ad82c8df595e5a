"""Both themes at the usual sizes: nothing overflows, nothing is cut off. The screenshots are there to be looked at."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from innerview.serve import Handle
from innerview.testing.worlds import episode_length

from .conftest import ROOT, Visit
from .workbench import Workbench

SCREENSHOTS = ROOT / "test-results" / "browser"
SIZES = [(1440, 900), (1280, 720)]
CUT_OFF = """() => [...document.querySelectorAll("button, h1, h2, small, label, summary, output")]
    .filter(element => element.checkVisibility() && element.innerText?.trim())
    .filter(element => !element.closest("[data-testid=chips], [data-testid=begin-list]"))
    .filter(element => element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0)
    .filter(element => getComputedStyle(element).display !== "inline")
    .map(element => `“${element.innerText.trim()}” needs ${element.scrollWidth}, has ${element.clientWidth}`)"""
OUTSIDE = """() => [...document.querySelectorAll("[data-testid]")]
    .filter(element => element.checkVisibility() && !element.closest("[role=listbox], [data-testid=begin-list]"))
    .filter(element => !element.closest(".scroll"))
    .map(element => [element.dataset.testid, element.getBoundingClientRect()])
    .filter(([, box]) => box.width && (box.right > innerWidth + 0.5 || box.bottom > innerHeight + 0.5 || box.left < 0))
    .map(([name, box]) => `${name} reaches ${box.right}, ${box.bottom}`)"""
COLOURS = """() => Object.fromEntries(["body", "header", "h2", "nav button span", "section"].map(name => {
    const style = getComputedStyle(document.querySelector(name));
    return [name, `${style.color} on ${style.backgroundColor}`];
}))"""
CONTRAST = """() => {
    const pen = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
    const known = new Map();
    const parse = colour => {
        if (known.has(colour)) return known.get(colour);
        pen.clearRect(0, 0, 1, 1);
        pen.fillStyle = colour;
        pen.fillRect(0, 0, 1, 1);
        known.set(colour, [...pen.getImageData(0, 0, 1, 1).data]);
        return known.get(colour);
    };
    const light = ([r, g, b]) => {
        const [x, y, z] = [r, g, b].map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * x + 0.7152 * y + 0.0722 * z;
    };
    const ground = element => {
        if (!element) return [255, 255, 255];
        const colour = parse(getComputedStyle(element).backgroundColor);
        if (colour[3] === 255) return colour;
        const below = ground(element.parentElement);
        return below.map((value, i) => value + (colour[i] - value) * (colour[3] / 255));
    };
    const faint = new Set();
    for (const element of document.querySelectorAll("body *")) {
        const own = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
        if (!own || !element.checkVisibility() || element.closest(":disabled, [aria-disabled=true]")) continue;
        const [a, b] = [light(parse(getComputedStyle(element).color)), light(ground(element))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5) faint.add(`“${element.textContent.trim().slice(0, 30)}” ${ratio.toFixed(2)}`);
    }
    return [...faint];
}"""
"""Text whose contrast is below what WCAG AA asks of small text."""


def looks(bench: Workbench) -> Iterator[str]:
    """The page in both themes at every size, one after the other, by their names."""
    for theme in ("light", "dark"):
        bench.page.emulate_media(color_scheme=theme)
        expect(bench.page.locator("html")).to_have_attribute("data-theme", theme)
        for width, height in SIZES:
            bench.page.set_viewport_size({"width": width, "height": height})
            bench.page.mouse.move(2, height - 2)
            yield f"{theme}-{width}x{height}"


def fits(bench: Workbench, name: str) -> None:
    """Once the page is still: it fits the screen, nothing in it is cut off, and all of it can be read."""
    page = bench.page
    bench.still()
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}.png")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight"), name
    assert page.evaluate(OUTSIDE) == [], name
    assert page.evaluate(CUT_OFF) == [], name
    assert page.evaluate(CONTRAST) == [], name


def arranged(visit: Visit, handle: Handle, workspace: str) -> Workbench:
    """A page with a selection, as somebody works with it."""
    link = "#/episodes/first?episode=3&step=8" if workspace == "episodes" else "#/rows/rooms?step=7"
    bench = visit(handle, link)
    if workspace == "episodes":
        bench.brush_steps("timelines-overlay", 5, 14, of=episode_length(3))
        bench.condition("health", low=82, join="union")
        expect(bench.get("chip")).to_have_count(2)
    else:
        bench.condition("angle", high=180)
        bench.get("only-selected").click()
    expect(bench.get("begin-row").first).to_be_visible()
    expect(bench.get("selection-count")).to_contain_text("of")
    return bench


@pytest.mark.parametrize("workspace", ["episodes", "rows"])
def test_nothing_overflows_and_everything_can_be_read(
    visit: Visit, shown_walks: Handle, shown_pairs: Handle, workspace: str
) -> None:
    bench = arranged(visit, shown_walks if workspace == "episodes" else shown_pairs, workspace)
    for name in looks(bench):
        fits(bench, f"{workspace}-{name}")


def test_the_theme_is_chosen_and_remembered(visit: Visit, shown_walks: Handle) -> None:
    bench = visit(shown_walks, color_scheme="light")
    root = bench.page.locator("html")
    expect(root).to_have_attribute("data-theme", "light")
    light = bench.page.evaluate(COLOURS)
    bench.page.emulate_media(color_scheme="dark")
    expect(root).to_have_attribute("data-theme", "dark")
    dark = bench.page.evaluate(COLOURS)
    assert all(light[name] != dark[name] for name in light)
    bench.get("theme").click()
    expect(root).to_have_attribute("data-theme", "light")
    assert bench.page.evaluate(COLOURS) == light
    bench.page.reload()
    bench.ready()
    expect(root).to_have_attribute("data-theme", "light")
