"""Vision opens unchanged on other agents than the platformer's: one that remembers, and one of stable-baselines3."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import expect
from torch import Tensor, nn

import innerview as iv
from innerview.subjects import middle_for
from innerview.testing.subjects.sb3 import environment, model
from innerview.testing.worlds import CountingWorld
from innerview.worlds import world

from .conftest import Show, Visit
from .vision_study import opened

STEPS = 12


class Remembers(nn.Module):
    """As agents of Doom are made: convolutions, a dense layer, a GRU, a policy and a value."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 6, 3, padding=1)
        self.conv2 = nn.Conv2d(6, 8, 3, padding=1, stride=2)
        self.dense = nn.Linear(8 * 16, 12)
        self.gru = nn.GRU(12, 10)
        self.policy, self.value = nn.Linear(10, 3), nn.Linear(10, 1)

    def forward(self, x: Tensor, h: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
        x = torch.relu(self.conv2(torch.relu(self.conv1(x))))
        out, h = self.gru(torch.relu(self.dense(x.flatten(1)))[None], h)
        return self.policy(out[0]), self.value(out[0]), h


def remembers() -> tuple[iv.Subject, Any]:
    return iv.subject(Remembers(), name="walker", example=torch.zeros(1, 3, 8, 8)), CountingWorld(length=STEPS)


def of_sb3() -> tuple[iv.Subject, Any]:
    return iv.from_sb3(model("PPO", "image"), name="noisy"), world(lambda: environment("image"))


@pytest.mark.parametrize("make", [remembers, of_sb3])
def test_factors_are_found_and_drawn(visit: Visit, show: Show, tmp_path: Path, make: Any) -> None:
    with torch.random.fork_rng():
        torch.manual_seed(1)
        subject, played = make()
    study = iv.Study.create(tmp_path / "a.study", "others")
    iv.record(study, subject, played, episodes=2, max_steps=STEPS, name="x", lanes=2, progress=False)
    bench = opened(visit(show(study, subject=subject), "#/vision/x?step=3", ready=False), drawn=False)
    bench.get("run-factors").click()
    bench.get("parameter-count").fill("3")
    bench.get("parameter-steps").fill("2")
    bench.get("run-factors-start").click()
    opened(bench)
    expect(bench.get("factor")).to_have_count(3)
    (found,) = (study.result(line.id) for line in study.results(kind="factors"))
    words = bench.get("factor-masks")
    expect(words).to_contain_text("masks=")
    assert words.evaluate("it => it.scrollHeight <= it.clientHeight"), "the way to get names is cut off"
    assert found.value["layer"] == middle_for(subject) and found.value["factors"][0]["share"] > 0
    bench.page.keyboard.press("ArrowRight")
    expect(bench.get("attribution-good")).to_have_attribute("data-row", "4")
