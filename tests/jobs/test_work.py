"""A kind of job that only this file knows: typed, split into parts, stored, found again, cancelled and resumed."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import innerview as iv
from innerview.errors import InnerviewError, RequestError, UnknownName
from innerview.jobs import Context, Found, Job, Jobs, StoredWork, bounded, job_kind, run_job
from innerview.jobs.engine import Cancelled
from innerview.jobs.kinds import KINDS, described
from innerview.jobs.work import prepare, spans
from innerview.schema import Result, Watch

WAIT_S = 20.0


class Squares(StoredWork):
    """Squares in parts of two, and then their sum, which needs them all."""

    grows = True
    ran: list[Any] = []  # noqa: RUF012  (what every run of this file did; cleared before each test)
    hold: threading.Event | None = None

    def __init__(self, job: SquaresJob, context: Context) -> None:
        super().__init__(job, context)
        self.recording = context.study.recording(job.recording)

    @property
    def title(self) -> str:
        return f"{self.job.count} squares"

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"count": self.job.count}

    def parts(self, given: Sequence[Any]) -> Sequence[Any]:
        alone = spans(self.job.count, 2)
        if len(given) < len(alone):
            return alone[len(given) :]
        return ["sum"] if len(given) == len(alone) else []

    def run(self, part: Any, watch: Watch) -> Any:
        self.ran.append(part)
        if part == "sum":
            if self.hold is not None:
                assert self.hold.wait(WAIT_S)
            watch(self.job.count, self.job.count)
            return None
        watch(part[0], self.job.count)
        return [n**2 for n in range(*part)]

    def merge(self, given: Sequence[Any]) -> Found:
        found = [square for each in given if each for square in each]
        return Found(value={"sum": sum(found)}, arrays={"squares": np.array(found)})


@job_kind("squares", work=Squares, unit="squares", stored=True)
@dataclass(frozen=True, kw_only=True)
class SquaresJob:
    """How many squares."""

    recording: str
    count: int = bounded(5, 1, 100)
    how: Literal["quickly", "slowly"] = "quickly"


@pytest.fixture
def context(tmp_path: Path) -> Context:
    Squares.ran.clear()
    Squares.hold = None
    study = iv.Study.create(tmp_path / "a.study")
    iv.write_rows(study, "x", columns={"n": [1.0]})
    return Context(study=study)


@pytest.fixture
def jobs() -> Iterator[Jobs]:
    made = Jobs()
    yield made
    made.close()


def test_parts_are_run_in_rounds_and_merged(context: Context) -> None:
    result = run_job(SquaresJob(recording="x"), context, progress=False)
    assert Squares.ran == [(0, 2), (2, 4), (4, 5), "sum"]
    assert (result.kind, result.value, result.provisional) == ("squares", {"sum": 30}, False)
    assert context.study.result_array(result.id, "squares").tolist() == [0, 1, 4, 9, 16]


def test_the_same_question_is_answered_once_unless_it_is_wanted_again(context: Context) -> None:
    first = run_job(SquaresJob(recording="x"), context, progress=False)
    Squares.ran.clear()
    assert run_job(SquaresJob(recording="x"), context, progress=False).created_at == first.created_at
    assert not Squares.ran
    anew = run_job(SquaresJob(recording="x"), context, progress=False, again=True)
    assert anew.id == first.id and len(Squares.ran) == 4
    assert run_job(SquaresJob(recording="x", count=4), context, progress=False).id != first.id


def test_another_version_of_a_kind_does_not_take_what_the_old_one_stored(context: Context) -> None:
    now = prepare(SquaresJob(recording="x"), context)
    assert isinstance(now, Squares)
    assert now.id != context.study.result_id("squares", "x", now.identity, version=2)


def test_a_recording_that_changed_is_another_question(context: Context) -> None:
    before = run_job(SquaresJob(recording="x"), context, progress=False)
    iv.write_rows(context.study, "y", columns={"n": [2.0]})
    assert run_job(SquaresJob(recording="y"), context, progress=False).id != before.id


@pytest.mark.parametrize("file", ["result.json", "value.*.json", "squares.*.npy"])
def test_a_damaged_result_is_computed_anew(context: Context, file: str, caplog: pytest.LogCaptureFixture) -> None:
    first = run_job(SquaresJob(recording="x"), context, progress=False)
    next((context.study.path / "results" / first.id).glob(file)).write_bytes(b"{")
    Squares.ran.clear()
    assert run_job(SquaresJob(recording="x"), context, progress=False).value == {"sum": 30}
    assert len(Squares.ran) == 4 and "damaged and is computed anew" in caplog.text
    context.study.check_result(first.id)


def test_what_there_is_so_far_can_be_seen_and_is_replaced(context: Context, jobs: Jobs) -> None:
    Squares.hold = threading.Event()
    job = jobs.start(SquaresJob(recording="x"), context)
    so_far = wait_for(context, job)
    assert so_far.provisional and so_far.value == {"sum": 30}
    Squares.hold.set()
    assert jobs.wait(job.id, WAIT_S).result == job.result
    assert not context.study.result(job.result.result).provisional


def test_cancelled_it_leaves_what_there_was_and_can_be_resumed(context: Context, jobs: Jobs) -> None:
    Squares.hold = threading.Event()
    job = jobs.start(SquaresJob(recording="x"), context)
    wait_for(context, job)
    jobs.cancel(job.id)
    Squares.hold.set()
    assert jobs.wait(job.id, WAIT_S).state == "cancelled"
    assert context.study.result(job.result.result).provisional, "a provisional result is no answer"
    assert jobs.resume(job.id).id == job.id
    assert jobs.wait(job.id, WAIT_S).state == "done"
    assert not context.study.result(job.result.result).provisional


def wait_for(context: Context, job: Job) -> Result:
    """The result so far, once the last part waits."""
    deadline = threading.Event()
    for _ in range(int(WAIT_S / 0.01)):
        if "sum" in Squares.ran:
            return context.study.result(job.result.result)
        deadline.wait(0.01)
    raise AssertionError("the job did not get that far")


def test_what_is_on_its_way_is_not_started_again(context: Context, jobs: Jobs) -> None:
    Squares.hold = threading.Event()
    first = jobs.start(SquaresJob(recording="x"), context)
    assert jobs.start(SquaresJob(recording="x"), context).id == first.id
    other = jobs.start(SquaresJob(recording="x", count=4), context)
    assert other.id != first.id
    jobs.cancel(first.id)
    anew = jobs.start(SquaresJob(recording="x"), context)
    assert anew.id != first.id
    Squares.hold.set()
    assert {jobs.wait(job.id, WAIT_S).state for job in (other, anew)} == {"done"}
    assert jobs.start(SquaresJob(recording="x"), context).id != anew.id, "it has ended"


def test_what_was_asked_wrongly_is_refused_before_anything_is_queued(context: Context, jobs: Jobs) -> None:
    with pytest.raises(RequestError, match="count is a whole number from 1 to 100, not 0"):
        jobs.start(SquaresJob(recording="x", count=0), context)
    with pytest.raises(UnknownName, match=r"Unknown choice of 'how' 'quick'\. Did you mean 'quickly'"):
        jobs.start(SquaresJob(recording="x", how="quick"), context)  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="Unknown recording 'y'"):
        jobs.start(SquaresJob(recording="y"), context)
    with pytest.raises(UnknownName, match="Unknown kind of job 'dict'"):
        jobs.start({}, context)
    assert not jobs.list() and not Squares.ran


def test_a_kind_is_registered_once_and_is_a_dataclass() -> None:
    with pytest.raises(InnerviewError, match="'squares' is registered already"):
        job_kind("squares", work=Squares)(SquaresJob)
    with pytest.raises(InnerviewError, match="not a dataclass"):
        job_kind("nothing", work=Squares)(int)
    assert described(SquaresJob, "count") == "a whole number from 1 to 100"
    assert described(SquaresJob, "how") == "one of 'quickly', 'slowly'"
    assert "nothing" not in KINDS.names()


def test_progress_that_stops_stops_between_parts(context: Context) -> None:
    def stop(done: int, total: int | None, message: str = "") -> None:
        if done:
            raise Cancelled

    with pytest.raises(Cancelled):
        run_job(SquaresJob(recording="x"), context, progress=stop)
    assert Squares.ran == [(0, 2), (2, 4)]
