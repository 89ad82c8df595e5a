"""The Memory workspace plays: picture, saliency, actions and way follow one moment."""

from __future__ import annotations

import numpy as np
from playwright.sync_api import expect

import innerview as iv
from innerview.serve import Handle

from .conftest import Show, Visit
from .memory_study import LINK, STEPS, agent

STRENGTHS = """() => {
    const canvas = document.querySelector("[data-testid=heat]");
    if (!canvas || !canvas.width) return null;
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    const strengths = Array.from(pixels).filter((_, i) => i % 4 === 3);
    return strengths.some((strength) => strength > 0) ? strengths : null;
}"""


def test_it_plays_with_what_was_seen_and_done(visit: Visit, shown_kitems: Handle, still_kitems: iv.Study) -> None:
    bench = visit(shown_kitems, f"{LINK}?episode=3&step=10&speed=0.5")
    seen = still_kitems.recording("k-items").array("observation", 3 * STEPS + 10, 3 * STEPS + 11)[0]
    assert np.array_equal(bench.at_row(3 * STEPS + 10), seen)
    expect(bench.get("actions-canvas")).to_be_visible()
    expect(bench.get("map-canvas")).to_be_visible()
    bench.get("play").click()
    bench.page.wait_for_function("() => parseInt(document.querySelector('[data-testid=step]').innerText) > 14")
    bench.get("play").click()
    row = 3 * STEPS + bench.step
    assert np.array_equal(bench.at_row(row), still_kitems.recording("k-items").array("observation", row, row + 1)[0])


def test_saliency_lies_over_what_it_sees(visit: Visit, show: Show, kitems: iv.Study) -> None:
    subject, world = agent()
    bench = visit(show(kitems, subject=subject, world=world), f"{LINK}?episode=1&step=20")
    bench.get("heat-toggle").click()
    expect(bench.get("heat")).to_be_visible()
    told = bench.page.wait_for_function(STRENGTHS).json_value()
    assert len(set(told)) > 5, "some pixels matter more than others"
