"""Reductions and played episodes on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from innerview.errors import DamagedPart, StoreError, UnknownName
from innerview.schema import EditSet, SiteEdit
from innerview.store import KeyedLog, Study, check, export_reductions, import_reductions

HALF = EditSet(name="half · ½", edits=(SiteEdit(elements=(1, 2), op="set", value=0.5, stop=9),), note="by eye")
OTHER = EditSet(name="other", edits=(SiteEdit(elements=(0,), site="gru"),))


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study.create(tmp_path / "a.study")


def test_reductions_are_saved_replaced_and_dropped(study: Study) -> None:
    assert study.reductions() == ()
    study.save_reduction(HALF)
    study.save_reduction(OTHER)
    assert Study.open(study.path).reductions() == (HALF, OTHER)
    newer = EditSet(name=HALF.name, edits=OTHER.edits)
    study.save_reduction(newer)
    assert study.reductions() == (newer, OTHER)
    study.drop_reduction(HALF.name)
    assert study.reductions() == (OTHER,)
    with pytest.raises(UnknownName, match="Did you mean 'other'"):
        study.drop_reduction("othr")


def test_reductions_travel_as_a_file(study: Study, tmp_path: Path) -> None:
    export_reductions([HALF, OTHER], tmp_path / "r.json")
    assert import_reductions(tmp_path / "r.json") == (HALF, OTHER)
    for text in ("[]", '{"format": "other"}', '{"format": "innerview reductions", "version": 1, "reductions": [{}]}'):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(DamagedPart, match=r"bad\.json"):
            import_reductions(tmp_path / "bad.json")
    with pytest.raises(StoreError, match="no file"):
        import_reductions(tmp_path / "none.json")


@pytest.mark.parametrize("name", ["", "   ", "x" * 61, "a\nb", "\x00"])
def test_names_that_cannot_be(study: Study, name: str) -> None:
    with pytest.raises(StoreError, match="cannot name"):
        study.save_reduction(EditSet(name=name, edits=HALF.edits))


def test_an_empty_reduction_is_refused_and_damage_is_reported(study: Study) -> None:
    with pytest.raises(StoreError, match="no edits"):
        study.save_reduction(EditSet(name="nothing", edits=()))
    study.save_reduction(HALF)
    assert check(study.path) == []
    (study.path / "reductions.json").write_text("{")
    assert [damage.part for damage in check(study.path)] == ["reductions.json"]


def test_played_episodes_are_found_again_and_half_a_line_is_played_again(study: Study) -> None:
    setting = {"weights": "a", "world": {"name": "w"}, "greedy": False}
    played = KeyedLog(study, setting)
    assert played.known() == {}
    played.add([{"key": "full 1", "length": 3}, {"key": "full 2", "length": 4}])
    (path,) = (study.path / "played").iterdir()
    with path.open("a") as file:
        file.write('\n{"key": "full 3", "len')
    again = KeyedLog(Study.open(study.path), setting)
    again.add([{"key": "full 2", "length": 5}])
    assert {key: line["length"] for key, line in again.known().items()} == {"full 1": 3, "full 2": 5}
    assert KeyedLog(study, {**setting, "greedy": True}).known() == {}
    with pytest.raises(StoreError, match="JSON"):
        again.add([{"key": "full 4", "length": float("nan")}])
