"""Recordings that are open: each is read again only when it changed, whoever asks for it."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from innerview.lenses.columns.derived import Derived, usable_metrics
from innerview.store import Damage, Recording, Study, metrics_digest

LOOK_AGAIN_S = 10.0


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A recording and what its manifest file looked like just before it was read."""

    recording: Recording
    stamp: tuple[int, int, int]
    _looked: list[tuple[float, list[Damage]]] = field(default_factory=list)
    _derived: dict[str, Derived] = field(default_factory=dict)

    @property
    def etag(self) -> str:
        """Changes whenever the recording does."""
        return self.recording.digest

    def damage(self) -> list[Damage]:
        """What is damaged at a glance; looked up again after a while, since a long recording has thousands of files."""
        now = time.monotonic()
        if not self._looked or now - self._looked[-1][0] > LOOK_AGAIN_S:
            self._looked[:] = [(now, self.recording.damage)]
        return self._looked[-1][1]

    def derived(self, study: Study) -> Derived:
        """Its columns with those made from them, by the study's metrics as they stand now."""
        metrics = usable_metrics(study)
        key = metrics_digest(metrics)
        if key not in self._derived:
            self._derived.clear()
            self._derived[key] = Derived(self.recording, metrics)
        return self._derived[key]


class Openings:
    """The open recordings of a study, by name."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._opened: dict[str, Opened] = {}
        self._lock = threading.Lock()

    def recording(self, name: str) -> Recording:
        """The recording itself."""
        return self.open(name).recording

    def open(self, name: str) -> Opened:
        """The recording as it is on disk now; read again only when its manifest was replaced."""
        with self._lock:
            kept = self._opened.get(name)
        if kept is not None and kept.stamp == _stamp(kept.recording.folder):
            return kept
        recording = self._study.recording(name)
        opened = Opened(recording=recording, stamp=_stamp(recording.folder))
        recording.refresh()  # at least as new as the stamp: a manifest replaced meanwhile is seen now or next time
        with self._lock:
            self._opened[name] = opened
        return opened


def _stamp(folder: Path) -> tuple[int, int, int]:
    try:
        found = (folder / "manifest.json").stat()
    except OSError:  # what is wrong with it is told by whoever reads it
        return (0, 0, 0)
    return (found.st_ino, found.st_mtime_ns, found.st_size)
