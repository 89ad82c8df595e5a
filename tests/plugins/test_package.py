"""A package of plug-in lenses, a world, a model and an adapter works in Python and in the terminal, with no other file
touched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional
from typer.testing import CliRunner

import innerview as iv
from innerview.cli import app
from innerview.cli.make import load_subject
from innerview.lenses.discovery import all_lenses
from innerview.lenses.look import run_lens
from innerview.schema import Heat
from innerview.testing.lens_subjects import lens_cases
from innerview.testing.lenses import check_lens
from innerview.testing.subjects.check import check_subject
from innerview.testing.world_check import check_world
from tests.plugins.installed import LENSES, PACKAGE, installed

SEEING = ["lstm", "dueling", "functional relu", "in-place relu", "frame stack", "dict", "attention"]


@pytest.fixture(autouse=True, scope="module")
def package() -> Iterator[None]:
    with installed():
        yield


@pytest.fixture(scope="module")
def study(package: None, tmp_path_factory: pytest.TempPathFactory) -> iv.Study:
    subject, world = load_subject("sample:watcher")
    path = tmp_path_factory.mktemp("plugins") / "lamps.study"
    iv.record(path, subject, world, episodes=3, name="lamps", progress=False)
    return iv.Study.open(path)


def subject() -> Any:
    return load_subject("sample:watcher")[0]


def test_there_is_one_lens_of_each_type_in_at_most_sixty_lines() -> None:
    known = {name: looking.lens.yields for name, looking in all_lenses() if name in LENSES}
    assert known == LENSES and len(set(LENSES.values())) == 7
    for name in LENSES:
        assert len((PACKAGE / "innerview_sample" / f"{name}.py").read_text("utf-8").splitlines()) <= 60


@pytest.mark.parametrize("name", sorted(LENSES))
def test_each_keeps_what_lenses_promise_on_every_subject_it_fits(name: str) -> None:
    checked = check_lens(name)
    wanted = {"restless": ["planted memory"]}.get(name, SEEING)
    assert list(checked)[: len(wanted)] == wanted


@pytest.mark.parametrize("name", ["functional relu", "in-place relu"])
def test_guided_backpropagation_is_what_it_is_by_hand(name: str) -> None:
    case = next(case for case in lens_cases() if case.name == name)
    heat = run_lens(all_lenses().get("rectified"), case.rows, case.subject, {"target": "value"})
    assert isinstance(heat, Heat)
    module: Any = case.subject.module
    (given,) = case.rows.inputs(np.arange(case.rows.count)).values()
    before = functional.conv2d(given, module.see.weight, module.see.bias, stride=2, padding=1)
    back = module.value.weight.view(1, 4, 4, 4).clamp_min(0) * (before > 0)
    wanted = functional.conv_transpose2d(back, module.see.weight, stride=2, padding=1, output_padding=1)
    (got,) = heat.heat.values()
    torch.testing.assert_close(torch.as_tensor(got), wanted.detach(), atol=1e-5, rtol=1e-4)
    assert (got < 0).any(), "signed, as the first convolution has weights of both signs"


@pytest.mark.parametrize("name", sorted(LENSES))
def test_each_runs_in_python_and_is_saved_by_type(study: iv.Study, name: str) -> None:
    needs_model = all_lenses().get(name).lens.runs_subject
    chosen = np.array([1, 2, 5, 20, 21, 30])
    made = iv.look(study, name, rows=chosen, subject=subject() if needs_model else None, progress=False)
    kept = study.result(made.id)
    assert kept.type == LENSES[name] and kept.arguments["rows"] == [[1, 3], [5, 6], [20, 22], [30, 31]]
    if kept.type in ("heat", "layout", "per row"):
        assert study.result_array(made.id, "rows").tolist() == chosen.tolist()


@pytest.mark.parametrize("name", sorted(LENSES))
def test_each_runs_in_the_terminal(study: iv.Study, name: str) -> None:
    words = ["--subject", "sample:watcher"] if all_lenses().get(name).lens.runs_subject else []
    result = CliRunner().invoke(app, ["lens", name, str(study.path), "--rows", "0:4", "--rows", "10:12", *words])
    assert result.exit_code == 0, (result.output, result.exception)
    said = {
        "brightest": "mean brightness",
        "columns": "reward",
        "depth": "see",
        "rectified": "6 × 3 × 8 × 8",
        "restless": "mean step",
        "said": "6 rows",
        "surety": "margin",
    }
    assert said[name] in result.output and "Saved as result" in result.output


def test_the_terminal_refuses_rows_that_are_none(study: iv.Study) -> None:
    result = CliRunner().invoke(app, ["lens", "columns", str(study.path), "--rows", "4"])
    assert result.exit_code and "START:STOP" in f"{result.output} {result.exception}"


def test_a_lens_that_lacks_something_says_so(study: iv.Study, tmp_path: Path) -> None:
    iv.write_rows(study, "plain", columns={"x_m": [1.0, 2.0]})
    with pytest.raises(iv.errors.LensError, match="needs memory"):
        iv.look(study, "restless", "plain")
    with pytest.raises(iv.errors.LensError, match="no model is loaded"):
        iv.look(study, "rectified", "lamps")


def test_the_world_and_the_model_are_found_by_name(study: iv.Study) -> None:
    assert iv.world("lamps").info.actions is not None
    assert study.recording("lamps").info.subject is not None
    assert study.recording("lamps").rows == 36


def test_the_world_and_the_model_keep_what_they_promise() -> None:
    made, world = load_subject("sample:watcher")
    assert check_subject(made).name and check_world(world).name == "Lamps"


def test_a_model_of_another_library_is_adapted_by_its_package() -> None:
    from innerview_sample.adapter import TableAgent

    adapted = iv.subject(TableAgent(np.array([[1.0, 2.0], [3.0, 4.0]])), actions=("left", "right"))
    assert adapted.info.name == "table" and adapted.info.heads[0].names == ("left", "right")
    output = adapted.run({"seen": torch.tensor([[1.0, 1.0]])})
    assert output.heads["q"].tolist() == [[3.0, 7.0]]
    with pytest.raises(iv.errors.SubjectError, match=r"not dict.*innerview\.adapters: sample\)"):
        iv.subject({"weights": 1})


def test_a_model_is_named_by_its_package_or_by_a_function() -> None:
    for text in ("sample:watcher", "innerview_sample.model:make_subject"):
        assert iv.subject(text).info.name == "watcher" and iv.subject(text, name="mine").info.name == "mine"
        assert load_subject(text)[0].info.name == "watcher"
    example = torch.zeros(1, 3, 8, 8)
    assert iv.subject("innerview_sample.model:make_module", example=example, name="mine").info.name == "mine"
    with pytest.raises(iv.errors.SubjectError, match="is a subject already; it takes a name, and no example"):
        iv.subject("sample:watcher", example=example)


@pytest.mark.parametrize("ask", [iv.subject, load_subject])
def test_a_name_that_nothing_answers_to_is_told_the_nearest(ask: Any) -> None:
    for text, near in {
        "sample:wacher": "'watcher'",
        "sampel:watcher": "'sample'",
        "sampl": "'sample'",
        "innerview_sample.model:mak_module": "'make_module'",
    }.items():
        with pytest.raises(iv.UnknownName, match=f"Did you mean {near}"):
            ask(text)
