"""Reductions and re-runs over HTTP."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import polars as pl
import pytest

import innerview as iv
from innerview.cli.reductions.commands import list_reductions
from innerview.serve import Handle, serve
from innerview.testing.worlds import CountingWorld
from tests.rollouts.players import recurrent

from .wirework import WAIT_S

HALF = {
    "name": "half ½/2",
    "edits": [{"kind": "site", "elements": [0, 1, 2], "op": "set", "value": 2.0, "start": 4}],
    "note": "by eye",
}


@pytest.fixture
def handle(tmp_path: Path) -> Iterator[Handle]:
    iv.record(tmp_path / "a.study", recurrent(), CountingWorld(), episodes=3, name="x", progress=False)
    world = CountingWorld()
    with serve(tmp_path / "a.study", subjects={"tiny": recurrent()}, worlds={"counting": world}) as handle:
        yield handle


@pytest.fixture
def api(handle: Handle) -> Iterator[httpx.Client]:
    with httpx.Client(
        base_url=f"{handle.address}api", headers={"Authorization": f"Bearer {handle.token}"}, timeout=WAIT_S
    ) as client:
        yield client


def ended(api: httpx.Client, **body: Any) -> dict[str, Any]:
    started = api.post("/jobs", json=body)
    assert started.status_code == 201, started.text
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        job: dict[str, Any] = api.get(f"/jobs/{started.json()['id']}").json()
        if job["state"] in ("done", "failed"):
            assert job["state"] == "done", job["error"]
            return job
        time.sleep(0.02)
    raise AssertionError("the job did not end")


def test_a_live_subject_says_what_can_be_asked_of_it(api: httpx.Client) -> None:
    told = api.get("/subjects/tiny").json()
    assert told["info"]["name"] == "tiny" and {"value", "action"} <= set(told["targets"])
    assert api.get("/subjects/tinny").status_code == 404


def test_reductions_are_saved_taken_elsewhere_and_dropped(api: httpx.Client, tmp_path: Path) -> None:
    assert api.get("/reductions").json() == []
    (kept,) = api.put("/reductions", json=HALF).json()
    assert kept["name"] == HALF["name"] and kept["edits"][0]["stop"] is None and kept["edits"][0]["op"] == "set"
    assert api.get("/reductions").json() == [kept]
    (tmp_path / "r.json").write_bytes(api.get("/reductions/file").content)
    elsewhere = iv.Study.create(tmp_path / "elsewhere.study")
    list_reductions(elsewhere.path, out=None, source=tmp_path / "r.json", drop=None)
    assert elsewhere.reductions() == iv.Study.open(tmp_path / "a.study").reductions()
    assert api.delete("/reductions/half%20%C2%BD%2F2").json() == []
    assert api.delete("/reductions/none").status_code == 404


def spans(api: httpx.Client, recording: str) -> list[dict[str, int]]:
    """First row and the one after the last of each episode."""
    table = pl.read_ipc_stream(io.BytesIO(api.get(f"/recordings/{recording}/groups").content))
    return table.select("start", "stop").to_dicts()


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "x"},
        {"name": "x", "edits": [{"kind": "site", "elements": ["a"]}]},
        {"name": "x", "edits": [{"kind": "site", "elements": [1], "op": "melt"}]},
        {"name": "", "edits": [{"kind": "site", "elements": [1]}]},
        {"name": "x", "edits": []},
        [],
    ],
)
def test_what_is_no_reduction_is_refused(api: httpx.Client, wrong: Any) -> None:
    reply = api.put("/reductions", json=wrong)
    assert reply.status_code in (409, 422) and reply.json()["error"]["message"]
    assert api.get("/reductions").json() == []


def test_a_re_run_says_where_it_parts_and_what_it_is_of(api: httpx.Client) -> None:
    job = ended(api, kind="rerun", recording="x", reduction=HALF, episodes=[0, 2])
    name = job["result"]["recording"]
    told = api.get(f"/recordings/{name}").json()
    assert told["of"] == "x" and told["edits"][0]["elements"] == [0, 1, 2] and told["edits"][0]["site"] == "cell/h"
    assert {r["name"]: r["of"] for r in api.get("/study").json()["recordings"]} == {"x": None, name: "x"}
    pairs = api.get(f"/recordings/{name}/divergences").json()
    assert [pair["of"] for pair in pairs] == [0, 2]
    assert all(pair["decision"] == 4 and pair["alike"] for pair in pairs)
    assert api.get("/recordings/x/divergences").status_code == 422
    (old, *_), (new, *_) = (spans(api, each) for each in ("x", name))
    asked = {"other": name, **old, **{f"other_{key}": row for key, row in new.items()}}
    told = api.get("/recordings/x/divergence", params=asked).json()
    assert told == {key: pairs[0][key] for key in ("decision", "action", "place")}
    assert api.get("/recordings/x/divergence", params={"other": "x"}).json() == dict.fromkeys(told)
    assert api.get("/recordings/x/divergence", params={**asked, "other": "nothing"}).status_code == 404


def test_table_sweep_and_search_make_results(api: httpx.Client) -> None:
    table = ended(api, kind="table", recording="x", reductions=[HALF], episodes=2)
    swept = ended(api, kind="sweep", recording="x", over="single", by="decisions")
    searched = ended(api, kind="smallest_memory", recording="x", keep=0.5, measure="return", episodes=2)
    for job, kind in ((table, "table"), (swept, "sweep"), (searched, "smallest_memory")):
        assert api.get(f"/results/{job['result']['result']}").json()["kind"] == kind
    rows = api.get(f"/results/{table['result']['result']}").json()["value"]["rows"]
    assert [row["name"] for row in rows] == ["full memory", HALF["name"]]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (
            {
                "kind": "rerun",
                "recording": "x",
                "reduction": {"name": "a", "edits": [{"kind": "site", "elements": [99]}]},
            },
            422,
        ),
        ({"kind": "rerun", "recording": "x", "reduction": {"name": "a", "edits": []}}, 422),
        ({"kind": "rerun", "recording": "nope", "reduction": HALF}, 404),
        ({"kind": "rerun", "recording": "x", "reduction": 3}, 400),
        ({"kind": "table", "recording": "x", "reductions": []}, 422),
        ({"kind": "table", "recording": "x", "reductions": [HALF], "episodes": -1}, 400),
        ({"kind": "sweep", "recording": "x", "over": "triples"}, 400),
        ({"kind": "smallest_memory", "recording": "x", "keep": 7}, 400),
    ],
)
def test_requests_that_cannot_be(api: httpx.Client, body: dict[str, Any], status: int) -> None:
    reply = api.post("/jobs", json=body)
    assert reply.status_code == status, reply.text
