"""Jobs: everything that can run long, with progress, cancel and resume."""

from __future__ import annotations

import logging
import threading
import time
import uuid
import weakref
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from innerview.errors import InnerviewError, JobError, UnknownName
from innerview.jobs.context import Context
from innerview.jobs.engine import Cancelled, Engine, LocalEngine, PartedWork
from innerview.jobs.shutdown import before_threads_end
from innerview.jobs.work import Product, prepare

log = logging.getLogger(__name__)
State = Literal["queued", "running", "done", "failed", "cancelled"]
ENDED: tuple[State, ...] = ("done", "failed", "cancelled")
MAX_WAITING = 100
MAX_ENDED = 200


@dataclass(frozen=True, kw_only=True)
class Job:
    """How a job stood at one moment; ask `Jobs.get` again for a newer one."""

    id: str
    kind: str
    title: str
    state: State = "queued"
    done: int = 0
    total: int | None = None
    unit: str = ""
    message: str = ""
    error: str = ""
    result: Any = None
    """What it gave; before its end, what it will give, where that is known: the page can look at it while it grows."""
    started_at: str = ""
    eta_s: float | None = None
    changes: int = 0
    """How often it changed since it was asked for: of two tellings, the one with more is the newer."""

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen unless it is resumed."""
        return self.state in ENDED


Listener = Callable[[Job], None]


class Jobs:
    """All jobs of one process, oldest first."""

    def __init__(self, engine: Engine | Literal["local"] = "local") -> None:
        if isinstance(engine, str) and engine != "local":
            raise UnknownName("engine", engine, ["local"])
        self._engine: Engine = LocalEngine() if isinstance(engine, str) else engine
        self._changed = threading.Condition(threading.RLock())
        self._jobs: dict[str, Job] = {}
        self._works: dict[str, PartedWork] = {}
        self._asked: dict[str, tuple[Path, Any, Product]] = {}
        self._runs: dict[str, _Report] = {}
        self._listeners: list[Listener] = []
        _ALL.add(self)

    def start(self, arguments: Any, context: Context, *, again: bool = False) -> Job:
        """Queue a job of a registered kind and return at once; what was asked wrongly is refused here and now.

        What is asked while the same is on its way already is that job: nothing is computed twice side by side.
        """
        work = prepare(arguments, context, again=again)
        asked = (context.study.path, arguments, work.product)
        with self._changed:
            for job in self._jobs.values():
                if self._asked.get(job.id) == asked and not (job.ended or self._runs[job.id].stop):
                    return job
            job = self.submit(work.kind.name, work.title, work, unit=work.kind.unit, promise=work.product)
            self._asked[job.id] = asked
            return job

    def submit(self, kind: str, title: str, work: PartedWork, *, unit: str = "", promise: Any = None) -> Job:
        """Queue any work and return at once; what it makes is known as its `promise`, else as what it gives."""
        job = Job(id=uuid.uuid4().hex[:12], kind=kind, title=title, unit=unit, result=promise)
        with self._changed:
            waiting = sum(j.state == "queued" for j in self._jobs.values())
            if waiting >= MAX_WAITING:
                raise JobError(f"{waiting} jobs are waiting already. Cancel some or let them end first.")
            self._works[job.id] = work
            self._forget_old()
        return self._start(job)

    def list(self) -> list[Job]:
        """Every job as it stands now."""
        with self._changed:
            return [*self._jobs.values()]

    def get(self, job_id: str) -> Job:
        """The job as it stands now."""
        with self._changed:
            if job_id not in self._jobs:
                raise UnknownName("job", job_id, self._jobs)
            return self._jobs[job_id]

    def cancel(self, job_id: str) -> Job:
        """Ask a job to stop; one that waits stops at once, one that runs at its next report of progress."""
        with self._changed:
            job = self.get(job_id)
            if job.ended:
                return job
            self._runs[job_id].stop = True
            if job.state == "queued":
                return self._update(job_id, state="cancelled", message="")
            return self._update(job_id, message="stopping…")

    def resume(self, job_id: str) -> Job:
        """Run a failed or cancelled job's work again under the same id."""
        with self._changed:
            job = self.get(job_id)
            if job.state not in ("failed", "cancelled"):
                raise JobError(f"Job '{job.title}' is {job.state}; only a failed or cancelled job can be resumed.")
        return self._start(replace(job, state="queued", message="", error="", eta_s=None))

    def wait(self, job_id: str, timeout_s: float | None = None) -> Job:
        """The job once it has ended."""
        with self._changed:
            if not self._changed.wait_for(lambda: self.get(job_id).ended, timeout_s):
                raise JobError(f"Job '{self.get(job_id).title}' had not ended after {timeout_s} s.")
            return self.get(job_id)

    def watch(self, listener: Listener) -> Callable[[], None]:
        """Tell the listener of every change, from any thread; returns a call that ends it."""
        with self._changed:
            self._listeners.append(listener)
        return lambda: self._unwatch(listener)

    def close(self) -> None:
        """Cancel what has not ended, wait until it stopped and let the engine go."""
        for job in self.list():
            self.cancel(job.id)
        self._engine.close()

    def _unwatch(self, listener: Listener) -> None:
        with self._changed:
            if listener in self._listeners:
                self._listeners.remove(listener)

    def _start(self, job: Job) -> Job:
        run = _Report(self, job.id)
        with self._changed:
            self._runs[job.id] = run
            self._jobs[job.id] = job
            work = self._works[job.id]
            self._update(job.id)
        self._engine.submit(work, run)
        return self.get(job.id)

    def _update(self, job_id: str, **changes: Any) -> Job:
        with self._changed:
            before = self._jobs[job_id]
            job = replace(before, **changes, changes=before.changes + 1)
            self._jobs[job_id] = job
            self._changed.notify_all()
            for listener in self._listeners:
                try:
                    listener(job)
                except Exception:
                    log.exception("A listener failed on the news of job '%s'; the job goes on.", job.title)
        return job

    def _forget_old(self) -> None:
        ended = [j.id for j in self._jobs.values() if j.ended]
        for job_id in ended[: max(0, len(self._jobs) + 1 - MAX_ENDED)]:
            for table in (self._jobs, self._works, self._runs, self._asked):
                table.pop(job_id, None)


_ALL: weakref.WeakSet[Jobs] = weakref.WeakSet()


def _close_all() -> None:
    """Who leaves Python while jobs run keeps what they kept so far, as after `close`."""
    for jobs in [*_ALL]:
        jobs.close()


before_threads_end(_close_all)


class _Report:
    """One run of a job's work; a resumed job has a new one, so that a late word from the old is not heard."""

    def __init__(self, jobs: Jobs, job_id: str) -> None:
        self.stop = False
        self._jobs, self._job_id = jobs, job_id
        self._first: tuple[float, int] | None = None

    def started(self) -> bool:
        with self._jobs._changed:
            if self.stop:
                return False
            self._notify(state="running", started_at=datetime.now(UTC).isoformat(timespec="seconds"))
            return True

    def progress(self, done: int, total: int | None, message: str = "") -> None:
        if self.stop:
            raise Cancelled
        now = time.monotonic()
        # Counted from the first report of this run: a resumed recording begins far from 0.
        self._first = self._first or (now, done)
        self._notify(done=done, total=total, message=message, eta_s=_eta_s(self._first, (now, done), total))

    def finished(self, result: Any) -> None:
        promised = self._jobs.get(self._job_id).result
        self._notify(state="done", result=result if promised is None else promised, message="", eta_s=None)
        self._jobs._works.pop(self._job_id, None)

    def cancelled(self) -> None:
        self._notify(state="cancelled", message="", eta_s=None)

    def failed(self, error: BaseException) -> None:
        said = str(error) if isinstance(error, InnerviewError) else f"{type(error).__name__}: {error}"
        self._notify(state="failed", error=said, message="", eta_s=None)

    def _notify(self, **changes: Any) -> None:
        with self._jobs._changed:
            if self._jobs._runs.get(self._job_id) is self:
                self._jobs._update(self._job_id, **changes)


def _eta_s(first: tuple[float, int], last: tuple[float, int], total: int | None) -> float | None:
    passed_s, did = last[0] - first[0], last[1] - first[1]
    if total is None or did <= 0:
        return None
    return max(0.0, (total - last[1]) * passed_s / did)
