"""Where work runs. An engine of another kind needs only `submit` and `close`."""

from __future__ import annotations

import logging
import queue
import threading
import time
import weakref
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from innerview.jobs.shutdown import before_threads_end

log = logging.getLogger(__name__)
CLOSE_S = 10.0
"""So long `close` waits for work to stop."""


class Cancelled(Exception):
    """Somebody asked the work to stop; raised by `progress`, so that work stops where it is safe to."""


class Progress(Protocol):
    """Tells how far the work is; raises Cancelled when it should stop."""

    def __call__(self, done: int, total: int | None, message: str = "") -> None: ...


Run = Callable[[Progress], Any]
"""What an engine runs: it reports its progress and returns what it made."""


class Report(Protocol):
    """What an engine tells about one run of some work."""

    def started(self) -> bool:
        """Say that the work begins; False means it was cancelled while it waited and must not begin."""
        ...

    def progress(self, done: int, total: int | None, message: str = "") -> None: ...

    def finished(self, result: Any) -> None: ...

    def cancelled(self) -> None: ...

    def failed(self, error: BaseException) -> None: ...


class Engine(Protocol):
    """Runs work somewhere and reports on it, in any thread."""

    def submit(self, work: Run, report: Report) -> None: ...

    def close(self) -> None: ...


class LocalEngine:
    """A few threads of this process; work waits in a queue until one is free."""

    def __init__(self, workers: int = 2) -> None:
        self._waiting: queue.SimpleQueue[tuple[Run, Report] | None] = queue.SimpleQueue()
        self._workers = workers
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()

    def submit(self, work: Run, report: Report) -> None:
        """Put the work at the end of the queue."""
        self._waiting.put((work, report))
        with self._lock:
            if len(self._threads) < self._workers:
                # Daemons, so that leaving Python never waits for ever for work that does not look at `progress`.
                thread = threading.Thread(target=self._serve, name=f"job-{len(self._threads)}", daemon=True)
                self._threads.append(thread)
                thread.start()

    def close(self) -> None:
        """Let every thread go once its work has ended, and wait a while for that."""
        with self._lock:
            for _ in self._threads:
                self._waiting.put(None)
            leaving, self._threads = self._threads, []
        _wait_for(leaving)
        _LATE.update(thread for thread in leaving if thread.is_alive())

    def _serve(self) -> None:
        while (item := self._waiting.get()) is not None:
            run_reporting(*item)


_LATE: weakref.WeakSet[threading.Thread] = weakref.WeakSet()
"""Whose work had not stopped in time: they are waited for once more when the process ends."""


def _wait_for(threads: Iterable[threading.Thread]) -> None:
    deadline = time.monotonic() + CLOSE_S
    for thread in threads:
        if thread is not threading.current_thread():
            thread.join(max(0.0, deadline - time.monotonic()))


before_threads_end(lambda: _wait_for([*_LATE]))


def run_reporting(work: Run, report: Report) -> None:
    """Run the work here and now, telling how it went."""
    if not report.started():
        return
    try:
        result = work(report.progress)
    except Cancelled:
        report.cancelled()
    except BaseException as error:
        # The edge of a thread: whatever went wrong belongs to the job, and the thread goes on with the next one.
        log.exception("A job failed.")
        report.failed(error)
    else:
        report.finished(result)
