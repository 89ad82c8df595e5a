"""What a recording was made with is believed of no manifest: whoever needs it says which file and field are wrong."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import innerview as iv
from innerview.serve.app import create_app
from innerview.serve.door import Door
from innerview.serve.live.wiring import live_parts
from innerview.store import Study
from innerview.testing.worlds import CountingWorld
from tests.rollouts.players import recurrent
from tests.store.samples import forge

from .wirework import WAIT_S

HALF = {"name": "half", "edits": [{"kind": "site", "elements": [0, 1, 2]}]}
JOBS: tuple[dict[str, Any], ...] = (
    {"kind": "record", "like": "x", "same_seeds": True},
    {"kind": "record", "like": "x", "seeds": [7]},
    {"kind": "rerun", "recording": "x", "reduction": HALF},
    {"kind": "table", "recording": "x", "reductions": [HALF], "episodes": 1},
    {"kind": "sweep", "recording": "x", "by": "episodes", "episodes": 1},
    {"kind": "smallest_memory", "recording": "x", "episodes": 1},
    {"kind": "what_if", "recording": "x", "row": 3, "moves": [{"do": "agent"}]},
    {"kind": "predict", "recording": "x"},
    {"kind": "lens", "recording": "x", "lens": "gradient"},
)
Arguments = dict[str, Any]
FORGED: dict[str, tuple[Callable[[Arguments], object], str]] = {
    "text for seeds": (lambda told: told.update(seeds="012"), "arguments.seeds should be a list, not '012'"),
    "a word for a seed": (lambda told: told.update(seeds=["a", 1]), "arguments.seeds should be a whole number"),
    "a seed below zero": (lambda told: told.update(seeds=[-1, 1]), "arguments.seeds are numbers from 0"),
    "fewer seeds than episodes": (lambda told: told.update(seeds=[0]), "2 episodes, and arguments.seeds names 1"),
    "no lanes": (lambda told: told.pop("lanes"), "arguments lacks lanes"),
    "no room for lanes": (lambda told: told.update(lanes=0), "arguments.lanes is a number from 1 to"),
    "a million million lanes": (lambda told: told.update(lanes=10**12), "arguments.lanes is a number from 1 to"),
    "a lane that is not there": (lambda told: told.update(places=[0, 9]), "arguments.places names lane 9"),
    "a word for greedy": (lambda told: told.update(greedy="yes"), "arguments.greedy should be true or false"),
    "no steps": (lambda told: told.update(max_steps=0), "arguments.max_steps is a number from 1 on"),
    "numbers for sites": (lambda told: told.update(keep=[3]), "arguments.keep should be text, not 3"),
    "no edit": (lambda told: told.update(edits=[{"kind": "flood"}]), "arguments.edits has kind 'flood'"),
    "made from nothing": (lambda told: told.update(source={"kind": "rerun"}), "arguments.source lacks"),
    "made from many": (
        lambda told: told.update(source={"kind": "rerun", "of": "x", "reduction": "r", "episodes": [1, 2, 3]}),
        "arguments.source.episodes names 3 episodes for 2 seeds",
    ),
    "logged": (lambda told: told.update(kind="logged"), "arguments has fields this version does not know"),
    "a field too many": (lambda told: told.update(of="y"), "arguments has fields this version does not know: of"),
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("studies") / "a.study"
    iv.record(path, recurrent(), CountingWorld(), episodes=2, name="x", progress=False)
    return path


@pytest.fixture
def study(saved: Path, tmp_path: Path) -> Study:
    return Study.open(shutil.copytree(saved, tmp_path / "a.study"))


@pytest.fixture
def client(study: Study) -> Iterator[TestClient]:
    subjects, worlds = {"tiny": recurrent()}, {"counting": CountingWorld()}
    live = live_parts(study, subjects, worlds)
    app = create_app(study, door=Door(token="t"), port=80, subjects=subjects, worlds=worlds, **live)
    known = {"Authorization": "Bearer t"}
    with TestClient(app, "http://127.0.0.1", raise_server_exceptions=False, headers=known) as client:
        yield client


def how_it_ends(client: TestClient, job: dict[str, Any]) -> str:
    """What a job that is refused, or that fails, says; empty where it does neither."""
    reply = client.post("/api/jobs", json=job)
    if reply.status_code != 201:
        assert 400 <= reply.status_code < 500, reply.text
        return str(reply.json()["error"]["message"])
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        told = client.get(f"/api/jobs/{reply.json()['id']}").json()
        if told["state"] in ("done", "failed"):
            return str(told["error"])
        time.sleep(0.02)
    raise AssertionError("the job did not end")


@pytest.mark.parametrize("name", FORGED)
def test_every_job_names_the_file_and_the_field(study: Study, client: TestClient, name: str) -> None:
    change, words = FORGED[name]
    forge(study.path / "recordings/x/manifest.json", lambda told: change(told["info"]["arguments"]))
    for job in JOBS:
        said = how_it_ends(client, job)
        assert "'manifest.json' of recording 'x' is damaged" in said and words in said, (job["kind"], said)
    reply = client.post("/api/what-if", json={"recording": "x", "row": 3})
    assert reply.status_code == 409 and words in reply.json()["error"]["message"]
    assert [d["part"] for d in client.get("/api/study").json()["damage"]] == ["recordings/x"]


def test_what_was_not_forged_ends_well(client: TestClient) -> None:
    assert {job["kind"]: how_it_ends(client, job) for job in JOBS if job["kind"] in ("table", "rerun", "what_if")} == {
        "table": "",
        "rerun": "",
        "what_if": "",
    }


def test_a_change_by_hand_that_nobody_can_have_made_is_named(study: Study, client: TestClient) -> None:
    assert how_it_ends(client, {**JOBS[6], "name": "mine"}) == ""
    changes = [{"step": 1, "move": {"do": "move", "thing": "coin", "by": [1]}}]
    forge(
        study.path / "recordings/mine/manifest.json",
        lambda told: told["info"]["arguments"]["source"].update(changes=changes),
    )
    said = how_it_ends(client, {"kind": "what_if", "recording": "mine", "row": 3, "moves": [{"do": "agent"}]})
    assert "'manifest.json' of recording 'mine' is damaged: arguments.source.changes" in said
