"""The command line as people type it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from typer.testing import CliRunner

import innerview as iv
from innerview.cli import app
from innerview.cli.make import load_world
from innerview.cli.scripts import from_script
from innerview.errors import InnerviewError, ReadOnly, UnknownName
from tests.killed.disks import read_only

AGENT = """
import torch
from torch import nn
import innerview as iv

def make():
    torch.manual_seed(0)
    return iv.subject(nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)), example=torch.zeros(1, 4),
                      heads={"policy": "policy"})

def not_a_subject():
    return 3
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "agent.py").write_text(AGENT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str) -> str:
    result = CliRunner().invoke(app, list(words))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def recorded() -> None:
    run("record", "a.study", "--subject", "agent.py:make", "--world", "CartPole-v1", "--episodes", "3", "--name", "x")


def test_record_info_export_check(here: Path) -> None:
    recorded()
    study = iv.Study.open(here / "a.study")
    assert study.recording("x").group_count == 3
    assert "x" in run("info", "a.study") and "probabilities" in run("info", "a.study", "x")
    assert "nothing is damaged" in run("check", "a.study")
    run("export", "a.study", "rows.csv", "--column", "step", "--column", "reward", "--episode", "1")
    table = pl.read_csv("rows.csv")
    assert table.columns == ["step", "reward"] and table["step"][0] == 0
    run("export", "a.study", "arrays.npz", "--array", "probabilities")
    assert np.load("arrays.npz")["probabilities"].shape == (study.recording("x").rows, 2)


def test_what_record_says_at_its_end_serves_subject_and_world_live(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = run("record", "a.study", "--subject", "agent.py:make", "--world", "CartPole-v1", "--episodes", "1")
    command = said.split("Look at them with: ")[1].strip()
    assert command == "innerview serve a.study --subject agent.py:make --world CartPole-v1"
    live: list[set[str]] = []
    monkeypatch.setattr(
        "innerview.cli.make.open_workbench", lambda study, port, browser, *given, **_: live.extend(map(set, given))
    )
    run(*command.split()[1:], "--no-browser")
    assert live == [{"Sequential"}, {"CartPole-v1"}]


def test_snapshots_are_served_and_predict_each_at_its_age(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded()
    agent = from_script("agent.py:make")
    for step in (0, 40_000):
        iv.snapshot("a.study", agent, step=step, run="ppo")
        with torch.no_grad():
            agent.module[2].bias.add_(torch.tensor([3.0, 0.0]))
    live: list[dict[str, Callable[[], iv.Subject]]] = []
    monkeypatch.setattr(
        "innerview.cli.make.open_workbench", lambda study, port, browser, *given, **_: live.extend(given)
    )
    run("serve", "a.study", "--subject", "agent.py:make", "--snapshots", "ppo", "--no-browser")
    assert list(live[0]) == ["Sequential", "ppo @ 0 steps", "ppo @ 40,000 steps"]
    assert live[0]["ppo @ 40,000 steps"]().info.name == "ppo @ 40,000 steps"
    said = run("predict", "a.study", "--subject", "agent.py:make", "--snapshots", "ppo")
    assert "predicted by 'ppo @ 0 steps'" in said and "predicted by 'ppo @ 40,000 steps'" in said
    with pytest.raises(UnknownName, match=r"training run 'dqn'.*ppo"):
        run("serve", "a.study", "--subject", "agent.py:make", "--snapshots", "dqn", "--no-browser")
    with pytest.raises(InnerviewError, match="Say with --subject"):
        run("serve", "a.study", "--snapshots", "ppo", "--no-browser")


def test_check_fails_when_something_is_damaged(here: Path) -> None:
    recorded()
    file = next((here / "a.study" / "recordings" / "x" / "rows").glob("*.parquet"))
    file.write_bytes(file.read_bytes()[:50])
    result = CliRunner().invoke(app, ["check", "a.study"])
    assert result.exit_code == 1 and "rows/00000000.parquet" in result.output


def test_a_read_only_study_is_told_and_nothing_is_saved_in_it(here: Path) -> None:
    recorded()
    with read_only(here / "a.study"):
        assert "x" in run("info", "a.study") and "nothing is damaged" in run("check", "a.study")
        run("export", "a.study", "rows.csv", "--column", "step")
        for words in (
            ("predict", "a.study", "--subject", "agent.py:make"),
            ("record", "a.study", "--subject", "agent.py:make", "--world", "CartPole-v1", "--name", "y"),
        ):
            with pytest.raises(ReadOnly, match="This study is read-only"):
                run(*words)
    assert iv.Study.open("a.study").recordings() == ["x"] and not iv.Study.open("a.study").predictions()


def test_a_damaged_recording_or_study_is_named(here: Path) -> None:
    recorded()
    manifest = here / "a.study" / "recordings" / "x" / "manifest.json"
    manifest.write_text("{")
    assert "damaged: recordings/x: 'manifest.json'" in run("info", "a.study").replace("\n", " ")
    with pytest.raises(InnerviewError, match=r"has none\. Damaged: recordings/x: 'manifest\.json'"):
        run("lens", "pca", "a.study")
    with pytest.raises(InnerviewError, match=r"has none\. Damaged: recordings/x: 'manifest\.json'"):
        iv.look("a.study", "pca")
    assert "everything else can be read" in CliRunner().invoke(app, ["check", "a.study"]).output
    (here / "a.study" / "study.json").write_text("{")
    told = CliRunner().invoke(app, ["check", "a.study"]).output
    assert "nothing of the study can be opened" in told and "else can be read" not in told


def test_import_brings_in_arrays(here: Path) -> None:
    np.savez("data.npz", x=np.arange(5.0), picture=np.zeros((5, 4, 4, 3), np.uint8))
    run("import", "b.study", "data.npz", "--name", "brought")
    assert iv.Study.open("b.study").recording("brought").rows == 5


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("record", "a.study", "--subject", "zoo:doom_helth"), "Did you mean 'doom_health'"),
        (("record", "a.study", "--subject", "agent.py:mak", "--world", "CartPole-v1"), "Did you mean 'make'"),
        (("record", "a.study", "--subject", "agent.py:not_a_subject", "--world", "CartPole-v1"), "iv.subject"),
        (("record", "a.study", "--subject", "agent.py:make"), "--world"),
        (("record", "a.study", "--subject", "zoo:platformer", "--world", "platformer?turnng=no"), "mean 'turning'"),
        (("record", "a.study", "--subject", "zoo:platformer", "--world", "platformer?turning=no"), "True or False"),
        (("record", "a.study", "--subject", "zoo:platformer", "--world", "platformer?invisible=3"), "list of classes"),
        (("record", "a.study", "--subject", "zoo:platformer", "--world", "platformer?themes=1&themes=2"), "twice"),
        (("record", "a.study", "--subject", "agent.py:make", "--world", "CartPole-v1?foo=1"), "cannot be made with"),
        (("record", "a.study", "--subject", "zoo:platformer", "--world", "platformer?turning"), "sets nothing"),
        (("record", "a.study", "--subject", "agent.py:make", "--world", "agent.py:world?a=1"), "a function of yours"),
        (("record", "a.study", "--subject", "nothing.py:make"), "no file"),
        (("info", "no.study"), "no study"),
        (("check", "no.study"), "no study"),
        (("export", "a.study", "film.gif", "--episode", "0"), "no pictures"),
        (("export", "a.study", "rows.xlsx"), "xlsx"),
    ],
)
def test_mistakes_are_reported_with_what_would_be_right(here: Path, words: tuple[str, ...], said: str) -> None:
    if words[0] == "export":
        recorded()
    with pytest.raises((InnerviewError, UnknownName), match=said):
        run(*words)


def test_a_mistake_in_the_terminal_is_one_message_without_traceback(here: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "innerview.cli", "info", "no.study"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("Error") and "Traceback" not in done.stderr


def test_every_command_teaches_by_example() -> None:
    for command in ("demo", "record", "import", "serve", "check", "info", "export"):
        assert "innerview " + command in run(command, "--help")


def test_zoo_lists_models_and_shows_a_card() -> None:
    assert "doom_kitems_small" in run("zoo")
    assert "soul sphere" in run("zoo", "doom_kitems")
    assert isinstance(CliRunner().invoke(app, ["zoo", "doom"]).exception, UnknownName)


def test_settings_of_a_world_are_written_as_python_or_json_writes_them() -> None:
    one = load_world("platformer?turning=False&invisible=('saw',)&levels=None&masks=true").settings
    assert (one.turning, one.invisible, one.levels, one.masks) == (False, ("saw",), None, True)
    other = load_world('platformer?turning=false&invisible=["saw", "lava"]&difficulty=3&levels=null').settings
    assert (other.turning, other.invisible, other.difficulty) == (False, ("saw", "lava"), 3)
    assert load_world("platformer?invisible=saw").settings.invisible == ("saw",)
