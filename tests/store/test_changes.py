"""Saves come one after the other; a lock is freed by whoever dies; half-written files go; disks that take no more."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from innerview.errors import DiskFull, ReadOnly, StoreError, StudyBusy
from innerview.schema import Metric
from innerview.store import (
    Study,
    changes,
    check,
    export_rows,
    files,
    load_metrics,
    load_names,
    load_selections,
    save_metric,
    save_names,
    save_selection,
)
from innerview.store.changes import changing, own_folder
from innerview.store.importers.files import import_files
from tests.killed.disks import read_only, small_disk

from .samples import record

HOLDING = """
import sys, time
from pathlib import Path
from innerview.store.changes import changing
with changing(Path(sys.argv[1])):
    (Path(sys.argv[1]) / ".selections.json.1-0123456789ab.tmp").write_text("half")
    print("ready", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study.create(tmp_path / "a.study")


def holding(study: Study) -> subprocess.Popen[str]:
    child = subprocess.Popen([sys.executable, "-c", HOLDING, str(study.path)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "ready\n"
    return child


def test_threads_that_save_at_once_lose_nothing(study: Study) -> None:
    def save(number: int) -> None:
        save_selection(study, f"s{number}", number)
        save_names(study, "0" * 16, {str(number): "x"})
        save_metric(study, Metric(name=f"m{number}", expression="step"))

    savers = [threading.Thread(target=save, args=(number,)) for number in range(30)]
    for saver in savers:
        saver.start()
    for saver in savers:
        saver.join()
    assert load_selections(study) == {f"s{number}": number for number in range(30)}
    assert len(load_names(study, "0" * 16)) == len(load_metrics(study).own) == 30


def test_who_waits_too_long_is_told_who_saves_and_a_kill_frees_the_study(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_selection(study, "before", 1)
    child = holding(study)
    monkeypatch.setattr(changes, "WAIT_S", 0.2)
    try:
        with pytest.raises(StudyBusy, match=rf"could be saved in 'a.study'.*process {child.pid} is saving.*Try again"):
            save_selection(study, "x", 1)
        assert load_selections(study) == {"before": 1}, "reading goes on"
    finally:
        child.send_signal(signal.SIGKILL)
        child.communicate()
    save_selection(study, "after", 2)
    assert load_selections(study) == {"before": 1, "after": 2}
    assert not list(study.path.glob(".*")), "what the killed one left is gone"


def test_a_child_of_who_saves_does_not_hold_the_study(study: Study) -> None:
    with changing(study.path):
        child = os.fork()
        if child == 0:
            time.sleep(60)
            os._exit(0)
    try:
        save_selection(study, "x", 1)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_threads_come_in_their_order(study: Study) -> None:
    order: list[int] = []

    def save(number: int) -> None:
        with changing(study.path):
            order.append(number)

    with changing(study.path):
        savers = [threading.Thread(target=save, args=(number,)) for number in range(8)]
        for saver in savers:
            saver.start()
            time.sleep(0.01)
    for saver in savers:
        saver.join()
    assert order == list(range(8))


def test_a_study_whose_making_was_interrupted_is_made(tmp_path: Path) -> None:
    root = tmp_path / "a.study"
    (root / "recordings").mkdir(parents=True)
    (root / "study.lock").touch()
    (root / ".study.json.77-0123456789ab.tmp").write_text("{")
    record(Study.open_or_create(root), 10)
    assert check(root) == [] and not list(root.glob(".*"))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").touch()
    with pytest.raises(StoreError, match="not an empty folder"):
        Study.create(tmp_path / "other")
    assert (tmp_path / "other" / "thesis.txt").exists()


def test_many_who_make_one_study_at_once_have_one(tmp_path: Path) -> None:
    made: list[str] = []
    makers = [
        threading.Thread(target=lambda: made.append(Study.open_or_create(tmp_path / "a.study").name)) for _ in range(12)
    ]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join()
    assert made == ["a.study"] * 12


def test_a_failed_import_takes_nothing_of_others_with_it(tmp_path: Path) -> None:
    table = tmp_path / "bad.csv"
    table.write_text("step\n1\n")
    root = tmp_path / "a.study"
    with pytest.raises(StoreError):
        import_files(root, [table, table])
    assert not root.exists(), "made for nothing"

    study = Study.create(root)
    record(study, 10)
    study.remove_if_empty(folder=True)
    assert study.recordings() == ["run"]


def test_long_work_has_a_folder_of_its_own_and_that_of_a_killed_process_goes(study: Study) -> None:
    left = study.path / ".working-left"
    left.mkdir()
    (left / "half").touch()
    with own_folder(study.path) as folder:
        assert not left.exists()
        save_selection(study, "x", 1)
        assert folder.is_dir(), "whoever saves meanwhile leaves it alone"
    assert not folder.exists()


def test_a_result_is_replaced_as_a_whole(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    record(study, 10)

    def keep(number: int) -> str:
        arrays = {"a": np.full(3, number)}
        return study.save_result("own", recording="run", arguments={}, value=number, arrays=arrays).id

    kept, real = keep(1), os.replace
    for stop_at in range(1, 4):
        count = 0

        def stop(source: object, target: object, stop_at: int = stop_at) -> None:
            nonlocal count
            count += 1
            if count == stop_at:
                raise OSError(errno.EIO, "Input/output error")
            real(source, target)  # type: ignore[call-overload]

        with monkeypatch.context() as patch:
            patch.setattr(files.os, "replace", stop)
            with pytest.raises(StoreError, match=r"could not be written.*Input/output error"):
                keep(2)
        study.check_result(kept)
        assert study.result(kept).value == 1 and study.result_array(kept, "a").tolist() == [1, 1, 1]
    keep(2)
    assert study.result(kept).value == 2 and study.result_array(kept, "a").tolist() == [2, 2, 2]
    assert len(list((study.path / "results" / kept).iterdir())) == 3


def test_a_result_that_grows_can_be_read_at_any_moment(study: Study) -> None:
    record(study, 10)
    ended = threading.Event()

    def keep(number: int) -> str:
        arrays = {"a": np.full(number % 50 + 1, number)}
        return study.save_result("own", recording="run", arguments={}, value=number, arrays=arrays, provisional=True).id

    def grow() -> None:
        for number in range(1, 60):
            keep(number)
        ended.set()

    kept, growing = keep(0), threading.Thread(target=grow)
    growing.start()
    while not ended.is_set():
        values = study.result_array(kept, "a")
        assert len(values) == values[0] % 50 + 1
        study.check_result(kept)
    growing.join()


def test_a_read_only_study_is_looked_at_and_says_why_nothing_is_saved(study: Study, tmp_path: Path) -> None:
    record(study, 40)
    save_selection(study, "low", 1)
    with read_only(study.path):
        opened = Study.open(study.path)
        assert opened.recording("run").rows == 40 and load_selections(opened) == {"low": 1} and check(study.path) == []
        for save in (
            lambda: save_selection(opened, "x", 1),
            lambda: record(opened, 40, name="other"),
            lambda: opened.save_result("own", recording="run", arguments={}, value=1),
            opened.check_writable,
        ):
            with pytest.raises(ReadOnly, match=r"This study is read-only: .*a\.study.*It can be looked at"):
                save()
        with pytest.raises(ReadOnly, match=r"'.*a\.study/recordings' is read-only|This study is read-only"):
            export_rows(opened.recording("run"), study.path / "recordings" / "rows.csv")
    assert load_selections(study) == {"low": 1} and Study.open(study.path).recordings() == ["run"]


def test_a_full_disk_keeps_what_was_saved_and_leaves_nothing_half(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as fill:
        study = Study.create(tmp_path / "disk" / "a.study")
        record(study, 10)
        save_selection(study, "low", 1)
        fill()
        before = sorted(study.path.rglob("*"))
        for save in (
            lambda: save_selection(study, "x", "y" * 10_000),
            lambda: study.save_result("own", recording="run", arguments={}, value=list(range(10_000))),
            lambda: record(study, 400, name="other"),
        ):
            with pytest.raises(DiskFull, match=r"no room to write.*saved before is safe: free some space"):
                save()
        assert load_selections(study) == {"low": 1} and check(study.path) == []
        assert [path for path in sorted(study.path.rglob("*")) if path.is_file() and path not in before] == []
