"""What happens on disk meanwhile: damage, growth, other versions, a full disk."""

from __future__ import annotations

import io
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import numpy as np
import polars as pl
import pytest

from innerview.errors import DiskFull, StudyBusy
from innerview.serve import Handle, serve
from innerview.store import Recording, Study, load_metrics, load_names, load_selections
from tests.killed.disks import read_only, small_disk
from tests.store.samples import forge

from .conftest import BLOCK, ROWS, fill, fill_pairs, steps_arrays, steps_info, steps_rows
from .wirework import WAIT_S


@pytest.fixture
def study(tmp_path: Path) -> Study:
    made = Study.create(tmp_path / "study")
    fill(made)
    fill_pairs(made)
    return made


@pytest.fixture
def handle(study: Study) -> Iterator[Handle]:
    with serve(study.path) as handle:
        yield handle


@pytest.fixture
def client(handle: Handle) -> Iterator[httpx.Client]:
    with httpx.Client(
        base_url=f"{handle.address}api", headers={"Authorization": f"Bearer {handle.token}"}, timeout=WAIT_S
    ) as client:
        yield client


def damage_array(study: Study, name: str) -> None:
    folder = study.path / "recordings" / "steps" / "arrays" / name
    for file in folder.rglob("*"):
        if file.is_file() and file.suffix != ".json":
            file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def test_a_truncated_array_is_named_and_the_rest_reads(study: Study, client: httpx.Client) -> None:
    damage_array(study, "memory")
    broken = client.get("/recordings/steps/arrays/memory")
    assert broken.status_code == 409
    assert broken.json()["error"]["kind"] == "DamagedPart"
    assert "memory" in broken.json()["error"]["message"]
    assert client.get("/recordings/steps/arrays/observation").status_code == 200
    assert client.get("/recordings/steps/columns").status_code == 200
    damage = client.get("/recordings/steps").json()["damage"]
    assert damage
    assert all("memory" in d["part"] for d in damage)
    assert [r["name"] for r in client.get("/study").json()["recordings"]] == ["pairs", "steps"]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": "something else"}'])
def test_a_damaged_manifest_takes_one_recording_down(study: Study, client: httpx.Client, content: str) -> None:
    assert client.get("/recordings/steps").status_code == 200
    (study.path / "recordings" / "steps" / "manifest.json").write_text(content)
    told = client.get("/study").json()
    assert [r["name"] for r in told["recordings"]] == ["pairs"]
    assert [d["part"] for d in told["damage"]] == ["recordings/steps"]
    assert client.get("/recordings/steps").status_code == 409
    assert client.get("/recordings/pairs/columns").status_code == 200


def test_a_newer_format_says_to_update(study: Study, client: httpx.Client) -> None:
    manifest = study.path / "recordings" / "steps" / "manifest.json"
    forge(manifest, lambda told: told.update(version=99))
    reply = client.get("/recordings/steps")
    assert (reply.status_code, reply.json()["error"]["kind"]) == (409, "FormatVersionError")
    assert "Update innerview" in reply.json()["error"]["message"]


def test_a_growing_recording_is_seen_and_its_mark_changes(study: Study, client: httpx.Client) -> None:
    rows, arrays = steps_rows(), steps_arrays()
    writer = study.writer(steps_info("growing"), block_rows=BLOCK)
    writer.append({k: v[:10] for k, v in rows.items()}, {k: v[:10] for k, v in arrays.items()})
    writer.close()
    first = client.get("/recordings/growing").json()
    assert (first["rows"], first["complete"]) == (BLOCK, False)
    mark = {"If-None-Match": f'"{first["etag"]}"'}
    assert client.get("/recordings/growing/columns", headers=mark).status_code == 304
    with study.writer(steps_info("growing"), block_rows=BLOCK) as writer:
        writer.append({k: v[BLOCK:] for k, v in rows.items()}, {k: v[BLOCK:] for k, v in arrays.items()})
        writer.finish()
    grown = client.get("/recordings/growing/columns?names=step", headers=mark)
    assert pl.read_ipc_stream(io.BytesIO(grown.content)).height == ROWS
    assert client.get("/recordings/growing").json()["complete"]
    memory = np.frombuffer(client.get("/recordings/growing/arrays/memory").content, "<f4").reshape(ROWS, 5)
    np.testing.assert_array_equal(memory, arrays["memory"])


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (DiskFull("There was no room."), 507, "DiskFull"),
        (StudyBusy("Another process writes."), 409, "StudyBusy"),
        (ZeroDivisionError("a detail"), 500, "ServerError"),
    ],
)
def test_every_failure_has_one_shape(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int, kind: str
) -> None:
    def fail(self: Recording) -> pl.DataFrame:
        raise error

    monkeypatch.setattr(Recording, "groups", fail)
    reply = client.get("/recordings/steps/groups")
    assert (reply.status_code, reply.json()["error"]["kind"]) == (status, kind)
    assert ("a detail" in reply.text) is False
    assert "Traceback" not in reply.text
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert client.get("/study").status_code == 200


def test_an_empty_study_is_served(tmp_path: Path) -> None:
    with serve(Study.create(tmp_path / "empty")) as handle:
        study = httpx.get(
            f"{handle.address}api/study", headers={"Authorization": f"Bearer {handle.token}"}, timeout=WAIT_S
        ).json()
    assert study["recordings"] == []


def test_selections_are_saved_in_the_study(study: Study, client: httpx.Client) -> None:
    assert client.get("/selections").json() == []
    one = {"name": "<b>hits</b>", "recording": "steps", "expression": "hit ∩ ¬died"}
    two = {"name": "<b>hits</b>", "recording": "pairs", "expression": "hit"}
    assert client.put("/selections", json=one).json() == [one]
    assert client.put("/selections", json=two).json() == client.get("/selections").json() == [one, two]
    assert "hits" in (study.path / "selections.json").read_text()
    assert client.put("/selections", json={"name": "", "recording": "steps", "expression": ""}).status_code == 422
    changed = one | {"expression": "died"}
    assert client.put("/selections", json=changed).json() == [changed, two], "of one name, the newer"
    gone = {"recording": "pairs", "name": "<b>hits</b>"}
    assert client.delete("/selections", params=gone).json() == client.get("/selections").json() == [changed]
    assert client.delete("/selections", params=gone).status_code == 404


def test_thirty_pages_that_save_at_once_lose_nothing(study: Study, handle: Handle) -> None:
    result = study.save_result("factors", recording="steps", arguments={}, value={}).id

    def save(number: int) -> list[int]:
        headers = {"Authorization": f"Bearer {handle.token}"}
        with httpx.Client(base_url=f"{handle.address}api", headers=headers, timeout=WAIT_S) as page:
            return [
                page.put(
                    "/selections", json={"name": f"s{number}", "recording": "steps", "expression": ""}
                ).status_code,
                page.patch(f"/names/{result}", json={str(number): "x"}).status_code,
                page.put("/metrics", json={"name": f"m{number}", "expression": "step"}).status_code,
            ]

    with ThreadPoolExecutor(30) as pages:
        assert list(pages.map(save, range(30))) == [[200, 200, 200]] * 30
    assert {each.split("/")[1] for each in load_selections(study)} == {f"s{number}" for number in range(30)}
    assert len(load_names(study, result)) == len(load_metrics(study).own) == 30


def test_a_read_only_study_is_shown_and_refuses_saves_in_words(study: Study, client: httpx.Client) -> None:
    with read_only(study.path):
        assert client.get("/study").status_code == client.get("/recordings/steps/columns").status_code == 200
        for reply in (
            client.put("/selections", json={"name": "a", "recording": "steps", "expression": ""}),
            client.put("/metrics", json={"name": "m", "expression": "step"}),
        ):
            assert (reply.status_code, reply.json()["error"]["kind"]) == (403, "ReadOnly")
            assert reply.json()["error"]["message"].startswith("This study is read-only: ")
    assert client.get("/selections").json() == []


def test_a_full_disk_is_told_with_what_to_do(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as fill:
        study = Study.create(tmp_path / "disk" / "study")
        fill_pairs(study)
        with (
            serve(study.path) as handle,
            httpx.Client(base_url=f"{handle.address}api", headers={"Authorization": f"Bearer {handle.token}"}) as page,
        ):
            one = {"name": "a", "recording": "pairs", "expression": ""}
            assert page.put("/selections", json=one).status_code == 200
            fill()
            refused = page.put("/selections", json=one | {"expression": "x" * 20_000})
            assert (refused.status_code, refused.json()["error"]["kind"]) == (507, "DiskFull")
            assert "free some space" in refused.json()["error"]["message"]
            assert page.get("/selections").json() == [one]


def test_damaged_or_linked_selections_are_reported(study: Study, client: httpx.Client, tmp_path: Path) -> None:
    file = study.path / "selections.json"
    for content in ('{"a": 1}', "{", "[]"):
        file.write_text(content)
        assert client.get("/selections").status_code == 409
    file.unlink()
    (tmp_path / "outside.json").write_text("[]")
    file.symlink_to(tmp_path / "outside.json")
    assert client.get("/selections").status_code == 409
    asked = {"name": "a", "recording": "steps", "expression": ""}
    assert client.put("/selections", json=asked).status_code == 409
    assert (tmp_path / "outside.json").read_text() == "[]"
