"""`innerview zoo` as people type it: list, show, evaluate, train."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import innerview_zoo as zoo
import pytest
from innerview_zoo import catalogue
from innerview_zoo.manifest import Model
from innerview_zoo.report import Figure, Report, write_figures
from innerview_zoo.testing import counting
from torch import nn
from typer.testing import CliRunner

from innerview.cli import app
from innerview.errors import InnerviewError, UnknownName
from innerview.testing.worlds import CountingWorld

SCRIPT = """
import argparse, pathlib, sys, time
parser = argparse.ArgumentParser()
for name in ("--out", "--resume", "--minutes", "--lr"):
    parser.add_argument(name)
args = parser.parse_args()
out = pathlib.Path(args.out)
out.mkdir(exist_ok=True)
print(vars(args))
if args.lr == "broken":
    sys.exit(3)
try:
    if args.lr == "slow":
        print("ready")
        time.sleep(60)
finally:
    (out / "checkpoint").write_text("kept")
"""


def run(*words: str) -> Any:
    result = CliRunner().invoke(app, list(words), env={"COLUMNS": "200"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> zoo.Entry:
    """A model of its own whose card claims 10 (8–12)."""
    (tmp_path / "card.md").write_text("# Own agent\n\n## Task\n\nTo be found.\n")
    (tmp_path / "own_training.py").write_text(SCRIPT)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    package = ModuleType("innerview_zoo.models.own")
    manifest = Model(load=lambda: None, evaluate=lambda count, progress: None, train=("own_training",))  # type: ignore[arg-type,return-value]
    package.MODELS = {"own": manifest}  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "innerview_zoo.models.own", package)
    write_figures(tmp_path / "figures.json", Figure("score", 10.0, 8.0, 12.0, 30, "points"))
    model = zoo.Entry(name="own", title="Own agent", family="own", folder=tmp_path)
    monkeypatch.setattr(zoo, "entry", lambda name: model)
    monkeypatch.setattr(zoo, "entries", lambda: (model,))
    monkeypatch.chdir(tmp_path)
    return model


def scoring(value: float) -> Any:
    def evaluate(name: str, count: int | None, progress: Any) -> Report:
        progress(1, 2, "half")
        figure = Figure("score", value, value - 2, value + 2, count or 30, "points", "sampled actions")
        return Report("Own agent", ("who", "score"), (("this agent", str(figure)), ("random", "1.0")), figure)

    return evaluate


def test_alone_it_lists_models_with_their_figures() -> None:
    for words in (["zoo"], ["zoo", "list"]):
        said = run(*words).output
        assert "doom_health" in said and "502.9" in said and "4.6 MB" in said


def test_a_model_without_figures_is_listed_all_the_same(own: zoo.Entry) -> None:
    (own.folder / "figures.json").unlink()
    assert "not evaluated yet" in run("zoo").output


def test_show_prints_the_card_also_without_saying_show() -> None:
    assert "soul sphere" in run("zoo", "show", "doom_kitems").output
    assert "soul sphere" in run("zoo", "doom_kitems").output
    with pytest.raises(UnknownName, match="Did you mean 'doom_kitems'"):
        run("zoo", "show", "doom_kitem")


def test_an_earlier_age_of_a_model_can_be_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, dict[str, str]]] = []

    def load(name: str, **choices: str) -> Any:
        asked.append((name, choices))
        return counting(nn.GRUCell(12, 8)), CountingWorld(length=5)

    monkeypatch.setattr(catalogue, "load", load)
    run("record", str(tmp_path / "a.study"), "--subject", "zoo:own:early", "--episodes", "1")
    run("record", str(tmp_path / "b.study"), "--subject", "zoo:own", "--episodes", "1")
    assert asked == [("own", {"snapshot": "early"}), ("own", {})]
    with pytest.raises(UnknownName, match="choice of zoo model 'doom_health' 'snapshot'"):
        monkeypatch.undo()
        run("record", str(tmp_path / "c.study"), "--subject", "zoo:doom_health:early")


def test_evaluate_prints_the_table_and_whether_the_card_holds(own: zoo.Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zoo, "evaluate", scoring(11.0))
    result = run("zoo", "evaluate", "own", "--count", "30")
    assert result.exit_code == 0
    for words in ("this agent", "11.0 points (9.00–13.0)", "the card says 10.0 points (8.00–12.0)", "reproduced"):
        assert words in result.output
    monkeypatch.setattr(zoo, "evaluate", scoring(20.0))
    result = run("zoo", "evaluate", "own")
    assert (result.exit_code, "not reproduced" in result.output) == (1, True)


def test_evaluate_speaks_to_programs_too(own: zoo.Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zoo, "evaluate", scoring(11.0))
    told = json.loads(run("zoo", "evaluate", "own", "--json").stdout)
    assert (told["reproduced"], told["card"]["value"], told["reports"][0]["main"]["value"]) == (True, 10.0, 11.0)


def test_evaluate_prints_a_familys_table(own: zoo.Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    report = scoring(11.0)("own", None, lambda *_: None)
    monkeypatch.setattr(zoo, "evaluate_family", lambda family, count, progress: (report, report))
    assert run("zoo", "evaluate", "--family", "own").output.count("this agent") == 2
    with pytest.raises(InnerviewError, match="Say what to evaluate"):
        run("zoo", "evaluate")
    with pytest.raises(InnerviewError, match="Say what to evaluate"):
        run("zoo", "evaluate", "own", "--family", "own")


def test_train_hands_its_options_to_the_script(own: zoo.Entry) -> None:
    result = run("zoo", "train", "own", "--minutes", "0.5", "--lr", "3e-4")
    assert result.exit_code == 0
    assert "{'out': 'own-run', 'resume': None, 'minutes': '0.5', 'lr': '3e-4'}" in result.output
    assert (own.folder / "own-run" / "checkpoint").is_file()
    result = run("zoo", "train", "own", "--resume", "own-run", "--out", "own-run")
    assert "'resume': 'own-run'" in result.output


def test_train_does_not_write_over_a_training(own: zoo.Entry) -> None:
    run("zoo", "train", "own")
    with pytest.raises(InnerviewError, match=r"already\. Go on with it: --resume own-run --out own-run"):
        run("zoo", "train", "own")
    with pytest.raises(InnerviewError, match="no training to go on with at nowhere"):
        run("zoo", "train", "own", "--resume", "nowhere")
    with pytest.raises(InnerviewError, match="more than 0, not -1"):
        run("zoo", "train", "own", "--out", "new", "--minutes", "-1")


def test_train_reports_of_a_failure(own: zoo.Entry) -> None:
    result = run("zoo", "train", "own", "--lr", "broken")
    assert result.exit_code == 3
    assert "failed with exit code 3" in result.output


def test_ctrl_c_reaches_the_script_and_leaves_a_checkpoint(own: zoo.Entry) -> None:
    code = (
        "import sys; from pathlib import Path; from types import SimpleNamespace; "
        "from innerview_zoo.commands.training import run_training; "
        "entry = SimpleNamespace(name='own', manifest=SimpleNamespace(train=('own_training',))); "
        "sys.exit(run_training(entry, out=Path('kept'), resume=None, minutes=5, others=['--lr', 'slow']))"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None
    while "ready" not in child.stdout.readline():
        assert child.poll() is None
    time.sleep(0.2)  # the script is in its sleep
    os.kill(child.pid, signal.SIGINT)
    _, complaints = child.communicate(timeout=60)
    assert child.returncode == 130
    assert (own.folder / "kept" / "checkpoint").read_text() == "kept"
    assert "Go on with: innerview zoo train own --resume kept --out kept" in complaints
