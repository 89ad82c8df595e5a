"""One writer a recording."""

from __future__ import annotations

from pathlib import Path

from innerview.errors import StudyBusy
from innerview.store.locks import FileLock

WRITER_LOCK = "writer.lock"


class WriterLock:
    """Held while a process writes a recording."""

    def __init__(self, path: Path) -> None:
        self._lock = FileLock(path)
        if not self._lock.acquire():
            raise StudyBusy(
                f"Recording '{path.parent.name}' is being written by process {self._lock.owner}. "
                "Wait for it or stop it, or record under another name. Reading works meanwhile."
            )

    def release(self) -> None:
        """Let others write."""
        self._lock.release()
