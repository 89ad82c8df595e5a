"""Reductions from the command line."""

from __future__ import annotations

import json
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from typer.testing import CliRunner

import innerview as iv
from innerview.cli import app
from innerview.errors import EditError, InnerviewError, StoreError, UnknownName
from innerview.testing.worlds import CountingWorld
from tests.rollouts.players import recurrent

AGENT = """
import torch
import innerview as iv
from innerview.testing.worlds import CountingWorld
from tests.rollouts.players import recurrent
from torch import nn

def make():
    return recurrent()

def world():
    return CountingWorld()

def forgetful():
    return iv.subject(nn.Sequential(nn.Flatten(), nn.Linear(192, 3)), example=torch.zeros(1, 3, 8, 8), heads="policy")
"""
WHO = ("--subject", "agent.py:make", "--world", "agent.py:world")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "agent.py").write_text(AGENT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "250")
    run("record", "a.study", *WHO, "--episodes", "3", "--name", "x")
    return tmp_path


def run(*words: str) -> str:
    result = CliRunner().invoke(app, list(words))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def test_the_table_from_one_command(here: Path) -> None:
    said = run("reduce", "a.study", *WHO, "--episodes", "4", "--keep-half-by", "activation", "--zero-all")
    for words in ("full memory", "half by activation", "no memory", "4 episodes each", "none of which is in the table"):
        assert words in said
    (result,) = (
        iv.Study.open(here / "a.study").result(line.id) for line in iv.Study.open(here / "a.study").results("table")
    )
    assert result.id in said and result.value["seeds"] == [3, 4, 5, 6]
    usual = run("reduce", "a.study", *WHO, "--episodes", "2")
    assert all(name in usual for name in ("half by activation", "half by change", "half by random", "no memory"))


def test_other_choices(here: Path) -> None:
    study = iv.Study.open(here / "a.study")
    study.save_reduction(iv.EditSet(name="mine", edits=(iv.SiteEdit(elements=(2,)),)))
    said = run(
        "reduce",
        "a.study",
        *WHO,
        "--episodes",
        "2",
        "--seed",
        "1",
        "--keep",
        "2:change",
        "--zero",
        "0,4-5",
        "--reduction",
        "mine",
    )
    assert "2 by change" in said and "without 0,4-5" in said and "mine" in said
    assert "2 of which are in the table" in said, "episodes that elements were chosen on are told"


def test_sweep_and_smallest_memory(here: Path) -> None:
    assert "6 in all" in run("sweep", "a.study", *WHO)
    assert "together" in run("sweep", "a.study", *WHO, "--over", "pairs", "--elements", "0-2")
    assert "return lost" in run("sweep", "a.study", *WHO, "--by", "episodes", "--episodes", "1", "--elements", "1,3")
    said = run("smallest-memory", "a.study", *WHO, "--measure", "return", "--keep", "0.5", "--episodes", "2")
    assert "fresh seeds" in said
    kept = iv.Study.open(here / "a.study").reductions()
    assert not kept or "smallest memory" in kept[0].name


def test_reductions_are_listed_carried_and_dropped(here: Path) -> None:
    study = iv.Study.open(here / "a.study")
    study.save_reduction(iv.EditSet(name="mine", edits=(iv.SiteEdit(elements=(2, 3), op="freeze"),), note="why"))
    said = run("reductions", "a.study")
    assert "mine" in said and "freeze" in said and "why" in said
    run("reductions", "a.study", "--export", "r.json")
    assert json.loads((here / "r.json").read_text())["reductions"][0]["name"] == "mine"
    iv.Study.create(here / "b.study")
    assert "mine" in run("reductions", "b.study", "--import", "r.json")
    assert "mine" not in run("reductions", "b.study", "--drop", "mine")
    with pytest.raises(StoreError, match="has no reductions"):
        run("reductions", "b.study", "--export", "none.json")


@pytest.mark.parametrize(
    ("words", "kind", "said"),
    [
        (("--subject", "agent.py:forgetful", "--world", "agent.py:world"), EditError, "no memory"),
        (("--world", "agent.py:world"), InnerviewError, "who plays with --subject"),
        (("--subject", "agent.py:make"), InnerviewError, "--world"),
        ((*WHO, "--recording", "y"), UnknownName, "Unknown recording"),
        ((*WHO, "--keep-half-by", "activaton"), UnknownName, "Did you mean 'activation'"),
        ((*WHO, "--keep", "many"), InnerviewError, "64:activation"),
        ((*WHO, "--keep", "7:change"), EditError, "Between 0 and 6"),
        ((*WHO, "--zero", "6"), EditError, "elements 0 to 5"),
        ((*WHO, "--reduction", "nope"), InnerviewError, "No reduction is called 'nope'"),
    ],
)
def test_what_cannot_be_is_reported(here: Path, words: tuple[str, ...], kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said):
        run("reduce", "a.study", "--episodes", "1", *words)


def test_a_bundled_agent_needs_nothing_but_its_name(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("innerview_zoo.catalogue.load", lambda name: (recurrent(), CountingWorld()))
    said = run("reduce", "zoo:tiny", "--episodes", "2", "--keep-half-by", "activation")
    assert "10 episodes of 'for the order', none of which is in the table" in said
    study = iv.Study.open(here / ".innerview" / "tiny.study")
    (result,) = (study.result(line.id) for line in study.results("table"))
    assert result.value["seeds"] == [1_000_000, 1_000_001]
    assert min(study.recording("for the order").info.seeds) == 1_500_000
    again = run("reduce", "zoo:tiny", "--episodes", "2", "--keep-half-by", "activation")
    assert result.id in again and len(study.results("table")) == 1


def test_an_agent_of_any_package_needs_nothing_but_its_name(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = (
        "from innerview.testing.worlds import CountingWorld\nfrom tests.rollouts.players import recurrent\n"
        "def load(name):\n    return recurrent(), CountingWorld()\n"
    )
    (here / "acme_agents.py").write_text(module)
    monkeypatch.syspath_prepend(here)
    found = {"innerview.models": [EntryPoint("acme", "acme_agents:load", "innerview.models")]}
    monkeypatch.setattr("innerview.registry.entry_points", lambda *, group: found.get(group, []))
    said = run("reduce", "acme:walker", "--episodes", "2", "--keep-half-by", "activation")
    assert "10 episodes of 'for the order', none of which is in the table" in said
    assert len(iv.Study.open(here / ".innerview" / "walker.study").results("table")) == 1
