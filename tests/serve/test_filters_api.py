"""Filters of pictures, and the jobs about two domains, over HTTP."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from innerview.serve import Handle, serve
from tests.paired import painted, paired_study

from .wirework import WAIT_S


@pytest.fixture
def handle(tmp_path: Path) -> Iterator[Handle]:
    with serve(paired_study(tmp_path).path, subjects={"painted": painted()}) as handle:
        yield handle


@pytest.fixture
def api(handle: Handle) -> Iterator[httpx.Client]:
    with httpx.Client(
        base_url=f"{handle.address}api", headers={"Authorization": f"Bearer {handle.token}"}, timeout=WAIT_S
    ) as client:
        yield client


def finished(api: httpx.Client, **body: Any) -> dict[str, Any]:
    started = api.post("/jobs", json=body)
    assert started.status_code == 201, started.text
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        job: dict[str, Any] = api.get(f"/jobs/{started.json()['id']}").json()
        if job["state"] not in ("waiting", "running"):
            assert job["state"] == "done", job
            return job
        time.sleep(0.05)
    raise AssertionError("the job did not end")


def test_filters_are_described_saved_and_dropped(api: httpx.Client) -> None:
    known = {each["name"]: each for each in api.get("/filters").json()["known"]}
    (factor,) = known["brightness"]["numbers"]
    assert (factor["low"], factor["high"], factor["neutral"], factor["usual"]) == (0, 4, 1, [0.5, 2])
    saved = api.put("/filters", json={"name": "day/night", "steps": "brightness 2"}).json()["saved"]
    assert saved == [{"name": "day/night", "steps": "brightness 2", "note": ""}]
    refused = api.put("/filters", json={"name": "x", "steps": "brightness 9"})
    assert refused.status_code == 400
    assert "factor goes from 0 to 4, not 9" in refused.json()["error"]["message"]
    assert api.delete("/filters/day/night").json()["saved"] == []
    assert api.delete("/filters/day").status_code == 404


def test_gaps_and_the_best_filter_are_jobs(api: httpx.Client) -> None:
    job = finished(api, kind="gap", recording="pairs", filters=["brightness 2"])
    value = api.get(f"/results/{job['result']['result']}").json()["value"]
    assert [model["filter"] for model in value["models"]] == ["", "brightness 2"]
    job = finished(api, kind="best_filter", recording="pairs", filters=["brightness"], save="day")
    value = api.get(f"/results/{job['result']['result']}").json()["value"]
    assert value["sentence"].startswith("It helps.")
    assert [made["name"] for made in api.get("/filters").json()["saved"]] == ["day"]
