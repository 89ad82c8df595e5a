"""What is stored in another form than it should is named, and a request is never answered with 500."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import numpy as np
import pytest

from innerview.serve import serve
from innerview.store import Study
from innerview.store.seal import sealed
from tests.fuzz.checksums import renew

from .conftest import fill
from .wirework import WAIT_S


@pytest.mark.parametrize("name", ["\\ud800", "\\u0000", "NaN", "a" * 300])
def test_odd_texts_in_a_request_are_taken_or_refused(tmp_path: Path, name: str) -> None:
    study = Study.create(tmp_path / "own.study")
    fill(study)
    with serve(study) as handle:
        headers = {"Authorization": f"Bearer {handle.token}", "Content-Type": "application/json"}
        with httpx.Client(base_url=f"{handle.address}api", headers=headers, timeout=WAIT_S) as api:
            for method, path, body in (
                ("PUT", "selections", '{"name": "%s", "recording": "steps", "expression": "%s"}'),
                ("PUT", "metrics", '{"name": "%s", "expression": "%s", "recording": "steps"}'),
                ("PUT", "metrics/thresholds", '{"%s": NaN, "view distance": "%s"}'),
                ("PUT", "reductions", '{"name": "%s", "edits": [{"kind": "site", "site": "%s", "value": NaN}]}'),
                ("POST", "jobs", '{"kind": "sweep", "recording": "%s", "over": "%s"}'),
                ("POST", "what-if", '{"recording": "%s", "row": NaN, "moves": "%s"}'),
                ("POST", "door", '{"code": "%s", "%s": 1}'),
            ):
                assert api.request(method, path, content=body % (name, name)).status_code < 500, path
            for path in ("selections", "metrics?recording=steps", "reductions", "recordings/steps"):
                assert api.get(path).status_code < 500, path


def test_a_result_in_another_form_is_damage(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "own.study")
    fill(study)
    result = study.save_result("table", recording="steps", arguments={}, value={"rows": []})
    (file,) = (study.path / "results" / result.id).glob("value*.json")
    before = file.read_bytes()
    file.write_text(json.dumps({**json.loads(before), "shown": 5}))
    renew(study.path, file, before)
    with serve(study) as handle:
        headers = {"Authorization": f"Bearer {handle.token}"}
        reply = httpx.get(f"{handle.address}api/results/{result.id}", headers=headers, timeout=WAIT_S)
    assert reply.status_code == 409
    assert reply.json()["error"]["kind"] == "DamagedPart"


@pytest.mark.parametrize("rows", [[10**30], [-1], [20], [5, 2**63]])
def test_rows_that_are_none_are_refused_whatever_their_size(client: httpx.Client, rows: list[int]) -> None:
    reply = client.post("/api/recordings/steps/aligned", json={"rows": rows, "before": 2, "after": 2, "metrics": []})
    assert reply.status_code in (400, 422), reply.text


def test_a_recording_whose_manifest_is_a_link_to_itself_is_damaged(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "own.study")
    fill(study)
    manifest = study.path / "recordings" / "steps" / "manifest.json"
    scene = next((study.path / "recordings" / "steps" / "scenes").glob("*.json"))
    with serve(study) as handle:
        headers = {"Authorization": f"Bearer {handle.token}"}
        with httpx.Client(base_url=f"{handle.address}api/recordings", headers=headers, timeout=WAIT_S) as api:
            assert api.get("steps/arrays/memory").status_code == 200
            for looped, asked in ((scene, f"steps/scenes/{scene.stem}"), (manifest, "steps/arrays/memory")):
                looped.unlink()
                looped.symlink_to(looped.name)
                assert api.get(asked).status_code in (404, 409), asked


@pytest.mark.parametrize("created", ["\ud7ff", 'a"b', "a\r\nSet-Cookie: x=1", "é", "2026-01-01T00:00:00+00:00"])
def test_what_is_stored_cannot_break_a_header(tmp_path: Path, created: str) -> None:
    """A version stands in a header, and is made of what a study says."""
    study = Study.create(tmp_path / "own.study")
    fill(study)
    result = study.save_result("pca", recording="steps", arguments={}, value={}, arrays={"places": np.eye(3)})
    file = study.path / "results" / result.id / "result.json"
    told = json.loads(file.read_bytes())
    told["result"]["created_at"] = created
    del told["seal"]
    file.write_bytes(sealed(json.dumps(told).encode()))
    with serve(study) as handle:
        headers = {"Authorization": f"Bearer {handle.token}"}
        asked = f"{handle.address}api/results/{result.id}/arrays/places"
        reply = httpx.get(asked, headers=headers, timeout=WAIT_S)
        assert reply.status_code == 200
        assert "set-cookie" not in reply.headers
        again = httpx.get(asked, headers={**headers, "If-None-Match": reply.headers["etag"]}, timeout=WAIT_S)
        assert again.status_code == 304
