"""A video of maps from the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import innerview as iv
from innerview.cli import app
from innerview.errors import InnerviewError
from innerview.testing.worlds import CountingWorld
from tests.videos import decoded

AGENT = """
import torch
from torch import nn
import innerview as iv

class Seer(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.policy = nn.Conv2d(3, 4, 3, padding=1), nn.Linear(256, 3)
    def forward(self, x):
        return {"policy": self.policy(torch.relu(self.conv(x)).flatten(1))}

def make():
    torch.manual_seed(1)
    return iv.subject(Seer(), name="seer", example=torch.zeros(1, 3, 8, 8))
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "agent.py").write_text(AGENT)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(AGENT, names)
    iv.record("a.study", names["make"](), CountingWorld(length=6), episodes=2, name="x", progress=False)  # type: ignore[operator]
    return tmp_path


def export(*words: str) -> None:
    result = CliRunner().invoke(app, ["export", "a.study", *words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output


def test_maps_are_made_by_a_subject_and_then_drawn_without(here: Path) -> None:
    asked = ("--maps", "guided", "--maps", "gradcam | signed=true | layer=conv", "--scale", "4")
    export("a.gif", "--episode", "1", *asked, "--subject", "agent.py:make")
    export("b.gif", "--rows", "8:10", *asked, "--normalise", "frame", "--signs", "green and red")
    study = iv.Study.open("a.study")
    assert len(study.results(kind="guided")) == len(study.results(kind="gradcam")) == 1
    last = study.result(study.results(kind="video")[-1].id)
    assert [each["about"] for each in last.value["maps"]][1] == "what it does · conv · signed True"
    assert decoded(here / "b.gif", 0, 0).shape == (2, last.value["height"], last.value["width"], 3)
    made = study.results(kind="guided")[0].id
    export("c.gif", "--episode", "1", "--maps", f"result={made}", "--scale", "4")
    assert (here / "c.gif").stat().st_size


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("a.gif", "--episode", "0", "--maps", "guded"), "Did you mean 'guided'"),
        (("a.gif", "--episode", "0", "--maps", "guided | targt=value"), "Did you mean 'target'"),
        (("a.gif", "--episode", "0", "--maps", "guided | frame=new"), "frame is a whole number"),
        (("a.gif", "--episode", "0", "--maps", "guided", "--normalise", "row"), "Unknown choice of 'normalise'"),
        (("a.gif", "--episode", "0", "--maps", "guided"), "no model is loaded"),
        (("a.csv", "--maps", "guided"), "Maps are drawn into videos"),
        (("a.gif", "--rows", "0:2"), "Rows are chosen for maps"),
    ],
)
def test_mistakes_are_said(here: Path, words: tuple[str, ...], said: str) -> None:
    with pytest.raises(InnerviewError, match=said):
        export(*words)
