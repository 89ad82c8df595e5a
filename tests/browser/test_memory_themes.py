"""The Memory workspace in both themes at the usual sizes: nothing overflows, nothing is cut off, all can be read."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from innerview.serve import Handle

from .conftest import Visit
from .memory_study import LINK, STEPS
from .test_themes import fits, looks

BUSY = (
    f"episode=1&step=30&order=change,{STEPS}-{2 * STEPS}&elements=3,5-9,40-60&interval={STEPS + 10}-{STEPS + 25}"
    "&overlay=value"
)
PLACES = {
    "memory": (BUSY, "memory-canvas"),
    "stretches": (f"{BUSY}&middle=stretches&first=1;;k-items&second=2;10-40;k-items", "stretches-second"),
    "difference": (
        f"{BUSY}&middle=stretches&stretches=difference&first=1;;k-items&second=2;;k-items",
        "stretches-difference",
    ),
    "all": (f"{BUSY}&scope=recording&side=edits&meaning=flags", "memory-canvas"),
}


@pytest.mark.parametrize("place", PLACES)
def test_nothing_overflows_and_everything_can_be_read(visit: Visit, shown_kitems: Handle, place: str) -> None:
    settings, drawn = PLACES[place]
    bench = visit(shown_kitems, f"{LINK}?{settings}")
    for name in looks(bench):
        expect(bench.get(drawn)).to_have_attribute("data-complete", "true")
        fits(bench, f"memory-{place}-{name}")
