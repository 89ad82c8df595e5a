"""Saliency while an agent trains: snapshots as columns, the learning signal, and maps through memory and of vectors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from playwright.sync_api import expect
from torch import Tensor, nn

import innerview as iv
from innerview.testing.crossing import Crossing, walker
from tests.rollouts.players import recurrent
from tests.rollouts.test_learning import STEPS, folder_of

from .conftest import Show, Visit
from .workbench import Workbench

STEP = 0


def opened(visit: Visit, handle: object, more: str) -> Workbench:
    bench = visit(handle, f"#/saliency/x?episode=0&step={STEP}{more}", ready=False)
    bench.get("saliency-cell").first.wait_for()
    return bench


def scale(bench: Workbench, place: str) -> float:
    cell = bench.page.locator(f'[data-testid="saliency-cell"][data-place="{place}"][data-row="{STEP}"]')
    cell.wait_for()
    return float(cell.get_by_test_id("saliency-scale").inner_text().strip().lstrip("±").split()[0].replace("−", "-"))


@pytest.fixture
def study(tmp_path: Path) -> iv.Study:
    iv.record(tmp_path / "a.study", walker(), Crossing(), episodes=8, seeds=1, name="x", progress=False)
    study = iv.Study.open(tmp_path / "a.study")
    iv.import_snapshots(study, folder_of(tmp_path / "run"), walker(), progress=False)
    iv.snapshot(study, recurrent("stranger"), step=5, run="other")
    return study


def test_snapshots_are_columns_by_training_step(visit: Visit, show: Show, study: iv.Study) -> None:
    bench = opened(
        visit, show(study, subject=[walker()]), "&across=snapshot&down=method&methods=gradient&targets=value"
    )
    expect(bench.get("saliency-cell")).to_have_count(6)
    heads = [head for head in bench.get("saliency-grid").locator("b.head").all_inner_texts() if "steps" in head]
    assert heads == [f"{step} steps" for step in (0, 10, 40, 80, 320, 640)]
    for step in (0, 40, 640):
        age = iv.load_snapshot(study, "run", step, like=walker())
        made = iv.look(
            study, "gradient", "x", rows=np.array([STEP]), subject=age, other=True, target="value", progress=False
        )
        wanted = np.abs(study.result_array(made.id, f"heat.{made.shown['inputs'][0]}")).max()
        assert np.isclose(scale(bench, f"gradient | run @ {step} steps"), wanted, rtol=0.01), step
    bench.get("saliency-choose").click()
    bench.get("saliency-snapshot-other @ 5 steps").check()
    refused = bench.page.locator('[data-place="gradient | other @ 5 steps"]').get_by_test_id("saliency-words")
    expect(refused).to_contain_text("is of another architecture than 'walker'")
    expect(bench.get("saliency-grid")).to_contain_text("5 steps, other")


def test_the_learning_signal_is_computed_and_drawn(visit: Visit, show: Show, study: iv.Study) -> None:
    bench = opened(visit, show(study, subject=[walker()]), "&over=learning&signal-lens=gradient&signal-target=value")
    bench.get("learning-run-name").select_option("run")
    expect(bench.get("learning-run")).to_have_text(f"Compare {len(STEPS)} snapshots")
    bench.get("learning-run").click()
    made = iv.learning_signal(study, walker(), "x", run="run", lens="gradient", target="value", progress=False)
    words = bench.get("learning-words")
    expect(words).to_contain_text(made.value["words"][0])
    expect(words).to_contain_text("At step 640")
    plot = bench.get("learning-plot")
    drawn = "c => new Set(c.getContext('2d').getImageData(0, 0, c.width, c.height).data).size"
    bench.until(lambda: plot.locator("canvas").evaluate(drawn) > 20)
    box = plot.bounding_box()
    assert box is not None
    bench.page.mouse.move(box["x"] + box["width"] - 13, box["y"] + box["height"] / 2)
    expect(bench.get("learning-tip")).to_contain_text("score 9 at 640")
    expect(bench.get("learning-tip")).to_contain_text("agreement 1 at 640")


class Balances(nn.Module):
    """Four numbers in; it goes where the pole leans."""

    def __init__(self) -> None:
        super().__init__()
        self.policy = nn.Linear(4, 2, bias=False)
        with torch.no_grad():
            self.policy.weight.copy_(torch.tensor([[0.0, 0.0, -3.0, -1.0], [0.0, 0.0, 3.0, 1.0]]))

    def forward(self, x: Tensor) -> Tensor:
        said: Tensor = self.policy(x)
        return said


def test_a_vector_is_a_bar_per_feature(visit: Visit, show: Show, tmp_path: Path) -> None:
    agent = iv.subject(Balances(), name="pole", example=torch.zeros(1, 4), heads="q", actions=["left", "right"])
    iv.record(tmp_path / "a.study", agent, "CartPole-v1", episodes=1, name="x", max_steps=20, progress=False)
    bench = opened(
        visit,
        show(iv.Study.open(tmp_path / "a.study"), subject=[agent]),
        "&methods=gradient,occlusion&targets=right of q",
    )
    bars = bench.page.locator('[data-place="right of q | gradient"]').get_by_test_id("heat-bar")
    expect(bars).to_have_count(4)
    values = [float(bar.get_attribute("data-value") or "nan") for bar in bars.all()]
    assert np.allclose(values, [0, 0, 3, 1])
    seen = iv.Study.open(tmp_path / "a.study").recording("x").array_rows("observation", np.array([STEP]))[0]
    taken = bench.page.locator('[data-place="right of q | occlusion"]').get_by_test_id("heat-bar")
    expect(taken).to_have_count(4)
    falls = [float(bar.get_attribute("data-value") or "nan") for bar in taken.all()]
    assert np.allclose(falls, seen * [0, 0, 3, 1], atol=1e-4), "what is lost where a feature is 0"
