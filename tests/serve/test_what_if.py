"""A what-if rollout over HTTP: moves go in, what the subject says comes back, pictures follow by key."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

import innerview as iv
from innerview.jobs.runner import Jobs
from innerview.jobs.work import Product
from innerview.serve import Handle, serve
from innerview.testing.worlds import CountingWorld
from tests.copies import copied
from tests.rollouts.players import recurrent

from .wirework import WAIT_S


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("walks") / "walks.study"
    iv.record(folder, recurrent(), CountingWorld(), episodes=2, name="walks", progress=False)
    return folder


@pytest.fixture
def handle(recorded: Path, tmp_path: Path) -> Iterator[Handle]:
    study = copied(recorded, tmp_path / "walks.study")
    subject, world = recurrent(), CountingWorld()
    with serve(study, subjects={"tiny": subject}, worlds={world.info.name: world}) as served:
        yield served


@pytest.fixture
def client(handle: Handle) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {handle.token}"}
    with httpx.Client(base_url=handle.address, headers=headers, timeout=WAIT_S) as opened:
        yield opened


def play(client: httpx.Client, **asked: Any) -> httpx.Response:
    return client.post("/api/what-if", json={"recording": "walks", "row": 5, **asked})


def test_moves_lead_to_nodes_and_nodes_have_pictures(handle: Handle, client: httpx.Client) -> None:
    told = play(client, moves=[{"do": "act", "action": 2}, {"do": "agent"}]).json()
    assert [node["step"] for node in told["nodes"]] == [5, 6, 7]
    assert [node["do"] for node in told["nodes"]] == [None, "act", "agent"]
    assert told["nodes"][1]["reward"] == 1.0
    assert sum(told["nodes"][2]["probabilities"]) == pytest.approx(1)
    assert told["things"] == [] and "cannot move or remove" in told["why_fixed"]
    later = play(client, moves=[{"do": "act", "action": 2}, {"do": "agent"}], since=2, go_on=3).json()["nodes"]
    assert [node["step"] for node in later] == [7, 8, 9, 10]
    assert later[0]["key"] == told["nodes"][2]["key"]
    reply = client.get(f"/api/what-if/{later[0]['key']}/arrays/observation", params={"count": 2})
    assert reply.headers["X-Innerview-Shape"] == "2,8,8,3"
    seen = np.frombuffer(reply.content, np.uint8).reshape(2, 8, 8, 3)
    assert seen[:, 0, 0, 0].tolist() == [6, 7], "red is the step"


def test_a_rollout_is_saved_by_a_job(handle: Handle, client: httpx.Client) -> None:
    asked = {"kind": "what_if", "recording": "walks", "row": 5, "moves": [{"do": "agent"}], "name": "mine"}
    job = client.post("/api/jobs", json=asked).json()
    jobs: Jobs = handle.app.state.service.jobs
    done = jobs.wait(job["id"], WAIT_S)
    assert (done.state, done.result) == ("done", Product(recording="mine", subject="tiny"))
    assert client.get("/api/recordings/mine").json()["of"] == "walks"


@pytest.mark.parametrize(
    ("asked", "status", "words"),
    [
        ({"row": 9999}, 400, "row must be a number"),
        ({"moves": [{"do": "jump"}]}, 422, "act"),
        ({"moves": [{"do": "act", "action": 7}]}, 400, "There is no action 7"),
        ({"moves": [{"do": "remove", "thing": "coin"}]}, 400, "cannot move or remove"),
        ({"recording": "nothing"}, 404, "Unknown recording"),
        ({"more": 1}, 422, "more"),
    ],
)
def test_bad_requests_are_reported(client: httpx.Client, asked: dict[str, Any], status: int, words: str) -> None:
    reply = play(client, **asked)
    assert reply.status_code == status, reply.text
    assert words in reply.text
    assert client.get("/api/what-if/nokey/arrays/observation").status_code == 422
    assert client.get(f"/api/what-if/{'0' * 24}/arrays/observation").status_code == 404


def test_without_a_live_world_it_says_how_to_serve_one(recorded: Path) -> None:
    with serve(recorded) as served:
        headers = {"Authorization": f"Bearer {served.token}"}
        with httpx.Client(base_url=served.address, headers=headers, timeout=WAIT_S) as client:
            reply = play(client)
    assert reply.status_code == 400
    assert "No subject is live" in reply.json()["error"]["message"]
