"""Columns that nobody recorded arrive like recorded ones, wherever columns are asked for."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import polars as pl
import pytest

from innerview import check
from innerview.cli import look
from innerview.errors import UnknownName
from innerview.lenses.columns import derived as deriving
from innerview.lenses.columns.derived import Derived, derived
from innerview.schema import ArraySpec, Column, Metric, Ordering
from innerview.serve import serve
from innerview.store import Study, load_metrics, save_metric, write_rows
from tests.copies import copied

from .conftest import ROWS, steps_arrays
from .wirework import WAIT_S

STEPS = "/api/recordings/steps"


@pytest.fixture
def study(saved_study: Path, tmp_path: Path) -> Study:
    """A copy that may be written to."""
    return copied(saved_study, tmp_path / "study", without="derived")


@pytest.fixture
def client(study: Study) -> Iterator[httpx.Client]:
    headers = {}
    with serve(study) as handle:
        headers["Authorization"] = f"Bearer {handle.token}"
        with httpx.Client(base_url=handle.address, headers=headers, timeout=WAIT_S) as client:
            yield client


def read(response: httpx.Response) -> pl.DataFrame:
    assert response.status_code == 200, response.text
    return pl.read_ipc_stream(io.BytesIO(response.content))


def changes() -> np.ndarray:
    memory = steps_arrays()["memory"]
    found = np.full(ROWS, np.nan)
    found[1:] = np.abs(np.diff(memory, axis=0)).sum(axis=1)
    found[10] = np.nan  # the first row of the second episode
    return found


def test_a_recording_lists_what_can_be_derived(client: httpx.Client) -> None:
    made = {c["name"]: c for c in client.get(STEPS).json()["columns"] if c["derived"]}
    assert list(made) == ["medikit in view", "distance to medikit", "memory change", "memory jumps"]
    assert made["medikit in view"]["type"] == "bool"
    assert made["memory change"]["derived"] == "memory"
    assert not [c for c in client.get("/api/recordings/pairs").json()["columns"] if c["derived"]]


def test_derived_columns_are_served_beside_recorded_ones(client: httpx.Client) -> None:
    names = ["step", "medikit in view", "memory change", "distance to medikit"]
    table = read(client.get(f"{STEPS}/columns", params={"names": names}))
    assert table.columns == names
    assert table["medikit in view"].to_list() == [i % 3 == 0 for i in range(ROWS)]
    np.testing.assert_allclose(table["memory change"].to_numpy(), changes(), rtol=1e-6)
    np.testing.assert_array_equal(
        table["distance to medikit"].to_numpy(), [5 if i % 3 == 0 else np.nan for i in range(ROWS)]
    )
    assert read(client.get(f"{STEPS}/columns")).columns == [*steps_columns()], "the recorded ones where none is named"


def steps_columns() -> list[str]:
    return ["episode", "step", "action", "reward", "clock", "hit", "word", "objects"]


@pytest.mark.parametrize(("start", "stop"), [(0, 20), (3, 4), (9, 12), (10, 11), (19, 20), (5, 5)])
def test_a_part_is_the_same_as_the_whole(client: httpx.Client, start: int, stop: int) -> None:
    asked = {"names": "memory change", "start": start, "stop": stop}
    part = read(client.get(f"{STEPS}/columns", params=asked))["memory change"].to_numpy()
    np.testing.assert_allclose(part, changes()[start:stop], rtol=1e-6)


def test_an_unknown_column_is_reported_with_the_derived_ones(client: httpx.Client) -> None:
    message = client.get(f"{STEPS}/columns?names=memory chance").json()["error"]["message"]
    assert "Did you mean 'memory change'?" in message


def test_the_browser_asks_again_when_metrics_change(client: httpx.Client) -> None:
    address = f"{STEPS}/columns?names=medikit in view"
    etag = client.get(address).headers["etag"]
    assert client.get(address, headers={"If-None-Match": etag}).status_code == 304
    assert client.put("/api/metrics/thresholds", json={"thresholds": {"view distance": 4}}).status_code == 200
    changed = client.get(address, headers={"If-None-Match": etag})
    assert not read(changed)["medikit in view"].any(), "the medikit is 5 away"
    recorded = client.get(f"{STEPS}/columns?names=step")
    assert recorded.headers["etag"] == f'"{client.get(STEPS).json()["etag"]}"', "recorded columns are what they were"


def test_what_takes_long_is_saved_and_never_counts_as_damage(
    study: Study, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = read(client.get(f"{STEPS}/columns?names=memory change"))
    folder = study.path / "recordings/steps/derived"
    kept = list(folder.rglob("*.npy"))
    assert len(kept) == 1
    assert check(study.path) == []
    monkeypatch.setattr(Derived, "_make", lambda *_: pytest.fail("it is made again"))
    assert read(client.get(f"{STEPS}/columns?names=memory change&start=3&stop=8")).equals(whole[3:8], null_equal=True)
    monkeypatch.undo()
    for broken in (b"", b"not an array", kept[0].read_bytes()[:-4]):
        kept[0].write_bytes(broken)
        assert read(client.get(f"{STEPS}/columns?names=memory change")).equals(whole)
    assert check(study.path) == []
    assert client.get("/api/study").json()["damage"] == []


def test_a_study_that_cannot_be_written_to_is_looked_at_all_the_same(study: Study, client: httpx.Client) -> None:
    (study.path / "recordings/steps/derived").write_text("in the way")
    np.testing.assert_allclose(
        read(client.get(f"{STEPS}/columns?names=memory change"))["memory change"].to_numpy(), changes(), rtol=1e-6
    )


def test_pieces_and_chunks_give_the_same_as_one_piece(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    recording = study.recording("steps")
    names = ["memory change", "memory jumps", "medikit in view"]
    whole = Derived(recording).columns(names)
    shutil.rmtree(recording.folder / "derived")
    monkeypatch.setattr(deriving, "PIECE", 7)
    monkeypatch.setattr(deriving, "CHUNK_BYTES", 50)
    for _ in range(2):  # made, then read back
        assert Derived(recording).columns(names).equals(whole)
    assert Derived(recording).columns(names, 5, 16).equals(whole[5:16])


def test_a_damaged_block_does_not_take_the_others_with_it(study: Study, client: httpx.Client) -> None:
    (study.path / "recordings/steps/rows/00000001.parquet").unlink()
    shutil.rmtree(study.path / "recordings/steps/tables", ignore_errors=True)
    told = client.get(STEPS).json()
    assert "medikit in view" in [c["name"] for c in told["columns"]]
    assert read(client.get(f"{STEPS}/columns?names=medikit in view&stop=8"))["medikit in view"].sum() == 3
    assert client.get(f"{STEPS}/columns?names=medikit in view").status_code == 409


def test_what_a_damaged_block_would_suggest_is_left_out_and_the_rest_is_told(
    study: Study, client: httpx.Client
) -> None:
    chunk = study.path / "recordings/steps/arrays/memory/c.1.0"
    content = chunk.read_bytes()
    chunk.write_bytes(bytes([content[0] ^ 1]) + content[1:])
    told = {each["name"]: each for each in client.get("/api/metrics?recording=steps").json()["thresholds"]}
    jump = told.pop("memory jump")
    assert jump["value"] is None and "c.1.0" in jump["problem"] and "Set it by hand" in jump["problem"]
    assert told and all(each["problem"] == "" for each in told.values())
    assert client.get(f"{STEPS}/columns?names=memory jumps&stop=8").status_code == 409, "by another than before"
    assert client.put("/api/metrics/thresholds", json={"thresholds": {"memory jump": 0.5}}).status_code == 200
    jump = next(t for t in client.get("/api/metrics?recording=steps").json()["thresholds"] if t["name"] == jump["name"])
    assert (jump["value"], jump["problem"]) == (0.5, "")
    assert read(client.get(f"{STEPS}/columns?names=memory jumps&stop=8")).height == 8


def test_kinds_of_things_that_a_damaged_block_hides_are_there_once_it_is_whole(study: Study) -> None:
    recording = study.recording("steps")
    shutil.rmtree(recording.folder / "tables", ignore_errors=True)
    shutil.rmtree(recording.folder / "derived", ignore_errors=True)
    away = {path: path.read_bytes() for path in recording.folder.glob("rows/*.parquet")}
    for path in away:
        path.unlink()
    assert derived(study, "steps").kinds == []
    for path, content in away.items():
        path.write_bytes(content)
    assert derived(study, "steps").kinds == ["medikit"]


def test_damaged_metrics_leave_the_recordings_alone(study: Study, client: httpx.Client) -> None:
    (study.path / "metrics.json").write_text("{ not json")
    assert "memory change" in [c["name"] for c in client.get(STEPS).json()["columns"]]
    assert "metrics.json" in client.get("/api/metrics").json()["error"]["message"]
    assert [damage.part for damage in check(study.path)] == ["metrics.json"]
    assert derived(study, "steps").columns(["step", "memory change"]).height == ROWS


def test_people_get_derived_columns_from_python_and_in_files(study: Study, tmp_path: Path) -> None:
    save_metric(study, Metric(name="twice", expression="2 * step"))
    table = derived(study, "steps").columns(["twice", "step"], 8, 12)
    assert table["twice"].to_list() == [16, 18, 0, 2]
    with pytest.raises(UnknownName, match="twice"):
        derived(study, "steps").columns(["twise"])
    out = tmp_path / "rows.csv"
    look.export(
        study.path,
        out,
        recording="steps",
        episode="1",
        arrays=None,
        columns=["step", "twice", "medikit in view"],
    )
    assert pl.read_csv(out)["twice"].to_list() == [2 * step for step in range(10)]
    assert load_metrics(study).own[0].name == "twice"


def test_loops_are_found_in_a_recording_that_reports_where_it_was(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "walk", "walk")
    there = [float(i) for i in range(10)]
    x = [*there, *reversed(there)] * 2
    columns = {"episode": [0] * 20 + [1] * 20, "step": [*range(20)] * 2, "x": x, "y": [0.0] * 40}
    places = (Column(name=name, type="float", pose=part) for name, part in (("x", "x"), ("y", "y")))
    write_rows(study, "walk", columns=columns, ordering=Ordering(), specs=list(places))
    source = derived(study, "walk")
    assert source.threshold("loop radius") == 3.0, "three strides of 1"
    loop = source.columns(["loop"])["loop"].to_list()
    assert loop[:20] == loop[20:]
    assert not any(loop[:13])
    assert all(loop[14:20])
    alone = source.columns(["loop"], 15, 16)["loop"].to_list()
    assert alone == [True], "one row asks for its whole episode"


def test_an_array_that_is_no_memory_makes_no_columns(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "plain", "plain")
    spec = ArraySpec(name="site.fc", shape=(3,), dtype="float32", role="activation")
    write_rows(
        study,
        "plain",
        columns={"episode": [0, 0], "step": [0, 1]},
        arrays={"site.fc": np.zeros((2, 3), np.float32)},
        ordering=Ordering(),
        specs=[spec, Column(name="step", type="int", kind="index")],
    )
    assert derived(study, "plain").specs == ()
    assert json.loads((study.path / "study.json").read_text())["name"] == "plain"
