"""Columns that were made from recorded ones and take long to make again, kept beside the recording.

They may be deleted at any time. They are no part of what was recorded, so nothing here counts as damage.
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from innerview.errors import StoreError
from innerview.store.changes import changing
from innerview.store.files import make_folder, read_json, replace_file
from innerview.store.paths import confined, is_plain_file
from innerview.store.recordings.recording import Recording

FOLDER = "derived"
log = logging.getLogger(__name__)


class DerivedCache:
    """What was made from one version of a recording, in pieces."""

    def __init__(self, recording: Recording) -> None:
        self._root, self._study = recording.folder, recording.folder.parents[1]
        self._version = hashlib.sha256(recording.digest.encode()).hexdigest()[:16]

    def load(self, key: str, piece: int, rows: int) -> np.ndarray | None:
        """A piece that was kept under that key; None where it was not, or is not as it should be."""
        path = self._path(key, f"{piece}.npy")
        if not is_plain_file(path):
            return None
        try:
            found: np.ndarray = np.load(path, allow_pickle=False)
        except (OSError, ValueError, EOFError):
            return None  # half a file or another one: it is made again
        return found if found.shape == (rows,) else None

    def save(self, key: str, piece: int, values: np.ndarray) -> None:
        """Keep a piece. Where the study cannot be written to, it is made again next time."""
        content = io.BytesIO()
        np.lib.format.write_array(content, values, allow_pickle=False)
        self._write(key, f"{piece}.npy", content.getvalue())

    def load_json(self, key: str) -> Any:
        """A value that was kept under that key, or None."""
        path = self._path(key, "json")
        if not is_plain_file(path):
            return None
        try:
            return read_json(path)
        except StoreError:
            return None  # it is made again

    def save_json(self, key: str, value: Any) -> None:
        """Keep a small value."""
        self._write(key, "json", json.dumps(value).encode())

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
