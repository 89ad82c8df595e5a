"""Every bundled model has its card, its figures and its weights, loads by the same call and runs in its world."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import innerview_zoo as zoo
import pytest
import torch
from innerview_zoo.manifest import Model
from innerview_zoo.report import Figure, Report, no_progress
from safetensors.torch import load_file, save_file

from innerview.errors import InnerviewError, SubjectError, UnknownName, WorldError
from innerview.subjects import subject
from innerview.testing.worlds import CountingWorld

ENTRIES = zoo.entries()
NAMES = [entry.name for entry in ENTRIES]
SECTIONS = (("Task",), ("Network", "Architecture"), ("Training", "Data"), ("Score",), ("Known failures",), ("Licence",))
MAX_BYTES = 55e6


@pytest.mark.parametrize("entry", ENTRIES, ids=NAMES)
def test_its_card_has_every_section(entry: zoo.Entry) -> None:
    headings = [line.removeprefix("## ").strip() for line in entry.card.splitlines() if line.startswith("## ")]
    missing = [names[0] for names in SECTIONS if not any(h.startswith(names) for h in headings)]
    assert not missing
    assert entry.card.startswith("# ") and entry.title


@pytest.mark.parametrize("entry", ENTRIES, ids=NAMES)
def test_its_figures_stand_on_its_card(entry: zoo.Entry) -> None:
    for figure in (entry.figures.main, *entry.figures.others):
        assert figure.low <= figure.value <= figure.high and figure.count > 1 and figure.name
    main = entry.figures.main
    told = {f"{main.value:.{digits}f}" for digits in range(4)} | {f"{main.value:,.{digits}f}" for digits in range(4)}
    assert any(number in entry.card for number in told)


@pytest.mark.parametrize("entry", ENTRIES, ids=NAMES)
def test_it_has_script_curve_and_weights(entry: zoo.Entry) -> None:
    assert find_spec(entry.manifest.train[0]) is not None and 0 < entry.weight_bytes < 15e6
    weights = load_file(entry.folder / "weights.safetensors")
    assert {str(value.dtype) for value in weights.values()} <= {"torch.float16", "torch.float32", "torch.int8"}


def test_the_guide_names_every_model() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "zoo.md").read_text(encoding="utf-8")
    assert not [name for name in NAMES if f"`{name}`" not in guide]


def test_all_weights_together_stay_small() -> None:
    assert sum(entry.weight_bytes for entry in ENTRIES) <= MAX_BYTES


@pytest.mark.parametrize("name", NAMES)
def test_it_runs_in_its_world(name: str) -> None:
    model, world = zoo.load(name)
    seen = tuple(spec.name for spec in world.info.observations if spec.role == "observation")
    lanes = world.open(1)
    try:
        moment = lanes.reset(0, 5)
        output = model.run(model.inputs({each: moment.observation[each][None] for each in seen}))
        if model.acting_head is not None:
            action = model.act(output, greedy=True)[0]
            assert lanes.step({0: action})[0].observation.keys() == moment.observation.keys()
    finally:
        lanes.close()


@pytest.mark.parametrize("name", NAMES)
def test_it_can_be_evaluated(name: str) -> None:
    assert callable(zoo.entry(name).manifest.evaluate)


def test_families_gather_models() -> None:
    assert {zoo.entry("doom_health").family, zoo.entry("doom_kitems").family} == {"doom"}
    assert zoo.entry("breakout_dqn").family == "atari"


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'doom_kitems'"):
        zoo.entry("doom_kitem")
    with pytest.raises(UnknownName, match="Did you mean 'doom'"):
        zoo.evaluate_family("dom")
    with pytest.raises(UnknownName, match="choice of zoo model 'doom_health'"):
        zoo.load("doom_health", snapshot="early")
    with pytest.raises(InnerviewError, match="1 or more, not 0"):
        zoo.evaluate("doom_health", 0)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda whole: whole[:-100], "are damaged"),
        (lambda whole: whole[:60], "cut short"),
        (lambda whole: b"", "cut short"),
        (lambda whole: b"<html>Not found</html>", "or is damaged"),
    ],
)
def test_damaged_weights_are_named(own: Path, damage: Any, message: str) -> None:
    weights = own / "weights.safetensors"
    weights.write_bytes(damage(weights.read_bytes()))
    with pytest.raises(SubjectError, match=rf"The zoo's model 'own' cannot be loaded: .*{message}"):
        zoo.load("own")


def test_foreign_weights_are_named(own: Path) -> None:
    weights = own / "weights.safetensors"
    tensors = load_file(weights)
    save_file({"other": tensors["0.weight"]}, weights)
    with pytest.raises(SubjectError, match=r"for another module\. Missing: 0\.weight, 0\.bias\. Not known here: other"):
        zoo.load("own")
    save_file({**tensors, "0.bias": torch.zeros(7)}, weights)
    with pytest.raises(SubjectError, match=r"'0\.bias' in .* has shape \[7\], expected \[3\]"):
        zoo.load("own")


def test_a_model_of_ones_own_is_loaded_and_evaluated(own: Path) -> None:
    model, world = zoo.load("own")
    assert world.info.name == "counting"
    assert zoo.evaluate("own", 3).main.count == 3
    assert [report.main.count for report in zoo.evaluate_family("own", 4)] == [4]
    assert model.info.name == "own agent"


def test_a_family_table_comes_before_single_ones(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = Report("all", ("who",), (("own",),), Figure("steps", 1.0, 0.0, 2.0, 9))
    monkeypatch.setattr(
        sys.modules["innerview_zoo.models.own"], "family_table", lambda count, progress: table, raising=False
    )
    assert zoo.evaluate_family("own") == (table,)


def test_without_its_extra_a_model_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vizdoom", None)
    with pytest.raises(WorldError, match=r"pip install 'innerview\[doom\]'"):
        zoo.load("doom_health")


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A zoo beside the bundled one, with one small model."""
    folder = tmp_path / "own" / "own"
    folder.mkdir(parents=True)
    (folder / "card.md").write_text("# Own agent\n")
    network = torch.nn.Sequential(torch.nn.Linear(192, 3))
    save_file(dict(network.state_dict()), folder / "weights.safetensors")

    def load() -> Any:
        inner = torch.nn.Sequential(torch.nn.Linear(192, 3))
        model = subject(inner, name="own agent", example=torch.zeros(1, 192), heads={"policy": "policy"})
        model.load_weights(folder / "weights.safetensors")
        return model, CountingWorld()

    def evaluate(count: int | None = None, progress: Any = no_progress) -> Report:
        found = Figure("steps", 1.0, 0.0, 2.0, count or 9)
        return Report("own", ("who",), (("own",),), found)

    package = ModuleType("innerview_zoo.models.own")
    package.MODELS = {"own": Model(load=load, evaluate=evaluate, train=("own.train",))}  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "innerview_zoo.models.own", package)
    monkeypatch.setattr(sys.modules["innerview_zoo.catalogue"], "_FOLDER", tmp_path)
    return folder
