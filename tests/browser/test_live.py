"""With a live subject the page computes saliency and records more, and shows how far it is."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

import innerview as iv
from innerview.errors import LensError
from innerview.jobs.context import Context
from innerview.rollouts import live
from innerview.serve import Handle
from innerview.testing.worlds import CountingWorld, CrashingWorld, SlowGame, SlowWorld
from innerview.worlds import Game
from tests.rollouts.players import recurrent

from .conftest import Show, Visit

HAS_STRENGTH = """strength => {
    const canvas = document.querySelector("[data-testid=heat]");
    const shown = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    return strength.every((value, i) => Math.abs(shown[4 * i + 3] - value) <= 1);
}"""
"""Whether each pixel of the overlay is as opaque as the lens is strong there."""


class PatientWorld(SlowWorld):
    """Takes its time until what can be seen meanwhile was seen, however slow the machine is."""

    def __init__(self) -> None:
        super().__init__(step_s=0.1, length=20)
        self._games: list[SlowGame] = []

    def game(self, lane: int) -> Game:
        made = SlowGame(length=self.length, step_s=self.step_s)
        self._games.append(made)
        return made

    def hurry(self) -> None:
        """Take no more time, in games that are being played either."""
        self.step_s = 0.0
        for game in self._games:
            game.step_s = 0.0


def refuse(*_: object) -> None:
    raise LensError("It cannot be told.")


@pytest.fixture
def world() -> PatientWorld:
    return PatientWorld()


@pytest.fixture
def study(tmp_path: Path) -> iv.Study:
    study = iv.Study.create(tmp_path / "live.study", "live")
    iv.record(study, recurrent(), CountingWorld(), episodes=2, name="walk", progress=False)
    return study


@pytest.fixture
def handle(study: iv.Study, world: PatientWorld, show: Show) -> Handle:
    return show(study, subject=recurrent(), world=world)


def test_saliency_lies_over_the_picture_and_follows_time(
    visit: Visit, handle: Handle, study: iv.Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = visit(handle, "#/episodes/walk?step=3")
    bench.get("heat-toggle").click()
    expect(bench.get("heat")).to_have_js_property("width", 8)
    subject = recurrent()
    context = Context(study=study, subjects={subject.info.name: subject})
    for step in (3, 4, 5):
        raw = live.lens(context, live.LensCall(lens="gradient", recording="walk", row=step))[1]
        expected = np.abs(raw).max(axis=0) / np.abs(raw).max()
        strength = 255 * np.minimum(0.85, 1.1 * expected / expected.max())
        bench.page.wait_for_function(HAS_STRENGTH, arg=strength.ravel().tolist())
        assert strength.max() > 200 > strength.min()
        bench.page.keyboard.press("ArrowRight")
    bench.settled("heat=on")
    monkeypatch.setattr(live, "lens", refuse)
    bench.page.keyboard.press("ArrowRight")
    expect(bench.get("heat-message")).to_have_text("It cannot be told.")
    bench.page.wait_for_function(HAS_STRENGTH, arg=[0] * strength.size)
    bench.get("heat-toggle").click()
    expect(bench.get("heat")).to_have_count(0)


def test_a_model_predicts_the_rows_of_the_recording(visit: Visit, handle: Handle, study: iv.Study) -> None:
    bench = visit(handle)
    bench.get("jobs").click()
    bench.get("predict-start").click()
    expect(bench.get("job")).to_contain_text("Predict walk by tiny")
    expect(bench.get("job")).to_contain_text(re.compile(r"done"))
    (made,) = study.predictions()
    assert (made.of, made.subject, made.rows, made.complete) == ("walk", "tiny", study.recording("walk").rows, True)


def test_more_is_recorded_with_progress_and_can_be_opened(
    visit: Visit, handle: Handle, study: iv.Study, world: PatientWorld
) -> None:
    bench = visit(handle)
    bench.get("jobs").click()
    bench.get("record-episodes").fill("12")
    bench.get("record-start").click()
    job = bench.get("job")
    expect(job.locator("progress")).to_be_visible()
    expect(job).to_contain_text(re.compile(r"[1-9]\d* of 12\s+episodes"))
    world.hurry()
    expect(job).to_contain_text("done")
    expect(job.locator("progress")).to_have_count(0)
    made = next(name for name in study.recordings() if name != "walk")
    bench.get("job-open").click()
    bench.settled(f"#/episodes/{made.replace(' ', '%20')}")
    expect(bench.get("recording-picker")).to_have_value(made)
    bench.page.keyboard.press("Escape")
    expect(bench.get("episode")).to_have_count(12)
    assert np.array_equal(bench.at_row(0), study.recording(made).array("observation", 0, 1)[0])


def test_a_job_is_cancelled_and_goes_on_when_resumed(
    visit: Visit, handle: Handle, study: iv.Study, world: PatientWorld
) -> None:
    bench = visit(handle)
    bench.get("jobs").click()
    bench.get("record-name").fill("long")
    bench.get("record-episodes").fill("40")
    bench.get("record-start").click()
    job = bench.get("job")
    expect(job).to_contain_text(re.compile(r"[1-9]\d* of 40"))
    bench.get("job-cancel").click()
    expect(job).to_contain_text("cancelled")
    assert world.opened == 0, "every game was closed"
    bench.at_row(0)
    world.hurry()
    bench.get("job-resume").click()
    expect(job).to_contain_text("done")
    assert study.recording("long").groups().height == 40


def test_a_job_that_fails_says_why(visit: Visit, show: Show, study: iv.Study) -> None:
    bench = visit(show(study, subject=recurrent(), world=CountingWorld()))
    bench.watch.expected.append("status of 409")
    bench.get("jobs").click()
    bench.get("record-name").fill("walk")
    bench.page.get_by_label("always take the most likely action").check()
    bench.get("record-start").click()
    expect(bench.get("toasts")).to_contain_text("walk")
    expect(bench.get("job")).to_contain_text("failed")


def test_a_world_that_crashes_is_reported_and_takes_nothing_down(visit: Visit, show: Show, study: iv.Study) -> None:
    bench = visit(show(study, subject=recurrent(), world=CrashingWorld(lane=1)))
    bench.get("jobs").click()
    bench.get("record-name").fill("crashed")
    bench.get("record-start").click()
    expect(bench.get("job")).to_contain_text("failed")
    expect(bench.get("job")).to_contain_text("the engine broke at step 37")
    bench.page.keyboard.press("Escape")
    bench.page.keyboard.press("End")
    bench.at_step(19)
    bench.page.reload()
    bench.ready()
    bench.get("recording-picker").select_option("crashed")
    bench.settled("#/episodes/crashed")
    assert np.array_equal(bench.at_row(0), study.recording("crashed").array("observation", 0, 1)[0])
