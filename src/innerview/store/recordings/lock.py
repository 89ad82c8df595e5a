"""One writer a recording."""

from __future__ import annotations

import os
import sys
import weakref
from pathlib import Path

from innerview.errors import StudyBusy
from innerview.store.files import disk_full_explained


class WriterLock:
    """Held while a process writes a recording; the system frees it when the process dies."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o644)
        if not _try_lock(self._descriptor):
            owner = os.pread(self._descriptor, 32, 0).decode("ascii", "replace").strip() or "unknown"
            self.release()
            raise StudyBusy(
                f"Recording '{path.parent.name}' is being written by process {owner}. "
                "Wait for it or stop it, or record under another name. Reading works meanwhile."
            )
        _forget_in_children(self)
        try:
            with disk_full_explained(path):
                os.ftruncate(self._descriptor, 0)
                os.write(self._descriptor, str(os.getpid()).encode())
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Let others write."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _try_lock(descriptor: int) -> bool:
    if sys.platform == "win32":
        import msvcrt

        try:
            os.lseek(descriptor, 1 << 20, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        os.lseek(descriptor, 0, os.SEEK_SET)
        return True
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _forget_in_children(lock: WriterLock) -> None:
    # A forked child inherits the lock; one that outlives us would keep the recording busy.
    if hasattr(os, "register_at_fork"):
        alive = weakref.ref(lock)

        def close() -> None:
            held = alive()
            if held is not None:
                held.release()

        os.register_at_fork(after_in_child=close)
