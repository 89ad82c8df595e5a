"""Subjects at several steps of their training, over the wire: snapshots of the study and live ones that say it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

import innerview as iv
from innerview.errors import SubjectError
from innerview.rollouts.learning.ages import HELD, WithSnapshots, ages
from innerview.serve import Handle, serve
from innerview.testing.crossing import Crossing, walker
from tests.rollouts.players import recurrent

from .wirework import WAIT_S


@pytest.fixture
def study(tmp_path: Path) -> iv.Study:
    iv.record(tmp_path / "a.study", walker(), Crossing(), episodes=2, seeds=1, name="x", progress=False)
    for step in (0, 40_000):
        iv.snapshot(tmp_path / "a.study", walker(), step=step, run="ppo", facts={"score": step / 1000})
    iv.snapshot(tmp_path / "a.study", recurrent("gone"), step=7, run="other")
    return iv.Study.open(tmp_path / "a.study")


@pytest.fixture
def handle(study: iv.Study) -> Iterator[Handle]:
    live = {"walker": walker(), "young": walker("young").aged("zoo", 12)}
    with serve(study, subjects=live) as handle:
        yield handle


@pytest.fixture
def api(handle: Handle) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {handle.token}"}
    with httpx.Client(base_url=f"{handle.address}api", headers=headers, timeout=WAIT_S) as client:
        yield client


def test_ages_are_listed_by_run_and_step_and_are_no_live_subjects(api: httpx.Client) -> None:
    told = api.get("/ages").json()
    assert [(each["name"], each["step"], each["score"], each["saved"]) for each in told] == [
        ("other @ 7 steps", 7, None, True),
        ("ppo @ 0 steps", 0, 0.0, True),
        ("ppo @ 40,000 steps", 40_000, 40.0, True),
        ("young", 12, None, False),
    ]
    assert api.get("/study").json()["live_subjects"] == ["walker", "young"]
    assert api.get("/subjects/ppo @ 0 steps").json()["info"]["age"] == {"run": "ppo", "step": 0}


def test_a_snapshot_of_another_architecture_is_refused_in_words(api: httpx.Client) -> None:
    answer = api.get("/subjects/other @ 7 steps")
    assert answer.status_code == 422 and "another architecture than 'walker'" in answer.json()["error"]["message"]


def test_snapshots_are_made_like_the_subject_that_was_trained(study: iv.Study) -> None:
    live = WithSnapshots(study, {"other": recurrent("other"), "walker": walker()})
    age = live["ppo @ 40,000 steps"]
    assert age.info.age == iv.load_snapshot(study, "ppo", 40_000, like=walker()).info.age
    assert live["ppo @ 40,000 steps"] is age, "it is loaded once"
    assert live["other @ 7 steps"].info.name == "other @ 7 steps", (
        "it fits one of them, though that is not who was trained"
    )
    assert "ppo @ 3 steps" not in live and "a/b @ 3 steps" not in live and list(live) == ["other", "walker"]
    assert not ages(study, {"walker": walker()})[0].name.startswith("walker")
    with pytest.raises(SubjectError, match="another architecture"):
        WithSnapshots(study, {"walker": walker()})["other @ 7 steps"]
    assert HELD > 0 and "ppo @ 0 steps" not in WithSnapshots(study, {})
