"""Looks at everything in a study and names what is damaged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from innerview.errors import DamagedPart, FormatVersionError, StoreError
from innerview.store.annotations.metrics import load_metrics
from innerview.store.annotations.reductions import load_reductions
from innerview.store.annotations.selections import load_selections
from innerview.store.files import read_json
from innerview.store.models.edited import read_edited
from innerview.store.models.snapshots import read_snapshot
from innerview.store.models.weights import read_weights
from innerview.store.paths import confined
from innerview.store.predictions import PREDICTIONS
from innerview.store.recordings.damage import Damage, damage_in_depth, recording_folders
from innerview.store.recordings.manifest import STUDY_FORMAT, check_format, load_manifest
from innerview.store.results.results import check_result
from innerview.store.study import Study


def check(path: Path | str) -> list[Damage]:
    """Everything damaged in a study: versions, manifests, digests of every file, weights and selections."""
    root = Path(path)
    if not (root / "study.json").exists() and not (root / "recordings").is_dir():
        raise StoreError(f"There is no study in '{root}'.")
    try:
        check_format(read_json(root / "study.json"), STUDY_FORMAT, root.name)
    except (DamagedPart, FormatVersionError) as error:
        return [Damage("study.json", str(error))]
    found: list[Damage] = []
    for kind in ("recordings", PREDICTIONS):
        for name in recording_folders(root, kind):
            try:
                folder = confined(root, kind, name)
                found += damage_in_depth(folder, load_manifest(folder))
            except StoreError as error:
                found.append(Damage(f"{kind}/{name}", str(error)))
    return [*found, *_beside_recordings(Study.open(root))]


def _beside_recordings(study: Study) -> Iterator[Damage]:
    """Subjects, snapshots, results, selections and metrics."""
    for card in sorted(study.path.glob("subjects/*/card.json")):
        yield from _tried(study, card, read_edited, study, card.parent.name)
        yield from _weights(study, card)
    for taken in sorted(study.path.glob("snapshots/*/*/snapshot.json")):
        yield from _tried(study, taken, read_snapshot, taken)
        yield from _weights(study, taken)
    for found in sorted(study.path.glob("results/*/result.json")):
        yield from _tried(study, found, check_result, study.path, found.parent.name)
    yield from _tried(study, study.path / "selections.json", load_selections, study)
    yield from _tried(study, study.path / "reductions.json", load_reductions, study.path)
    yield from _tried(study, study.path / "metrics.json", load_metrics, study)


def _weights(study: Study, card: Path) -> Iterator[Damage]:
    path = card.with_name("weights.safetensors")
    return _tried(study, path, read_weights, path)


def _tried(study: Study, part: Path, read: Callable[..., object], *given: object) -> Iterator[Damage]:
    try:
        read(*given)
    except StoreError as error:
        yield Damage(str(part.relative_to(study.path)), str(error))
