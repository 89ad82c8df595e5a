"""Predictions: what one subject says of rows of a recording, kept as a recording is."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from innerview.errors import DamagedPart, StoreError
from innerview.schema import Binding, Edit, from_json
from innerview.store.isolation.process import Apart
from innerview.store.paths import checked_name, confined
from innerview.store.recordings.manifest import MANIFEST
from innerview.store.recordings.recording import Recording

PREDICTIONS = "predictions"


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """What was predicted, as the arguments of a manifest say."""

    recording: str
    digest: str
    subject: str
    identity: str
    binding: Binding
    rows: str
    keep: tuple[str, ...]
    edits: tuple[Edit, ...]


class Predictions(Recording):
    """Heads and asked-for sites of one subject; row by row what `source_rows` says of the recording."""

    def __init__(self, folder: Path, *, apart: Apart | None = None) -> None:
        super().__init__(folder, apart=apart)
        self.id = folder.name
        try:
            self._asked = from_json(_Asked, self.info.arguments)
            checked_name("recording", self._asked.recording)
        except StoreError as error:
            raise DamagedPart(f"'{MANIFEST}' of predictions '{self.id}' does not say of what: {error}") from error

    @property
    def of(self) -> str:
        """Name of the recording."""
        return self._asked.recording

    @property
    def subject(self) -> str:
        """Name of the subject."""
        return self._asked.subject

    @property
    def binding(self) -> Binding:
        """Which arrays fed which inputs."""
        return self._asked.binding

    @property
    def keep(self) -> tuple[str, ...]:
        """Addresses of the sites that were kept."""
        return self._asked.keep

    @property
    def source_rows(self) -> np.ndarray:
        """The recording's row of each row here; they stand in the order of the recording."""
        rows = self.columns(["row"])["row"]
        if rows.null_count() or (rows.diff().drop_nulls() < 1).any() or (rows < 0).any():
            raise DamagedPart(f"The rows of predictions '{self.id}' do not stand in the order of the recording.")
        return rows.to_numpy()

    @property
    def is_current(self) -> bool:
        """Whether the recording still holds what was predicted."""
        try:
            recording = Recording(confined(self.folder.parents[1], "recordings", self.of))
        except StoreError:
            return False
        return bool(self._asked.digest == recording.digest)


def prediction_id(arguments: dict[str, Any]) -> str:
    """The same recording, subject, binding, rows, sites and edits have the same id."""
    return hashlib.sha256(json.dumps(arguments, sort_keys=True).encode()).hexdigest()[:24]
