"""People's own metrics: checked while they are written, kept in the study, refused with the place of the mistake."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import polars as pl
import pytest

from innerview.serve import serve
from innerview.store import Study, load_metrics
from tests.copies import copied

from .wirework import WAIT_S

STEPS = "/api/recordings/steps"


@pytest.fixture
def study(saved_study: Path, tmp_path: Path) -> Study:
    return copied(saved_study, tmp_path / "study", without="derived")


@pytest.fixture
def client(study: Study) -> Iterator[httpx.Client]:
    with (
        serve(study) as handle,
        httpx.Client(
            base_url=handle.address, headers={"Authorization": f"Bearer {handle.token}"}, timeout=WAIT_S
        ) as client,
    ):
        yield client


def keep(client: httpx.Client, name: str, expression: str, **more: Any) -> httpx.Response:
    return client.put("/api/metrics", json={"name": name, "expression": expression, "recording": "steps", **more})


def values(client: httpx.Client, name: str) -> list[Any]:
    response = client.get(f"{STEPS}/columns", params={"names": [name]})
    assert response.status_code == 200, response.text
    return pl.read_ipc_stream(io.BytesIO(response.content))[name].to_list()


def test_a_metric_is_saved_listed_served_changed_and_forgotten(client: httpx.Client, study: Study) -> None:
    assert keep(client, "seen for", 'since(not col("medikit in view"))', unit="steps").status_code == 200
    column = next(c for c in client.get(STEPS).json()["columns"] if c["name"] == "seen for")
    assert (column["type"], column["unit"], column["derived"]) == (
        "float",
        "steps",
        'since(not col("medikit in view"))',
    )
    first = values(client, "seen for")
    assert first[1:4] == [0, 0, 1]
    assert keep(client, "seen", "step > 3", replaces="seen for").status_code == 200
    assert values(client, "seen") == [i % 10 > 3 for i in range(20)]
    assert [one.name for one in load_metrics(study).own] == ["seen"]
    assert client.request("DELETE", "/api/metrics", params={"name": "seen"}).json() == []
    assert client.get(f"{STEPS}/columns?names=seen").status_code == 404
    missing = client.request("DELETE", "/api/metrics", params={"name": "seen"})
    assert missing.status_code == 404


@pytest.mark.parametrize(
    ("expression", "gives"),
    [
        ('word == "plain"', "yes or no"),
        ('action == "left" and reward > 2', "yes or no"),
        ("change(reward, 2)", "a number"),
        ('threshold("view distance") - 1', "a number"),
    ],
)
def test_an_expression_is_checked_while_it_is_written(client: httpx.Client, expression: str, gives: str) -> None:
    told = client.post("/api/metrics/check", json={"recording": "steps", "expression": expression}).json()
    assert told == {"gives": gives, "problem": "", "at": 0}


@pytest.mark.parametrize(
    ("expression", "at", "words"),
    [
        ("reward + rewart", 9, "Did you mean 'reward'?"),
        ("import os", 0, "not allowed"),
        ("reward.__class__", 0, "not allowed"),
        ("reward +", 8, "cannot be read"),
        ("objects", 0, 'col("medikit in view")'),
        ("word", 0, "gives words"),
        ("word + 1", 0, "gives words"),
        ('threshold("vew distance")', 0, "Did you mean 'view distance'?"),
        ("9**9**9", 3, "from -8 to 8"),
    ],
)
def test_mistakes_are_reported_with_their_place_and_not_saved(
    client: httpx.Client, study: Study, expression: str, at: int, words: str
) -> None:
    told = client.post("/api/metrics/check", json={"recording": "steps", "expression": expression}).json()
    assert words in told["problem"]
    assert told["at"] == at
    refused = keep(client, "mine", expression)
    assert refused.status_code == 400
    assert refused.json()["error"] == {"kind": "MetricError", "message": told["problem"]}
    assert load_metrics(study).own == ()


def test_names_that_are_taken_or_no_names_are_refused(client: httpx.Client) -> None:
    assert "already" in keep(client, "reward", "step").json()["error"]["message"]
    assert "already" in keep(client, "memory change", "step").json()["error"]["message"]
    assert keep(client, "", "step").status_code == 422
    assert keep(client, "a\nb", "step").status_code == 409
    assert keep(client, "x" * 81, "step").status_code == 422


def test_a_metric_of_another_recording_is_left_out_where_it_cannot_be_computed(client: httpx.Client) -> None:
    assert keep(client, "bright", "reward > 1").status_code == 200
    assert [c["name"] for c in client.get("/api/recordings/pairs").json()["columns"]] == ["x_m"]
    told = client.get("/api/metrics", params={"recording": "pairs"}).json()["own"]
    assert told[0]["name"] == "bright"
    assert "Unknown column 'reward'" in told[0]["problem"]
    over_time = client.post("/api/metrics/check", json={"recording": "pairs", "expression": "previous(x_m)"}).json()
    assert "no time" in over_time["problem"]


def test_thresholds_are_reported_set_and_set_back(client: httpx.Client) -> None:
    def told() -> dict[str, Any]:
        listed = client.get("/api/metrics", params={"recording": "steps"}).json()["thresholds"]
        return {one["name"]: (one["value"], one["by_hand"]) for one in listed}

    before = told()
    assert list(before) == ["view distance", "view width", "memory jump"], "those that decide something here"
    assert before["view distance"] == (None, False), "without bound"
    assert before["memory jump"][0] > 0
    assert client.put("/api/metrics/thresholds", json={"thresholds": {"memory jump": 0.25}}).json() == ["memory jump"]
    assert told()["memory jump"] == (0.25, True)
    assert client.put("/api/metrics/thresholds", json={"thresholds": {"memory jump": None}}).json() == []
    assert told() == before
    for wrong in ({"vew distance": 1}, {"view distance": -1}, {"view width": "wide"}):
        assert client.put("/api/metrics/thresholds", json={"thresholds": wrong}).status_code in (400, 404, 422)


def test_functions_are_listed_for_those_who_write(client: httpx.Client) -> None:
    functions = client.get("/api/metrics").json()["functions"]
    assert {"usage": "since(c)", "description": "rows since c held last", "over_time": True} in functions


def test_metrics_need_the_token(client: httpx.Client) -> None:
    assert httpx.get(f"{client.base_url}api/metrics", timeout=WAIT_S).status_code == 401
    assert httpx.put(f"{client.base_url}api/metrics", json={}, timeout=WAIT_S).status_code == 401
