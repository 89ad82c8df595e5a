"""Edited subjects on disk: what made them is kept with them."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from innerview.errors import DamagedPart, StoreError, UnknownName
from innerview.schema import NamedFactor, SubjectInfo, WeightEdit
from innerview.store import (
    Card,
    Edited,
    Study,
    check,
    drop_edited,
    edited_subjects,
    load_edited,
    load_weights,
    rename_edited,
    save_edited,
    save_subject,
    weights_file,
)

from .samples import forge

EDIT = WeightEdit(
    of="agent",
    layer="conv2",
    after="conv3",
    directions=((0.25, 1.0),),
    result="0" * 16,
    factors=(NamedFactor(index=3, name="saw"),),
    made="2026-01-01T00:00:00+00:00",
)
WEIGHTS = {"conv3.weight": torch.arange(4.0)}


@pytest.fixture
def study(tmp_path: Path) -> Study:
    made = Study.create(tmp_path / "a.study", "a")
    save_subject(made, Card(info=SubjectInfo(name="agent", family="torch")), WEIGHTS)
    return made


def edited(name: str, *history: WeightEdit) -> Edited:
    return Edited(info=SubjectInfo(name=name, family="torch", identity="d"), history=history or (EDIT,))


def test_what_was_saved_is_found_with_its_whole_history_oldest_first(study: Study) -> None:
    again = WeightEdit(
        of="ablated", layer="conv1", after="conv2", directions=((1.0,),), made="2026-02-01T00:00:00+00:00"
    )
    save_edited(study, edited("ablated more", EDIT, again), WEIGHTS)
    save_edited(study, edited("ablated"), WEIGHTS)
    assert [each.name for each in edited_subjects(study)] == ["ablated", "ablated more"]
    found = load_edited(study, "ablated more")
    assert found == edited("ablated more", EDIT, again) and found.root == "agent" and found.last.of == "ablated"
    assert torch.equal(load_weights(study, "ablated")["conv3.weight"], torch.arange(4.0))
    assert weights_file(study, "ablated").name == "weights.safetensors"
    assert check(study.path) == []


def test_names_are_free_or_refused(study: Study) -> None:
    save_edited(study, edited("ablated"), WEIGHTS)
    with pytest.raises(StoreError, match="'ablated' is saved already"):
        save_edited(study, edited("ablated"), WEIGHTS)
    with pytest.raises(StoreError, match="cannot be the name"):
        save_edited(study, edited("../out"), WEIGHTS)
    with pytest.raises(UnknownName, match="Did you mean 'ablated'"):
        load_edited(study, "blnd")
    with pytest.raises(UnknownName, match="edited subject 'agent'"):
        load_edited(study, "agent")


def test_renaming_moves_everything_unless_something_names_it(study: Study) -> None:
    save_edited(study, edited("ablated"), WEIGHTS)
    assert rename_edited(study, "ablated", "without saws").name == "without saws"
    assert [each.name for each in edited_subjects(study)] == ["without saws"]
    assert torch.equal(load_weights(study, "without saws")["conv3.weight"], torch.arange(4.0))
    with pytest.raises(StoreError, match="'agent' is saved already"):
        rename_edited(study, "without saws", "agent")
    save_edited(study, edited("twice", EDIT, WeightEdit(of="without saws", layer="a", after="b", directions=())), {})
    with pytest.raises(StoreError, match="'twice' was made with it"):
        rename_edited(study, "without saws", "other")


def test_dropping_leaves_the_original(study: Study) -> None:
    save_edited(study, edited("ablated"), WEIGHTS)
    drop_edited(study, "ablated")
    assert edited_subjects(study) == [] and not (study.path / "subjects" / "ablated").exists()
    with pytest.raises(UnknownName):
        drop_edited(study, "agent")
    assert (study.path / "subjects" / "agent" / "card.json").exists()


def test_a_damaged_history_is_named_and_hides_no_other(study: Study) -> None:
    save_edited(study, edited("ablated"), WEIGHTS)
    save_edited(study, edited("broken"), WEIGHTS)
    card = study.path / "subjects" / "broken" / "card.json"
    forge(card, lambda told: told["facts"].update(history="yesterday"))
    assert [each.name for each in edited_subjects(study)] == ["ablated"]
    with pytest.raises(DamagedPart, match="history of subject 'broken'"):
        load_edited(study, "broken")
    assert [damage.part for damage in check(study.path)] == ["subjects/broken/card.json"]
