"""A recording begins with a replay: what does not say what its module says by hand is not recorded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

import innerview as iv
from innerview.errors import CaptureError
from innerview.testing.prediction_check import check_predictions
from tests.subjects.shapes import modules
from tests.subjects.shapes.table import seeded
from tests.subjects.shapes.world import NoiseWorld, Shown, discrete

WORLD = NoiseWorld({"x": Shown((6,))}, discrete(3))


class Turns(modules.Base):
    """Adds up what it saw, but only of numbers that the example never had: nothing shows it before a world does."""

    def __init__(self) -> None:
        super().__init__(6)
        self.sum: Tensor | None = None

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        before = torch.zeros_like(x) if self.sum is None else self.sum
        self.sum = before + x * (x.abs() > 1.5)
        return self.said(x + before)


def test_a_state_that_only_the_world_brings_out_is_refused_before_a_row_is_saved(tmp_path: Path) -> None:
    adapted = iv.subject(seeded(Turns), name="turns", example=torch.zeros(1, 6))
    assert not adapted.info.memory
    iv.record(tmp_path / "quiet.study", adapted, WORLD, seeds=[0], progress=False)
    loud = NoiseWorld({"x": Shown((6,), size=3.0)}, discrete(3))
    with pytest.raises(CaptureError, match=r"Nothing is recorded.*'turns' is not believed: head 'policy' differs by"):
        iv.record(tmp_path / "loud.study", adapted, loud, seeds=[0], progress=False)


def told() -> iv.Subject:
    example = {"x": (6,), "prev_action": (3,), "prev_reward": (1,)}
    return iv.subject(seeded(modules.Told), name="told", inputs=example)


def test_predictions_over_a_recording_tell_what_was_done_and_earned(tmp_path: Path) -> None:
    compared = check_predictions(iv.Study.create(tmp_path / "a.study"), told(), WORLD)
    assert {"probabilities", "memory.prev_action", "memory.prev_reward"} <= set(compared)


def test_what_was_done_and_earned_is_recorded_with_its_step(tmp_path: Path) -> None:
    played = iv.record(tmp_path / "a.study", told(), WORLD, seeds=[0, 1], lanes=2, progress=False)
    rows = played.columns(["action", "reward"])
    np.testing.assert_array_equal(played.array("memory.prev_action", 0, 23).argmax(1), rows["action"].to_numpy())
    np.testing.assert_allclose(played.array("memory.prev_reward", 0, 23)[:, 0], rows["reward"].to_numpy(), atol=1e-6)


def test_a_history_is_carried_in_predictions_and_gradients(tmp_path: Path) -> None:
    adapted = iv.subject(seeded(modules.ListAttribute), name="list", example=torch.zeros(1, 6))
    assert "form" in [site.name for site in adapted.info.memory]
    assert "probabilities" in check_predictions(iv.Study.create(tmp_path / "a.study"), adapted, WORLD)


def test_an_edit_reaches_rows_of_every_age(tmp_path: Path) -> None:
    adapted = iv.subject(seeded(modules.ListAttribute), name="list", example=torch.zeros(1, 6))
    zeroed = iv.SiteEdit(site="actor", op="zero", elements=(0,))
    memory = adapted.initial_memory(2)
    old = adapted.run({"x": torch.ones(1, 6)}).memory
    memory = {name: torch.cat([value[:1], old[name]]) for name, value in memory.items()}
    x = torch.rand(2, 6)
    plain, changed = adapted.run({"x": x}, memory), adapted.run({"x": x}, memory, edits=[zeroed])
    torch.testing.assert_close(changed.heads["policy"][:, 0], torch.zeros(2))
    torch.testing.assert_close(changed.heads["policy"][:, 1:], plain.heads["policy"][:, 1:])


def test_a_loop_of_ones_own_tells_what_was_done_and_is_held_to_the_module(tmp_path: Path) -> None:
    adapted, rng = told(), np.random.default_rng(0)
    steps = [(rng.uniform(-1, 1, 6).astype(np.float32), int(rng.integers(3)), float(rng.normal())) for _ in range(8)]
    with iv.recorder(tmp_path / "a.study", adapted) as log:
        for number, (seen, action, reward) in enumerate(steps):
            log.step(observation=seen, action=action, reward=reward, done=number == 7)
    study = iv.Study.open(tmp_path / "a.study")
    played = study.recording(study.recordings()[0])
    did, earned, h = torch.zeros(1, 3), torch.zeros(1, 1), None
    for row, (seen, action, reward) in enumerate(steps):
        with torch.no_grad():
            logits, _, h = adapted.module(torch.from_numpy(seen)[None], did, earned, h)
        got = played.array("probabilities", row, row + 1)
        np.testing.assert_allclose(got, torch.softmax(logits, 1).numpy(), atol=1e-6)
        did = torch.nn.functional.one_hot(torch.tensor([action]), 3).float()
        earned = torch.tensor([[reward]], dtype=torch.float32)
