"""What goes in comes out: rows, groups, arrays and scenes, through us and through polars and zarr alone."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import zarr
from hypothesis import given, settings
from hypothesis import strategies as st

from innerview.errors import StoreError, UnknownName
from innerview.schema import ArraySpec, Column, Origin, RecordingInfo, Scene
from innerview.store import Study, check, write_rows

from .samples import EPISODE, arrays, folder_of, info, record, rows


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study.create(tmp_path / "study")


@pytest.mark.parametrize("total", [0, 5, 32, 100, 37 * 20])
def test_rows_groups_and_arrays_come_back(study: Study, total: int) -> None:
    record(study, total)
    recording = study.recording("run")
    assert (recording.rows, recording.complete, recording.damage) == (total, True, [])
    expected = rows(0, total)
    found = recording.columns().to_dict(as_series=False)
    assert {k: v for k, v in found.items() if k != "objects"} == {k: v for k, v in expected.items() if k != "objects"}
    seen = [row if row is None else [(o["name"], o["x_px"], o["y"]) for o in row] for row in found["objects"]]
    assert seen == [row if row is None else [("Medikit", 3.0, None)] * len(row) for row in expected["objects"]]
    for name, values in arrays(0, total).items():
        assert np.array_equal(recording.array(name, 0, total), values)
    groups = recording.groups()
    assert groups["episode"].to_list() == list(range(total // EPISODE)) and recording.group_count == total // EPISODE
    assert check(study.path) == []


def test_a_range_of_a_few_columns(study: Study) -> None:
    record(study, 37 * 20)
    recording = study.recording("run")
    table = recording.columns(["hit", "step"], 60, 70)
    assert table.columns == ["hit", "step"] and table["step"].to_list() == rows(60, 70)["step"]
    assert recording.columns(["hit"], 5, 5).height == 0
    with pytest.raises(UnknownName, match="Did you mean 'reward'"):
        recording.columns(["rewards"])


@pytest.mark.parametrize("bounds", [(-1, 5), (0, 101), (6, 5)])
def test_rows_outside_are_refused(study: Study, bounds: tuple[int, int]) -> None:
    record(study, 100)
    recording = study.recording("run")
    with pytest.raises(StoreError, match="has 100 rows"):
        recording.array("memory", *bounds)
    with pytest.raises(StoreError, match="has 100 rows"):
        recording.columns(None, *bounds)
    with pytest.raises(StoreError, match="rows 0 to 99"):
        recording.array_rows("memory", [3, 100])
    with pytest.raises(UnknownName, match="observation"):
        recording.array("observations", 0, 1)


def test_any_rows_in_any_order(study: Study) -> None:
    record(study, 100)
    recording = study.recording("run")
    wanted = [99, 3, 3, 40, 0]
    assert np.array_equal(recording.array_rows("observation", wanted), arrays(0, 100)["observation"][wanted])
    assert np.array_equal(recording.array("memory", 3, 90, 7), arrays(0, 100)["memory"][3:90:7])
    assert recording.array_rows("memory", []).shape == (0, 5)


@pytest.mark.parametrize("step", [1, 7, 50, 10**30])
def test_every_so_many_rows(study: Study, step: int) -> None:
    record(study, 50)
    expected = arrays(0, 50)["memory"][:: min(step, 50)]
    assert np.array_equal(study.recording("run").array("memory", 0, 50, step), expected)


def test_polars_and_zarr_alone_read_it(study: Study) -> None:
    record(study, 100)
    folder = folder_of(study)
    assert pl.read_parquet(folder / "rows" / "*.parquet")["step"].to_list() == rows(0, 100)["step"]
    for name, values in arrays(0, 100).items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # zarr tells that a delta filter is not in its specification
            array = zarr.open_array(folder / "arrays" / name, mode="r")
            assert array.shape == values.shape and np.array_equal(array[:], values)


def test_scenes_are_saved_once(study: Study) -> None:
    scene = Scene(walls=((0.0, 0.0, 2.5, 1.0),), objects=(("Medikit", 1.0, 2.0),))
    with study.writer(info()) as writer:
        key = writer.add_scene(scene)
        assert writer.add_scene(scene) == key
    assert study.recording("run").scene(key) == scene
    with pytest.raises(StoreError, match="no key of a scene"):
        study.recording("run").scene("../../../study")


def test_a_reader_sees_the_last_commit_and_refreshes(study: Study) -> None:
    writer = study.writer(info(), block_rows=10)
    recording = study.recording("run")
    before = recording.digest
    assert (recording.rows, recording.complete) == (0, False)
    writer.append(rows(0, 25), arrays(0, 25))
    writer.finish()
    assert recording.rows == 0 and recording.refresh() and recording.rows == 25 and recording.complete
    assert recording.digest != before and not recording.refresh()
    assert np.array_equal(recording.array("memory", 0, 25), arrays(0, 25)["memory"])


def test_groups_begin_where_their_rows_do_also_unfinished_and_where_their_table_is_damaged(study: Study) -> None:
    record(study, 2 * EPISODE + 3, finish=False)
    reader = study.recording("run")
    reached = reader.bounds.tolist()
    assert reached == list(range(0, reader.rows, EPISODE))
    steps = np.array(rows(0, reader.rows)["step"])
    assert np.array_equal(np.arange(reader.rows) - reader.group_starts(np.arange(reader.rows)), steps)
    record(study, 4 * EPISODE)
    assert reader.refresh() and reader.bounds.tolist() == [0, EPISODE, 2 * EPISODE, 3 * EPISODE]
    for path in (*folder_of(study).glob("groups/*.parquet"), *folder_of(study).glob("tables/groups*.parquet")):
        path.write_bytes(b"nothing")
    assert study.recording("run").bounds.tolist() == [0, EPISODE, 2 * EPISODE, 3 * EPISODE]


def test_a_reader_that_refreshes_forgets_rows_that_were_replaced(study: Study) -> None:
    with study.writer(info(), block_rows=32) as writer:
        writer.append(rows(100, 107), arrays(100, 107))
        writer.close(keep=True)
    reader = study.recording("run")
    assert np.array_equal(reader.array("memory", 0, 7), arrays(100, 107)["memory"])
    record(study, 40)
    assert reader.refresh() and reader.rows == 40
    for name, expected in arrays(0, 40).items():
        assert np.array_equal(reader.array(name, 0, 40), expected), name


def test_an_array_may_have_any_name_that_is_allowed(study: Study) -> None:
    spec = ArraySpec(name="activation.tmp", shape=(2,), dtype="float32")
    write_rows(study, "x", columns={"n": [1, 2]}, arrays={spec.name: np.ones((2, 2), np.float32)}, specs=[spec])
    assert study.recording("x").array(spec.name, 0, 2).sum() == 4


@pytest.mark.parametrize(
    ("columns", "given", "message"),
    [
        ({"extra": [1]}, {}, "Unknown column 'extra'"),
        ({"reward": ["high"]}, {}, "Column 'reward' takes Float64"),
        ({"objects": [[{"colour": "red"}]]}, {}, "not colour"),
        ({"step": [1, 2]}, {}, "the same number of rows"),
        ({}, {"memory": np.zeros((1, 4), np.float32)}, r"shape \(5,\).*got \(4,\)"),
        ({}, {"memory": np.zeros((1, 5))}, "got .* and float64"),
    ],
)
def test_wrong_values_are_named(study: Study, columns: dict, given: dict, message: str) -> None:
    with pytest.raises((StoreError, UnknownName), match=message), study.writer(info()) as writer:
        writer.append(rows(0, 1) | columns, arrays(0, 1) | given)


def test_a_missing_column_is_named(study: Study) -> None:
    with pytest.raises(StoreError, match="reward is missing"), study.writer(info()) as writer:
        writer.append({k: v for k, v in rows(0, 1).items() if k != "reward"}, arrays(0, 1))


DTYPES = ["bool", "int8", "int64", "uint8", "uint16", "uint64", "float16", "float32", "float64"]


@settings(max_examples=25, deadline=None)
@given(
    dtype=st.sampled_from(DTYPES),
    shape=st.lists(st.integers(1, 5), max_size=4).map(tuple),
    total=st.integers(1, 70),
    block_rows=st.sampled_from([7, 16, 30]),
    seed=st.integers(0, 2**32 - 1),
)
def test_every_dtype_and_shape_is_lossless(
    tmp_path_factory: pytest.TempPathFactory, dtype: str, shape: tuple, total: int, block_rows: int, seed: int
) -> None:
    study = Study.create(tmp_path_factory.mktemp("study") / "s")
    noise = np.random.default_rng(seed).integers(0, 256, (total, *shape, np.dtype(dtype).itemsize), np.uint8)
    values = noise.view(dtype)[..., 0] if dtype != "bool" else noise[..., 0] > 127
    spec = ArraySpec(name="values", shape=shape, dtype=dtype)
    with study.writer(RecordingInfo(name="r", arrays=(spec,)), block_rows=block_rows) as writer:
        writer.append({}, {"values": values})
    assert study.recording("r").array("values", 0, total).tobytes() == values.tobytes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        array = zarr.open_array(folder_of(study, "r") / "arrays" / "values", mode="r")
        assert array.shape == values.shape and np.asarray(array[:]).tobytes() == values.tobytes()


@settings(max_examples=15, deadline=None)
@given(
    numbers=st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)), min_size=1, max_size=40),
    texts=st.lists(st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"]))), min_size=40, max_size=40),
    floats=st.lists(st.floats(allow_nan=False), min_size=40, max_size=40),
)
def test_every_value_comes_back(
    tmp_path_factory: pytest.TempPathFactory, numbers: list, texts: list, floats: list
) -> None:
    study = Study.create(tmp_path_factory.mktemp("study") / "s")
    kinds = {"number": "int", "text": "text", "float": "float"}
    columns = tuple(Column(name=n, type=t) for n, t in kinds.items())  # type: ignore[arg-type]
    values = {"number": numbers, "text": texts[: len(numbers)], "float": floats[: len(numbers)]}
    with study.writer(RecordingInfo(name="r", columns=columns), block_rows=9) as writer:
        writer.append(values, {})
    assert study.recording("r").columns().to_dict(as_series=False) == values


def test_an_origin_is_of_a_known_kind(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match=r"origin 'loged'.*Did you mean 'logged'"):
        Origin(kind="loged")  # type: ignore[arg-type]
    assert str(Origin(kind="imported", by="MemRed", source="a.json")) == "imported by MemRed, from a.json"
