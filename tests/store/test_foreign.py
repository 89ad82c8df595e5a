"""Files that are not what they are named: each is refused in a sentence, and nothing of it is kept."""

from __future__ import annotations

import io
import json
import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from innerview.errors import InnerviewError, StoreError
from innerview.store import ImportOptions, import_files

from .test_pairs import make_pairs

FILES = Path(__file__).with_name("files")


def declares_more(path: Path) -> None:
    """An entry whose header asks for a terabyte."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (1 << 37,)})
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("pose.npy", header.getvalue() + bytes(80))


def unpacks_to_more(path: Path) -> None:
    """A few hundred bytes that say of themselves that they unpack to four gigabytes."""
    declares_more(path)
    content = path.read_bytes()
    end = content.index(b"PK\x01\x02")
    path.write_bytes(content[: end + 24] + (0xFFFFFFF0).to_bytes(4, "little") + content[end + 28 :])


def with_a_hole(path: Path) -> None:
    """Sixteen gigabytes that take no room."""
    with path.open("wb") as file:
        file.truncate(1 << 34)


def header_that_does_not_end(path: Path) -> None:
    """A header that numpy's reader gives up on in its own way."""
    text = b"{'descr': '<f8', 'fortran_order': False, 'shape': (3, \n"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("pose.npy", b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text)


CASES: list[tuple[str, Callable[[Path], object], str]] = [
    ("pipe.csv", os.mkfifo, "is a pipe, not a file"),
    ("large.csv", with_a_hole, "at most 2,147,483,648 are read"),
    ("large.json", with_a_hole, "at most 2,147,483,648 are read"),
    ("loop.csv", lambda path: path.symlink_to(path.name), "cannot be read"),
    ("more.npz", declares_more, "does not hold them"),
    ("bomb.npz", unpacks_to_more, "unpacks to"),
    ("endless.npz", header_that_does_not_end, "cannot be read as NPZ"),
    ("deep.json", lambda path: path.write_text("[" * 100_000), "cannot be read as JSON"),
    ("noise.parquet", lambda path: path.write_bytes(b"PAR1" + bytes(90) + b"PAR1"), "cannot be read as Parquet"),
    ("aborts.parquet", lambda path: shutil.copy(FILES / path.name, path), r"aborts.parquet.*died \(SIGABRT\)"),
    ("null.csv", lambda path: path.write_text('photo\n"a\0.png"\n'), "leads nowhere|No image"),
]


@pytest.mark.parametrize(("name", "make", "said"), CASES, ids=[name for name, _, _ in CASES])
def test_a_file_that_is_not_what_it_says_is_refused_in_words(
    tmp_path: Path, name: str, make: Callable[[Path], object], said: str
) -> None:
    make(tmp_path / name)
    with pytest.raises(StoreError, match=said):
        import_files(tmp_path / "a.study", [tmp_path / name])
    assert not (tmp_path / "a.study").exists(), "nothing of it is kept"


@pytest.mark.parametrize("format", ["npz", "table", "drlviz", "memred"])
def test_a_folder_in_place_of_a_file_is_refused_whatever_it_is_called(tmp_path: Path, format: str) -> None:
    make_pairs(tmp_path / "pairs", count=2)
    with pytest.raises(InnerviewError, match=r"folder, not a file|kind of table"):
        import_files(tmp_path / "a.study", [tmp_path / "pairs"], ImportOptions(format=format))


def test_words_in_the_place_of_time_are_no_time(tmp_path: Path) -> None:
    pl.DataFrame({"episode": [0, 0, 1], "step": ["0", "1", "0x"]}).write_csv(tmp_path / "t.csv")
    made = import_files(tmp_path / "a.study", [tmp_path / "t.csv"])
    assert "Rows have no time" in made.remarks[0]


@pytest.mark.parametrize(
    "described",
    [
        {"units": "mm"},
        {"columns": {"x": 3}},
        {"arrays": {"sim.rgb": {"label": 5}}},
        {"map": [1]},
        {"polygons": {"a": [[1e400, None]]}},
        {"camera": {"width_px": float("inf")}},
    ],
)
def test_a_description_of_pairs_with_other_things_in_it_is_refused(tmp_path: Path, described: object) -> None:
    make_pairs(tmp_path / "pairs", count=2)
    (tmp_path / "pairs/pairs.json").write_text(json.dumps(described))
    with pytest.raises(StoreError, match=r"pairs\.json"):
        import_files(tmp_path / "a.study", [tmp_path / "pairs"])
