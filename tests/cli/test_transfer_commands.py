"""`innerview gap`, `filters` and `best-filter`."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from innerview.cli.app import app
from innerview.store import Study
from tests.paired import paired_study

SCRIPT = """
import innerview as iv
from tests.paired import painted


def plain():
    return painted("plain")


def doubled():
    return painted("doubled", 2.0)
"""


def run(*words: object, code: int = 0) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "160"})
    assert done.exit_code == code, (done.output, done.exception)
    return done.output or str(done.exception)


def test_one_command_prints_the_table_of_models(tmp_path: Path) -> None:
    study, script, table = paired_study(tmp_path), tmp_path / "agents.py", tmp_path / "table.md"
    script.write_text(SCRIPT)
    subjects = [word for name in ("plain", "doubled") for word in ("--subject", f"{script}:{name}")]
    told = run("gap", study.path, *subjects, "--filter", "brightness 2", "--markdown", table)
    assert "pairs: place, m, over 12 pairs" in told
    assert "pairs: heading, °, over 12 pairs" in told
    value = json.loads(run("gap", study.path, "--json"))[0]
    names = ["plain", "plain | brightness 2", "doubled", "doubled | brightness 2"]
    assert [model["name"] for model in value["models"]] == names
    mean = value["models"][0]["place"]["mean"]["gap"]
    assert f"{mean['value']:.2f} ({mean['low']:.2f} to {mean['high']:.2f})" in told
    written = table.read_text("utf-8")
    assert written.count("\n| plain behind brightness 2 |") == 2
    assert f"{mean['value']:.2f} ({mean['low']:.2f} to {mean['high']:.2f})" in written
    again = run(
        "gap", study.path, "--subject", f"{script}:doubled", "--subject", f"{script}:plain", "--baseline", "plain"
    )
    assert "share of the gap of plain" in again


def test_nothing_measured_yet_says_what_to_do(tmp_path: Path) -> None:
    assert "No gap was measured" in run("gap", paired_study(tmp_path).path, code=1)
    empty = Study.create(tmp_path / "empty.study")
    script = tmp_path / "agents.py"
    script.write_text(SCRIPT)
    told = run("gap", empty.path, "--subject", f"{script}:plain", code=1)
    assert "has pictures of two domains" in told


def test_filters_are_saved_listed_and_dropped(tmp_path: Path) -> None:
    study = paired_study(tmp_path)
    told = run("filters", study.path, "--save", "day=brightness 2 | blur 0.5")
    assert "day: brightness 2 | blur 0.5" in told
    assert "depth range" in told
    assert "day:" not in run("filters", study.path, "--drop", "day")
    assert "--save takes NAME=STEPS" in run("filters", study.path, "--save", "day", code=1)


def test_the_best_filter_is_printed_and_saved(tmp_path: Path) -> None:
    study, script = paired_study(tmp_path), tmp_path / "agents.py"
    script.write_text(SCRIPT)
    told = run("best-filter", study.path, "--subject", f"{script}:plain", "--filter", "brightness", "--save", "mended")
    assert "It helps." in told
    assert "Saved as filter 'mended'." in told
    assert [made.name for made in study.filters()] == ["mended"]
    told = run("gap", study.path, "--subject", f"{script}:plain", "--filter", "mended")
    assert "behind mended" in told
