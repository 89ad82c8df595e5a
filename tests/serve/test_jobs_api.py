"""Jobs over HTTP, from start to end."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import httpx
import pytest

from innerview.errors import WorldError
from innerview.jobs.context import Context
from innerview.jobs.kinds import bounded, job_kind
from innerview.jobs.work import Product, Work
from innerview.schema import Watch
from innerview.serve import Handle, serve
from innerview.serve.app import openapi_text

from .wirework import WAIT_S


class Waiting(Work):
    """Work that waits for the test."""

    entered: ClassVar[threading.Event]
    go: ClassVar[threading.Event]
    product = Product(recording="counted")

    def __init__(self, job: WaitJob, context: Context) -> None:
        super().__init__(job, context)
        if not job.episodes:
            raise WorldError("Say how many episodes.")

    @property
    def title(self) -> str:
        return f"Count {self.job.episodes}"

    def run(self, part: Any, watch: Watch) -> None:
        watch(1, self.job.episodes, "first")
        self.entered.set()
        assert self.go.wait(WAIT_S)
        watch(2, self.job.episodes)


@job_kind("wait for a test", work=Waiting, unit="episodes")
@dataclass(frozen=True, kw_only=True)
class WaitJob:
    """A kind that no other file knows."""

    episodes: int = bounded(0, 0, 9)


@pytest.fixture
def handle(saved_study: Path) -> Iterator[Handle]:
    Waiting.entered, Waiting.go = threading.Event(), threading.Event()
    with serve(saved_study) as handle:
        yield handle
        Waiting.go.set()


@pytest.fixture
def api(handle: Handle) -> Iterator[httpx.Client]:
    with httpx.Client(
        base_url=f"{handle.address}api", headers={"Authorization": f"Bearer {handle.token}"}, timeout=WAIT_S
    ) as client:
        yield client


def test_start_cancel_resume_end(api: httpx.Client, handle: Handle) -> None:
    started = api.post("/jobs", json={"kind": "wait for a test", "episodes": 5})
    assert started.status_code == 201, started.text
    job = started.json()
    assert (job["kind"], job["title"], job["unit"]) == ("wait for a test", "Count 5", "episodes")
    product = {"recording": "counted", "result": "", "predictions": "", "subject": ""}
    assert job["result"] == product, "known before it ends"
    assert Waiting.entered.wait(WAIT_S)
    running = api.get(f"/jobs/{job['id']}").json()
    assert (running["state"], running["done"], running["total"], running["message"]) == ("running", 1, 5, "first")
    assert api.post(f"/jobs/{job['id']}/resume").status_code == 409
    api.post(f"/jobs/{job['id']}/cancel")
    Waiting.go.set()
    jobs = handle.app.state.service.jobs
    jobs.wait(job["id"], WAIT_S)
    assert api.get(f"/jobs/{job['id']}").json()["state"] == "cancelled"
    assert api.post(f"/jobs/{job['id']}/resume").json()["id"] == job["id"]
    jobs.wait(job["id"], WAIT_S)
    assert [j["state"] for j in api.get("/jobs").json()] == ["done"]
    assert api.get(f"/jobs/{job['id']}").json()["result"] == product


def test_what_cannot_start_says_why(api: httpx.Client) -> None:
    unknown = api.post("/jobs", json={"kind": "recrd"})
    assert unknown.status_code == 404
    assert "Did you mean 'record'?" in unknown.json()["error"]["message"]
    refused = api.post("/jobs", json={"kind": "wait for a test"})
    assert (refused.status_code, refused.json()["error"]["message"]) == (422, "Say how many episodes.")
    assert api.get("/jobs/none").status_code == 404
    assert api.post("/jobs/none/cancel").status_code == 404


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"kind": "record", "episods": 3}, "Unknown field 'episods'. Did you mean 'episodes'?"),
        ({"kind": "record", "again": True}, "Unknown field 'again'."),
        ({"kind": "record", "episodes": "many"}, "episodes of job 'record' should be a whole number from 1 to"),
        ({"kind": "record", "episodes": True}, "should be a whole number from 1 to 1,000,000, not True"),
        ({"kind": "record", "episodes": 0}, "should be a whole number from 1 to 1,000,000, not 0"),
        ({"kind": "wait for a test", "episodes": 10}, "should be a whole number from 0 to 9, not 10"),
        ({"kind": "sweep"}, "recording of job 'sweep' is missing"),
        ({"kind": "sweep", "recording": "x", "by": "luck"}, "one of 'decisions', 'episodes', not 'luck'"),
        ({"kind": "sweep", "recording": "x", "elements": 3}, "elements of job 'sweep' should be a list, not 3"),
        ({"kind": "lens", "lens": "pca", "recording": "x", "rows": [5]}, "rows.0 of job 'lens' should be a list"),
        ({"kind": "lens", "lens": "pca", "recording": "x", "parameters": [1]}, "parameters of job 'lens' should be an"),
        ({"kind": "rerun", "recording": "x", "reduction": {"name": "a"}}, "reduction.edits of job 'rerun' is missing"),
        (
            {
                "kind": "rerun",
                "recording": "x",
                "reduction": {"name": "a", "edits": [{"kind": "site", "elemnts": [1]}]},
            },
            "Unknown field 'reduction.edits.0.elemnts' of job 'rerun'.",
        ),
        ({"kind": "what_if", "recording": "x", "row": 1, "moves": [{"do": "fly"}]}, "moves.0.do of job 'what_if'"),
        ({}, "kind says which kind of job to start: "),
        (["record"], "A job is an object"),
    ],
)
def test_requests_that_do_not_fit_say_what_would(api: httpx.Client, asked: Any, words: str) -> None:
    refused = api.post("/jobs", json=asked)
    assert refused.status_code == 400, refused.text
    assert refused.json()["error"]["kind"] == "RequestError" and words in refused.json()["error"]["message"]
    assert api.get("/jobs").json() == []


def test_the_description_knows_the_kinds_of_the_core_alone() -> None:
    text = openapi_text()
    assert '"RecordJob"' in text and "WaitJob" not in text
