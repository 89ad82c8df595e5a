"""innerview ablate: one command from levels to the table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from safetensors.torch import load_file
from typer.testing import CliRunner

from innerview.cli.ablation.commands import RECORDING, SEEDS_APART, _recorded
from innerview.cli.app import app
from innerview.errors import EditError, InnerviewError, UnknownName
from innerview.rollouts.record import record
from innerview.schema import WorldInfo
from innerview.store import Study, edited_subjects
from innerview.testing.crossing import FRESH, Crossing, meets, walker

RED = sum(meets(seed, "red") for seed in range(1_000, 1_012))
SCRIPT = """
from innerview.testing.crossing import Crossing, walker

make, crossing = walker, Crossing
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents.py").write_text(SCRIPT)
    return tmp_path


def run(*words: str) -> str:
    given = ["ablate", "agents.py:make", "--world", "agents.py:crossing", "--study", "a.study", "--episodes", "9"]
    found = CliRunner().invoke(app, [*given, "--levels", "12", "--count", "2", *words], env={"COLUMNS": "160"})
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    return found.output


def test_one_command_finds_ablates_tests_prints_and_saves(folder: Path) -> None:
    said = run("--to", "red", "--layer", "see", "--name", "no red", "--export", "out/ablated.safetensors")
    assert "'no red': factor" in said and "projected out of the kernel of 'tell'" in said
    assert "12 levels each, seeds from 1,000 on" in said
    for word in ("original", "without red", "random directions", "red invisible", "ended: through", "ended: red"):
        assert word in said
    assert f"Ended by red: 0.00% of levels before, {RED / 12:.2%} after" in said
    met = ", ".join(str(seed) for seed in range(1_000, 1_012) if meets(seed, "red"))
    assert f"Some levels in which it ended so (look at them in the page): {met}." in said
    assert "innerview serve a.study --subject agents.py:make" in said
    assert not load_file(folder / "out" / "ablated.safetensors")["tell.weight"][:, 0].any()
    study = Study.open("a.study")
    assert [each.name for each in edited_subjects(study)] == ["no red"]
    (tested,) = (study.result(line.id) for line in study.results("ablation_test"))
    assert tested.value["done"] == 12 and len(study.recordings()) == 1
    again = run("--to", "red", "--layer", "see", "--name", "no red", "--controls", "0", "--invisible", "")
    assert "random directions" not in again and "invisible" not in again
    assert len(study.recordings()) == 1 and len(study.results("factors")) == 1


def test_a_world_that_cannot_hide_says_why_a_run_is_missing(folder: Path) -> None:
    (folder / "agents.py").write_text(SCRIPT + "\nclass crossing(Crossing):\n    hidable = ()\n")
    said = run("--to", "red", "--layer", "see", "--controls", "0")
    assert "World 'crossing' cannot hide 'red': no run has it invisible." in said
    assert "cannot hide" not in run("--to", "red", "--layer", "see", "--controls", "0", "--invisible", "")


def test_one_study_holds_levels_of_many_worlds(folder: Path) -> None:
    class Narrow(Crossing):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.width = width

        @property
        def info(self) -> WorldInfo:
            return replace(super().info, settings={**super().info.settings, "width": self.width})

    study = Study.open_or_create("a.study")
    names = [_recorded(study, walker(), Narrow(width), 1).name for width in (1, 2, 3, 2)]
    assert len(set(names)) == 3 and names[3] == names[1] and all(name.startswith(RECORDING) for name in names)


def test_levels_to_look_at_go_on_where_they_were_interrupted(folder: Path) -> None:
    class Stop(Exception):
        pass

    def impatient(done: int, total: int | None, message: str = "") -> None:
        if done >= 3:
            raise Stop

    study = Study.create("a.study", "a")
    record(study, walker(), Crossing(("green",)), episodes=3, name="another world", progress=False)
    ask = {"episodes": 9, "seeds": FRESH + SEEDS_APART, "name": RECORDING, "block_rows": 4}
    with pytest.raises(Stop):
        record(study, walker(), Crossing(), progress=impatient, **ask)  # type: ignore[arg-type]
    assert not study.recording(RECORDING).complete
    run("--to", "red", "--layer", "see", "--controls", "0", "--invisible", "")
    assert study.recordings() == ["another world", RECORDING] and study.recording(RECORDING).complete
    assert [tested.recording for tested in study.results("ablation_test")] == [RECORDING]


def test_mistakes_are_reported_before_anything_long_begins(folder: Path) -> None:
    with pytest.raises(InnerviewError, match="--to CLASS, or --factor NUMBER"):
        run("--layer", "see")
    assert "for '--levels'" in run("--to", "red", "--levels", "0")
    with pytest.raises(InnerviewError, match=r"'CartPole-v1' provides no masks.*masks=.*--factor 1"):
        run("--to", "red", "--world", "CartPole-v1")
    with pytest.raises(UnknownName, match=r"class of things 'reed'.*Did you mean 'red'"):
        run("--to", "reed")
    with pytest.raises(UnknownName, match=r"Known: red, green\. 'ground' is what lies behind all things"):
        run("--to", "ground")
    assert not (folder / "a.study").exists(), "all of this is said before anything is recorded"
    with pytest.raises(UnknownName, match="Did you mean 'green'"):
        run("--to", "red", "--invisible", "gren", "--layer", "see")
    with pytest.raises(UnknownName, match="class of things 'blue'"):
        run("--to", "blue", "--layer", "see")
    with pytest.raises(InnerviewError, match="numbers from 1 to 2; --factor 3"):
        run("--factor", "3", "--layer", "see")
    with pytest.raises((EditError, InnerviewError), match="cannot be used"):
        run("--to", "red", "--device", "nowhere")
    with pytest.raises(UnknownName, match="parameter of lens 'factors'"):
        run("--to", "red", "--set", "colour=red")
