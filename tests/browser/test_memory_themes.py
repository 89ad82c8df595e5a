"""The Memory workspace in both themes at the usual sizes: nothing overflows, nothing is cut off, all can be read."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

import innerview as iv
from innerview.serve import Handle

from .conftest import Visit
from .memory_study import LINK, STEPS
from .test_themes import CONTRAST, CUT_OFF, OUTSIDE, SCREENSHOTS, SIZES

BUSY = (
    f"episode=1&step=30&order=change,{STEPS}-{2 * STEPS}&elements=3,5-9,40-60&interval={STEPS + 10}-{STEPS + 25}"
    "&overlay=value"
)
PLACES = {
    "memory": (BUSY, "memory-canvas"),
    "compare": (f"{BUSY}&middle=compare&a=1;;k-items&b=2;10-40;k-items", "compare-b"),
    "difference": (f"{BUSY}&middle=compare&compare=difference&a=1;;k-items&b=2;;k-items", "compare-difference"),
    "all": (f"{BUSY}&scope=recording&side=edits&meaning=flags", "memory-canvas"),
}


@pytest.fixture(scope="module")
def shown(recorded_kitems: object) -> Handle:
    with iv.show(str(recorded_kitems), open_browser=False) as handle:
        yield handle


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("place", PLACES)
def test_nothing_overflows_and_everything_can_be_read(visit: Visit, shown: Handle, place: str, theme: str) -> None:
    settings, drawn = PLACES[place]
    bench = visit(shown, f"{LINK}?{settings}", color_scheme=theme)
    page = bench.page
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.mouse.move(2, height - 2)
        expect(bench.get(drawn)).to_have_attribute("data-complete", "true")
        page.wait_for_load_state("networkidle")
        page.screenshot(path=SCREENSHOTS / f"memory-{place}-{theme}-{width}x{height}.png")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
        assert page.evaluate(OUTSIDE) == []
        assert page.evaluate(CUT_OFF) == []
        assert page.evaluate(CONTRAST) == []
