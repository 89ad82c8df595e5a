"""A damaged part is named and takes nothing else down."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from innerview.errors import DamagedPart, FormatVersionError, StoreError
from innerview.store import Study, check

from .samples import arrays, flip, folder_of, forge, record, rows


@pytest.fixture
def study(tmp_path: Path) -> Study:
    study = Study.create(tmp_path / "study")
    record(study, 100)
    return study


def shard(study: Study, block: int) -> Path:
    return folder_of(study) / "arrays" / "observation" / f"c.{block}.0.0.0"


def spoil(path: Path, how: str) -> None:
    content = path.read_bytes()
    if how == "missing":
        path.unlink()
    elif how == "cut short":
        path.write_bytes(content[: len(content) // 2])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "flipped":
        middle = len(content) // 3
        path.write_bytes(content[:middle] + bytes([content[middle] ^ 0xFF]) + content[middle + 1 :])


@pytest.mark.parametrize("how", ["missing", "cut short", "empty", "flipped"])
def test_a_damaged_array_file(study: Study, how: str) -> None:
    spoil(shard(study, 1), how)
    recording = study.recording("run")
    with pytest.raises(DamagedPart, match=r"c\.1\.0\.0\.0.*rows 32 to 63 of array 'observation'"):
        recording.array("observation", 0, 100)
    assert np.array_equal(recording.array("observation", 64, 100), arrays(64, 100)["observation"])
    assert np.array_equal(recording.array("memory", 0, 100), arrays(0, 100)["memory"])
    assert recording.columns(["step"])["step"].to_list() == rows(0, 100)["step"]
    if how != "flipped":
        assert [d.part for d in recording.damage] == ["recordings/run/arrays/observation/c.1.0.0.0"]
    (found,) = check(study.path)
    assert found.part.endswith("c.1.0.0.0") and "rows 32 to 63" in found.problem


@pytest.mark.parametrize("how", ["missing", "cut short", "empty"])
def test_a_damaged_table(study: Study, how: str) -> None:
    spoil(folder_of(study) / "rows" / "00000001.parquet", how)
    recording = study.recording("run")
    with pytest.raises(DamagedPart, match=r"rows/00000001\.parquet"):
        recording.columns(["step"])
    assert recording.columns(["step"], 64, 100)["step"].to_list() == rows(64, 100)["step"]
    assert recording.array("memory", 0, 100).shape == (100, 5)
    assert [d.part for d in recording.damage] == ["recordings/run/rows/00000001.parquet"]
    assert [d.part for d in check(study.path)] == ["recordings/run/rows/00000001.parquet"]


def test_a_flipped_byte_in_a_table_is_found(study: Study) -> None:
    spoil(folder_of(study) / "rows" / "00000001.parquet", "flipped")
    assert "SHA-256" in check(study.path)[0].problem


def test_a_table_in_the_place_of_another(study: Study) -> None:
    folder = folder_of(study) / "rows"
    (folder / "00000001.parquet").write_bytes((folder / "00000003.parquet").read_bytes())
    with pytest.raises(DamagedPart, match=r"rows/00000001\.parquet.*checksum"):
        study.recording("run").columns(["step"])


@pytest.mark.parametrize("how", ["missing", "cut short"])
@pytest.mark.parametrize("table", ["rows.00000000", "groups"])
def test_a_damaged_copy_is_no_loss(tmp_path: Path, how: str, table: str) -> None:
    study = Study.create(tmp_path / "study")
    record(study, 37 * 20)
    spoil(folder_of(study) / "tables" / f"{table}.parquet", how)
    recording = study.recording("run")
    assert recording.columns(["step"])["step"].to_list() == rows(0, 37 * 20)["step"]
    assert recording.groups().height == 20
    assert [d.part for d in check(study.path)] == [f"recordings/run/tables/{table}.parquet"]


@pytest.mark.parametrize("how", ["missing", "cut short", "empty"])
def test_a_damaged_manifest_leaves_the_other_recordings(study: Study, how: str) -> None:
    record(study, 50, name="second")
    spoil(folder_of(study) / "manifest.json", how)
    assert study.recordings() == ["second"]
    (damage,) = study.damaged()
    assert damage.part == "recordings/run" and "manifest.json" in damage.problem
    assert [d.part for d in check(study.path)] == ["recordings/run"]
    assert study.recording("second").rows == 50
    with pytest.raises(DamagedPart):
        study.recording("run")


@pytest.mark.parametrize("change", [{"rows": 99999}, {"blocks": -1}, {"rows": "many"}, {"info": {}}, {"surprise": 1}])
def test_a_manifest_that_contradicts_itself(study: Study, change: dict) -> None:
    path = folder_of(study) / "manifest.json"
    forge(path, lambda told: told.update(change))
    with pytest.raises(DamagedPart, match=r"manifest\.json"):
        study.recording("run")


def test_a_column_of_no_known_type_leaves_the_other_recordings(study: Study) -> None:
    record(study, 10, name="other")
    path = folder_of(study) / "manifest.json"
    forge(path, lambda told: told["info"]["columns"][2].update(type="banana"))
    assert study.recordings() == ["other"]
    (damage,) = check(study.path)
    assert damage.part == "recordings/run" and "banana" in damage.problem


@pytest.mark.parametrize("how", ["missing", "cut short", "flipped"])
def test_a_damaged_list_of_blocks_still_reads(study: Study, how: str) -> None:
    spoil(folder_of(study) / "blocks.jsonl", how)
    recording = study.recording("run")
    assert [d.part for d in recording.damage] == ["recordings/run/blocks.jsonl"]
    assert np.array_equal(recording.array("memory", 0, 100), arrays(0, 100)["memory"])
    assert recording.columns(["step"]).height == 100


def test_a_damaged_scene_and_zarr_description(study: Study) -> None:
    scene = next((folder_of(study) / "scenes").iterdir())
    scene.write_text(scene.read_text().replace("1.0", "2.0"))
    spoil(folder_of(study) / "arrays" / "memory" / "zarr.json", "cut short")
    parts = [d.part for d in check(study.path)]
    assert parts == ["recordings/run/arrays/memory/zarr.json", f"recordings/run/scenes/{scene.name}"]


def test_a_scene_with_half_a_wall_is_named(study: Study) -> None:
    scene = next((folder_of(study) / "scenes").iterdir())
    scene.write_text(json.dumps({"walls": [[1, 2, 3]]}))
    (damage,) = check(study.path)
    assert damage.part.endswith(scene.name) and "another digest" in damage.problem


def test_strange_files_beside_the_recordings_do_no_harm(study: Study) -> None:
    (study.path / "recordings" / ".DS_Store").write_text("a file that a file browser left")
    (folder_of(study) / "groups" / "copy.parquet").write_text("not ours")
    assert study.recordings() == ["run"] and check(study.path) == []


@pytest.mark.parametrize(("version", "advice"), [(5, "Update innerview"), (1, "record it again"), ("x", "version x")])
def test_another_version_is_reported_with_what_to_do(study: Study, version: object, advice: str) -> None:
    for path in (folder_of(study) / "manifest.json", study.path / "study.json"):
        forge(path, lambda told: told.update(version=version))
    with pytest.raises(FormatVersionError, match=rf"version {version}; this innerview reads version 4.*") as caught:
        study.recording("run")
    assert advice in str(caught.value)
    with pytest.raises(FormatVersionError, match=advice):
        Study.open(study.path)
    assert [d.part for d in check(study.path)] == ["study.json"]


def test_a_folder_that_is_no_study(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no study in"):
        Study.open(tmp_path)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(StoreError, match="not an empty folder"):
        Study.create(tmp_path)


@pytest.mark.parametrize("array", ["observation", "memory"])
def test_an_array_file_in_the_place_of_another(study: Study, array: str) -> None:
    """Each is whole, and still not what belongs there."""
    folder = folder_of(study) / "arrays" / array
    zeros = ".0" * (3 if array == "observation" else 1)
    (folder / f"c.1{zeros}").write_bytes((folder / f"c.0{zeros}").read_bytes())
    with pytest.raises(DamagedPart, match=r"c\.1.*rows 32 to 63.*changed"):
        study.recording("run").array(array, 32, 64)
    assert np.array_equal(study.recording("run").array(array, 0, 32), arrays(0, 32)[array])


def test_what_was_read_before_is_compared_again_when_it_changes(study: Study) -> None:
    recording = study.recording("run")
    assert recording.columns(["step"]).height == 100
    flip(folder_of(study) / "rows/00000001.parquet", 40)
    with pytest.raises(DamagedPart, match=r"rows/00000001\.parquet.*checksum"):
        recording.columns(["step"])
