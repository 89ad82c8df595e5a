"""Sliders of filters: what a live model predicts follows them, and is what the model says by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

import innerview as iv
from innerview.serve import Handle
from tests.paired import painted, paired_study, poses

from .conftest import Visit


@pytest.fixture
def study(tmp_path: Path) -> iv.Study:
    made = paired_study(tmp_path)
    for domain in ("sim", "real"):
        iv.predict(made, painted(), "pairs", inputs={"rgb": f"{domain}.rgb"}, progress=False)
    return made


@pytest.fixture
def shown(study: iv.Study) -> Iterator[Handle]:
    with iv.show(study, painted(), open_browser=False) as handle:
        yield handle


def test_a_prediction_follows_the_sliders_and_the_filter_is_saved_and_run(
    shown: Handle, visit: Visit, study: iv.Study
) -> None:
    bench = visit(shown, "#/transfer/pairs?step=3", ready=False)
    expect(bench.get("model")).to_have_count(1)
    filters, off = bench.get("pair-filters"), bench.get("filter-error")
    filters.locator("summary").click()
    expect(off).to_contain_text("m off")
    before = off.inner_text()
    # Real pictures are half as bright, so the place is half of the true one.
    assert float(before.split()[0]) == pytest.approx(float(np.hypot(*poses()[3, :2])) / 2, rel=0.01)
    bench.get("filter-brightness").evaluate(
        "each => { each.value = 2; each.dispatchEvent(new Event('input', { bubbles: true })) }"
    )
    expect(bench.get("filter-steps")).to_have_text("brightness 2")
    expect(off).not_to_have_text(before)
    assert float(off.inner_text().split()[0]) == pytest.approx(0, abs=1e-5)
    filters.get_by_label("Name of the filter").fill("day")
    bench.get("filter-save").click()
    expect(filters).to_contain_text("Saved as 'day'.")
    assert [(made.name, made.steps) for made in study.filters()] == [("day", "brightness 2")]
    bench.get("filter-run").click()
    expect(bench.get("model")).to_have_count(2)
    assert "rgb ← real.rgb | brightness 2" in {str(each.binding) for each in study.predictions()}
