"""Jobs run, tell how far they are, stop when asked and go on when asked."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from innerview.errors import CaptureError, JobError, UnknownName
from innerview.jobs.engine import LocalEngine, PartedWork, Progress, Report, run_reporting
from innerview.jobs.runner import MAX_ENDED, MAX_WAITING, Job, Jobs, _eta_s
from innerview.schema import Watch

WAIT_S = 60


@pytest.fixture
def jobs() -> Iterator[Jobs]:
    made = Jobs()
    yield made
    made.close()


class Call(PartedWork):
    """A call as work of one part."""

    def __init__(self, call: Callable[[Progress], Any]) -> None:
        self.call = call

    def run(self, part: Any, watch: Watch) -> Any:
        return self.call(watch)


class Gate(PartedWork):
    """Work that waits until it is let on, then counts to three."""

    def __init__(self) -> None:
        self.entered, self.go, self.runs = threading.Event(), threading.Event(), 0

    def run(self, part: Any, watch: Watch) -> str:
        self.runs += 1
        watch(1, 3, "first")
        self.entered.set()
        assert self.go.wait(WAIT_S)
        watch(2, 3)
        watch(3, 3)
        return "counted"


def test_a_job_runs_to_its_result(jobs: Jobs) -> None:
    gate = Gate()
    job = jobs.submit("count", "Count to three", gate, unit="steps")
    assert gate.entered.wait(WAIT_S)
    running = jobs.get(job.id)
    assert (running.state, running.done, running.total, running.message) == ("running", 1, 3, "first")
    assert running.started_at
    gate.go.set()
    done = jobs.wait(job.id, WAIT_S)
    assert (done.state, done.done, done.result, done.unit) == ("done", 3, "counted", "steps")
    assert jobs.list() == [done]


def test_a_running_job_is_cancelled_and_resumed_under_the_same_id(jobs: Jobs) -> None:
    gate = Gate()
    job = jobs.submit("count", "Count", gate)
    assert gate.entered.wait(WAIT_S)
    assert jobs.cancel(job.id).message == "stopping…"
    gate.go.set()
    assert jobs.wait(job.id, WAIT_S).state == "cancelled"
    assert jobs.resume(job.id).id == job.id
    assert jobs.wait(job.id, WAIT_S).result == "counted"
    assert gate.runs == 2


def test_a_waiting_job_is_cancelled_before_it_begins() -> None:
    jobs, gate, second = Jobs(LocalEngine(workers=1)), Gate(), Gate()
    first = jobs.submit("count", "First", gate)
    waiting = jobs.submit("count", "Second", second)
    assert gate.entered.wait(WAIT_S)
    assert jobs.get(waiting.id).state == "queued"
    assert jobs.cancel(waiting.id).state == "cancelled"
    second.go.set()
    jobs.resume(waiting.id)
    gate.go.set()
    assert jobs.wait(first.id, WAIT_S).state == "done"
    assert jobs.wait(waiting.id, WAIT_S).state == "done"
    assert second.runs == 1, "the cancelled turn was skipped"
    jobs.close()


def test_a_failure_is_reported_and_the_next_job_still_runs(jobs: Jobs) -> None:
    def refused(progress: Progress) -> None:
        raise CaptureError("The world stopped at step 37.")

    def broken(progress: Progress) -> None:
        raise ZeroDivisionError("oops")

    failures = [jobs.wait(jobs.submit("x", "X", Call(work)).id, WAIT_S) for work in (refused, broken)]
    assert [f.error for f in failures] == ["The world stopped at step 37.", "ZeroDivisionError: oops"]
    assert jobs.wait(jobs.submit("x", "X", Call(lambda progress: 7)).id, WAIT_S).result == 7


def test_only_a_stopped_job_can_be_resumed(jobs: Jobs) -> None:
    job = jobs.submit("x", "Easy", Call(lambda progress: None))
    jobs.wait(job.id, WAIT_S)
    with pytest.raises(JobError, match="'Easy' is done"):
        jobs.resume(job.id)
    assert jobs.cancel(job.id).state == "done"
    with pytest.raises(UnknownName, match="Unknown job 'nothing'"):
        jobs.get("nothing")
    with pytest.raises(UnknownName, match="engine"):
        Jobs("ray")  # type: ignore[arg-type]


def test_listeners_hear_every_state_until_they_leave(jobs: Jobs) -> None:
    heard: list[Job] = []
    leave = jobs.watch(heard.append)
    jobs.wait(jobs.submit("x", "X", Call(lambda progress: progress(1, 1))).id, WAIT_S)
    assert [(j.state, j.done) for j in heard] == [("queued", 0), ("running", 0), ("running", 1), ("done", 1)]
    leave()
    leave()
    jobs.wait(jobs.submit("x", "X", Call(lambda progress: None)).id, WAIT_S)
    assert len(heard) == 4


def test_the_queue_and_the_memory_of_old_jobs_are_bounded() -> None:
    engine = LocalEngine(workers=1)
    jobs, gate = Jobs(engine), Gate()
    jobs.submit("x", "X", gate)
    assert gate.entered.wait(WAIT_S)
    waiting = [jobs.submit("x", "X", Call(lambda progress: None)) for _ in range(MAX_WAITING)]
    with pytest.raises(JobError, match="waiting already"):
        jobs.submit("x", "X", Call(lambda progress: None))
    gate.go.set()
    jobs.wait(waiting[-1].id, WAIT_S)
    for _ in range(MAX_ENDED):
        jobs.wait(jobs.submit("x", "X", Call(lambda progress: None)).id, WAIT_S)
    assert len(jobs.list()) <= MAX_ENDED
    jobs.close()


class HereAndNow:
    """The smallest engine of another kind."""

    def submit(self, work: PartedWork, report: Report) -> None:
        run_reporting(work, report)

    def close(self) -> None: ...


def test_another_engine_plugs_in() -> None:
    assert Jobs(HereAndNow()).submit("x", "X", Call(lambda progress: "here")).result == "here"


def test_each_change_is_told_as_newer_than_the_last_also_after_resuming(jobs: Jobs) -> None:
    told: list[Job] = []
    jobs.watch(told.append)
    failing = iter([True, False])

    def work(progress: Progress) -> str:
        progress(1, 2)
        if next(failing):
            raise CaptureError("not yet")
        return "there"

    job = jobs.submit("x", "X", Call(work))
    assert jobs.wait(job.id, WAIT_S).state == "failed"
    jobs.resume(job.id)
    assert jobs.wait(job.id, WAIT_S).state == "done"
    assert [j.changes for j in told] == list(range(1, len(told) + 1))
    run = ["queued", "running", "running"]
    assert [j.state for j in told] == [*run, "failed", *run, "done"]


def test_time_left_counts_from_where_this_run_began() -> None:
    began: tuple[float, int] = (100.0, 900)
    assert _eta_s(began, (110.0, 950), 1000) == pytest.approx(10.0)
    assert _eta_s(began, (100.0, 900), 1000) is None
    assert _eta_s(began, (110.0, 950), None) is None


def test_closing_cancels_what_runs_and_waits_until_it_stopped(jobs: Jobs) -> None:
    gate, done = Gate(), threading.Event()

    def work(progress: Progress) -> None:
        try:
            gate.run(None, progress)
        finally:
            done.set()

    job: Any = jobs.submit("count", "Count", Call(work))
    assert gate.entered.wait(WAIT_S)
    jobs.watch(lambda job: gate.go.set() if job.message == "stopping…" else None)
    jobs.close()
    assert done.is_set() and jobs.get(job.id).state == "cancelled"


LEAVING = """
import threading
from concurrent.futures import ThreadPoolExecutor

import torch

from innerview.jobs.engine import PartedWork
from innerview.jobs.runner import Jobs

running = threading.Event()
layer = torch.nn.Conv2d(16, 16, 3)

class Endless(PartedWork):
    def run(self, part, watch):
        try:
            while True:
                watch(0, None)
                layer(torch.zeros(4, 16, 64, 64))
                running.set()
        finally:
            with ThreadPoolExecutor(1) as pool:
                pool.submit(print, "put away").result()

Jobs().submit("endless", "Endless", Endless())
running.wait()
"""


def test_a_script_that_ends_while_a_job_runs_ends_well() -> None:
    """A thread inside of torch when Python goes away would take the process down, and what it holds would be lost."""
    ended = subprocess.run([sys.executable, "-c", LEAVING], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "put away\n", "")
