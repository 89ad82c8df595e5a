"""Edited subjects over HTTP: made, tested, recorded, renamed, taken away."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import sleep
from typing import Any

import httpx
import pytest
from safetensors.torch import load as load_tensors

from innerview.serve import serve
from innerview.store import Study
from innerview.testing.crossing import Crossing, walker
from innerview.testing.crossing_study import RECORDING, crossing_study, save_factors

from .wirework import WAIT_S


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return crossing_study(tmp_path / "a.study")


@pytest.fixture
def api(study: Study) -> Iterator[httpx.Client]:
    with (
        serve(study, subjects={"walker": walker()}, worlds={"crossing": Crossing()}) as handle,
        httpx.Client(
            base_url=handle.address, headers={"Authorization": f"Bearer {handle.token}"}, timeout=WAIT_S
        ) as client,
    ):
        yield client


def ask(study: Study, *factors: Any, **more: Any) -> dict[str, Any]:
    (found,) = (result for result in study.results("factors") if result.arguments["layer"] == "see")
    return {"recording": RECORDING, "result": found.id, "factors": list(factors), **more}


def ended(api: httpx.Client, **body: Any) -> Any:
    job = api.post("/api/jobs", json=body)
    assert job.status_code == 201, job.text
    while (state := api.get(f"/api/jobs/{job.json()['id']}").json())["state"] in ("queued", "running"):
        sleep(0.02)
    assert state["state"] == "done", state["error"]
    return state["result"]


def test_a_ablated_subject_is_listed_live_and_forgotten_again(api: httpx.Client, study: Study) -> None:
    assert api.get("/api/edited").json() == {"edited": []}
    made = api.post("/api/edited", json=ask(study, 0))
    assert made.status_code == 201
    entry = made.json()
    shown = {key: entry[key] for key in ("name", "of", "layer", "after", "factors", "live")}
    assert shown == {
        "name": "walker without red",
        "of": "walker",
        "layer": "see",
        "after": "tell",
        "factors": [{"index": 0, "name": "red"}],
        "live": True,
    }
    (line,) = entry["history"]
    assert (
        line["kind"] == "weights"
        and line["op"] == "project out"
        and line["made"] == entry["made"]
        and "directions" not in line
    )
    assert api.get("/api/edited").json() == {"edited": [entry]}
    assert api.get("/api/study").json()["live_subjects"] == ["walker", "walker without red"]
    twice = api.post("/api/edited", json=ask(study, 1, subject="walker without red", name="no colour")).json()
    assert twice["of"] == "walker without red" and len(twice["history"]) == 2
    left = api.delete("/api/edited/no colour").json()
    assert [each["name"] for each in left["edited"]] == ["walker without red"]
    renamed = api.patch("/api/edited/walker without red", json={"name": "no red"})
    assert renamed.status_code == 200 and renamed.json()["live"]
    assert api.get("/api/study").json()["live_subjects"] == ["walker", "no red"]


def test_it_is_tested_and_recorded_like_any_other_and_its_weights_can_be_taken_along(
    api: httpx.Client, study: Study
) -> None:
    api.post("/api/edited", json=ask(study, 0, name="no red"))
    asked = {"recording": RECORDING, "edited": "no red", "levels": 9, "seed": 0, "controls": 0, "invisible": "red"}
    found = ended(api, kind="ablation_test", **asked)
    value = api.get(f"/api/results/{found['result']}").json()["value"]
    assert value["done"] == 9 and [arm["kind"] for arm in value["arms"]] == ["original", "ablated", "invisible"]
    renamed = api.patch("/api/edited/no red", json={"name": "sees no red"})
    assert renamed.status_code == 200 and renamed.json()["live"]
    (tested,) = api.get("/api/results", params={"kind": "ablation_test"}).json()
    assert tested["arguments"]["edited"] == "sees no red" and tested["title"] == "ablation test of sees no red"
    assert tested["arguments"]["arms"][1]["identity"] == renamed.json()["identity"]
    arms = api.get(f"/api/results/{tested['id']}").json()["value"]["arms"]
    assert [arm["name"] for arm in arms] == ["original", "sees no red", "red invisible"]
    assert api.patch("/api/edited/sees no red", json={"name": "no red"}).status_code == 200
    assert ended(api, kind="ablation_test", **asked) == found
    made = ended(api, kind="record", subject="no red", like=RECORDING, same_seeds=True)
    assert (made["recording"], made["subject"]) == (f"{RECORDING} - no red", "no red")
    told = study.recording(made["recording"])
    assert told.groups()["seed"].to_list() == study.recording(RECORDING).groups()["seed"].to_list()
    assert "red" in told.groups()["outcome"].to_list()
    assert api.get(f"/api/recordings/{made['recording']}").json()["subject"]["name"] == "no red"
    asked = {"recording": made["recording"], "parameters": {"layer": "see", "count": 1, "steps": 2}}
    seen = ended(api, kind="lens", lens="factors", **asked)
    more = {"recording": made["recording"], "result": seen["result"], "factors": [0]}
    assert len(api.post("/api/edited", json=more).json()["history"]) == 2
    seeds = value["arms"][1]["causes"][1]["seeds"]
    assert value["causes"][1] == "red" and seeds
    again = ended(api, kind="record", subject="no red", like=RECORDING, seeds=seeds, recording="at red")
    played = study.recording(again["recording"]).groups()
    assert played["seed"].to_list() == seeds and set(played["outcome"]) == {"red"}, "the same chances, the same end"
    weights = api.get("/api/edited/no red/weights")
    assert weights.headers["content-type"] == "application/octet-stream"
    assert "no%20red.safetensors" in weights.headers["content-disposition"]
    assert not load_tensors(weights.content)["tell.weight"][:, 0].any()
    assert api.patch("/api/edited/no red", json={"name": "x"}).status_code == 409


def test_mistakes_are_reported(api: httpx.Client, study: Study) -> None:
    late = save_factors(study, layer="policy")
    cases = (
        (ask(study, 0) | {"result": "f" * 16}, 404, "Unknown result"),
        (ask(study, 0) | {"recording": "nowhere"}, 404, "Unknown recording"),
        (ask(study, 7), 400, "numbers from 0 to 2, not 7"),
        (ask(study), 400, "at least one factor"),
        (ask(study, 0, name="walker"), 409, "'walker' is saved already"),
        (ask(study, 0, name="../x"), 409, "cannot be the name"),
        (ask(study, 0, subject="nobody"), 404, "Unknown live subject"),
        (ask(study, 0) | {"result": late.id}, 422, "No convolution or dense layer after 'policy'"),
        (ask(study, "one"), 422, "malformed"),
    )
    for body, status, said in cases:
        got = api.post("/api/edited", json=body)
        assert (got.status_code, said in got.json()["error"]["message"]) == (status, True), got.text
    assert api.get("/api/edited/nobody/weights").status_code == 404
    assert api.delete("/api/edited/walker").status_code == 404
    assert api.post("/api/jobs", json={"kind": "record", "same_seeds": True}).status_code == 400
    for seeds, status, said in (
        ([], 422, "nothing to record"),
        ([-1], 422, "0 or more, not -1"),
        ([2**63], 400, "A seed is a whole number from 0 to"),
        ([True], 400, "seeds.0 of job 'record' should be a whole number, not True"),
        ("5", 400, "seeds of job 'record' should be a list, not '5'"),
        ([1.5], 400, "seeds.0 of job 'record' should be a whole number, not 1.5"),
    ):
        got = api.post("/api/jobs", json={"kind": "record", "seeds": seeds})
        assert (got.status_code, said in got.json()["error"]["message"]) == (status, True), got.text
    both = api.post("/api/jobs", json={"kind": "record", "seeds": [1], "seed": 3})
    assert both.status_code == 400 and "Say one of seed, seeds and same_seeds" in both.json()["error"]["message"]
    made = ended(api, kind="record", seeds=[5, 7], greedy=True, recording="two")
    told = study.recording(made["recording"])
    assert told.groups()["seed"].to_list() == [5, 7] and told.info.played is not None and told.info.played.greedy


def test_without_a_live_subject_nothing_can_be_ablated_but_what_is_saved_is_shown(study: Study) -> None:
    with serve(study, subjects={"walker": walker()}) as handle:
        headers = {"Authorization": f"Bearer {handle.token}"}
        assert (
            httpx.post(f"{handle.address}api/edited", json=ask(study, 0), headers=headers, timeout=WAIT_S).status_code
            == 201
        )
    with serve(study) as handle:
        headers = {"Authorization": f"Bearer {handle.token}"}
        (kept,) = httpx.get(f"{handle.address}api/edited", headers=headers, timeout=WAIT_S).json()["edited"]
        assert kept["name"] == "walker without red" and not kept["live"]
        refused = httpx.post(f"{handle.address}api/edited", json=ask(study, 0), headers=headers, timeout=WAIT_S)
        assert refused.status_code == 400 and "No subject is live" in refused.json()["error"]["message"]
