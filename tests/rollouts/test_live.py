"""Live calls: a recorded row, run again by a subject in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import innerview as iv
from innerview.errors import LensError, RequestError, UnknownName
from innerview.jobs.runner import Jobs
from innerview.lenses.discovery import all_lenses
from innerview.rollouts.live import Live
from innerview.testing.worlds import CountingWorld
from tests.rollouts.players import recurrent


@pytest.fixture
def live(tmp_path: Path) -> Live:
    iv.record(tmp_path / "a.study", recurrent(), CountingWorld(), episodes=2, name="x", progress=False)
    world = CountingWorld()
    return Live(iv.Study.open(tmp_path / "a.study"), {"tiny": recurrent()}, {world.info.name: world})


def never() -> bool:
    return False


@pytest.mark.parametrize("row", [0, 1, 19, 20, 30])
def test_a_row_run_again_says_what_was_recorded(live: Live, row: int) -> None:
    recording = live.study.recording("x")
    heads = live.forward({"recording": "x", "row": row}, never)["heads"]
    assert heads["value"][0] == pytest.approx(recording.columns(["value"], row, row + 1)["value"][0], abs=1e-5)
    logits = np.array(heads["policy"])
    chances = np.exp(logits) / np.exp(logits).sum()
    assert np.allclose(chances, recording.array("probabilities", row, row + 1)[0], atol=1e-5)


def test_a_lens_on_a_row_gives_heat_of_the_picture(live: Live) -> None:
    told, heat = live.lens({"recording": "x", "row": 3, "lens": "gradient", "parameters": {"target": "value"}}, never)
    assert told["subject"] == "tiny" and heat.shape == (3, 8, 8) and heat.any()
    assert told["type"] == "heat" and told["signed"]


def test_bad_requests_say_what_would_be_right(live: Live) -> None:
    with pytest.raises(RequestError, match=r"0 to \d+, not 99999"):
        live.forward({"recording": "x", "row": 99999}, never)
    with pytest.raises(UnknownName, match="Did you mean 'gradient'"):
        live.lens({"recording": "x", "row": 0, "lens": "gradiant"}, never)
    with pytest.raises(UnknownName, match="target"):
        live.lens({"recording": "x", "row": 0, "lens": "gradient", "parameters": {"aim": 1}}, never)
    for wrong in ([1], {"times_input": "yes"}):
        with pytest.raises(LensError, match=r"by name|is true or false"):
            live.lens({"recording": "x", "row": 0, "lens": "gradient", "parameters": wrong}, never)
    with pytest.raises(UnknownName, match="Did you mean 'value'"):
        live.lens({"recording": "x", "row": 0, "lens": "gradient", "parameters": {"target": "valu"}}, never)
    with pytest.raises(RequestError, match="episodes"):
        live.record_more({"episodes": -1})
    with pytest.raises(UnknownName, match="tiny"):
        live.forward({"recording": "x", "row": 0, "subject": "large"}, never)


def test_more_can_be_recorded_as_a_job(live: Live) -> None:
    jobs = Jobs()
    task = live.record_more({"episodes": 3, "recording": "more", "seed": 7})
    job = jobs.wait(jobs.submit("record", task.title, task.work).id, 60)
    jobs.close()
    assert (job.state, job.done, job.result["recording"]) == ("done", 3, "more")
    assert live.study.recording("more").groups()["seed"].to_list() == [7, 8, 9]


def test_each_recording_finds_its_own_subject_and_world_among_several(tmp_path: Path) -> None:
    study = iv.Study.create(tmp_path / "b.study")
    subjects, worlds = {}, {}
    for name in ("one", "two"):
        subjects[name] = recurrent(name)
        worlds[name] = CountingWorld()
        worlds[name].name = name
        iv.record(study, subjects[name], worlds[name], episodes=1, name=f"rows of {name}", progress=False)
    live = Live(study, subjects, worlds)
    for name in subjects:
        where = {"recording": f"rows of {name}", "row": 3}
        assert live.lens({**where, "lens": "gradient"}, never)[0]["subject"] == name
        task = live.record_more({"like": f"rows of {name}", "recording": f"more of {name}", "episodes": 1})
        task.work(lambda *_: None)
        info = study.recording(f"more of {name}").info
        assert info.subject is not None and info.world is not None
        assert (info.subject.name, info.world.name) == (name, name)
    iv.write_rows(study, "brought", columns={"x": [1.0]}, arrays={"observation": np.zeros((1, 8, 8, 3), np.uint8)})
    with pytest.raises(RequestError, match=r"does not say which subject it was made with\. Live here: one, two"):
        live.forward({"recording": "brought", "row": 0}, never)


def test_every_lens_describes_itself() -> None:
    assert "gradient" in all_lenses().names()
    for name, looking in all_lenses():
        assert looking.lens.name == name and looking.lens.question.endswith("?")
        assert all(p.description for p in looking.lens.parameters)


def test_other_weights_than_recorded_are_told(live: Live) -> None:
    with torch.no_grad():
        live.subjects["tiny"].module.value.bias.add_(5)  # type: ignore[union-attr, operator]
    with pytest.raises(RequestError, match="other weights"):
        live.forward({"recording": "x", "row": 3}, never)
    assert "heads" in live.forward({"recording": "x", "row": 3, "subject": "tiny"}, never), "asked for by name"
