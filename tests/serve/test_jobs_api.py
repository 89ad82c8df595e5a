"""Jobs over HTTP, from start to end."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from innerview.errors import WorldError
from innerview.jobs.runner import Progress, Task
from innerview.serve import Handle, serve

from .wirework import WAIT_S


class Counting:
    """A kind of job that waits for the test."""

    def __init__(self) -> None:
        self.entered, self.go = threading.Event(), threading.Event()

    def make(self, arguments: dict[str, Any]) -> Task:
        if "episodes" not in arguments:
            raise WorldError("Say how many episodes.")

        def work(progress: Progress) -> object:
            progress(1, arguments["episodes"], "first")
            self.entered.set()
            assert self.go.wait(WAIT_S)
            progress(2, arguments["episodes"])
            return {"score": float("inf"), "thing": object()}

        return Task(title=f"Count {arguments['episodes']}", work=work, unit="episodes")


@pytest.fixture
def counting() -> Counting:
    return Counting()


@pytest.fixture
def handle(kept_study: Path, counting: Counting) -> Iterator[Handle]:
    with serve(kept_study, makers={"record": counting.make}) as handle:
        yield handle
    counting.go.set()


@pytest.fixture
def api(handle: Handle) -> Iterator[httpx.Client]:
    with httpx.Client(
        base_url=f"{handle.address}api", headers={"Authorization": f"Bearer {handle.token}"}, timeout=WAIT_S
    ) as client:
        yield client


def test_start_cancel_resume_end(api: httpx.Client, handle: Handle, counting: Counting) -> None:
    started = api.post("/jobs", json={"kind": "record", "episodes": 5})
    assert started.status_code == 201
    job = started.json()
    assert (job["kind"], job["title"], job["unit"]) == ("record", "Count 5", "episodes")
    assert counting.entered.wait(WAIT_S)
    running = api.get(f"/jobs/{job['id']}").json()
    assert (running["state"], running["done"], running["total"], running["message"]) == ("running", 1, 5, "first")
    assert api.post(f"/jobs/{job['id']}/resume").status_code == 409
    api.post(f"/jobs/{job['id']}/cancel")
    counting.go.set()
    jobs = handle.app.state.service.jobs
    jobs.wait(job["id"], WAIT_S)
    assert api.get(f"/jobs/{job['id']}").json()["state"] == "cancelled"
    assert api.post(f"/jobs/{job['id']}/resume").json()["id"] == job["id"]
    jobs.wait(job["id"], WAIT_S)
    assert [j["state"] for j in api.get("/jobs").json()] == ["done"]
    assert api.get(f"/jobs/{job['id']}").json()["result"] == {"score": None, "thing": None}


def test_what_cannot_start_says_why(api: httpx.Client) -> None:
    unknown = api.post("/jobs", json={"kind": "recrd"})
    assert unknown.status_code == 404
    assert "Did you mean 'record'?" in unknown.json()["error"]["message"]
    refused = api.post("/jobs", json={"kind": "record"})
    assert (refused.status_code, refused.json()["error"]["message"]) == (422, "Say how many episodes.")
    assert api.get("/jobs/none").status_code == 404
    assert api.post("/jobs/none/cancel").status_code == 404
