"""Lenses as jobs and what they found, over the wire, with no live subject."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from innerview.jobs.work import Product
from innerview.serve import Handle, serve
from innerview.store import Study

from .conftest import fill, steps_arrays
from .wirework import WAIT_S


@pytest.fixture
def handle(tmp_path: Path) -> Iterator[Handle]:
    study = Study.create(tmp_path / "own.study")
    fill(study)
    with serve(study) as handle:
        yield handle


@pytest.fixture
def api(handle: Handle) -> Iterator[httpx.Client]:
    with httpx.Client(
        base_url=f"{handle.address}api", headers={"Authorization": f"Bearer {handle.token}"}, timeout=WAIT_S
    ) as client:
        yield client


def look(api: httpx.Client, handle: Handle, lens: str = "pca", **asked: Any) -> str:
    job = api.post("/jobs", json={"kind": "lens", "lens": lens, "recording": "steps", **asked})
    assert job.status_code == 201, job.text
    promised = job.json()["result"]["result"]
    ended = handle.app.state.service.jobs.wait(job.json()["id"], WAIT_S)
    assert ended.state == "done", ended.error
    assert ended.result == Product(result=promised)
    return str(promised)


def test_an_array_comes_in_few_bytes_where_that_is_asked(api: httpx.Client, handle: Handle) -> None:
    found = look(api, handle)
    whole = api.get(f"/results/{found}/arrays/places")
    small = api.get(f"/results/{found}/arrays/places", params={"small": True})
    exact = np.frombuffer(whole.content, "<f4")
    assert (small.headers["x-innerview-shape"], small.headers["x-innerview-dtype"]) == ("20,2", "int16")
    step = float(small.headers["x-innerview-step"])
    got = np.frombuffer(small.content, "<i2") * step
    assert np.abs(got - exact).max() <= step / 2 * 1.001 and step == pytest.approx(np.abs(exact).max() / 32767)
    assert small.headers["content-encoding"] == "deflate" and small.headers["etag"] != whole.headers["etag"]
    rows = api.get(f"/results/{found}/arrays/rows", params={"small": True})
    assert rows.headers["x-innerview-step"] == "1.0"
    assert np.frombuffer(rows.content, "<i2").tolist() == list(range(20))


def test_a_lens_runs_as_a_job_and_its_result_is_saved(api: httpx.Client, handle: Handle) -> None:
    found = look(api, handle)
    result = api.get(f"/results/{found}").json()
    assert (result["kind"], result["recording"], result["provisional"]) == ("pca", "steps", False)
    assert result["value"]["sampled"] == 20 and result["title"] == "pca of steps"
    reply = api.get(f"/results/{found}/arrays/places")
    assert (reply.headers["x-innerview-shape"], reply.headers["x-innerview-dtype"]) == ("20,2", "float32")
    places = np.frombuffer(reply.content, "<f4").reshape(20, 2)
    memory = steps_arrays()["memory"]
    widest = np.linalg.svd(memory - memory.mean(0))[2][:2]
    assert np.allclose(np.abs((memory - memory.mean(0)) @ widest.T), np.abs(places), atol=1e-4)
    part = api.get(f"/results/{found}/arrays/places", params={"start": 3, "stop": 5})
    assert np.allclose(np.frombuffer(part.content, "<f4").reshape(2, 2), places[3:5])
    assert (
        api.get(f"/results/{found}/arrays/places", headers={"If-None-Match": reply.headers["etag"]}).status_code == 304
    )


def test_results_are_listed_without_their_value_and_can_be_dropped(api: httpx.Client, handle: Handle) -> None:
    first, second = look(api, handle), look(api, handle, rows=[[0, 10]])
    assert look(api, handle) == first, "the same question is not asked twice"
    listed = api.get("/results", params={"recording": "steps", "kind": "pca"}).json()
    assert [line["id"] for line in listed] == [first, second] and "value" not in listed[0]
    assert listed[1]["arguments"]["rows"] == [[0, 10]]
    assert api.get("/results", params={"kind": "flags"}).json() == []
    assert api.delete(f"/results/{first}").status_code == 204
    assert api.get(f"/results/{first}").status_code == 404
    assert api.delete(f"/results/{first}").status_code == 404


@pytest.mark.parametrize(
    ("asked", "status", "says"),
    [
        ({"lens": "pcaa"}, 404, "Did you mean 'pca'"),
        ({"lens": "gradient"}, 422, "no model is loaded"),
        ({"lens": "influence"}, 422, "no model is loaded"),
        ({"lens": "pca", "recording": "step"}, 404, "Did you mean 'steps'"),
        ({"lens": "pca", "rows": [3]}, 400, "should be a list, not 3"),
        ({"lens": "pca", "rows": [[5, 500]]}, 400, "start, stop"),
        ({"lens": "pca", "parameters": {"max_rows": "many"}}, 422, "is a whole number"),
        ({"lens": "pca", "parameters": {"max_rows": 1}}, 422, "goes from 10"),
        ({"lens": "pca", "parameters": {"array": "memor"}}, 404, "Did you mean 'memory'"),
        ({"lens": "pca", "parameters": {"max_row": 100}}, 404, "Did you mean 'max_rows'"),
    ],
)
def test_bad_questions_are_refused_before_a_job_begins(
    api: httpx.Client, asked: dict[str, Any], status: int, says: str
) -> None:
    reply = api.post("/jobs", json={"kind": "lens", "recording": "steps", **asked})
    assert reply.status_code == status and says in reply.json()["error"]["message"]
    assert api.get("/jobs").json() == []


def test_a_lens_that_cannot_go_on_says_why(api: httpx.Client, handle: Handle) -> None:
    job = api.post("/jobs", json={"kind": "lens", "lens": "pca", "recording": "steps", "rows": [[0, 2]]}).json()
    ended = handle.app.state.service.jobs.wait(job["id"], WAIT_S)
    assert (ended.state, "3 rows or more" in ended.error) == ("failed", True)


def test_lenses_are_listed_with_no_subject(api: httpx.Client) -> None:
    lenses = {lens["name"]: lens for lens in api.get("/lenses").json()}
    assert lenses["tsne"]["yields"] == "layout" and lenses["tsne"]["over"] == "rows"
    assert lenses["factors"]["runs_subject"] and not lenses["tsne"]["runs_subject"]
