"""Where work runs, part by part. An engine of another kind needs only `submit` and `close`."""

from __future__ import annotations

import logging
import queue
import threading
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from innerview.jobs.shutdown import before_threads_end
from innerview.schema import Watch

log = logging.getLogger(__name__)
CLOSE_S = 10.0
"""So long `close` waits for work to stop."""


class Cancelled(Exception):
    """Somebody asked the work to stop; raised by `progress`, so that work stops where it is safe to."""


class Progress(Protocol):
    """Tells how far the work is; raises Cancelled when it should stop."""

    def __call__(self, done: int, total: int | None, message: str = "") -> None: ...


class PartedWork(ABC):
    """What an engine runs. Parts are data, and so is what they give: they can be run anywhere the work is made again.

    `parts` says what can be run next, given what all parts before gave, in their order: work that depends on what it
    found comes in rounds, and there is an end when no part is left. Parts of one round do not need each other.
    """

    def answered(self) -> Any:
        """The end of it, where that is known already; else None."""
        return None

    def left(self) -> Sequence[Any]:
        """What parts gave before the work was stopped, where that is known."""
        return ()

    def parts(self, given: Sequence[Any]) -> Sequence[Any]:
        """The next parts; one alone where the work cannot be split, such as rows that have one writer."""
        return () if given else (None,)

    @abstractmethod
    def run(self, part: Any, watch: Watch) -> Any:
        """Do one part."""

    def show_so_far(self, given: Sequence[Any], part: Any = None) -> None:
        """Show what there is after every part, and what one has given so far."""
        return  # what is written row by row is seen as it grows

    def stopped(self, given: Sequence[Any]) -> None:
        """Keep what parts gave, where the work is stopped after them and they have not kept it themselves."""
        return

    def merge(self, given: Sequence[Any]) -> Any:
        """What parts gave, as one."""
        return given[0]

    def finish(self, given: Sequence[Any]) -> Any:
        """The end of it, once all parts gave theirs."""
        return self.merge(given)


def perform(work: PartedWork, progress: Progress) -> Any:
    """Do all of it here, part after part."""
    if (known := work.answered()) is not None:
        return known
    given = list(work.left())
    try:
        while parts := work.parts(given):
            for part in parts:
                given.append(work.run(part, _Watching(work, given, progress)))
                work.show_so_far(given)
    except (Cancelled, KeyboardInterrupt):
        work.stopped(given)
        raise
    return work.finish(given)


@dataclass(frozen=True)
class _Watching:
    """Passes on the progress of one part, and shows what it has given so far."""

    work: PartedWork
    given: Sequence[Any]
    progress: Progress

    def __call__(self, done: int, total: int | None, message: str = "", so_far: Any = None) -> None:
        if so_far is not None:
            self.work.show_so_far(self.given, so_far)
        self.progress(done, total, message)


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

    def submit(self, work: PartedWork, report: Report) -> None: ...

    def close(self) -> None: ...


class LocalEngine:
    """A few threads of this process; work waits in a queue until one is free."""

    def __init__(self, workers: int = 2) -> None:
        self._waiting: queue.SimpleQueue[tuple[PartedWork, Report] | None] = queue.SimpleQueue()
        self._workers = workers
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()

    def submit(self, work: PartedWork, report: Report) -> None:
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


def run_reporting(work: PartedWork, report: Report) -> None:
    """Run the work here and now, telling how it went."""
    if not report.started():
        return
    try:
        result = perform(work, report.progress)
    except Cancelled:
        report.cancelled()
    except BaseException as error:
        # The edge of a thread: whatever went wrong belongs to the job, and the thread goes on with the next one.
        log.exception("A job failed.")
        report.failed(error)
    else:
        report.finished(result)
