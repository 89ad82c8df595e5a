"""Subjects whose weights were edited: kept beside the others, with a history that says how they were made."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from innerview.errors import DamagedPart, StoreError, UnknownName
from innerview.schema import SubjectInfo, WeightEdit, from_json, to_json
from innerview.store.changes import changing
from innerview.store.files import remove_folder
from innerview.store.models.cards import (
    Card,
    load_card,
    load_weights,
    save_subject,
    subject_folder,
    subjects,
    weights_path,
)
from innerview.store.paths import checked_name, confined
from innerview.store.study import Study

if TYPE_CHECKING:
    from torch import Tensor

_HISTORY = "history"


@dataclass(frozen=True, kw_only=True)
class Edited:
    """A subject and how it came about, oldest edit first."""

    info: SubjectInfo
    history: tuple[WeightEdit, ...]

    @property
    def name(self) -> str:
        """What it is called."""
        return self.info.name

    @property
    def last(self) -> WeightEdit:
        """The edit that made it."""
        return self.history[-1]

    @property
    def root(self) -> str:
        """The subject that the first edit was made to."""
        return self.history[0].of


def edited_subjects(study: Study) -> list[Edited]:
    """Every edited subject that can be read, oldest first."""
    found = []
    for name in subjects(study):
        with suppress(StoreError):  # `check` names it; one that cannot be read must not hide the others
            edited = read_edited(study, name)
            found += [edited] if edited else []
    return sorted(found, key=lambda each: (each.last.made, each.name))


def load_edited(study: Study, name: str) -> Edited:
    """One edited subject."""
    found = read_edited(study, name) if name in subjects(study) else None
    if found is None:
        raise UnknownName("edited subject", name, [each.name for each in edited_subjects(study)])
    return found


def read_edited(study: Study, name: str) -> Edited | None:
    """A subject's history, where it has one."""
    card = load_card(study, name)
    told: Any = card.facts.get(_HISTORY)
    if told is None:
        return None
    if not isinstance(told, list) or not told:
        raise DamagedPart(f"The history of subject '{name}' is not a list of edits.")
    return Edited(info=card.info, history=tuple(from_json(WeightEdit, line) for line in told))


def save_edited(study: Study, edited: Edited, weights: Mapping[str, Tensor]) -> None:
    """Keep an edited subject under its name, which must be free."""
    with changing(study.path):
        if edited.name in subjects(study):
            raise StoreError(f"A subject called '{edited.name}' is saved already. Give this one another name.")
        save_subject(study, Card(info=edited.info, facts={_HISTORY: to_json(edited.history)}), weights)


def drop_edited(study: Study, name: str) -> None:
    """Remove an edited subject; what was recorded and tested with it stays."""
    with changing(study.path):
        load_edited(study, name)
        remove_folder(subject_folder(study, name), beside=study.path)


def rename_edited(study: Study, name: str, wanted: str) -> Edited:
    """Give it another name, as long as nothing in the study calls it by the old one."""
    checked_name("subject", wanted)
    with changing(study.path):
        edited = load_edited(study, name)
        return edited if wanted == name else _rename(study, edited, wanted)


def _rename(study: Study, edited: Edited, wanted: str) -> Edited:
    name = edited.name
    users = [f"recording '{each}'" for each in _recorded_with(study, name)]
    users += [f"'{each.name}'" for each in edited_subjects(study) if each.last.of == name]
    if users:
        raise StoreError(f"'{name}' cannot be renamed: {', '.join(users[:5])} was made with it and names it.")
    renamed = replace(edited, info=replace(edited.info, name=wanted))
    card = replace(load_card(study, name), info=renamed.info)
    if wanted in subjects(study) and load_card(study, wanted) != card:  # else it was killed after it had saved it
        raise StoreError(f"A subject called '{wanted}' is saved already. Choose another name.")
    save_subject(study, card, load_weights(study, name))
    remove_folder(confined(study.path, "subjects", name), beside=study.path)
    return renamed


def weights_file(study: Study, name: str) -> Path:
    """Where the weights of an edited subject lie."""
    load_edited(study, name)
    return weights_path(study, name)


def _recorded_with(study: Study, name: str) -> list[str]:
    found = []
    for recording in study.recordings():
        subject = study.recording(recording).info.subject
        found += [recording] if subject is not None and subject.name == name else []
    return found
