"""A lens that goes on from what another found, and what it is told of black and white."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import innerview as iv
from innerview.errors import LensError, UnknownName
from innerview.jobs.context import Context
from innerview.jobs.engine import perform
from innerview.lenses.job import LensJob
from innerview.lenses.look import LensWork, look
from innerview.lenses.rows.inputs import RowInputs
from innerview.lenses.rows.recorded import recorded_rows
from innerview.schema import Setting
from innerview.store import Study
from innerview.testing.worlds import CountingWorld
from tests.rollouts.players import recurrent


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    path = tmp_path_factory.mktemp("results") / "a.study"
    iv.record(path, recurrent(), CountingWorld(), episodes=4, name="x", progress=False)
    return Study.open(path)


def test_factors_that_were_found_are_visualised(study: Study) -> None:
    factors = look(study, "factors", subject=recurrent(), count=2, max_rows=32, steps=2, progress=False)
    watched: list[tuple[int, int | None]] = []
    found = look(
        study,
        "visualise",
        subject=recurrent(),
        factors=factors.id,
        steps=40,
        progress=lambda done, total, message="": watched.append((done, total)),
    )
    assert found.arguments["parameters"]["factors"] == factors.id
    assert [line["unit"] for line in found.value["pictures"]] == [0, 1] and found.value["layer"] == "eye"
    assert study.result_array(found.id, "pictures").shape == (2, 8, 8, 3)
    rows = study.recording("x").rows
    assert watched[-1] == (rows + 40, rows + 40) and not found.provisional


def ask(study: Study, parameters: dict[str, Setting]) -> LensWork:
    asked = LensJob(lens="visualise", recording="x", parameters=parameters)
    return LensWork(asked, Context(study=study, subjects={"tiny": recurrent()}))


def test_while_it_is_visualised_the_pictures_so_far_can_be_seen(study: Study) -> None:
    question = ask(study, {"steps": 64, "count": 1})
    seen: list[bool] = []

    def watch(done: int, total: int | None, message: str = "") -> None:
        if question.id in {line.id for line in study.results(kind="visualise")}:
            seen.append(study.result(question.id).provisional)

    assert not perform(question, watch).provisional
    assert seen and all(seen)


def test_a_result_must_be_there_and_of_the_right_kind(study: Study) -> None:
    other = look(study, "pca", "x", progress=False).id
    with pytest.raises(LensError, match="is of lens 'pca'; one of 'factors' is needed here"):
        ask(study, {"factors": other})
    with pytest.raises(UnknownName, match="nothing"):
        ask(study, {"factors": "nothing"})


@pytest.mark.parametrize("file", ["result.json", "value.*.json", "places.*.npy"])
def test_a_damaged_result_is_computed_anew(study: Study, file: str) -> None:
    kept = look(study, "pca", "x", max_rows=50, progress=False)
    next((study.path / "results" / kept.id).glob(file)).write_bytes(b"{")
    anew = look(study, "pca", "x", max_rows=50, progress=False)
    assert (anew.id, anew.value, anew.arrays) == (kept.id, kept.value, kept.arrays)
    study.check_result(kept.id)
    assert look(study, "pca", "x", max_rows=50, progress=False).created_at == anew.created_at, (
        "read from the study again"
    )


def test_black_and_white_are_reported_as_the_subject_takes_them(study: Study) -> None:
    recording = study.recording("x")
    black, white = recorded_rows(study, recording, np.arange(4), RowInputs(recurrent(), recording)).ends["x"]
    assert black.shape == white.shape == (3, 8, 8)
    assert not black.any() and torch.all(white == 1)
