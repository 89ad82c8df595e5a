"""A region of a map over time: what is drawn is what the lens gives by hand, and its line selects rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

import innerview as iv
from innerview.serve import Handle
from innerview.testing.worlds import CountingWorld

from .conftest import Show, Visit
from .test_saliency import STEPS, at_row, opened, seer
from .workbench import Workbench, box_of


@pytest.fixture
def shown(show: Show, tmp_path: Path) -> tuple[iv.Study, Handle, iv.Subject]:
    study, subject = iv.Study.create(tmp_path / "a.study", "saliency"), seer("grown", 1)
    iv.record(study, subject, CountingWorld(length=STEPS), episodes=2, name="x", lanes=2, progress=False)
    return study, show(study, subject=subject), subject


def drag_over_the_upper_left_quarter(bench: Workbench) -> None:
    """The picture is a square in the middle of its room."""
    brush = bench.get("saliency-brush")
    box = box_of(brush)
    side = min(box["width"], box["height"])
    left, top = (box["width"] - side) / 2, (box["height"] - side) / 2
    bench.drag(brush, (left + 2, top + 2), (left + side / 2 - 2, top + side / 2 - 2))


def test_a_region_over_time_selects_rows(visit: Visit, shown: tuple[iv.Study, Handle, iv.Subject]) -> None:
    study, handle, subject = shown
    bench = opened(visit, handle, "&methods=guided,occlusion&targets=value")
    at_row(bench, 3, 2)
    bench.page.locator('[data-place="value | guided"]').click()
    expect(bench.get("saliency-back")).to_be_visible()
    drag_over_the_upper_left_quarter(bench)
    bench.settled(r"region=0(,|%2C)0(,|%2C)0\.5(,|%2C)0\.5")
    expect(bench.get("view-region")).to_be_visible()
    bench.get("saliency-back").click()
    known = bench.page.locator('[data-testid="region-line"][data-known="yes"]')
    expect(known).to_have_count(2)
    expect(bench.get("saliency-region")).to_have_count(2)
    for place, method in enumerate(("guided", "occlusion")):
        made = iv.look(study, method, "x", rows=np.array([3]), subject=subject, target="value", progress=False)
        size = np.abs(study.result_array(made.id, f"heat.{made.shown['inputs'][0]}")[0]).max(0)
        wanted = 100 * size[:4, :4].sum() / size.sum()
        said = bench.get("region-reading").nth(place).inner_text().removesuffix(" %")
        assert np.isclose(float(said), wanted, rtol=0.01), (method, said, wanted)
    bench.brush_steps("region-overlay", 2, 5, of=STEPS)
    bench.selected(4)
    saved = [line for line in study.results() if line.kind == "region"]
    assert len(saved) == 2, "measured once for each map, and kept"
