"""A writer that is killed at any moment loses the block in hand and nothing else."""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from innerview.errors import DiskFull, StoreError, StudyBusy
from innerview.schema import Column, ImportedFrom
from innerview.store import Study, check, files

from .samples import arrays, info, record, rows

TOTAL = 37 * 30
CHILD = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from store.samples import record
from innerview.store import Study
study = Study.open(sys.argv[1])
print("ready", flush=True)
record(study, {TOTAL}, block_rows=16)
"""


HOLDING = f"""
import sys, time
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from store.samples import info
from innerview.store import Study
with Study.open(sys.argv[1]).writer(info()):
    print("ready", flush=True)
    time.sleep(600)
"""


def start_child(study: Study, script: str = CHILD) -> subprocess.Popen[str]:
    child = subprocess.Popen([sys.executable, "-c", script, str(study.path)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "ready\n"
    return child


def kill(child: subprocess.Popen[str]) -> None:
    child.send_signal(signal.SIGKILL)
    child.communicate()


def assert_whole(study: Study, rows_expected: int | None = None) -> None:
    recording = study.recording("run")
    total = recording.rows if rows_expected is None else rows_expected
    assert recording.rows == total
    assert recording.columns(["step", "reward"]).to_dict(as_series=False) == {
        key: value for key, value in rows(0, total).items() if key in ("step", "reward")
    }
    for name, values in arrays(0, total).items():
        assert np.array_equal(recording.array(name, 0, total), values)
    assert recording.groups()["stop"].to_list() == [37 * (i + 1) for i in range(total // 37)]


def test_killed_at_random_moments_it_continues_to_the_same_recording(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "study")
    moments = random.Random(3)
    for _ in range(10):
        child = start_child(study)
        time.sleep(moments.uniform(0.0, 0.12))
        kill(child)
        assert check(study.path) == []
        if study.recordings():
            assert_whole(study)
    record(study, TOTAL, block_rows=16)
    assert_whole(study, TOTAL)
    assert check(study.path) == []
    plain = Study.create(tmp_path / "plain")
    record(plain, TOTAL, block_rows=16)
    assert study.recording("run").digest == plain.recording("run").digest
    mine, other = ({p.relative_to(s.path) for p in s.path.rglob("*")} for s in (study, plain))
    assert mine == other


@pytest.mark.parametrize("stop_at", range(1, 26, 2))
def test_stopped_before_any_single_write_it_stays_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop_at: int
) -> None:
    study = Study.create(tmp_path / "study")
    count = 0
    real = os.write

    def fail(descriptor: int, content: bytes) -> int:
        nonlocal count
        count += 1
        if count > stop_at:
            real(descriptor, content[: len(content) // 2])
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(descriptor, content)

    with monkeypatch.context() as patch:
        patch.setattr(files.os, "write", fail)
        with pytest.raises(DiskFull, match=r"no room.*saved before is safe"):
            record(study, 200)
    assert check(study.path) == []
    if study.recordings():
        assert_whole(study)
    record(study, 200)
    assert_whole(study, 200)
    assert check(study.path) == []


def test_a_full_disk_is_reported_and_keeps_what_was_committed(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    study = Study.create(tmp_path / "study")
    record(study, 64, finish=False)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, before[1]))
        with pytest.raises(DiskFull):
            record(study, 200)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert study.recording("run").rows == 32 and check(study.path) == []
    record(study, 200)
    assert_whole(study, 200)


def test_leaving_with_an_error_keeps_the_committed_blocks(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "study")
    with pytest.raises(ZeroDivisionError), study.writer(info(), block_rows=32) as writer:
        writer.append(rows(0, 80), arrays(0, 80))
        raise ZeroDivisionError
    recording = study.recording("run")
    assert (recording.rows, recording.complete) == (64, False)
    with pytest.raises(StoreError, match="is closed"):
        writer.append(rows(80, 81), arrays(80, 81))


def test_two_writers_at_once_are_refused_and_the_first_is_named(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "study")
    with study.writer(info()) as writer:
        with pytest.raises(StudyBusy, match=rf"process {os.getpid()}\."):
            study.writer(info())
        assert study.recording("run").rows == 0
        study.writer(info("other")).close()
    assert writer.complete
    second = Study.create(tmp_path / "second")
    child = start_child(second, HOLDING)
    try:
        with pytest.raises(StudyBusy, match=f"process {child.pid}"):
            second.writer(info())
    finally:
        kill(child)
    second.writer(info()).close()


def test_a_child_that_outlives_the_writer_does_not_hold_the_lock(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "study")
    script = (
        "import os, sys, time; sys.path.insert(0, sys.argv[2]); from store.samples import info\n"
        "from innerview.store import Study; writer = Study.open(sys.argv[1]).writer(info())\n"
        "child = os.fork()\n"
        "if not child: print(os.getpid(), flush=True); os.close(1); time.sleep(600); os._exit(0)\n"
        "time.sleep(600)\n"
    )
    command = [sys.executable, "-c", script, str(study.path), str(Path(__file__).parents[1])]
    parent = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert parent.stdout is not None
    orphan = int(parent.stdout.readline())
    kill(parent)
    try:
        study.writer(info()).close()
    finally:
        os.kill(orphan, signal.SIGKILL)


def test_other_arguments_are_distinguished(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "study")
    record(study, 64, finish=False)
    with pytest.raises(StoreError, match=r"arguments.content was '7' and is '8'.*another name"):
        study.writer(info(arguments=ImportedFrom(content="8")))
    columns = (*info().columns, Column(name="extra", type="int"))
    with pytest.raises(StoreError, match=r"columns were .*room.* and are .*extra"):
        study.writer(info(columns=columns))


def test_a_complete_recording_takes_no_more(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "study")
    record(study, 40)
    writer = study.writer(info())
    assert writer.complete and writer.rows_committed == 40
    with pytest.raises(StoreError, match="is complete"):
        writer.append(rows(40, 41), arrays(40, 41))
    writer.close()
    assert check(study.path) == []
