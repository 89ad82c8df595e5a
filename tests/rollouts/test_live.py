"""Live calls: a recorded row, run again by a subject in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import innerview as iv
from innerview.errors import LensError, NotAsRecorded, RequestError, UnknownName
from innerview.jobs.context import Context
from innerview.jobs.runner import Jobs
from innerview.jobs.work import Product, prepare, run_job
from innerview.lenses.discovery import all_lenses
from innerview.rollouts.jobs import RecordJob
from innerview.rollouts.live import ForwardCall, LensCall, forward, lens
from innerview.testing.worlds import CountingWorld
from tests.rollouts.players import recurrent


@pytest.fixture
def live(tmp_path: Path) -> Context:
    iv.record(tmp_path / "a.study", recurrent(), CountingWorld(), episodes=2, name="x", progress=False)
    world = CountingWorld()
    study = iv.Study.open(tmp_path / "a.study")
    return Context(study=study, subjects={"tiny": recurrent()}, worlds={world.info.name: world})


@pytest.mark.parametrize("row", [0, 1, 19, 20, 30])
def test_a_row_run_again_says_what_was_recorded(live: Context, row: int) -> None:
    recording = live.study.recording("x")
    heads = forward(live, ForwardCall(recording="x", row=row))["heads"]
    assert heads["value"][0] == pytest.approx(recording.columns(["value"], row, row + 1)["value"][0], abs=1e-5)
    logits = np.array(heads["policy"])
    chances = np.exp(logits) / np.exp(logits).sum()
    assert np.allclose(chances, recording.array("probabilities", row, row + 1)[0], atol=1e-5)


def test_a_lens_on_a_row_gives_heat_of_the_picture(live: Context) -> None:
    told, heat = lens(live, LensCall(recording="x", row=3, lens="gradient", parameters={"target": "value"}))
    assert told["subject"] == "tiny" and heat.shape == (3, 8, 8) and heat.any()
    assert told["type"] == "heat" and told["signed"]


def test_bad_requests_say_what_would_be_right(live: Context) -> None:
    with pytest.raises(RequestError, match=r"0 to \d+, not 99999"):
        forward(live, ForwardCall(recording="x", row=99999))
    with pytest.raises(UnknownName, match="Did you mean 'gradient'"):
        lens(live, LensCall(recording="x", row=0, lens="gradiant"))
    with pytest.raises(UnknownName, match="target"):
        lens(live, LensCall(recording="x", row=0, lens="gradient", parameters={"aim": 1}))
    with pytest.raises(LensError, match="is true or false"):
        lens(live, LensCall(recording="x", row=0, lens="gradient", parameters={"times_input": "yes"}))
    with pytest.raises(UnknownName, match="Did you mean 'value'"):
        lens(live, LensCall(recording="x", row=0, lens="gradient", parameters={"target": "valu"}))
    with pytest.raises(RequestError, match="episodes"):
        prepare(RecordJob(episodes=-1), live)
    with pytest.raises(UnknownName, match="tiny"):
        forward(live, ForwardCall(recording="x", row=0, subject="large"))


def test_more_can_be_recorded_as_a_job(live: Context) -> None:
    jobs = Jobs()
    job = jobs.wait(jobs.start(RecordJob(episodes=3, recording="more", seed=7), live).id, 60)
    jobs.close()
    assert (job.state, job.done, job.result) == ("done", 3, Product(recording="more", subject="tiny"))
    assert live.study.recording("more").groups()["seed"].to_list() == [7, 8, 9]


def test_each_recording_finds_its_own_subject_and_world_among_several(tmp_path: Path) -> None:
    study = iv.Study.create(tmp_path / "b.study")
    subjects, worlds = {}, {}
    for name in ("one", "two"):
        subjects[name] = recurrent(name)
        worlds[name] = CountingWorld()
        worlds[name].name = name
        iv.record(study, subjects[name], worlds[name], episodes=1, name=f"rows of {name}", progress=False)
    live = Context(study=study, subjects=subjects, worlds=worlds)
    for name in subjects:
        assert lens(live, LensCall(recording=f"rows of {name}", row=3, lens="gradient"))[0]["subject"] == name
        asked = RecordJob(like=f"rows of {name}", recording=f"more of {name}", episodes=1)
        run_job(asked, live, progress=False)
        info = study.recording(f"more of {name}").info
        assert info.subject is not None and info.world is not None
        assert (info.subject.name, info.world.name) == (name, name)
    iv.write_rows(study, "brought", columns={"x": [1.0]}, arrays={"observation": np.zeros((1, 8, 8, 3), np.uint8)})
    with pytest.raises(RequestError, match=r"does not say which subject it was made with\. Live here: one, two"):
        forward(live, ForwardCall(recording="brought", row=0))


def test_every_lens_describes_itself() -> None:
    assert "gradient" in all_lenses().names()
    for name, looking in all_lenses():
        assert looking.lens.name == name and looking.lens.question.endswith("?")
        assert all(p.description for p in looking.lens.parameters)


def test_other_weights_than_recorded_are_reported(live: Context) -> None:
    with torch.no_grad():
        live.subjects["tiny"].module.value.bias.add_(5)  # type: ignore[union-attr, operator]
    for named in (None, "tiny"):
        with pytest.raises(NotAsRecorded, match="The weights of 'tiny' changed since this was recorded"):
            forward(live, ForwardCall(recording="x", row=3, subject=named))
    said = forward(live, ForwardCall(recording="x", row=3, other=True))
    assert "heads" in said and said["other"] == ["The weights of 'tiny' changed since this was recorded."]
