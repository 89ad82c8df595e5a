"""Influence: worked out for an episode with the live model, shown step by step, chosen in the memory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

import innerview as iv
from innerview.lenses.look import look
from innerview.serve import Handle
from tests.copies import copied

from .conftest import Show, Visit
from .memory_study import LINK, STEPS, agent
from .test_export import saved
from .workbench import Workbench

INFLUENCE = f"{LINK}?meaning=influence"
LONG = 240_000


@pytest.fixture(scope="module")
def worked_out(recorded_kitems: Path, tmp_path_factory: pytest.TempPathFactory) -> iv.Study:
    """The first episode worked out before the page opens; for tests that only look."""
    study = copied(recorded_kitems, tmp_path_factory.mktemp("worked") / "kitems.study")
    subject, _ = agent()
    look(study, "influence", subject=subject, rows=(0, STEPS), progress=False)
    return study


@pytest.fixture(scope="module")
def shown_worked_out(worked_out: iv.Study) -> Iterator[Handle]:
    with iv.show(worked_out, open_browser=False) as handle:
        yield handle


@pytest.fixture
def bench(visit: Visit, shown_worked_out: Handle) -> Workbench:
    bench = visit(shown_worked_out, INFLUENCE)
    bench.get("influence-lines").wait_for()
    return bench


def values(study: iv.Study) -> np.ndarray:
    """Gradients by step, lag and element."""
    return study.result_array(study.results(kind="influence")[0].id, "influence")


def shown(bench: Workbench) -> list[int]:
    return [int(line.get_attribute("data-element") or -1) for line in bench.get("influence-element").all()]


def test_without_a_model_it_says_what_is_needed(visit: Visit, shown_kitems: Handle) -> None:
    bench = visit(shown_kitems, INFLUENCE)
    expect(bench.get("influence-why")).to_contain_text("no model is loaded")
    expect(bench.get("influence-why")).to_contain_text("--subject")
    expect(bench.get("start-influence")).to_have_count(0)


def test_elements_stand_in_the_order_of_their_influence(bench: Workbench, worked_out: iv.Study) -> None:
    totals = np.abs(values(worked_out)).mean(axis=0).sum(axis=0)
    told = shown(bench)
    assert told[0] == totals.argmax()
    assert (np.diff(totals[told]) <= 1e-6).all()
    step = np.abs(values(worked_out)[0]).sum(axis=0)
    expect(bench.get("influence-element").first).to_have_attribute(
        "aria-label", f"h {told[0]}, total {_number(step[told[0]])}"
    )
    bench.get("influence-scope").locator("[data-value=episode]").click()
    expect(bench.get("influence-element").first).to_have_attribute(
        "aria-label", f"h {told[0]}, total {_number(totals[told[0]])}"
    )
    bench.settled("influence=episode")


def test_it_is_worked_out_follows_time_and_asks_again_in_another_episode(
    visit: Visit, show: Show, kitems: iv.Study
) -> None:
    subject, world = agent()
    bench = visit(show(kitems, subject=subject, world=world), INFLUENCE)
    bench.get("start-influence").click()
    bench.get("influence-lines").wait_for(timeout=LONG)
    first = shown(bench)
    bench.page.keyboard.press("ArrowRight")
    expect(bench.get("influence-lines")).to_have_attribute("data-step", "1")
    assert shown(bench) == first, "lines stay where they are while time goes on"
    bench.page.goto(bench.page.url.replace("episode=0", "episode=1"))
    expect(bench.get("influence-start")).to_contain_text("episode 1")
    bench.get("start-influence").click()
    bench.get("influence-lines").wait_for(timeout=LONG)
    assert sorted(r.arguments["rows"] for r in kitems.results(kind="influence")) == [[[0, STEPS]], [[STEPS, 2 * STEPS]]]


def test_an_element_is_chosen_and_more_are_added(bench: Workbench) -> None:
    one, other = shown(bench)[:2]
    line = bench.get("influence-element")
    line.first.click()
    bench.settled(rf"elements={one}\b")
    line.nth(1).click(modifiers=["Control"])
    expect(line.nth(1)).to_have_attribute("aria-pressed", "true")
    expect(line.first).to_have_attribute("aria-pressed", "true")
    line.nth(1).focus()
    line.nth(1).press("Enter")
    bench.settled(rf"elements={other}\b")
    expect(line.first).to_have_attribute("aria-pressed", "false")


def test_what_is_drawn_can_be_saved(bench: Workbench, worked_out: iv.Study, tmp_path: Path) -> None:
    table = np.genfromtxt(saved(bench, "view-influence", "CSV", tmp_path), delimiter=",", skip_header=1)
    gradients = values(worked_out)[0]
    assert table.shape == (gradients.shape[1], 2 + gradients.shape[0])
    assert np.allclose(table[:, 2:], gradients[:, table[:, 0].astype(int)].T, atol=1e-6)
    drawing = saved(bench, "view-influence", "SVG", tmp_path).read_text("utf-8")
    assert f"h {shown(bench)[0]}<" in drawing


def _number(value: float) -> str:
    """As the page writes numbers."""
    digits = max(0, min(5, 2 - math.floor(math.log10(value)))) if value else 0
    return f"{round(float(value), digits):g}"
