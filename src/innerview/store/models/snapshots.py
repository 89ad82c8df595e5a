"""Weights of a model at several moments of its training, by run and step."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from innerview.errors import StoreError, UnknownName
from innerview.store.changes import changing
from innerview.store.files import make_folder, replace_file
from innerview.store.models.weights import WEIGHTS, card_bytes, holds_weights, read_card, read_weights, save_weights
from innerview.store.paths import checked_name, confined, is_there

if TYPE_CHECKING:
    from torch import Tensor

CARD = "snapshot.json"


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """The weights at one moment of a training run, and what was recorded with them."""

    run: str
    step: int
    recording: str = ""
    created_at: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def subject(self) -> str:
        """What a subject of this age is called."""
        return f"{self.run} @ {self.step:,} steps"


def save_snapshot(root: Path, snapshot: Snapshot, weights: Mapping[str, Tensor]) -> None:
    """Save weights of a training run; the card comes last, so that a snapshot without one is unfinished."""
    folder = _folder(root, snapshot.run, snapshot.step)
    with changing(root):
        if is_there(folder / CARD) and not holds_weights(folder / WEIGHTS, weights):
            raise StoreError(
                f"Snapshot '{snapshot.subject}' is there already, with other weights. Give this training a name of "
                f"its own: run='{snapshot.run} 2'."
            )
        make_folder(folder)
        stamp = save_weights(folder / WEIGHTS, weights, beside=root)
        created = snapshot.created_at or datetime.now(UTC).isoformat(timespec="seconds")
        replace_file(folder / CARD, card_bytes(replace(snapshot, created_at=created), stamp), beside=root)


def load_snapshots(root: Path, run: str | None = None) -> list[Snapshot]:
    """Every snapshot that can be read, by run and step."""
    pattern = f"snapshots/{checked_name('run', run)}/*/{CARD}" if run else f"snapshots/*/*/{CARD}"
    found = []
    for path in root.glob(pattern):
        with suppress(StoreError):  # `check` names it; one that cannot be read must not hide the others
            found.append(read_snapshot(confined(root, *path.relative_to(root).parts)))
    return sorted(found, key=lambda snapshot: (snapshot.run, snapshot.step))


def read_snapshot(path: Path) -> Snapshot:
    """What a snapshot's card says."""
    return read_card(Snapshot, path)[0]


def snapshot_digest(root: Path, run: str, step: int) -> str:
    """SHA-256 of a snapshot's weights, as its card says."""
    return read_card(Snapshot, _folder(root, run, step) / CARD)[1].sha256


def load_snapshot(root: Path, run: str, step: int) -> tuple[Snapshot, dict[str, Tensor]]:
    """A snapshot and its weights by name."""
    folder = _folder(root, run, step)
    if not is_there(folder / CARD):
        known = load_snapshots(root)
        runs = dict.fromkeys(each.run for each in known)
        if run not in runs:
            raise UnknownName("training run", run, runs)
        steps = [str(each.step) for each in known if each.run == run]
        raise UnknownName(f"step of a snapshot of '{run}'", str(step), steps)
    snapshot, stamp = read_card(Snapshot, folder / CARD)
    return snapshot, read_weights(folder / WEIGHTS, stamp)


def _folder(root: Path, run: str, step: int) -> Path:
    return confined(root, "snapshots", checked_name("run", run), str(int(step)))
