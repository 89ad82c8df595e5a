"""Recording into a study: continuing, refusing, surviving."""

from __future__ import annotations

import dataclasses
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
import zarr
from polars.testing import assert_frame_equal

import innerview as iv
from innerview.errors import CaptureError, RequestError, StoreError, StudyBusy, UnknownName
from innerview.jobs.engine import Cancelled
from innerview.testing.worlds import ContinuousWorld, CountingGame, CountingWorld, CrashingWorld, episode_length
from innerview.worlds import Game
from tests.rollouts.players import LONG, Recurrent, recurrent

KILLS = 50
ROOT = Path(__file__).parents[2]


def same(first: iv.Recording, second: iv.Recording) -> None:
    """Row for row, element for element."""
    assert_frame_equal(first.columns(), second.columns())
    assert_frame_equal(first.groups(), second.groups())
    for spec in first.info.arrays:
        ours, theirs = (r.array(spec.name, 0, r.rows) for r in (first, second))
        assert np.array_equal(ours, theirs), spec.name


def test_records_what_was_played(tmp_path: Path) -> None:
    made = iv.record(tmp_path / "a.study", recurrent(), CountingWorld(), episodes=4, progress=False)
    assert made.complete and made.rows == sum(episode_length(seed) for seed in range(4))
    groups = made.groups()
    assert groups["stop"].to_list()[-1] == made.rows and groups["start"].to_list()[1] == episode_length(0)
    assert made.info.subject is not None and made.info.subject.name == "tiny"
    assert len(made.scene(groups["scene"][0]).walls) == 4
    assert iv.check(tmp_path / "a.study") == []


def test_a_study_needs_only_polars_and_zarr(tmp_path: Path) -> None:
    made = iv.record(tmp_path / "a.study", recurrent(), CountingWorld(), episodes=3, name="plain", progress=False)
    folder = tmp_path / "a.study" / "recordings" / "plain"
    rows = pl.read_parquet(folder / "rows" / "*.parquet")
    assert_frame_equal(rows, made.columns(), check_dtypes=False)
    memory = zarr.open_array(folder / "arrays" / "memory", mode="r")[:]
    assert np.array_equal(memory, made.array("memory", 0, made.rows))


def test_the_same_arguments_again_change_nothing(tmp_path: Path) -> None:
    study = tmp_path / "a.study"
    first = iv.record(study, recurrent(), CountingWorld(), episodes=3, progress=False)
    again = iv.record(study, recurrent(), CountingWorld(), episodes=3, progress=False)
    assert first.digest == again.digest


def test_other_arguments_under_the_same_name_are_refused(tmp_path: Path) -> None:
    study = tmp_path / "a.study"
    iv.record(study, recurrent(), CountingWorld(), episodes=3, name="x", progress=False)
    with pytest.raises(StoreError, match=r"arguments\.greedy was False and is True.*another name"):
        iv.record(study, recurrent(), CountingWorld(), episodes=3, name="x", greedy=True, progress=False)


def test_a_refused_recording_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'eye'"):
        iv.record(tmp_path / "a.study", recurrent(), CountingWorld(), keep="eyes")
    assert not (tmp_path / "a.study").exists()


def test_q_values_and_the_subjects_own_action_names_are_saved(tmp_path: Path) -> None:
    module = torch.nn.Linear(4, 2)
    subject = iv.subject(module, example=torch.zeros(1, 4), heads="q", actions=("left", "right"))
    made = iv.record(tmp_path / "a.study", subject, "CartPole-v1", episodes=2, greedy=True, progress=False)
    q = made.array("head.q", 0, made.rows)
    assert np.array_equal(q.argmax(1), made.columns(["action"])["action"].to_numpy())
    assert next(c for c in made.info.columns if c.name == "action").categories == ("left", "right")
    assert next(a for a in made.info.arrays if a.name == "probabilities").elements == ("left", "right")


def test_nothing_to_record_is_said(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="episodes is a whole number from 1 to"):
        iv.record(tmp_path / "a.study", recurrent(), CountingWorld(), episodes=0, progress=False)
    with pytest.raises(CaptureError, match="2 seeds are given"):
        iv.record(tmp_path / "a.study", recurrent(), CountingWorld(), episodes=3, seeds=[1, 2], progress=False)


def test_a_cancelled_recording_goes_on(tmp_path: Path) -> None:
    calls = 0

    def stop_soon(done: int, total: int | None, message: str = "") -> None:
        nonlocal calls
        calls += 1
        if calls == 20:
            raise Cancelled

    arguments = {"episodes": 30, "name": "x"}
    with pytest.raises(Cancelled):
        iv.record(tmp_path / "a.study", recurrent(), CountingWorld(), progress=stop_soon, **arguments)
    assert iv.Study.open(tmp_path / "a.study").recording("x").rows > 0
    made = iv.record(tmp_path / "a.study", recurrent(), CountingWorld(), progress=False, **arguments)
    whole = iv.record(tmp_path / "b.study", recurrent(), CountingWorld(), progress=False, **arguments)
    same(made, whole)


def test_a_crash_keeps_the_rows_before_it_and_the_recording_can_go_on(tmp_path: Path) -> None:
    study, world = tmp_path / "a.study", CrashingWorld()
    with pytest.raises(CaptureError, match="step 37"):
        iv.record(study, recurrent(), world, episodes=3, lanes=1, name="x", progress=False)
    kept = iv.Study.open(study).recording("x")
    assert kept.rows == 36 and not kept.complete
    assert kept.groups()["outcome"].to_list() == ["stopped: RuntimeError"]
    assert iv.check(study) == []
    with pytest.raises(CaptureError, match="step 37"):
        iv.record(study, recurrent(), world, episodes=3, lanes=1, name="x", progress=False)
    kept = iv.Study.open(study).recording("x")
    assert kept.rows == 36 and kept.group_count == 1, "the rows before the crash are replaced, not doubled"


def test_a_crash_before_the_committed_rows_are_reached_again_says_what_broke(tmp_path: Path) -> None:
    study = tmp_path / "a.study"
    arguments = {"episodes": 4, "lanes": 2, "name": "x", "block_rows": 16, "progress": False}
    for crash_at in (80, 30, 49, 65):
        with pytest.raises(CaptureError, match=f"step {crash_at}"):
            iv.record(study, recurrent(), CrashingWorld(crash_at=crash_at), **arguments)
        assert iv.check(study) == []
        assert iv.Study.open(study).recording("x").rows >= 48
    made = iv.record(study, recurrent(), CrashingWorld(crash_at=1000), **arguments)
    whole = iv.record(tmp_path / "b.study", recurrent(), CrashingWorld(crash_at=1000), **arguments)
    same(made, whole)


def test_a_world_that_does_not_repeat_itself_is_reported(tmp_path: Path) -> None:
    arguments = {"episodes": 2, "lanes": 1, "name": "x", "block_rows": 16, "progress": False}
    with pytest.raises(CaptureError, match="step 80"):
        iv.record(tmp_path / "a.study", recurrent(), CrashingWorld(crash_at=80), **arguments)
    world = CrashingWorld()
    world.game = lambda lane: CountingGame(length=20)  # type: ignore[method-assign]
    with pytest.raises(CaptureError, match=r"20 steps are fewer.*another name"):
        iv.record(tmp_path / "a.study", recurrent(), world, **arguments)


def test_a_continuous_action_is_recorded_as_it_was_done(tmp_path: Path) -> None:
    module = torch.nn.Linear(2, 1)
    torch.nn.init.constant_(module.bias, 50.0)
    subject = iv.subject(module, example=torch.zeros(1, 2), heads="gaussian")
    made = iv.record(tmp_path / "a.study", subject, ContinuousWorld(), episodes=2, greedy=True, progress=False)
    rows = made.columns(["step", "x", "action_speed"])
    assert rows["action_speed"].max() == 1.0
    moved = np.diff(rows["x"].to_numpy())[rows["step"].to_numpy()[1:] > 0]
    done = rows["action_speed"].to_numpy()[:-1][rows["step"].to_numpy()[1:] > 0]
    assert np.allclose(moved, done), "the next place is this one and the action"


def test_a_bare_model_is_reported_how_to_be_adapted(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match=r"not a Recurrent.*iv\.subject"):
        iv.record(tmp_path / "a.study", Recurrent(), CountingWorld())  # type: ignore[arg-type]
    assert not (tmp_path / "a.study").exists()


def test_a_recording_reports_the_weights_it_was_made_with(tmp_path: Path) -> None:
    subject = recurrent()
    with torch.no_grad():
        subject.module.get_parameter("value.bias").add_(1)
    made = iv.record(tmp_path / "a.study", subject, CountingWorld(), episodes=1, seeds=np.int64(3), progress=False)
    assert made.info.subject is not None and made.info.subject.identity == subject.identity()
    assert made.groups()["seed"].to_list() == [3]


def test_a_world_that_does_not_repeat_itself_is_found_out(tmp_path: Path) -> None:
    class Whimsical(CountingWorld):
        """Rewards by the number of games played so far, whatever the seed."""

        def game(self, lane: int) -> Game:
            game = super().game(lane)
            step, worth = game.step, random.random()
            game.step = lambda action: dataclasses.replace(step(action), reward=worth)  # type: ignore[method-assign]
            return game

    def stop_soon(done: int, total: int | None, message: str = "") -> None:
        if done == 1:
            raise Cancelled

    arguments: dict[str, Any] = {"episodes": 3, "lanes": 1, "name": "x", "block_rows": 8}
    with pytest.raises(Cancelled):
        iv.record(tmp_path / "a.study", recurrent(), Whimsical(), progress=stop_soon, **arguments)
    with pytest.raises(CaptureError, match="does not repeat itself"):
        iv.record(tmp_path / "a.study", recurrent(), Whimsical(), progress=False, **arguments)
    assert iv.check(tmp_path / "a.study") == []


def test_two_recorders_do_not_write_the_same_recording(tmp_path: Path) -> None:
    with Recorders() as recorders:
        process = recorders.start(tmp_path / "a.study")
        wait_for(tmp_path / "a.study" / "recordings" / "killed" / "manifest.json")
        os.kill(process, signal.SIGSTOP)  # or it may be done before we come to it
        with pytest.raises(StudyBusy, match=str(process)):
            iv.record(tmp_path / "a.study", recurrent(), CountingWorld(), **LONG)
        recorders.kill()


def test_a_recorder_killed_at_any_moment_loses_nothing_committed(tmp_path: Path) -> None:
    study, moments, rows, most = tmp_path / "killed.study", random.Random(0), 0, 0
    with Recorders() as recorders:
        for turn in range(KILLS):
            begun = study.with_suffix(".begun")
            begun.unlink(missing_ok=True)
            recorders.start(study)
            if moments.random() < 0.9 or not study.exists():  # else it is killed while it still sets up
                wait_for(begun)
            if turn > 10 and not most:  # however slow the machine is, one gets as far as a commit
                wait_until(lambda study=study: committed(study) > 0)
            time.sleep(moments.uniform(0.0, 0.2))
            killed = recorders.kill()
            rows = at_least_as_many_rows(study, rows)
            most = max(most, rows)
            if not killed:  # however fast it is, each one is killed while it records
                study, rows = tmp_path / f"killed {turn}.study", 0
    assert most > 0, "no block was ever committed; let the recorders live longer"
    made = iv.record(study, recurrent(), CountingWorld(), **LONG)
    whole = iv.record(tmp_path / "whole.study", recurrent(), CountingWorld(), **LONG)
    same(made, whole)
    assert iv.check(study) == []


def at_least_as_many_rows(study: Path, before: int) -> int:
    """Rows that can be read now; every one is read, and the check finds no damage."""
    assert iv.check(study) == []
    opened = iv.Study.open(study)
    if "killed" not in opened.recordings():
        return before
    recording = opened.recording("killed")
    assert recording.rows >= before
    assert len(recording.columns()) == recording.rows
    for spec in recording.info.arrays:
        assert len(recording.array(spec.name, 0, recording.rows)) == recording.rows
    return recording.rows


class Recorders:
    """Recorders in processes of their own, one at a time."""

    def __enter__(self) -> Recorders:
        command = [sys.executable, "-m", "tests.rollouts.killed_recorder"]
        self._parent = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        return self

    def __exit__(self, *error: object) -> None:
        self._parent.kill()
        self._parent.communicate()

    def start(self, study: Path) -> int:
        """Begin or continue the recording; the number of the process."""
        assert self._parent.stdin is not None and self._parent.stdout is not None
        self._parent.stdin.write(f"{study}\n")
        self._child = int(self._parent.stdout.readline())
        return self._child

    def kill(self) -> bool:
        """Kill it; whether it was still recording."""
        assert self._parent.stdout is not None
        with suppress(ProcessLookupError):
            os.kill(self._child, signal.SIGKILL)
        return int(self._parent.stdout.readline()) == signal.SIGKILL


def committed(study: Path) -> int:
    """Rows that are safe."""
    opened = iv.Study.open(study)
    return opened.recording("killed").rows if "killed" in opened.recordings() else 0


def wait_for(path: Path) -> None:
    wait_until(path.exists)


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline, "the recorder did not get going"
        time.sleep(0.002)


def test_what_was_found_in_a_recording_is_not_shown_of_the_one_that_replaces_it(tmp_path: Path) -> None:
    path, world = tmp_path / "a.study", CountingWorld(length=9)
    given: dict[str, Any] = {"lanes": 1, "name": "x", "progress": False}
    iv.record(path, recurrent(), world, episodes=2, **given)
    study, before = iv.Study.open(path), iv.look(path, "pca", "x", progress=False)
    iv.record(path, recurrent(), world, episodes=3, **given)
    assert [found.id for found in study.results("pca", "x")] == [before.id], "more of the same"
    iv.record(path, recurrent(), world, seeds=[7, 8, 9], overwrite=True, **given)
    assert study.results("pca", "x") == [] and study.result(before.id).id == before.id
    after = iv.look(path, "pca", "x", progress=False)
    assert [found.id for found in study.results("pca", "x")] == [after.id] != [before.id]
