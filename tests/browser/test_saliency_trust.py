"""Trust in the Saliency workspace: every map carries a badge, which leads to figures that are those of the study."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

import innerview as iv
from innerview.serve import Handle
from innerview.testing.worlds import CountingWorld

from .conftest import Show, Visit
from .test_saliency import seer


@pytest.fixture
def shown(show: Show, tmp_path: Path) -> tuple[iv.Study, Handle]:
    study = iv.Study.create(tmp_path / "a.study", "trust")
    subject = seer("grown", 1)
    iv.record(study, subject, CountingWorld(length=12), episodes=2, name="x", lanes=2, progress=False)
    return study, show(study, subject=subject)


def test_maps_are_examined_and_carry_badges(visit: Visit, shown: tuple[iv.Study, Handle]) -> None:
    study, handle = shown
    bench = visit(
        handle, "#/saliency/x?episode=0&step=3&methods=guided,gradient,sarfa&targets=action,value", ready=False
    )
    badges = bench.get("trust-badge")
    expect(badges).to_have_count(6)
    assert {badges.nth(place).get_attribute("data-verdict") for place in range(6)} == {"not tested"}
    bench.get("tab-trust").click()
    bench.get("trust-start").click()
    bench.page.locator('[data-testid="trust-method"]').first.wait_for(timeout=60_000)
    bench.until(lambda: bool(study.results("trust")) and not study.results("trust")[-1].provisional)
    value = study.result(study.results("trust")[-1].id).value
    expect(bench.get("trust-method")).to_have_count(len(value["methods"]))
    for each in value["methods"]:
        line = bench.page.locator(f'[data-testid="trust-method"][data-method="{each["name"]}"]')
        assert line.get_by_test_id("trust-badge").get_attribute("data-verdict") == each["verdict"]
        told = line.locator("td.number").first.inner_text().replace("−", "-")
        if each["randomisation"] is None:
            assert told == "–" and each["untested"]
            continue
        assert np.isclose(float(told), each["randomisation"]["remains"]["mean"], atol=0.0051), each["name"]
    assert bench.get("trust-advice").inner_text().startswith(value["recommendation"]["sentences"][0])

    bench.get("tab-maps").click()
    for place in range(6):
        name, verdict = (badges.nth(place).get_attribute(f"data-{of}") for of in ("method", "verdict"))
        own = next(each["verdict"] for each in value["methods"] if each["name"] == name)
        assert verdict in (own, "not tested")
    tested = bench.page.locator('[data-testid="trust-badge"]:not([data-verdict="not tested"])')
    assert tested.count() == 4, "of the value nothing was tested, but of a method that takes no target"
    bench.page.locator('[data-testid="trust-badge"][data-method="gradient"]').first.click()
    expect(bench.get("trust-details")).to_have_attribute("data-method", "gradient")
    drawn: list[dict[str, Any]] = json.loads(bench.get("trust-remains").get_attribute("data-series") or "[]")
    own = next(each for each in value["methods"] if each["name"] == "gradient")
    assert np.allclose(drawn[0]["y"], [1, *own["randomisation"]["rank"]])
    curves = json.loads(bench.get("trust-curves").get_attribute("data-series") or "[]")
    assert [each["y"] for each in curves[:2]] == [own["curves"]["insertion"], own["curves"]["deletion"]]
    bench.until(lambda: "trusted=gradient" in bench.page.url)
