"""Weights and cards of subjects, and snapshots taken while one was trained. Weights are safetensors, never pickle."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from innerview.errors import DamagedPart, StoreError, UnknownName
from innerview.schema import SubjectInfo, from_json, to_json
from innerview.store.files import read_json, replace_file, replace_json
from innerview.store.paths import checked_name, confined, is_plain_file
from innerview.store.study import Study

if TYPE_CHECKING:
    from torch import Tensor

_WEIGHTS = "weights.safetensors"


@dataclass(frozen=True, kw_only=True)
class Card:
    """What is told about a subject."""

    info: SubjectInfo
    text: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """The weights at one moment of a training run, and what was recorded with them."""

    run: str
    step: int
    recording: str = ""
    created_at: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


def save_subject(study: Study, card: Card, weights: Mapping[str, Tensor]) -> None:
    """Keep a subject's card and weights under its name."""
    folder = confined(study.path, "subjects", checked_name("subject", card.info.name))
    folder.mkdir(parents=True, exist_ok=True)
    _save_weights(folder / _WEIGHTS, weights)
    replace_json(folder / "card.json", to_json(card))


def subjects(study: Study) -> list[str]:
    """Names of the subjects that are kept."""
    return sorted(path.parent.name for path in study.path.glob("subjects/*/card.json"))


def load_card(study: Study, name: str) -> Card:
    """What is told about a subject."""
    return from_json(Card, read_json(subject_folder(study, name) / "card.json"))


def load_weights(study: Study, name: str) -> dict[str, Tensor]:
    """A subject's weights by parameter name."""
    return read_weights(subject_folder(study, name) / _WEIGHTS)


def save_snapshot(study: Study, snapshot: Snapshot, weights: Mapping[str, Tensor]) -> None:
    """Keep weights of a training run; the card comes last, so that a snapshot without one is unfinished."""
    folder = _snapshot_folder(study, snapshot.run, snapshot.step)
    folder.mkdir(parents=True, exist_ok=True)
    _save_weights(folder / _WEIGHTS, weights)
    created = snapshot.created_at or datetime.now(UTC).isoformat(timespec="seconds")
    replace_json(folder / "snapshot.json", to_json(snapshot) | {"created_at": created})


def snapshots(study: Study, run: str | None = None) -> list[Snapshot]:
    """Every snapshot that can be read, by run and step."""
    pattern = f"snapshots/{checked_name('run', run)}/*/snapshot.json" if run else "snapshots/*/*/snapshot.json"
    found = []
    for path in study.path.glob(pattern):
        with suppress(StoreError):  # `check` names it; one that cannot be read must not hide the others
            found.append(read_snapshot(path))
    return sorted(found, key=lambda snapshot: (snapshot.run, snapshot.step))


def read_snapshot(path: Path) -> Snapshot:
    """What a snapshot's file tells."""
    return from_json(Snapshot, read_json(path))


def load_snapshot(study: Study, run: str, step: int) -> dict[str, Tensor]:
    """The weights of a snapshot by parameter name."""
    folder = _snapshot_folder(study, run, step)
    if not is_plain_file(folder / "snapshot.json"):
        raise UnknownName("snapshot", f"{run}/{step}", [f"{s.run}/{s.step}" for s in snapshots(study)])
    return read_weights(folder / _WEIGHTS)


def read_weights(path: Path) -> dict[str, Tensor]:
    """Tensors of a safetensors file; anything else is refused unread."""
    from safetensors import SafetensorError
    from safetensors.torch import load

    if not is_plain_file(path):
        raise DamagedPart(f"'{path.name}' is missing in '{path.parent.name}'.")
    try:
        return load(path.read_bytes())
    except SafetensorError as error:
        raise DamagedPart(
            f"'{path.parent.name}/{path.name}' is not a safetensors file ({error}). Pickled weights are never loaded: "
            "save them with safetensors.torch.save_file."
        ) from error


def _save_weights(path: Path, weights: Mapping[str, Tensor]) -> None:
    from safetensors.torch import save

    # Copies, as safetensors refuses tensors that share storage, which tied weights do.
    replace_file(path, save({name: tensor.detach().cpu().clone() for name, tensor in weights.items()}))


def weights_path(study: Study, name: str) -> Path:
    """Where a subject's weights lie."""
    path = subject_folder(study, name) / _WEIGHTS
    if not is_plain_file(path):
        raise DamagedPart(f"'{path.name}' is missing in '{path.parent.name}'.")
    return path


def subject_folder(study: Study, name: str) -> Path:
    """The folder of a subject that is kept."""
    folder = confined(study.path, "subjects", checked_name("subject", name))
    if not is_plain_file(folder / "card.json"):
        raise UnknownName("subject", name, subjects(study))
    return folder


def _snapshot_folder(study: Study, run: str, step: int) -> Path:
    return confined(study.path, "snapshots", checked_name("run", run), str(int(step)))
