"""The service goes on, whatever the study that it serves was made of."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from innerview.serve.app import create_app
from innerview.serve.door import Door
from innerview.store import Study
from innerview.store.isolation import process
from tests.store.samples import forge, record
from tests.store.whole_study import addresses, make_study


def client_of(study: Study) -> TestClient:
    app = create_app(study, door=Door(token="t"), port=80)
    return TestClient(app, "http://127.0.0.1", raise_server_exceptions=False, headers={"Authorization": "Bearer t"})


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return make_study(tmp_path)


def test_what_others_recorded_is_served_the_same(study: Study, tmp_path: Path) -> None:
    theirs = Study.open(shutil.copytree(study.path, tmp_path / "copy"))
    assert not theirs.recording("run").signed
    mine, other = client_of(study), client_of(theirs)
    for address in addresses(study):
        one, two = mine.get(f"/api/{address}"), other.get(f"/api/{address}")
        assert one.status_code == two.status_code == 200, address
        if "columns" not in address and "groups" not in address:
            assert one.content == two.content, address


def test_a_decoder_that_dies_is_a_409_and_then_works_again(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = client_of(Study.open(shutil.copytree(study.path, tmp_path / "copy")))
    with monkeypatch.context() as patch:
        patch.setattr(process, "_START", "import os; os.abort()")
        for address in ("columns", "arrays/memory?stop=4", "images/observation/3"):
            reply = client.get(f"/api/recordings/run/{address}")
            assert (reply.status_code, reply.json()["error"]["kind"]) == (409, "DamagedPart"), address
            assert "died (SIGABRT)" in reply.json()["error"]["message"]
        assert client.get("/api/study").status_code == 200
        assert client.get("/api/selections").status_code == 200
    for address in ("columns", "arrays/memory?stop=4", "images/observation/3"):
        assert client.get(f"/api/recordings/run/{address}").status_code == 200, address


COLUMNS = [{"name": f"c{n}", "type": "int"} for n in range(10_000)]
FORGED: dict[str, Callable[[dict[str, Any]], object]] = {
    "10,000 columns": lambda told: told["info"].update(columns=COLUMNS),
    "as many columns as there may be": lambda told: told["info"].update(columns=COLUMNS[:1_000], group_columns=[]),
    "a list for an origin": lambda told: told["info"].update(origin=[]),
    "a number that is none": lambda told: told["info"].update(ordering={"seconds_per_step": float("nan")}),
    "no arguments": lambda told: told["info"].update(arguments=7),
    "a kind that is none": lambda told: told["info"].update(arguments={"kind": ["played"]}),
    "played by nobody": lambda told: told["info"].update(arguments={"kind": "played", "seeds": [1], "lanes": 1}),
}


@pytest.mark.parametrize("change", FORGED.values(), ids=list(FORGED))
def test_a_forged_recording_leaves_the_list_and_the_others(
    tmp_path: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    study = Study.create(tmp_path / "study")
    record(study, 40)
    record(study, 20, name="other")
    forge(study.path / "recordings/run/manifest.json", change)
    client, began = client_of(study), time.monotonic()
    told = client.get("/api/study")
    assert told.status_code == 200, told.text
    assert "other" in [each["name"] for each in told.json()["recordings"]]
    assert client.get("/api/vocabulary").status_code == 200
    for address in ("", "/columns?columns=step", "/groups", "/arrays/memory", "/predictions"):
        assert client.get(f"/api/recordings/other{address}").status_code == 200
        assert client.get(f"/api/recordings/run{address}").status_code < 500, address
    assert time.monotonic() - began < 10


def test_pipes_and_links_in_the_place_of_files_are_never_waited_for(study: Study) -> None:
    wanted = list(addresses(study))
    kept = [p for p in study.path.rglob("*") if p.is_file() and p.name != "study.json" and p.suffix != ".lock"]
    for number, path in enumerate(kept):
        path.unlink()
        if number % 2:
            os.mkfifo(path)
        else:
            path.symlink_to("/dev/zero")
    client, began = client_of(study), time.monotonic()
    for address in wanted:
        assert client.get(f"/api/{address}").status_code < 500, address
    damage = client.get("/api/study").json()["damage"]
    assert {"recordings/run", "names.json", "selections.json"} <= {each["part"] for each in damage}
    assert time.monotonic() - began < 30
