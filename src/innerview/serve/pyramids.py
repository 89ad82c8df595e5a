"""Builds pyramids in the background, one after the other."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from innerview.store import Recording
from innerview.store.results.pyramid import Pyramid


class Pyramids:
    """Which pyramids are under way; those that are done lie on disk."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(1, "pyramid")
        self._under_way: dict[tuple[str, str, str], Future[None]] = {}
        self._shares: dict[tuple[str, str, str], float] = {}
        self._elsewhere: Path | None = None
        self._closed = False

    def ask(self, recording: Recording, array: str) -> Pyramid | float:
        """The pyramid, or how much of it is built so far."""
        pyramid = Pyramid(recording, array, root=self._root(recording))
        if pyramid.ready:
            return pyramid
        key = (str(recording.folder), array, recording.digest)
        with self._lock:
            running = self._under_way.get(key)
            if running is None or (running.done() and running.exception() is None and not pyramid.ready):
                self._under_way[key] = self._pool.submit(self._build, pyramid, key)
        if running is not None and running.done() and not pyramid.ready:
            running.result()  # it failed: say why to whoever asks
        return pyramid if pyramid.ready else self._shares.get(key, 0.0)

    def close(self) -> None:
        """Stop what is under way; half a pyramid is thrown away."""
        self._closed = True
        self._pool.shutdown(wait=True, cancel_futures=True)
        if self._elsewhere is not None:
            shutil.rmtree(self._elsewhere, ignore_errors=True)

    def _build(self, pyramid: Pyramid, key: tuple[str, str, str]) -> None:
        def report(share: float) -> bool:
            self._shares[key] = share
            return not self._closed

        pyramid.build(report)
        self._shares.pop(key, None)

    def _root(self, recording: Recording) -> Path | None:
        """A folder of our own where the recording's cannot be written."""
        if os.access(recording.folder, os.W_OK):
            return None
        with self._lock:
            if self._elsewhere is None:
                self._elsewhere = Path(tempfile.mkdtemp(prefix="innerview-"))
        return self._elsewhere / recording.name
