"""Columns that were made from recorded ones and take long to make again, kept beside the recording.

They may be deleted at any time: what is damaged here is made again. Each file ends with its CRC32C.
"""

from __future__ import annotations

import hashlib
import io
import logging
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from innerview.errors import StoreError
from innerview.store.changes import changing
from innerview.store.files import json_bytes, make_folder, read_json, read_plain, replace_file
from innerview.store.paths import confined
from innerview.store.recordings.arrays.codecs import checksum
from innerview.store.recordings.recording import Recording

FOLDER = "derived"
_HEAD_BYTES, _MAX_ITEM_BYTES = 4096, 8
_LIMIT = 1 << 30
log = logging.getLogger(__name__)


def damaged_derived(folder: Path) -> Iterator[tuple[str, str]]:
    """Files of a recording's cache that are not what was written, by path inside the recording, and why."""
    inside = confined(folder, FOLDER)
    for path in sorted(inside.rglob("*")) if inside.is_dir() else ():
        place = path.relative_to(folder).as_posix()
        if path.suffix == ".json":
            try:
                read_json(path, deep=True)
            except StoreError as error:
                yield place, str(error)
        elif path.suffix == ".npy" and _whole(path, limit=_LIMIT) is None:
            yield place, "It was changed after it was written: its checksum (CRC32C) does not match."


def _whole(path: Path, *, limit: int) -> bytes | None:
    """The content of a file that ends with its CRC32C, without it; None where it is not there or does not fit."""
    try:
        content = read_plain(path, limit=limit)
    except StoreError:
        return None
    return content[:-4] if checksum(content[:-4]) == content[-4:] else None


class DerivedCache:
    """What was made from one version of a recording, in pieces."""

    def __init__(self, recording: Recording) -> None:
        self._root, self._study = recording.folder, recording.folder.parents[1]
        self._version = hashlib.sha256(recording.digest.encode()).hexdigest()[:16]

    def load(self, key: str, piece: int, rows: int) -> np.ndarray | None:
        """A piece that was kept under that key; None where it was not, or is not as it should be."""
        content = _whole(self._path(key, f"{piece}.npy"), limit=_HEAD_BYTES + rows * _MAX_ITEM_BYTES)
        if content is None:
            return None  # half a file or another one: it is made again
        try:
            found: np.ndarray = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
        except (ValueError, EOFError, TypeError, MemoryError):
            return None
        return found if found.shape == (rows,) else None

    def save(self, key: str, piece: int, values: np.ndarray) -> None:
        """Keep a piece. Where the study cannot be written to, it is made again next time."""
        content = io.BytesIO()
        np.lib.format.write_array(content, values, allow_pickle=False)
        self._write(key, f"{piece}.npy", content.getvalue() + checksum(content.getvalue()))

    def load_json(self, key: str) -> Any:
        """A value that was kept under that key, or None."""
        try:
            return read_json(self._path(key, "json")).get("value")
        except StoreError:
            return None  # it is made again

    def save_json(self, key: str, value: Any) -> None:
        """Keep a small value."""
        self._write(key, "json", json_bytes({"value": value}))

    def _write(self, key: str, ending: str, content: bytes) -> None:
        path = self._path(key, ending)
        try:
            with changing(self._study):
                if not path.parent.is_dir():
                    self._begin(path.parent)
                replace_file(path, content, durable=False, beside=self._study)
        except StoreError as error:
            log.info("'%s' could not be saved beside the recording: %s", path.name, error)

    def _begin(self, folder: Path) -> None:
        """A folder for this version; those of earlier ones are of no use any more."""
        for old in confined(self._root, FOLDER).glob("*"):
            shutil.rmtree(confined(self._root, FOLDER, old.name), ignore_errors=True)
        make_folder(folder)

    def _path(self, key: str, ending: str) -> Path:
        name = hashlib.sha256(key.encode()).hexdigest()[:24]
        return confined(self._root, FOLDER, self._version, f"{name}.{ending}")
