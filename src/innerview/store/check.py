"""Looks at everything in a study and names what is damaged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from innerview.errors import DamagedPart, FormatVersionError, StoreError
from innerview.store.annotations.filters import FILTERS
from innerview.store.annotations.metrics import load_metrics
from innerview.store.annotations.names import load_names
from innerview.store.annotations.reductions import REDUCTIONS
from innerview.store.annotations.selections import load_selections
from innerview.store.files import read_json
from innerview.store.models.cards import CARD as SUBJECT_CARD
from innerview.store.models.cards import Card
from innerview.store.models.edited import read_edited
from innerview.store.models.snapshots import CARD as SNAPSHOT_CARD
from innerview.store.models.snapshots import Snapshot
from innerview.store.models.weights import WEIGHTS, check_weights, read_card
from innerview.store.paths import confined, is_there
from innerview.store.predictions import PREDICTIONS
from innerview.store.recordings.damage import Damage, damage_in_depth, recording_folders
from innerview.store.recordings.manifest import MANIFEST, STUDY_FORMAT, check_format, load_manifest
from innerview.store.results.derived import damaged_derived
from innerview.store.results.keyed_log import FOLDER as LOGS
from innerview.store.results.keyed_log import damaged_lines
from innerview.store.results.pyramid import damaged_pyramids
from innerview.store.results.results import check_result, damaged_results, results_begun
from innerview.store.study import Study

_SAVED: dict[str, Callable[[Study], object]] = {
    "selections.json": load_selections,
    "reductions.json": lambda study: REDUCTIONS.load(study.path),
    "filters.json": lambda study: FILTERS.load(study.path),
    "metrics.json": load_metrics,
    "names.json": lambda study: load_names(study, ""),
}


def check(path: Path | str) -> list[Damage]:
    """Everything damaged in a study: each file is compared with its SHA-256 and read."""
    root = Path(path)
    if not is_there(root / "study.json") and not (root / "recordings").is_dir():
        raise StoreError(f"There is no study in '{root}'.")
    try:
        check_format(read_json(root / "study.json", deep=True), STUDY_FORMAT, root.name)
        study = Study.open(root)
    except (DamagedPart, FormatVersionError) as error:
        return [Damage("study.json", str(error))]
    found = [damage for kind in ("recordings", PREDICTIONS) for damage in _recorded(study, kind)]
    return [*found, *_models(study), *_results(study), *_saved(study)]


def check_at_a_glance(study: Study) -> list[Damage]:
    """What lists leave out because it cannot be read, beside recordings: small files alone are looked at."""
    found: list[Damage] = []
    for id in recording_folders(study.path, PREDICTIONS):
        found += _tried(study, study.path / PREDICTIONS / id, study.prediction, id)
    for card in (*_subject_cards(study), *_snapshot_cards(study)):
        found += _tried(study, card, read_card, Card if card.name == SUBJECT_CARD else Snapshot, card)
    left_out = "It cannot be read. `innerview check` says why."
    found += [Damage(f"results/{result}/result.json", left_out) for result in damaged_results(study.path)]
    for name, load in _SAVED.items():
        found += _tried(study, study.path / name, load, study)
    return found


def _recorded(study: Study, kind: str) -> Iterator[Damage]:
    """Recordings or predictions, with what was made of them."""
    for name in recording_folders(study.path, kind):
        try:
            folder = confined(study.path, kind, name)
            loaded = load_manifest(folder)
            read_json(folder / MANIFEST, deep=True)
            if kind == PREDICTIONS:
                study.prediction(name)
            yield from damage_in_depth(folder, loaded, study.apart)
            for damaged in (damaged_pyramids, damaged_derived):
                yield from (Damage(f"{kind}/{name}/{place}", problem) for place, problem in damaged(folder))
        except StoreError as error:
            yield Damage(f"{kind}/{name}", str(error))


def _models(study: Study) -> Iterator[Damage]:
    """Cards and weights of subjects and snapshots."""
    for card in _subject_cards(study):
        yield from _card(study, Card, card, partial(read_edited, study, card.parent.name))
    for card in _snapshot_cards(study):
        yield from _card(study, Snapshot, card)


def _subject_cards(study: Study) -> list[Path]:
    return _cards(study.path.glob("subjects/*"), SUBJECT_CARD)


def _snapshot_cards(study: Study) -> list[Path]:
    return _cards(study.path.glob("snapshots/*/*"), SNAPSHOT_CARD)


def _cards(folders: Iterable[Path], name: str) -> list[Path]:
    """Cards, also where there is none beside weights, or a link that leads nowhere."""
    return sorted(folder / name for folder in folders if is_there(folder / name) or is_there(folder / WEIGHTS))


def _card(study: Study, kind: type, card: Path, read: Callable[[], object] = lambda: None) -> Iterator[Damage]:
    try:
        confined(study.path, *card.relative_to(study.path).parts)
        _, stamp = read_card(kind, card, deep=True)
        read()
    except StoreError as error:
        yield Damage(str(card.relative_to(study.path)), str(error))
        return
    yield from _tried(study, card.with_name(WEIGHTS), check_weights, card.with_name(WEIGHTS), stamp)


def _results(study: Study) -> Iterator[Damage]:
    """What was computed: results, and lines of what was played for them."""
    for found in results_begun(study.path):
        if is_there(found):
            yield from _tried(study, found, check_result, study.path, found.parent.name)
        else:
            problem = "It is missing: it is gone, or a job was killed while it was saved."
            yield Damage(str(found.relative_to(study.path)), problem)
    for log in sorted(study.path.glob(f"{LOGS}/*.jsonl")):
        if problem := damaged_lines(log):
            yield Damage(str(log.relative_to(study.path)), problem)


def _saved(study: Study) -> Iterator[Damage]:
    """What people saved."""
    for name, load in _SAVED.items():
        path = study.path / name
        if is_there(path):
            yield from _tried(study, path, _read_saved, path, load, study)


def _read_saved(path: Path, load: Callable[[Study], object], study: Study) -> None:
    read_json(path, deep=True)
    load(study)


def _tried(study: Study, part: Path, read: Callable[..., object], *given: object) -> Iterator[Damage]:
    try:
        read(*given)
    except StoreError as error:
        yield Damage(str(part.relative_to(study.path)), str(error))
