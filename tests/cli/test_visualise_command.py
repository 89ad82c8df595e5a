"""Feature visualisation from the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import innerview as iv
from innerview.cli import app
from innerview.testing.worlds import CountingWorld
from tests.rollouts.players import recurrent


def test_visualised_pictures_are_reported_beside_the_strongest_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.study"
    iv.record(path, recurrent(), CountingWorld(), episodes=2, name="x", progress=False)
    (tmp_path / "agent.py").write_text("from tests.rollouts.players import recurrent as make\n")
    monkeypatch.chdir(tmp_path)
    words = ("--subject", "agent.py:make", "--set", "steps=8", "--set", "unit=2", "--set", "tv=0.5")
    result = CliRunner().invoke(app, ["lens", "visualise", str(path), *words])
    assert result.exit_code == 0, result.output
    (kept,) = (iv.Study.open(path).result(line.id) for line in iv.Study.open(path).results("visualise", "x"))
    assert kept.arguments["parameters"]["tv"] == 0.5 and kept.id in result.output
    (line,) = kept.value["pictures"]
    assert "channel 2" in result.output and f"{line['times']:.2f}" in result.output
