"""Predictions: what one subject says of rows of a recording, kept as a recording is."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from innerview.errors import DamagedPart, StoreError
from innerview.schema import Binding, from_json
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
        told = self.info.arguments
        wrong = [name for name in ("recording", "subject", "digest") if not isinstance(told.get(name), str)]
        if wrong or not isinstance(told.get("keep"), list) or "binding" not in told:
            raise DamagedPart(f"'{MANIFEST}' of predictions '{self.id}' does not say what was predicted.")
        checked_name("recording", told["recording"])

    @property
    def of(self) -> str:
        """Name of the recording."""
        return str(self.info.arguments["recording"])

    @property
    def subject(self) -> str:
        """Name of the subject."""
        return str(self.info.arguments["subject"])

    @property
    def binding(self) -> Binding:
        """Which arrays fed which inputs."""
        return from_json(Binding, self.info.arguments["binding"])

    @property
    def keep(self) -> tuple[str, ...]:
        """Addresses of the sites that were kept."""
        return tuple(self.info.arguments["keep"])

    @property
    def source_rows(self) -> np.ndarray:
        """The recording's row of each row here."""
        return self.columns(["row"])["row"].to_numpy()

    @property
    def is_current(self) -> bool:
        """Whether the recording still holds what was predicted."""
        try:
            recording = Recording(confined(self.folder.parents[1], "recordings", self.of))
        except StoreError:
            return False
        return bool(self.info.arguments["digest"] == recording.digest)


def prediction_id(arguments: dict[str, Any]) -> str:
    """The same recording, subject, binding, rows, sites and edits have the same id."""
    return hashlib.sha256(json.dumps(arguments, sort_keys=True).encode()).hexdigest()[:24]
