"""Weights and cards of subjects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from innerview.errors import DamagedPart, StoreError, UnknownName
from innerview.schema import SubjectInfo
from innerview.store.changes import changing
from innerview.store.files import file_crc32c, make_folder, plain_stat, replace_file
from innerview.store.models.weights import WEIGHTS, card_bytes, holds_weights, read_card, read_weights, save_weights
from innerview.store.paths import checked_name, confined, is_there
from innerview.store.study import Study

if TYPE_CHECKING:
    from torch import Tensor

CARD = "card.json"


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
        if is_there(folder / CARD) and not holds_weights(folder / WEIGHTS, weights):
            raise StoreError(f"A subject called '{card.info.name}' is saved already. Give this one another name.")
        make_folder(folder)
        stamp = save_weights(folder / WEIGHTS, weights, beside=study.path)
        replace_file(folder / CARD, card_bytes(card, stamp), beside=study.path)


def subjects(study: Study) -> list[str]:
    """Names of the subjects that are kept."""
    return sorted(path.parent.name for path in study.path.glob(f"subjects/*/{CARD}"))


def load_card(study: Study, name: str) -> Card:
    """What is told about a subject."""
    return read_card(Card, subject_folder(study, name) / CARD)[0]


def load_weights(study: Study, name: str) -> dict[str, Tensor]:
    """A subject's weights by parameter name."""
    folder = subject_folder(study, name)
    return read_weights(folder / WEIGHTS, read_card(Card, folder / CARD)[1])


def weights_path(study: Study, name: str) -> Path:
    """Where a subject's weights lie, after a look at whether they are whole."""
    folder = subject_folder(study, name)
    path, stamp = folder / WEIGHTS, read_card(Card, folder / CARD)[1]
    if plain_stat(path)[0] != stamp.size or file_crc32c(path) != stamp.crc32c:
        raise DamagedPart(f"'{name}/{path.name}' was changed after it was written: its checksum does not match.")
    return path


def subject_folder(study: Study, name: str) -> Path:
    """The folder of a subject that is kept."""
    folder = confined(study.path, "subjects", checked_name("subject", name))
    if not is_there(folder / CARD):
        raise UnknownName("subject", name, subjects(study))
    return folder
