"""Snapshots while a model is trained."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from stable_baselines3 import PPO
from torch import nn

import innerview as iv
from innerview.errors import DamagedPart, StoreError, SubjectError, UnknownName
from innerview.testing.worlds import CountingWorld
from tests.rollouts.players import recurrent


def test_a_plain_loop_keeps_weights_and_a_recording(tmp_path: Path) -> None:
    subject = recurrent()
    for step in range(0, 30, 10):
        with torch.no_grad():
            subject.module.value.bias.fill_(step)  # type: ignore[union-attr, operator]
        iv.snapshot(tmp_path / "a.study", subject, CountingWorld(), step=step)
    study = iv.Study.open(tmp_path / "a.study")
    taken = study.snapshots()
    assert [s.step for s in taken] == [0, 10, 20]
    assert study.snapshot("training", 20)[1]["value.bias"].item() == 20
    values = [study.recording(s.recording).columns(["value"])["value"].mean() for s in taken]
    assert values[2] - values[0] == pytest.approx(20, abs=0.5), "each recording was made with its own weights"
    assert iv.check(tmp_path / "a.study") == []


def test_stable_baselines_calls_back_every_so_often(tmp_path: Path) -> None:
    model = PPO("MlpPolicy", "CartPole-v1", n_steps=64, batch_size=32, n_epochs=1, device="cpu")
    model.learn(256, callback=iv.snapshot_callback(tmp_path / "a.study", "CartPole-v1", every=128, episodes=1))
    study = iv.Study.open(tmp_path / "a.study")
    assert [s.step for s in study.snapshots()] == [0, 128, 256]
    assert len(study.recordings()) == 3


def test_training_that_goes_on_takes_no_step_twice(tmp_path: Path) -> None:
    model = PPO("MlpPolicy", "CartPole-v1", n_steps=64, batch_size=32, n_epochs=1, device="cpu")
    for _ in range(2):
        callback = iv.snapshot_callback(tmp_path / "a.study", "CartPole-v1", every=128, episodes=1)
        model.learn(128, callback=callback, reset_num_timesteps=False)
    assert [s.step for s in iv.Study.open(tmp_path / "a.study").snapshots()] == [0, 128, 256]


def test_another_training_under_the_same_name_is_reported(tmp_path: Path) -> None:
    subject = recurrent()
    iv.snapshot(tmp_path / "a.study", subject, CountingWorld(), step=0)
    with torch.no_grad():
        subject.module.value.bias.fill_(9)  # type: ignore[union-attr, operator]
    with pytest.raises(StoreError, match="run='training 2'"):
        iv.snapshot(tmp_path / "a.study", subject, CountingWorld(), step=0)


def test_a_senseless_interval_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SubjectError, match="1 or more, not 0"):
        iv.snapshot_callback(tmp_path / "a.study", every=0)


@pytest.fixture
def aged(tmp_path: Path) -> tuple[iv.Study, iv.Subject]:
    """A study with three ages of a subject, whose value grows by 10 with each, and a recording of something else."""
    subject = recurrent()
    for step in (0, 10_000, 40_000):
        iv.snapshot(tmp_path / "a.study", subject, CountingWorld(), step=step, run="ppo")
        with torch.no_grad():
            subject.module.value.bias.add_(10)  # type: ignore[union-attr, operator]
    study = iv.Study.open(tmp_path / "a.study")
    iv.record(study, recurrent("other"), CountingWorld(), episodes=2, seeds=50, name="x", progress=False)
    return study, subject


def test_several_ages_stand_side_by_side(aged: tuple[iv.Study, iv.Subject]) -> None:
    study, subject = aged
    before = subject.identity()
    ages = [iv.load_snapshot(study, taken.run, taken.step, like=subject) for taken in study.snapshots("ppo")]
    assert [age.info.name for age in ages] == ["ppo @ 0 steps", "ppo @ 10,000 steps", "ppo @ 40,000 steps"]
    said = [iv.predict(study, age, "x", progress=False).columns(["value"])["value"].to_numpy() for age in ages]
    np.testing.assert_allclose(said[1] - said[0], 10, atol=1e-4)
    np.testing.assert_allclose(said[2] - said[1], 10, atol=1e-4)
    assert {p.subject for p in study.predictions("x")} == {age.info.name for age in ages}
    assert subject.identity() == before, "what they were made like is as it was"
    own = [{id(p) for p in each.module.parameters()} for each in (subject, *ages)]
    assert len(set.union(*own)) == sum(map(len, own)), "no two share a parameter"


def test_an_age_says_of_its_own_recording_what_was_recorded(aged: tuple[iv.Study, iv.Subject]) -> None:
    study, subject = aged
    for taken in study.snapshots("ppo"):
        age, recording = iv.load_snapshot(study, "ppo", taken.step, like=subject), study.recording(taken.recording)
        assert recording.info.subject is not None and recording.info.subject.name == age.info.name
        assert recording.info.subject.identity == age.identity()
        predicted = iv.predict(study, age, taken.recording, progress=False)
        recorded = recording.columns(["value"])["value"].to_numpy()
        np.testing.assert_allclose(predicted.columns(["value"])["value"].to_numpy(), recorded, atol=1e-5)


def test_an_age_can_be_recorded_looked_at_and_live(aged: tuple[iv.Study, iv.Subject]) -> None:
    study, subject = aged
    age = iv.load_snapshot(study, "ppo", 10_000, like=subject)
    made = iv.record(study, age, CountingWorld(), episodes=1, progress=False)
    assert made.name == "ppo - 10-000 steps in counting" and iv.check(study.path) == []
    assert iv.look(study, "gradient", recording=made.name, subject=age, rows=(0, 2), progress=False).type == "heat"
    with iv.show(study, [subject, age]) as handle:
        assert handle.url


class Buffered(nn.Module):
    """Has a running mean, which is no parameter, and a layer under two names."""

    def __init__(self, width: int = 5) -> None:
        super().__init__()
        self.first, self.mean = nn.Linear(4, width), nn.BatchNorm1d(width)
        self.policy = nn.Linear(width, 3)
        self.again = self.policy

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.policy(self.mean(self.first(x)))
        return out


def buffered(width: int = 5) -> iv.Subject:
    return iv.subject(Buffered(width), name="buffered", example=torch.zeros(2, 4), heads="policy")


def test_buffers_and_shared_layers_come_along(tmp_path: Path) -> None:
    subject = buffered()
    subject.module.train()
    for _ in range(5):
        subject.module(torch.randn(16, 4) + 3)
    iv.snapshot(tmp_path / "a.study", subject, step=5)
    old = iv.load_snapshot(tmp_path / "a.study", "training", 5, like=buffered())
    assert torch.equal(old.module.mean.running_mean, subject.module.mean.running_mean)  # type: ignore[union-attr]
    assert old.module.policy is old.module.again and old.identity() == subject.identity()
    x = {"x": torch.randn(3, 4)}
    torch.testing.assert_close(old.run(x).heads, subject.run(x).heads)


def test_weights_of_another_architecture_are_refused(tmp_path: Path) -> None:
    iv.snapshot(tmp_path / "a.study", buffered(), step=5)
    with pytest.raises(SubjectError, match=r"'training @ 5 steps'.* 'first.weight' is \[5, 4\] and not \[6, 4\]"):
        iv.load_snapshot(tmp_path / "a.study", "training", 5, like=buffered(6))
    smaller = iv.subject(nn.Linear(4, 3), name="linear", example=torch.zeros(1, 4), heads="policy")
    with pytest.raises(SubjectError, match=r"'weight' \[3, 4\] is missing"):
        iv.load_snapshot(tmp_path / "a.study", "training", 5, like=smaller)
    with pytest.raises(UnknownName, match=r"training run 'ppo'.*training"):
        iv.load_snapshot(tmp_path / "a.study", "ppo", 5, like=buffered())
    with pytest.raises(UnknownName, match=r"step of a snapshot of 'training' '6'.*5"):
        iv.load_snapshot(tmp_path / "a.study", "training", 6, like=buffered())


def test_a_pickle_in_the_place_of_weights_is_refused(tmp_path: Path) -> None:
    subject = buffered()
    iv.snapshot(tmp_path / "a.study", subject, step=5)
    torch.save(subject.module.state_dict(), tmp_path / "a.study/snapshots/training/5/weights.safetensors")
    with pytest.raises(DamagedPart, match="was changed"):
        iv.load_snapshot(tmp_path / "a.study", "training", 5, like=subject)


def test_ages_of_a_stable_baselines_agent(tmp_path: Path) -> None:
    model = PPO("MlpPolicy", "CartPole-v1", n_steps=64, batch_size=32, n_epochs=2, device="cpu", learning_rate=0.01)
    model.learn(256, callback=iv.snapshot_callback(tmp_path / "a.study", "CartPole-v1", every=128, episodes=1))
    study = iv.Study.open(tmp_path / "a.study")
    untrained = iv.from_sb3(PPO("MlpPolicy", "CartPole-v1", device="cpu"))
    said = []
    for taken in study.snapshots():
        age = iv.load_snapshot(study, taken.run, taken.step, like=untrained)
        recording = study.recording(taken.recording)
        predicted = iv.predict(study, age, taken.recording, progress=False)
        np.testing.assert_allclose(
            predicted.array("probabilities", 0, predicted.rows),
            recording.array("probabilities", 0, recording.rows),
            atol=1e-5,
        )
        said.append(iv.predict(study, age, study.snapshots()[0].recording, progress=False).columns(["value"]))
    assert len(said) == 3 and not said[0].equals(said[1]) and not said[1].equals(said[2])
