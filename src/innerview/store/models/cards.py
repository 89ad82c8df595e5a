"""Weights and cards of subjects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from innerview.errors import DamagedPart, StoreError, UnknownName
from innerview.schema import SubjectInfo, from_json, to_json
from innerview.store.changes import changing
from innerview.store.files import make_folder, read_json, replace_json
from innerview.store.models.weights import WEIGHTS, holds_weights, read_weights, save_weights
from innerview.store.paths import checked_name, confined, is_plain_file
from innerview.store.study import Study

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class Card:
    """What is told about a subject."""

    info: SubjectInfo
    text: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


def save_subject(study: Study, card: Card, weights: Mapping[str, Tensor]) -> None:
    """Save a subject's card and weights under its name. The card comes last: without one there is no subject yet."""
    folder = confined(study.path, "subjects", checked_name("subject", card.info.name))
    with changing(study.path):
        if is_plain_file(folder / "card.json") and not holds_weights(folder / WEIGHTS, weights):
            raise StoreError(f"A subject called '{card.info.name}' is saved already. Give this one another name.")
        make_folder(folder)
        save_weights(folder / WEIGHTS, weights, beside=study.path)
        replace_json(folder / "card.json", to_json(card), beside=study.path)


def subjects(study: Study) -> list[str]:
    """Names of the subjects that are kept."""
    return sorted(path.parent.name for path in study.path.glob("subjects/*/card.json"))


def load_card(study: Study, name: str) -> Card:
    """What is told about a subject."""
    return from_json(Card, read_json(subject_folder(study, name) / "card.json"))


def load_weights(study: Study, name: str) -> dict[str, Tensor]:
    """A subject's weights by parameter name."""
    return read_weights(subject_folder(study, name) / WEIGHTS)


def weights_path(study: Study, name: str) -> Path:
    """Where a subject's weights lie."""
    path = subject_folder(study, name) / WEIGHTS
    if not is_plain_file(path):
        raise DamagedPart(f"'{path.name}' is missing in '{path.parent.name}'.")
    return path


def subject_folder(study: Study, name: str) -> Path:
    """The folder of a subject that is kept."""
    folder = confined(study.path, "subjects", checked_name("subject", name))
    if not is_plain_file(folder / "card.json"):
        raise UnknownName("subject", name, subjects(study))
    return folder
