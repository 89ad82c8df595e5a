"""`innerview trust`: one table for each subject, and one in Markdown for all."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

import innerview as iv
from innerview.cli.app import app

SCRIPT = """
import torch
from torch import nn
import innerview as iv
from innerview.testing.worlds import CountingWorld


class Seer(nn.Module):
    def __init__(self):
        super().__init__()
        self.see, self.policy = nn.Conv2d(3, 4, 3, padding=1), nn.Linear(256, 3)

    def forward(self, x):
        return self.policy(torch.relu(self.see(x)).flatten(1))


def made(name, seed):
    torch.manual_seed(seed)
    return iv.subject(Seer(), name=name, example=torch.zeros(1, 3, 8, 8), heads="policy")


def one():
    return made("one", 1)


def two():
    return made("two", 2)


def world():
    return CountingWorld(length=12)
"""


def run(*words: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "200"})
    assert done.exit_code == 0, (done.output, done.exception)
    return done.output


def test_one_command_examines_several_subjects(tmp_path: Path) -> None:
    script, study, table = tmp_path / "agents.py", tmp_path / "a.study", tmp_path / "table.md"
    script.write_text(SCRIPT)
    for name in ("one", "two"):
        run(
            "record",
            study,
            "--subject",
            f"{script}:{name}",
            "--world",
            f"{script}:world",
            "--episodes",
            1,
            "--name",
            name,
        )
    subjects = [word for name in ("one", "two") for word in ("--subject", f"{script}:{name}")]
    methods = [word for name in ("gradient", "guided", "laplacian") for word in ("--method", name)]
    said = run("trust", study, *subjects, *methods, "--count", 3, "--draws", 1, "--markdown", table)
    for name in ("one", "two"):
        assert f"{name}: maps of 'action' in 3 rows of {name}" in said
    lines = [line.split() for line in said.splitlines() if line.startswith("laplacian")]
    assert [line[1:3] for line in lines] == [["fails", "1.00±0.00"]] * 2
    told = table.read_text()
    assert sum(line.startswith(("| one |", "| two |")) for line in told.splitlines()) == 6
    stored = {
        r.arguments["subject"]: iv.Study.open(study).result(r.id).value for r in iv.Study.open(study).results("trust")
    }
    for name, value in stored.items():
        for each in value["methods"]:
            assert (
                f"| {name} | {each['name']} | {each['verdict']} | {each['randomisation']['remains']['mean']:.2f} ["
                in told
            )
        for sentence in value["recommendation"]["sentences"]:
            assert sentence in said and f"- {sentence}" in told
    again = run("trust", study)
    assert again.count("maps of 'action'") == 2, "what was examined is printed without a subject"


def test_what_was_never_examined_is_said(tmp_path: Path) -> None:
    iv.Study.create(tmp_path / "a.study")
    done = CliRunner().invoke(app, ["trust", str(tmp_path / "a.study")])
    assert done.exit_code != 0 and "Nothing was examined" in str(done.exception)
