"""A loop of one's own, logged step by step: the same rows as a recording that innerview plays."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import innerview as iv
from innerview.errors import CaptureError, StudyBusy
from innerview.testing.worlds import CountingWorld
from tests.capture.test_replayed_first import Turns
from tests.rollouts.players import recurrent
from tests.subjects.shapes.table import seeded

KILLED = """
import time
import numpy as np
import innerview as iv

log = iv.recorder("a.study", name="mine", actions=["a"], block_rows=8)
for step in range(70):
    log.step(np.full((2, 2), float(step)), 0, done=step % 10 == 9)
until = time.monotonic() + 60
while log.recording.rows < 64 and time.monotonic() < until:  # the thread that writes is a moment behind
    time.sleep(0.01)
print("70 steps", flush=True)
time.sleep(60)
"""
ACTIONS = ["left", "right", "forward"]


def loop(log: Any, made: iv.Recording, episodes: int, *, stop: int | None = None, **more: Any) -> None:
    """Play recorded actions again in a loop of one's own."""
    lanes = CountingWorld().open(1)
    for line in list(made.groups().iter_rows(named=True))[:episodes]:
        now = lanes.reset(0, line["seed"])
        for step, action in enumerate(made.columns(["action"], line["start"], line["stop"])["action"]):
            if step == stop:
                raise KeyError("the environment broke")
            then = lanes.step({0: action})[0]
            facts = {"x": now.facts["x"], "health": now.facts["health"]}
            log.step(now.observation["observation"], action, reward=then.reward, done=then.ended, **facts, **more)
            now = then


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> iv.Recording:
    path = tmp_path_factory.mktemp("played") / "a.study"
    return iv.record(path, recurrent(), CountingWorld(), episodes=3, lanes=1, name="x", progress=False)


def test_a_logged_loop_holds_what_a_played_one_holds(played: iv.Recording, tmp_path: Path) -> None:
    with iv.recorder(tmp_path / "a.study", recurrent(), actions=ACTIONS, name="mine", block_rows=16) as log:
        loop(log, played, 3)
    made = log.recording
    assert made.complete and made.info.origin.kind == "logged" and iv.check(tmp_path / "a.study") == []
    names = ["episode", "step", "action", "reward", "value", "entropy", "x", "health"]
    there, here = played.columns(names), made.columns(names)
    assert np.allclose(there.to_numpy(), here.to_numpy(), atol=1e-6)
    for array in ("observation", "memory", "probabilities"):
        assert np.allclose(played.array(array, 0, played.rows), made.array(array, 0, made.rows), atol=1e-6)
    assert made.groups()["outcome"].to_list() == played.groups()["outcome"].to_list()
    assert made.groups()["return"].to_list() == played.groups()["return"].to_list()
    gradient = iv.look(tmp_path / "a.study", "gradient", "mine", subject=recurrent(), rows=(3, 9), progress=False)
    assert gradient.arguments["identity"] == recurrent().identity(), "lenses work as on any recording"


def test_without_a_subject_what_is_given_is_kept(tmp_path: Path) -> None:
    chances = torch.tensor([0.25, 0.75])
    with iv.recorder(tmp_path / "a.study", name="mine") as log:
        for step in range(4):
            seen = {"camera": np.full((6, 5, 3), step, np.uint8), "words": "go" * step}
            said = {"probabilities": chances, "value": step / 2, "memory": [float(step)] * 8}
            log.step(seen, 1, reward=step, done="arrived" if step == 3 else False, **said, place="hall", near=step > 1)
    made = log.recording
    assert made.info.subject is None and {spec.name: spec.role for spec in made.info.arrays} == {
        "observation.camera": "observation",
        "observation.words": "observation",
        "probabilities": "probabilities",
        "memory": "memory",
    }
    assert made.array("observation.camera", 2, 3).max() == 2 and made.array("memory", 3, 4).tolist() == [[3.0] * 8]
    rows = made.columns(["value", "entropy", "place", "near", "reward"])
    assert rows["value"].to_list() == [0.0, 0.5, 1.0, 1.5] and rows["entropy"][0] == pytest.approx(0.8113, abs=1e-4)
    assert rows["near"].to_list() == [False, False, True, True] and set(rows["place"]) == {"hall"}
    assert made.groups().row(0, named=True)["outcome"] == "arrived"


def test_a_loop_that_breaks_keeps_what_it_had(played: iv.Recording, tmp_path: Path) -> None:
    with (
        pytest.raises(KeyError),
        iv.recorder(tmp_path / "a.study", recurrent(), actions=ACTIONS, name="mine") as log,
    ):
        loop(log, played, 2, stop=7)
    assert log.recording.rows == 7 and log.recording.complete
    assert log.recording.groups()["outcome"].to_list() == ["stopped: KeyError"]
    with iv.recorder(tmp_path / "a.study", recurrent(), actions=ACTIONS, name="mine") as log:
        loop(log, played, 1)
    assert log.name == "mine no 2", "what is there is not written over"
    with iv.recorder(tmp_path / "a.study", recurrent(), actions=ACTIONS, name="mine", overwrite=True) as log:
        loop(log, played, 1)
    assert log.name == "mine" and log.recording.group_count == 1


def test_a_killed_loop_loses_only_the_block_in_hand(tmp_path: Path) -> None:
    program = tmp_path / "loop.py"
    program.write_text(KILLED)
    with subprocess.Popen([sys.executable, str(program)], cwd=tmp_path, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"70 steps\n"
        process.kill()
    made = iv.Study.open(tmp_path / "a.study").recording("mine")
    assert made.rows == 64 and not made.complete and iv.check(tmp_path / "a.study") == []
    assert made.array("observation", 0, made.rows)[:, 0, 0].tolist() == list(range(made.rows))


def test_a_recorder_that_was_given_nothing_leaves_nothing(tmp_path: Path) -> None:
    with iv.recorder(tmp_path / "a.study", recurrent()):
        pass
    assert iv.Study.open(tmp_path / "a.study").recordings() == []


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([((3,), 0, {}), ((4,), 0, {})], r"step 1 of episode 0.*shape \(4,\).*\(3,\)"),
        ([((3,), 2, {})], r"step 0 of episode 0: There is no action 2; there are 2: a, b"),
        ([((3,), 0, {"reward": float("nan")})], "reward is NaN"),
        ([((3,), 0, {}), ((3,), 0, {"x": 1.0})], r"step 1 of episode 0: The fact 'x' was not given in the first step"),
        ([((3,), 0, {"value": 1.0}), ((3,), 0, {})], "value was given in some steps and not in others"),
        ([((3,), 0, {"step": 1})], "fact named 'step'"),
    ],
)
def test_what_does_not_fit_says_where(steps: list[Any], words: str, tmp_path: Path) -> None:
    with (
        iv.recorder(tmp_path / "a.study", name="mine", actions=["a", "b"]) as log,
        pytest.raises(CaptureError, match=words),
    ):
        for shape, action, more in steps:
            log.step(np.zeros(shape), action, **more)


def test_a_subject_and_what_it_says_are_not_both_given(tmp_path: Path) -> None:
    with (
        iv.recorder(tmp_path / "a.study", recurrent()) as log,
        pytest.raises(CaptureError, match="value come from 'tiny'"),
    ):
        log.step(np.zeros((8, 8, 3), np.uint8), 0, value=1.0)


def test_an_episode_that_is_cut_short_is_told_from_one_that_is_over(tmp_path: Path) -> None:
    with iv.recorder(tmp_path / "a.study", name="x", actions=["left", "right"]) as log:
        for how in ({"done": True}, {"truncated": True}, {"done": "fell"}, {}):
            log.step(np.zeros(3, np.float32), 0)
            log.step(np.ones(3, np.float32), 1, **how)
    groups = log.recording.groups()
    assert groups["outcome"].to_list() == ["ended", "time limit", "fell", "left off"][: len(groups)]
    assert groups["cut"].to_list() == [False, True, False, True]


def test_nothing_is_kept_of_a_subject_that_says_something_else_than_its_module(tmp_path: Path) -> None:
    study = iv.Study.create(tmp_path / "a.study")
    adapted = iv.subject(seeded(Turns), name="turns", example=torch.zeros(1, 6))
    loud = np.random.default_rng(0).uniform(2, 3, (8, 6)).astype(np.float32)
    log = iv.recorder(study, adapted, name="mine", block_rows=1)
    for seen in loud[:3]:
        log.step(seen, 0)
    for _ in range(2):  # also one who goes on all the same
        with pytest.raises(CaptureError, match="differs by up to"):
            log.step(loud[3], 0)
    log.close()
    with pytest.raises(CaptureError, match="differs by up to"), iv.recorder(study, adapted, name="short") as short:
        for seen in loud[:2]:  # too few steps for a replay of the first ones
            short.step(seen, 0)
    assert study.recordings() == [] and not any((study.path / "recordings").iterdir()) and iv.check(study.path) == []


def test_a_closed_recorder_takes_no_more(tmp_path: Path) -> None:
    with iv.recorder(tmp_path / "a.study", name="x", actions=["a"]) as log:
        log.step(np.zeros(3), 0)
    with pytest.raises(CaptureError, match="'x' takes no more steps: it is closed"):
        log.step(np.zeros(3), 0)
    assert log.recording.rows == 1


def test_a_step_that_is_refused_leaves_the_memory_as_it_was(played: iv.Recording, tmp_path: Path) -> None:
    with iv.recorder(tmp_path / "a.study", recurrent(), actions=ACTIONS, name="mine") as log:
        for row in range(6):
            seen, action = played.array("observation", row, row + 1)[0], int(played.columns(["action"])["action"][row])
            for wrong in ({"action": 7}, {"action": action, "more": 1.0}, {"action": action, "reward": float("nan")}):
                if row:
                    with pytest.raises(CaptureError):
                        log.step(seen, **wrong)
            log.step(seen, action)
    assert np.allclose(log.recording.array("memory", 0, 6), played.array("memory", 0, 6), atol=1e-6)


def test_two_do_not_replace_one_recording_at_once(tmp_path: Path) -> None:
    study = iv.Study.create(tmp_path / "a.study")
    iv.write_rows(study, "mine", columns={"x": [1, 2, 3]})
    first = iv.recorder(study, name="mine", actions=["a"], overwrite=True, block_rows=1)
    for step in range(3):
        first.step(np.full(2, step), 0)
    second = iv.recorder(study, name="mine", actions=["a"], overwrite=True)
    with pytest.raises(StudyBusy, match="being written by process"):
        second.step(np.zeros(2), 0)
    assert study.recording("mine").columns()["x"].to_list() == [1, 2, 3], "whole until the new one is"
    first.close()
    assert study.recording("mine").array("observation", 0, 3)[:, 0].tolist() == [0, 1, 2]
    assert study.recordings() == ["mine"] and iv.check(study.path) == []


def test_what_was_left_off_halfway_is_not_joined_with_the_next_loop(tmp_path: Path) -> None:
    study = iv.Study.create(tmp_path / "a.study")
    with iv.recorder(study, name="mine", actions=["a"]) as log:
        log.step(np.zeros(2), 0)
    killed = iv.recorder(study, name="mine", actions=["a"], overwrite=True, block_rows=1)
    for _ in range(5):
        killed.step(np.full(2, 9.0), 0)
    writer = killed._writer
    assert writer is not None
    writer.close()  # what a killed process leaves: committed blocks, no end
    with iv.recorder(study, name="mine", actions=["a"], overwrite=True, block_rows=1) as log:
        for step in range(3):
            log.step(np.full(2, step), 0)
    assert study.recording("mine").array("observation", 0, log.recording.rows)[:, 0].tolist() == [0, 1, 2]


def test_a_link_in_place_of_what_grows_is_not_followed(tmp_path: Path) -> None:
    study, own = iv.Study.create(tmp_path / "a.study"), tmp_path / "own" / "notes.old"
    iv.write_rows(study, "notes", columns={"x": [1]})
    shutil.copytree(study.path / "recordings/notes", own)
    (study.path / "growing").symlink_to(own.parent)
    assert iv.Study.open(study.path).recordings() == ["notes"]
    shutil.rmtree(study.path / "recordings/notes")
    assert iv.Study.open(study.path).recordings() == []
    assert (own / "manifest.json").exists()


@pytest.mark.parametrize(
    ("first", "then", "words"),
    [
        (
            {"observation": np.zeros(2, np.uint8)},
            {"observation": np.array([0.5, 1.0])},
            "holds 0.5, which uint8 cannot",
        ),
        ({"observation": np.zeros(2, np.uint8)}, {"observation": np.array([300, 1])}, "holds 300, which uint8 cannot"),
        ({"observation": np.zeros(2, np.float32)}, {"observation": np.array([1e300, 1])}, "which float32 cannot"),
        ({"probabilities": [0.5, 0.5]}, {"probabilities": [0.9, 0.9]}, "add up to 1, not to 1.8"),
        ({"probabilities": [0.5, 0.5]}, {"probabilities": [-0.5, 1.5]}, "each is 0 or more"),
        ({"probabilities": [0.5, 0.5]}, {"probabilities": [float("nan"), 1.0]}, "'probabilities' holds a number"),
        ({}, {"probabilities": [0.2, 0.3, 0.5]}, "There are 2 actions and 3 probabilities"),
        ({"memory": [0.0]}, {"memory": [1e300]}, "'memory' holds a number that float32 cannot"),
        ({"value": 0.0}, {"value": float("inf")}, "'value' holds a number"),
    ],
)
def test_numbers_that_would_be_saved_as_others_are_refused(
    first: dict[str, Any], then: dict[str, Any], words: str, tmp_path: Path
) -> None:
    log = iv.recorder(tmp_path / "a.study", name="mine", actions=["a", "b"])
    usual = {"observation": np.zeros(2), "action": 0}
    if first:
        log.step(**(usual | first))
    with pytest.raises(CaptureError, match=words):
        log.step(**(usual | then))
