"""Locks on files: the system holds them, so that a process that is killed frees its own."""

from __future__ import annotations

import os
import sys
import weakref
from contextlib import suppress
from pathlib import Path

from innerview.store.files import writing

_OWNER_BYTES = 16


class FileLock:
    """One process at a time, and one thread of it; works between all that see the same local disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    def acquire(self) -> bool:
        """Take the lock, unless somebody has it."""
        while True:
            with writing(self.path):
                flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
                descriptor = os.open(self.path, flags, 0o644)
                try:
                    taken = _lock(descriptor)
                    if taken and _is_still_there(self.path, descriptor):
                        with suppress(OSError):  # on a full disk it is held all the same, by somebody unknown
                            os.lseek(descriptor, 0, os.SEEK_SET)
                            os.write(descriptor, f"{os.getpid():<{_OWNER_BYTES}}".encode())
                        self._descriptor, descriptor = descriptor, -1
                        _HELD.add(self)
                        return True
                finally:
                    if descriptor >= 0:
                        os.close(descriptor)
            if not taken:
                return False
            # Somebody removed the file meanwhile: the lock on it keeps nobody out.

    def release(self) -> None:
        """Let others have it."""
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            _HELD.discard(self)
            _unlock(descriptor)  # a child that was forked at this moment has it open, too
            os.close(descriptor)

    @property
    def owner(self) -> str:
        """Number of the process that took it last."""
        try:
            with self.path.open("rb") as file:
                return file.read(_OWNER_BYTES).decode("ascii", "replace").strip() or "unknown"
        except OSError:
            return "unknown"

    def forget(self) -> None:
        """In a forked child: the lock stays with the parent."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _lock(descriptor: int) -> bool:
    if sys.platform == "win32":
        import msvcrt

        try:
            os.lseek(descriptor, 1 << 20, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _unlock(descriptor: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        os.lseek(descriptor, 1 << 20, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
        return
    import fcntl

    fcntl.flock(descriptor, fcntl.LOCK_UN)


def _is_still_there(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.lstat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


_HELD: weakref.WeakSet[FileLock] = weakref.WeakSet()


def _forget_all() -> None:
    # A child that outlives its parent would keep others out.
    for lock in [*_HELD]:
        lock.forget()
    _HELD.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
