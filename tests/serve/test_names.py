"""Names of parts of results over HTTP."""

from __future__ import annotations

from pathlib import Path

import httpx

from innerview.serve import serve
from innerview.store import Study

from .conftest import fill
from .wirework import WAIT_S


def test_names_are_saved_with_the_study(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "own.study")
    fill(study)
    kept = study.save_result("factors", recording="steps", arguments={}, value={"factors": []})
    with serve(study) as handle:
        headers = {"Authorization": f"Bearer {handle.token}"}
        with httpx.Client(base_url=f"{handle.address}api/names", headers=headers, timeout=WAIT_S) as api:
            assert api.get(kept.id).json() == {}
            assert api.patch(kept.id, json={"0": "saw", "1": ""}).json() == {"0": "saw"}
            assert api.get(kept.id).json() == {"0": "saw"}
            assert api.patch(kept.id, json={"1": "coin"}).json() == {"0": "saw", "1": "coin"}, "others stay"
            assert api.patch(kept.id, json={"1": ""}).json() == {"0": "saw"}
            assert api.patch(kept.id, json={"0": "x" * 81}).status_code == 422
            assert api.get("ffffffffffffffff").status_code == 404
