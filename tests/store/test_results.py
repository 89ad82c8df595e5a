"""What lenses found is kept, found again, and refused where it is damaged."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from innerview.errors import DamagedPart, FormatVersionError, StoreError, UnknownName
from innerview.schema import ResultArray
from innerview.store import Study, check

from .samples import forge, record

ARGUMENTS = {"lags": 3, "array": "memory"}


@pytest.fixture
def study(tmp_path: Path) -> Study:
    study = Study.create(tmp_path / "a.study")
    record(study, 74)
    return study


def keep(study: Study, kind: str = "flags", **more: object) -> str:
    settings = {"recording": "run", "arguments": ARGUMENTS, "value": {"best": 7}, "arrays": {"auc": np.eye(3)}} | more
    return study.save_result(kind, **settings).id  # type: ignore[arg-type]


def test_what_was_saved_comes_back(study: Study) -> None:
    made = keep(study)
    again = Study.open(study.path)
    result = again.result(made)
    assert (result.kind, result.recording, result.value) == ("flags", "run", {"best": 7})
    assert result.arrays == {"auc": ResultArray(shape=(3, 3), dtype="float64")}
    assert result.arguments == ARGUMENTS and result.created_at and not result.provisional
    assert np.array_equal(again.result_array(made, "auc"), np.eye(3))
    assert np.array_equal(again.result_array(made, "auc", 1, 2), np.eye(3)[1:2])
    assert again.result_array(made, "auc", 3, 9).shape == (0, 3)
    assert check(study.path) == []


def test_the_same_question_has_the_same_id_and_another_has_another(study: Study) -> None:
    first = keep(study)
    assert keep(study, arguments={"array": "memory", "lags": 3}) == first == study.result_id("flags", "run", ARGUMENTS)
    others = {keep(study, arguments={"lags": 4}), keep(study, kind="strategy")}
    assert len(study.results()) == 3 and first not in others
    record(study, 80, name="longer")
    assert keep(study, recording="longer") not in (first, *others)


def test_results_are_listed_by_kind_and_recording(study: Study) -> None:
    record(study, 40, name="other")
    made = [keep(study), keep(study, kind="strategy"), keep(study, recording="other")]
    assert [r.id for r in study.results()] == made
    assert [r.id for r in study.results(kind="flags")] == [made[0], made[2]]
    assert [r.id for r in study.results("flags", recording="other")] == [made[2]]
    study.drop_result(made[0])
    assert [r.id for r in study.results()] == made[1:]
    with pytest.raises(UnknownName):
        study.result(made[0])


def test_a_provisional_result_is_replaced(study: Study) -> None:
    first = keep(study, provisional=True)
    assert study.result(first).provisional
    assert keep(study, value="whole", arrays={"auc": np.ones(5, np.float32)}) == first
    assert (study.result(first).provisional, study.result(first).value) == (False, "whole")
    assert study.result_array(first, "auc").shape == (5,)


def test_bad_names_and_values_are_refused(study: Study) -> None:
    made = keep(study)
    for wrong in ("../../study", "nothing", "0" * 16, "0" * 15 + "/", ""):
        with pytest.raises(UnknownName, match="result"):
            study.result(wrong)
    with pytest.raises(UnknownName, match="Did you mean 'auc'"):
        study.result_array(made, "aucs")
    with pytest.raises(StoreError, match="not JSON"):
        keep(study, value=float("nan"))
    with pytest.raises(StoreError, match="keeps numbers"):
        keep(study, arrays={"auc": np.array([{}], object)})
    with pytest.raises(StoreError, match="name of a array"):
        keep(study, arrays={"../auc": np.eye(2)})
    with pytest.raises(UnknownName, match="recording"):
        keep(study, recording="nowhere")


def test_damage_is_named_and_hides_nothing_else(study: Study) -> None:
    good, bad, newer = keep(study), keep(study, kind="strategy"), keep(study, kind="pca")
    folder = study.path / "results" / bad
    next(folder.glob("auc.*.npy")).write_bytes(pickle.dumps(np.eye(3)))
    with pytest.raises(DamagedPart, match="auc"):
        study.result_array(bad, "auc")
    head = study.path / "results" / newer / "result.json"
    forge(head, lambda told: told.update(version=99))
    with pytest.raises(FormatVersionError, match="99"):
        study.result(newer)
    assert [r.id for r in study.results()] == [good, bad]
    assert sorted(d.part for d in check(study.path)) == sorted(f"results/{r}/result.json" for r in (bad, newer))


def test_links_out_of_the_study_are_not_followed(study: Study, tmp_path: Path) -> None:
    made = keep(study)
    array = next((study.path / "results" / made).glob("auc.*.npy"))
    array.rename(tmp_path / "auc.npy")
    array.symlink_to(tmp_path / "auc.npy")
    with pytest.raises(DamagedPart):
        study.result_array(made, "auc")
