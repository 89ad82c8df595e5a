"""Signs a study that came from somewhere else: from then on it is decoded like one that this user recorded."""

from __future__ import annotations

from pathlib import Path

from innerview.errors import StoreError
from innerview.store.changes import changing
from innerview.store.check import check
from innerview.store.paths import confined
from innerview.store.predictions import PREDICTIONS
from innerview.store.recordings.damage import recording_folders
from innerview.store.recordings.lock import WRITER_LOCK, WriterLock
from innerview.store.recordings.manifest import load_manifest, save_manifest
from innerview.store.study import Study


def sign(path: Path | str) -> list[str]:
    """Sign every recording and prediction that is not signed here; their names. Nothing of it may be damaged."""
    study = Study.open(path)
    if damaged := check(study.path):
        told = "; ".join(f"{damage.part}: {damage.problem}" for damage in damaged[:3])
        raise StoreError(f"'{study.name}' cannot be signed, for {len(damaged)} of its parts are damaged. {told}")
    return [
        f"{kind}/{name}"
        for kind in ("recordings", PREDICTIONS)
        for name in recording_folders(study.path, kind)
        if _signed_now(confined(study.path, kind, name))
    ]


def _signed_now(folder: Path) -> bool:
    with changing(folder.parents[1]):
        lock = WriterLock(folder / WRITER_LOCK)
    try:
        loaded = load_manifest(folder)
        if loaded.signed:
            return False
        save_manifest(folder, loaded.manifest, signed=True)
        if not load_manifest(folder).signed:
            raise StoreError("There is no key to sign with: the folder for your settings cannot be written to.")
        return True
    finally:
        lock.release()
