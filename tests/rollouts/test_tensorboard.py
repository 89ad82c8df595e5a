"""Scalars of snapshots for TensorBoard, where it is installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
import torch
from stable_baselines3 import PPO

import innerview as iv
from innerview.errors import StoreError, SubjectError
from innerview.rollouts.learning.scalars import scalars
from innerview.testing.crossing import Crossing, walker
from tests.rollouts.test_learning import weights_at

installed = importlib.util.find_spec("tensorboard") is not None
needs = pytest.mark.skipif(not installed, reason="tensorboard is not installed; it is no requirement")


def read(folder: Path) -> dict[str, dict[int, float]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    found: dict[str, dict[int, float]] = {}
    for path in sorted(folder.glob("events*")):
        events = EventAccumulator(str(path)).Reload()
        for name in events.Tags()["scalars"]:
            found.setdefault(name, {}).update({e.step: e.value for e in events.Scalars(name)})
    return found


@pytest.mark.skipif(installed, reason="tensorboard is installed")
def test_without_tensorboard_it_is_said_before_training_begins(tmp_path: Path) -> None:
    with pytest.raises(SubjectError, match="pip install tensorboard"):
        iv.snapshot_callback(tmp_path / "a.study", tensorboard=tmp_path / "logs")
    with pytest.raises(SubjectError, match="pip install tensorboard"):
        iv.snapshot(tmp_path / "a.study", walker(), step=0, tensorboard=tmp_path / "logs")
    assert not (tmp_path / "a.study").exists()


def test_figures_are_those_of_the_first_recording_every_time(tmp_path: Path) -> None:
    agent = walker()
    for step, share in ((0, 0.0), (10, 0.2)):
        agent.module.load_state_dict(weights_at(share))
        facts = {"score": 2.0 * step}
        taken = iv.snapshot(tmp_path / "a.study", agent, Crossing(), step=step, episodes=6, facts=facts)
        study = iv.Study.open(tmp_path / "a.study")
        found = scalars(study, agent, taken)
        assert found["score"] == 2.0 * step
        assert ("maps/agreement with the snapshot before" in found) == (step > 0)
        assert found["maps/contrast"] >= 0
        health = iv.look(study, "health", "training 0000000000", subject=agent, other=True, progress=False)
        assert found["health/warnings"] == len(health.value["warnings"])
    assert 0 < found["maps/on objects"] <= 1, "a share"
    with pytest.raises(StoreError, match="no observations to make maps of"):
        scalars(study, agent, iv.snapshot(study, agent, step=0, run="bare"))


def test_the_callback_keeps_the_mean_return_of_training(tmp_path: Path) -> None:
    model = PPO("MlpPolicy", "CartPole-v1", n_steps=128, batch_size=64, n_epochs=1, device="cpu")
    model.learn(256, callback=iv.snapshot_callback(tmp_path / "a.study", every=128))
    taken = iv.Study.open(tmp_path / "a.study").snapshots()
    assert "score" not in taken[0].facts and 5 < taken[-1].facts["score"] < 200
    assert taken[-1].facts["of"]


@needs
def test_the_callback_writes_what_tensorboard_reads(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = PPO("MlpPolicy", "CartPole-v1", n_steps=64, batch_size=32, n_epochs=1, device="cpu")
    logs = tmp_path / "logs"
    callback = iv.snapshot_callback(tmp_path / "a.study", "CartPole-v1", every=64, episodes=1, tensorboard=logs)
    model.learn(128, callback=callback)
    found = read(logs / "training")
    assert set(found["innerview/health/warnings"]) == {0, 64, 128}
    assert set(found["innerview/maps/agreement with the snapshot before"]) == {64, 128}
