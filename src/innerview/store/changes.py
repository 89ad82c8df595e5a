"""Changes to a study's own files: one after the other, whichever thread or process makes them, so that none is lost.

A recording has one writer and a lock of its own. Everything else that is saved (selections, names, reductions, metrics,
subjects, snapshots, results, episodes that were played) is read, changed and replaced while its study is held.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from innerview.errors import StoreError, StudyBusy
from innerview.store.files import clear_unfinished, json_bytes, replace_file, writing
from innerview.store.locks import FileLock
from innerview.store.paths import confined

WAIT_S = 30.0
"""So long a save waits for others while none of them ends."""
_WORKING, _OWNER = ".working-", "owner.lock"
LOCK, NEXT = "study.lock", "study.next.lock"
_POLL_S = (0.0005, 0.002)

T = TypeVar("T")


@contextmanager
def changing(root: Path) -> Iterator[None]:
    """Hold a study while its own files are changed. Whoever holds it already goes on."""
    key = os.path.realpath(root)
    mine: set[str] = _LOCAL.__dict__.setdefault("held", set())
    if key in mine:
        yield
        return
    line = _line(key)
    if not line.enter(WAIT_S):
        raise _busy(root)
    try:
        held = _turn(root, time.monotonic() + WAIT_S)
        mine.add(key)
        try:
            _clear(root)
            yield
        finally:
            mine.discard(key)
            held.release()
    finally:
        line.leave()


def change_json(
    root: Path, name: str, load: Callable[[], T], change: Callable[[T], T], dump: Callable[[T], Any], *, limit: int
) -> T:
    """Read one of a study's small files, change what it says and replace it; gives what it says now."""
    with changing(root):
        after = change(load())
        content = json_bytes(dump(after))
        if len(content) > limit:
            raise StoreError(f"'{name}' would take {len(content)} bytes; a study keeps at most {limit} there.")
        replace_file(confined(root, name), content, beside=root)
    return after


@contextmanager
def own_folder(root: Path) -> Iterator[Path]:
    """A folder inside a study for long work that nobody sees; it goes afterwards."""
    with changing(root), writing(root):
        folder = Path(tempfile.mkdtemp(prefix=_WORKING, dir=root))
        owner = FileLock(folder / _OWNER)
        owner.acquire()
    try:
        yield folder
    finally:
        with changing(root), writing(root):
            owner.release()
            shutil.rmtree(folder)


def _clear(root: Path) -> None:
    """Remove what killed processes left."""
    clear_unfinished(root)
    for folder in root.glob(f"{_WORKING}*"):
        if FileLock(folder / _OWNER).acquire():
            with writing(folder):
                shutil.rmtree(folder)


class _Line:
    """Threads of this process that want to change one study, in the order in which they came."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[threading.Event] = deque()
        self._served = 0

    def enter(self, timeout_s: float) -> bool:
        """Wait for one's turn; False where nobody's ended for so long."""
        ticket = threading.Event()
        with self._lock:
            self._waiting.append(ticket)
            self._call_first()
        try:
            served = self._served
            while not ticket.wait(timeout_s):
                if served == self._served:
                    self._give_up(ticket)
                    return False
                served = self._served
        except BaseException:
            self._give_up(ticket)
            raise
        return True

    def leave(self) -> None:
        with self._lock:
            self._waiting.popleft()
            self._served += 1
            self._call_first()

    def _give_up(self, ticket: threading.Event) -> None:
        with self._lock:
            self._waiting.remove(ticket)
            self._call_first()

    def _call_first(self) -> None:
        if self._waiting:
            self._waiting[0].set()


def _turn(root: Path, deadline: float) -> FileLock:
    """The lock between processes. One waits at it at a time, so that nobody who comes back at once overtakes."""
    following, held = FileLock(root / NEXT), FileLock(root / LOCK)
    _wait(following, deadline, root)
    try:
        _wait(held, deadline, root)
    finally:
        following.release()
    return held


def _wait(lock: FileLock, deadline: float, root: Path) -> None:
    while not lock.acquire():
        if time.monotonic() > deadline:
            raise _busy(root)
        time.sleep(random.uniform(*_POLL_S))


def _busy(root: Path) -> StudyBusy:
    return StudyBusy(
        f"Nothing could be saved in '{root.name}' for {WAIT_S:.0f} s: process {FileLock(root / LOCK).owner} is saving. "
        "Nothing was changed. Try again, or stop that process if it hangs."
    )


_LINES: dict[str, _Line] = {}
_LINES_LOCK = threading.Lock()
_LOCAL = threading.local()


def _line(key: str) -> _Line:
    with _LINES_LOCK:
        return _LINES.setdefault(key, _Line())


def _begin_anew() -> None:
    # In a forked child: threads that waited are not there any more, and locks stayed with the parent.
    global _LINES_LOCK, _LOCAL
    _LINES_LOCK, _LOCAL = threading.Lock(), threading.local()
    _LINES.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
