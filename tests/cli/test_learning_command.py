"""The command learning, over a folder of weights and over a run that the study has."""

from __future__ import annotations

from pathlib import Path

import pytest

import innerview as iv
from innerview.errors import StoreError, UnknownName
from innerview.testing.crossing import Crossing, walker
from tests.cli.test_cli import run
from tests.rollouts.test_learning import STEPS, folder_of

AGENT = "from innerview.testing.crossing import walker as make\n"


def test_a_folder_of_weights_is_brought_in_once_and_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("agent.py").write_text(AGENT)
    folder_of(tmp_path / "run")
    iv.record("a.study", walker(), Crossing(), episodes=12, name="x", progress=False)
    asked = ("learning", "a.study", "x", "--subject", "agent.py:make", "--lens", "gradient", "--set", "target=value")
    said = run(*asked, "--snapshots", "run")
    study = iv.Study.open("a.study")
    assert [taken.step for taken in study.snapshots("run")] == list(STEPS)
    (made,) = study.results("learning")
    value = study.result(made.id).value
    assert all(sentence in said for sentence in value["words"]) and "as given" in value["score"]["source"]
    assert "units always 0" in said and f"result {made.id}" in said
    again = run(*asked, "--snapshots", "run")
    assert "rises before the score" in again, "the scores were kept with the snapshots"
    with pytest.raises(UnknownName, match="training run 'runs'"):
        run(*asked, "--snapshots", "runs")
    Path("short.csv").write_text("step,score\n0,0\n10,1\n")
    with pytest.raises(StoreError, match="does not cover them"):
        run(*asked, "--snapshots", "run", "--curve", "short.csv")
