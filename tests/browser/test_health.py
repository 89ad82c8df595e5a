"""Network health in the page: run from the list of lenses, its table names a planted fault and holds what is stored."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from playwright.sync_api import expect
from torch import Tensor, nn

import innerview as iv
from innerview.serve import Handle
from innerview.testing.worlds import CountingWorld

from .conftest import Show, Visit


class DeadValue(nn.Module):
    """A policy, and a value stream whose rectifier never opens."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.relu = nn.Conv2d(3, 6, 3, padding=1), nn.ReLU()
        self.policy = nn.Linear(6 * 64, 3)
        self.value_dense, self.value_relu, self.value = nn.Linear(6 * 64, 8), nn.ReLU(), nn.Linear(8, 1)
        nn.init.constant_(self.value_dense.bias, -100.0)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        seen = self.relu(self.conv(x)).flatten(1)
        return self.policy(seen), self.value(self.value_relu(self.value_dense(seen)))


@pytest.fixture
def shown(show: Show, tmp_path: Path) -> tuple[iv.Study, Handle]:
    study = iv.Study.create(tmp_path / "a.study", "health")
    torch.manual_seed(0)
    subject = iv.subject(DeadValue(), name="dead", example=torch.zeros(1, 3, 8, 8))
    iv.record(study, subject, CountingWorld(length=8), episodes=2, name="x", lanes=2, progress=False)
    return study, show(study, subject=subject)


def test_a_dead_stream_is_named_in_the_table(visit: Visit, shown: tuple[iv.Study, Handle]) -> None:
    study, handle = shown
    bench = visit(handle, "#/results/x", ready=False)
    line = bench.page.locator('[data-testid="lens"][data-lens="health"]')
    line.scroll_into_view_if_needed()
    line.get_by_test_id("run-health").click()
    bench.get("run-health-start").click()
    bench.page.locator('[data-testid="saved-result"][data-kind="health"][aria-current="true"]').wait_for()
    (saved,) = study.results("health")
    stored = study.result(saved.id).shown["lines"]
    lines = bench.get("result-lines-line")
    expect(lines).to_have_count(len(stored))
    told = {text.splitlines()[0].strip(): text for text in lines.all_inner_texts()}
    assert told.keys() == {each[0] for each in stored}
    assert "Dead: 100%" in told["value_relu"] and "Carries nothing" in told["head value"]
    assert {name for name in told if ":" in told[name]} == {each[0] for each in stored if each[4]}
