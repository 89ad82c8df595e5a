"""Predictions: what one subject says of rows of a recording, kept as a recording is."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

from innerview.errors import DamagedPart, StoreError
from innerview.schema import Binding, PredictedFrom, RecordingInfo, to_json
from innerview.store.isolation.process import Apart
from innerview.store.paths import checked_name, confined
from innerview.store.recordings.manifest import MANIFEST
from innerview.store.recordings.recording import Recording

PREDICTIONS = "predictions"


class Predictions(Recording):
    """Heads and asked-for sites of one subject; row by row what `source_rows` says of the recording."""

    def __init__(self, folder: Path, *, apart: Apart | None = None) -> None:
        super().__init__(folder, apart=apart)
        self.id = folder.name
        self._asked = self._checked()

    def _checked(self) -> PredictedFrom:
        told = f"'{MANIFEST}' of predictions '{self.id}' does not say of what"
        if not isinstance(self.info.arguments, PredictedFrom):
            raise DamagedPart(f"{told}: its origin is '{self.info.origin.kind}'.")
        try:
            checked_name("recording", self.info.arguments.recording)
        except StoreError as error:
            raise DamagedPart(f"{told}: {error}") from error
        return self.info.arguments

    @property
    def of(self) -> str:
        """Name of the recording."""
        return self._asked.recording

    @property
    def subject(self) -> str:
        """Name of the subject."""
        return self.info.subject.name if self.info.subject else ""

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


def prediction_id(info: RecordingInfo) -> str:
    """The same recording, subject, binding, rows, sites and edits have the same id."""
    who = (info.subject.name, info.subject.identity) if info.subject else ()
    asked = json.dumps([*who, to_json(info.arguments)], sort_keys=True)
    return hashlib.sha256(asked.encode()).hexdigest()[:24]
