"""Named filters on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from innerview.errors import InnerviewError, StoreError, UnknownName
from innerview.schema import SavedFilter
from innerview.store import Study, check

DAY = SavedFilter(name="day · ½", steps="brightness 2 | temperature -0.1", note="by eye")


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study.create(tmp_path / "a.study")


def test_filters_are_saved_replaced_and_dropped(study: Study) -> None:
    other = SavedFilter(name="other", steps="blur 1")
    study.save_filter(DAY)
    study.save_filter(other)
    assert Study.open(study.path).filters() == (DAY, other)
    study.save_filter(SavedFilter(name="other", steps="blur 2"))
    assert study.filters()[1].steps == "blur 2"
    study.drop_filter(DAY.name)
    assert [made.name for made in study.filters()] == ["other"]
    with pytest.raises(UnknownName, match="Did you mean 'other'"):
        study.drop_filter("othr")
    assert check(study.path) == []


@pytest.mark.parametrize("name", ["", "  ", "x" * 61, "a\nb", "a | b"])
def test_names_that_cannot_be(study: Study, name: str) -> None:
    with pytest.raises(StoreError, match="cannot name"):
        study.save_filter(SavedFilter(name=name, steps="blur 1"))


@pytest.mark.parametrize("steps", ["", "resize 4x4", "blur 99", "blur"])
def test_only_filters_are_saved(study: Study, steps: str) -> None:
    with pytest.raises(InnerviewError):
        study.save_filter(SavedFilter(name="a", steps=steps))
    assert study.filters() == ()


def test_a_damaged_file_is_named(study: Study) -> None:
    study.save_filter(DAY)
    path = study.path / "filters.json"
    path.write_text(path.read_text("utf-8").replace("brightness 2", "brightness 3"), encoding="utf-8")
    (damage,) = check(study.path)
    assert damage.part == "filters.json"
