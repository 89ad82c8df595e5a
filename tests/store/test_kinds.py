"""Arrays that are not a block of equal rows: of varying length, shared by key, and files kept as they are."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from innerview.errors import DamagedPart, StoreError, UnknownName
from innerview.schema import ArraySpec, Column, RecordingInfo
from innerview.store import Study, check, write_rows

ROWS = 23
COLUMNS = (Column(name="image", type="text", kind="index"), Column(name="answer", type="int"))
TOKENS = ArraySpec(name="tokens", shape=(), dtype="int64", kind="ragged")
BOXES = ArraySpec(name="boxes", shape=(4,), dtype="float32", kind="ragged", key="image")
FEATURES = ArraySpec(name="features", shape=(3, 5), dtype="float32", key="image")
DEPTH = ArraySpec(name="depth", shape=(6, 4), dtype="uint16", kind="encoded", role="image", axes=("height", "width"))
INFO = RecordingInfo(name="questions", columns=COLUMNS, arrays=(TOKENS, BOXES, FEATURES, DEPTH))


def tokens(row: int) -> np.ndarray:
    return np.arange(row % 7) + row


def boxes(image: int) -> np.ndarray:
    return np.full((image + 1, 4), image, np.float32)


def depth(row: int) -> np.ndarray:
    return (np.arange(24).reshape(6, 4) * 2000 + row).astype(np.uint16)


def png(pixels: np.ndarray) -> bytes:
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "PNG")
    return out.getvalue()


def append(writer: object, start: int, stop: int) -> None:
    images = {str(row // 5): row // 5 for row in range(start, stop)}
    writer.share("boxes", {key: boxes(n) for key, n in images.items()})  # type: ignore[attr-defined]
    writer.share("features", {key: np.full((3, 5), n, np.float32) for key, n in images.items()})  # type: ignore[attr-defined]
    writer.append(  # type: ignore[attr-defined]
        {"image": [str(row // 5) for row in range(start, stop)], "answer": list(range(start, stop))},
        {"tokens": [tokens(r) for r in range(start, stop)], "depth": [png(depth(r)) for r in range(start, stop)]},
    )


@pytest.fixture
def study(tmp_path: Path) -> Study:
    made = Study.create(tmp_path / "q.study")
    with made.writer(INFO, block_rows=8) as writer:
        for row in range(0, ROWS, 4):
            append(writer, row, min(row + 4, ROWS))
    return made


def test_rows_come_back_as_they_went_in(study: Study) -> None:
    recording, rows = study.recording("questions"), [22, 0, 9, 13]
    values, lengths = recording.ragged_rows("tokens", rows)
    assert lengths.tolist() == [row % 7 for row in rows]
    for value, length, row in zip(values, lengths, rows, strict=True):
        assert value[:length].tolist() == tokens(row).tolist()
        assert not value[length:].any()
    assert recording.ragged_rows("boxes", rows)[1].tolist() == [row // 5 + 1 for row in rows]
    assert recording.array_rows("features", rows)[:, 0, 0].tolist() == [row // 5 for row in rows]
    assert recording.array("depth", 3, 5).dtype == np.uint16
    np.testing.assert_array_equal(recording.array_rows("depth", rows), [depth(row) for row in rows])
    assert not check(study.path)


def test_a_file_stays_as_it_is_and_a_shared_value_is_saved_once(study: Study) -> None:
    folder = study.path / "recordings/questions/arrays"
    assert png(depth(9)) in (folder / "depth/c.1").read_bytes()
    keys = [path.read_text() for path in sorted((folder / "features").glob("k.*"))]
    assert "".join(keys).count('"2"') == 1


def test_a_recording_that_was_stopped_goes_on(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "q.study")
    writer = study.writer(INFO, block_rows=8)
    append(writer, 0, 19)
    writer.close()  # rows 16 to 18 are lost, and with them what they brought along
    with study.writer(INFO, block_rows=8) as writer:
        assert writer.rows_committed == 16
        append(writer, 16, ROWS)
    recording = study.recording("questions")
    assert recording.array("features", 0, ROWS)[:, 0, 0].tolist() == [row // 5 for row in range(ROWS)]
    assert recording.ragged_rows("boxes", range(ROWS))[1].tolist() == [row // 5 + 1 for row in range(ROWS)]
    assert not check(study.path)


@pytest.mark.parametrize("file", ["tokens/c.1", "boxes/c.0", "depth/c.1", "features/k.0.json"])
def test_damage_is_found(study: Study, file: str) -> None:
    path = study.path / "recordings/questions/arrays" / file
    content = bytearray(path.read_bytes())
    content[5] ^= 1
    path.write_bytes(content)
    assert [damage.part for damage in check(study.path)] == [f"recordings/questions/arrays/{file}"]
    if file.endswith("/c.1"):
        recording, name = study.recording("questions"), file.partition("/")[0]
        with pytest.raises(DamagedPart, match="rows 8 to 15"):
            recording.array(name, 8, 9)
        assert len(recording.array(name, 0, 8)) == 8


def test_a_key_without_a_value_is_refused(tmp_path: Path) -> None:
    with Study.create(tmp_path / "q.study").writer(INFO, block_rows=8) as writer:
        with pytest.raises(StoreError, match="no value for key '7'"):
            writer.append({"image": ["7"], "answer": [1]}, {"tokens": [tokens(1)], "depth": [png(depth(1))]})
        append(writer, 0, 2)
        with pytest.raises(StoreError, match="takes the bytes of a JPEG or PNG file"):
            writer.append({"image": ["0"], "answer": [1]}, {"tokens": [tokens(1)], "depth": [depth(1)]})
        with pytest.raises(StoreError, match="takes rows of shape"):
            writer.append({"image": ["0"], "answer": [1]}, {"tokens": [np.zeros(3)], "depth": [png(depth(1))]})
    with pytest.raises(UnknownName, match="column of words 'answer'"):
        info = RecordingInfo(
            name="x", columns=COLUMNS, arrays=(ArraySpec(name="f", shape=(), dtype="int8", key="answer"),)
        )
        Study.open(tmp_path / "q.study").writer(info)


def given() -> dict[str, Any]:
    images = range(ROWS // 5 + 1)
    return {
        "tokens": [tokens(row).tolist() for row in range(ROWS)],
        "boxes": {str(image): boxes(image) for image in images},
        "features": {str(image): np.full((3, 5), image, np.float32) for image in images},
        "depth": [png(depth(row)) for row in range(ROWS)],
    }


def test_rows_of_every_kind_are_written_in_one_call(study: Study) -> None:
    columns = {"image": [str(row // 5) for row in range(ROWS)], "answer": np.arange(ROWS)}
    write_rows(study, "mine", columns=columns, arrays=given())
    mine, streamed = study.recording("mine"), study.recording("questions")
    assert {(s.name, s.kind, s.key, s.shape, s.dtype) for s in mine.info.arrays} == {
        (s.name, s.kind, s.key, s.shape, s.dtype) for s in INFO.arrays
    }
    for name in ("tokens", "boxes"):
        for one, other in zip(
            mine.ragged_rows(name, range(ROWS)), streamed.ragged_rows(name, range(ROWS)), strict=True
        ):
            np.testing.assert_array_equal(one, other)
    for name in ("features", "depth"):
        np.testing.assert_array_equal(mine.array(name, 0, ROWS), streamed.array(name, 0, ROWS))
    assert not check(study.path)
    write_rows(study, "told", columns=columns, arrays=given(), specs=[BOXES, FEATURES, TOKENS, DEPTH])
    assert study.recording("told").info.arrays == INFO.arrays
    with pytest.raises(StoreError, match="already, with this content"):
        write_rows(study, "told", columns=columns, arrays=given(), specs=[BOXES, FEATURES, TOKENS, DEPTH])


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("depth", [png(depth(0))] * (ROWS - 1) + [png(depth(0)[:3])], r"row 22: it is \(3, 4\) uint16; the first is"),
        ("depth", [png(depth(0))] * (ROWS - 1) + [png(depth(0))[:-9]], "row 22: It is cut short"),
        (
            "depth",
            [png(depth(0))] * (ROWS - 1) + [depth(0)],
            "row 22: give the bytes of a JPEG or PNG file, not ndarray",
        ),
        ("boxes", {"0": boxes(0)}, "no column of words .image. has nothing but its keys.*key='COLUMN'"),
        ("tokens", [], "has no values"),
        ("tokens", [[1], [2, 3]], "array 'tokens' has 2"),
        ("tokens", [[[1], [2, 3]]] * ROWS, "different shapes"),
    ],
)
def test_rows_that_do_not_fit_are_refused(study: Study, name: str, value: Any, said: str) -> None:
    columns = {"image": [str(row // 5) for row in range(ROWS)]}
    with pytest.raises(StoreError, match=said):
        write_rows(study, "mine", columns=columns, arrays={**given(), name: value})
