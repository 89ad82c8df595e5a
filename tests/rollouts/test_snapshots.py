"""Snapshots while a model is trained."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from stable_baselines3 import PPO

import innerview as iv
from innerview.errors import StoreError, SubjectError
from innerview.store import load_snapshot, snapshots
from innerview.testing.worlds import CountingWorld
from tests.rollouts.players import recurrent


def test_a_plain_loop_keeps_weights_and_a_recording(tmp_path: Path) -> None:
    subject = recurrent()
    for step in range(0, 30, 10):
        with torch.no_grad():
            subject.module.value.bias.fill_(step)  # type: ignore[union-attr, operator]
        iv.snapshot(tmp_path / "a.study", subject, CountingWorld(), step=step)
    study = iv.Study.open(tmp_path / "a.study")
    taken = snapshots(study)
    assert [s.step for s in taken] == [0, 10, 20]
    assert load_snapshot(study, "training", 20)["value.bias"].item() == 20
    values = [study.recording(s.recording).columns(["value"])["value"].mean() for s in taken]
    assert values[2] - values[0] == pytest.approx(20, abs=0.5), "each recording was made with its own weights"
    assert iv.check(tmp_path / "a.study") == []


def test_stable_baselines_calls_back_every_so_often(tmp_path: Path) -> None:
    model = PPO("MlpPolicy", "CartPole-v1", n_steps=64, batch_size=32, n_epochs=1, device="cpu")
    model.learn(256, callback=iv.snapshot_callback(tmp_path / "a.study", "CartPole-v1", every=128, episodes=1))
    study = iv.Study.open(tmp_path / "a.study")
    assert [s.step for s in snapshots(study)] == [0, 128, 256]
    assert len(study.recordings()) == 3


def test_training_that_goes_on_takes_no_step_twice(tmp_path: Path) -> None:
    model = PPO("MlpPolicy", "CartPole-v1", n_steps=64, batch_size=32, n_epochs=1, device="cpu")
    for _ in range(2):
        callback = iv.snapshot_callback(tmp_path / "a.study", "CartPole-v1", every=128, episodes=1)
        model.learn(128, callback=callback, reset_num_timesteps=False)
    assert [s.step for s in snapshots(iv.Study.open(tmp_path / "a.study"))] == [0, 128, 256]


def test_another_training_under_the_same_name_is_told(tmp_path: Path) -> None:
    subject = recurrent()
    iv.snapshot(tmp_path / "a.study", subject, CountingWorld(), step=0)
    with torch.no_grad():
        subject.module.value.bias.fill_(9)  # type: ignore[union-attr, operator]
    with pytest.raises(StoreError, match="run='training 2'"):
        iv.snapshot(tmp_path / "a.study", subject, CountingWorld(), step=0)


def test_a_senseless_interval_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SubjectError, match="1 or more, not 0"):
        iv.snapshot_callback(tmp_path / "a.study", every=0)
