"""A study that was made to do harm: nothing it declares is believed, and what decodes it may die without harm."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import polars as pl
import pytest

from innerview.errors import DamagedPart, StoreError
from innerview.schema import Column
from innerview.store import Recording, Study, check, sign
from innerview.store.isolation import process
from innerview.store.recordings.arrays.codecs import checksum
from innerview.store.recordings.arrays.shards import shard_checksum
from innerview.store.seal import crc32c, sealed

from .samples import arrays, folder_of, forge, info, record, rows
from .whole_study import make_study

ROWS = 64
SHARDS = {"memory": "arrays/memory/c.0.0", "observation": "arrays/observation/c.0.0.0.0"}


@pytest.fixture
def study(tmp_path: Path) -> Study:
    made = Study.create(tmp_path / "study")
    record(made, ROWS)
    return made


def forge_file(study: Study, file: str, content: bytes) -> Recording:
    """Put something else in the place of a file, with all checksums and digests made anew."""
    folder = folder_of(study)
    (folder / file).write_bytes(content)
    mark = crc32c(content)
    with suppress(DamagedPart):
        mark = shard_checksum(folder / file, 1 if "memory" in file else 2) if file in SHARDS.values() else mark
    lines = [json.loads(line) for line in (folder / "blocks.jsonl").read_bytes().splitlines()]
    running, log = "", b""
    for line in lines:
        if file in line["sizes"]:
            line["sizes"][file], line["checksums"][file] = len(content), mark
            line["block"]["digests"][file] = sha256(content).hexdigest()
        written = json.dumps(line).encode() + b"\n"
        running, log = sha256(running.encode() + written).hexdigest(), log + written
    (folder / "blocks.jsonl").write_bytes(log)
    forge(folder / "manifest.json", lambda told: told.update(digest=running, log_bytes=len(log)))
    return study.recording("run")


def forge_chunk(study: Study, array: str, change: Callable[[bytes], bytes]) -> Recording:
    """Change the only chunk of a shard, with its checksum and the index made anew."""
    content = (folder_of(study) / SHARDS[array]).read_bytes()
    count = 1 if array == "memory" else 2
    index = np.frombuffer(content[-16 * count - 4 : -4], "<u8").reshape(count, 2).copy()
    first = change(content[int(index[0, 0]) : int(index[0].sum()) - 4])
    chunk = first + checksum(first)
    rest = content[int(index[0].sum()) : -16 * count - 4]
    index[1:, 0] += len(chunk) - int(index[0, 1])
    index[0, 1] = len(chunk)
    tail = index.tobytes()
    return forge_file(study, SHARDS[array], chunk + rest + tail + checksum(tail))


def test_what_others_recorded_reads_the_same(tmp_path: Path) -> None:
    mine = make_study(tmp_path)
    theirs = Study.open(shutil.copytree(mine.path, tmp_path / "copy.study"))
    assert check(theirs.path) == []
    for name in mine.recordings():
        one, other = mine.recording(name), theirs.recording(name)
        assert one.signed and not other.signed
        assert one.columns().equals(other.columns()) and one.groups().equals(other.groups())
        for spec in one.info.arrays:
            assert np.array_equal(one.array(spec.name, 0, one.rows), other.array(spec.name, 0, one.rows)), spec.name
    (one,), (other,) = mine.predictions(), theirs.predictions()
    assert np.array_equal(one.array("head.policy", 0, 4), other.array("head.policy", 0, 4))


def test_signing_what_one_received(study: Study, tmp_path: Path) -> None:
    theirs = Study.open(shutil.copytree(study.path, tmp_path / "copy"))
    assert sign(theirs.path) == ["recordings/run"] and theirs.recording("run").signed
    assert sign(theirs.path) == []
    (folder_of(theirs) / "rows/00000001.parquet").write_bytes(b"PAR1")
    forge(folder_of(theirs) / "manifest.json", lambda told: None)
    assert not theirs.recording("run").signed, "whoever writes a manifest cannot sign it"
    with pytest.raises(StoreError, match=r"cannot be signed.*rows/00000001"):
        sign(theirs.path)


def test_going_on_with_what_others_began_does_not_sign_it(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "study")
    record(study, 37, finish=False)
    theirs = Study.open(shutil.copytree(study.path, tmp_path / "copy"))
    record(theirs, 37 * 20)
    recording = theirs.recording("run")
    assert recording.complete and not recording.signed and check(theirs.path) == []
    assert recording.columns(["step"])["step"].to_list() == rows(0, 37 * 20)["step"]


def test_a_key_that_others_can_read_signs_nothing(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert not study.recording("run").signed, "signed with another key"
    record(study, 10, name="mine")
    key = tmp_path / "config/innerview/key"
    assert study.recording("mine").signed and key.stat().st_mode & 0o777 == 0o600
    (tmp_path / "open/innerview").mkdir(parents=True)
    shutil.copy(key, tmp_path / "open/innerview/key")
    (tmp_path / "open/innerview/key").chmod(0o644)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "open"))
    assert not study.recording("mine").signed
    assert study.recording("mine").columns(["step"]).height == 10


def test_any_bit_of_a_table_with_checksums_made_anew(study: Study) -> None:
    """Without a process of its own a few of these end the whole service."""
    file = "rows/00000000.parquet"
    whole = (folder_of(study) / file).read_bytes()
    apart = study.apart
    for place in range(0, len(whole), 7):
        changed = bytearray(whole)
        changed[place] ^= 1
        recording = forge_file(study, file, bytes(changed))
        assert not recording.signed
        try:
            recording.columns(start=0, stop=32)
        except DamagedPart as error:
            assert str(error)
    assert forge_file(study, file, whole).columns(["step"])["step"].to_list() == rows(0, ROWS)["step"]
    apart.close()


def test_a_process_that_dies_is_an_error_and_the_next_request_works(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = forge_file(study, "rows/00000000.parquet", (folder_of(study) / "rows/00000000.parquet").read_bytes())
    with monkeypatch.context() as patch:
        patch.setattr(process, "_START", "import os; os.abort()")
        with pytest.raises(DamagedPart, match=r"rows/00000000\.parquet.*died \(SIGABRT\).*Everything else"):
            recording.columns(["step"])
        with pytest.raises(DamagedPart, match=r"c\.0\.0.*rows 0 to 31 of array 'memory'.*died"):
            recording.array("memory", 0, 1)
    assert recording.columns(["step"])["step"].to_list() == rows(0, ROWS)["step"]
    assert np.array_equal(recording.array("memory", 0, ROWS), arrays(0, ROWS)["memory"])


def test_a_process_that_hangs_is_stopped(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    recording = forge_file(study, "rows/00000000.parquet", (folder_of(study) / "rows/00000000.parquet").read_bytes())
    monkeypatch.setattr(process, "_START", "import time; time.sleep(60)")
    monkeypatch.setattr(process, "_BASE_SECONDS", 0.5)
    began = time.monotonic()
    with pytest.raises(DamagedPart, match="took too long and was stopped"):
        recording.columns(["step"])
    assert time.monotonic() - began < 5


HEADERS = {
    "larger than memory": struct.pack("<BBBBIII", 2, 1, 0x94, 4, 2**32 - 1, 2**31, 100),
    "blocks of nothing": struct.pack("<BBBBIII", 2, 1, 0x94, 4, 32 * 5 * 4, 0, 100),
    "blocks larger than all": struct.pack("<BBBBIII", 2, 1, 0x94, 4, 32 * 5 * 4, 2**30, 100),
    "other numbers": struct.pack("<BBBBIII", 2, 1, 0x94, 255, 32 * 5 * 4, 640, 100),
    "another length": struct.pack("<BBBBIII", 2, 1, 0x94, 4, 32 * 5 * 4, 640, 2**31),
}


@pytest.mark.parametrize("header", HEADERS.values(), ids=list(HEADERS))
def test_a_forged_blosc_header(study: Study, header: bytes) -> None:
    recording = forge_chunk(study, "memory", lambda packed: header + packed[16:])
    with pytest.raises(DamagedPart, match="rows 0 to 31 of array 'memory'"):
        recording.array("memory", 0, 1)
    assert np.array_equal(recording.array("memory", 32, ROWS), arrays(32, ROWS)["memory"])


def test_a_chunk_whose_own_checksum_alone_was_made_anew_is_not_decoded(study: Study) -> None:
    """Whoever does not make the list of blocks anew changes something that is signed."""
    kept = {name: (folder_of(study) / name).read_bytes() for name in ("blocks.jsonl", "manifest.json")}
    forge_chunk(study, "memory", lambda packed: HEADERS["blocks of nothing"] + packed[16:])
    for name, content in kept.items():
        (folder_of(study) / name).write_bytes(content)
    recording = study.recording("run")
    assert recording.signed
    with pytest.raises(DamagedPart, match="was changed after it was written"):
        recording.array("memory", 0, 1)


def test_what_unpacks_to_more_than_it_declares(study: Study) -> None:
    bomb = numcodecs.Zstd(level=3).encode(bytes(300 << 20))
    assert len(bomb) < 40_000
    recording = forge_chunk(study, "observation", lambda _: bomb)
    before = _peak_mb()
    with pytest.raises(DamagedPart, match=r"would take 314572800 bytes"):
        recording.array("observation", 0, 1)
    several = numcodecs.Zstd(level=3).encode(bytes(16 * 6 * 9 * 3)) + bomb
    with pytest.raises(DamagedPart, match="observation"):
        forge_chunk(study, "observation", lambda _: several).array("observation", 0, 1)
    assert _peak_mb() - before < 50


def test_tables_that_hold_more_than_they_declare(study: Study, tmp_path: Path) -> None:
    schema = study.recording("run").columns().schema
    many = pl.DataFrame({name: pl.repeat(None, 3_000_000, dtype=kind, eager=True) for name, kind in schema.items()})
    many.write_parquet(tmp_path / "many.parquet")
    before = _peak_mb()
    recording = forge_file(study, "rows/00000000.parquet", (tmp_path / "many.parquet").read_bytes())
    with pytest.raises(DamagedPart, match="holds 3000000 rows instead of 32"):
        recording.columns(["step"], 0, 32)
    assert _peak_mb() - before < 100
    long = recording.columns(start=32).with_columns(room=pl.lit("x" * (12 << 20)))
    long.write_parquet(tmp_path / "long.parquet")
    recording = forge_file(study, "rows/00000001.parquet", (tmp_path / "long.parquet").read_bytes())
    with pytest.raises(DamagedPart, match=r"00000001\.parquet|memory|bytes once decoded"):
        recording.columns(["room"], 32, ROWS)
    assert recording.array("memory", 0, ROWS).shape == (ROWS, 5)


def _peak_mb() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


MANIFESTS: dict[str, Callable[[dict[str, Any]], object]] = {
    "deep": lambda told: told["info"].update(arguments={"kind": "logged", "keep": nested(200)}),
    "text for a number": lambda told: told.update(rows="64"),
    "a list for a name": lambda told: told["info"].update(name=["run"]),
    "a number for columns": lambda told: told["info"].update(columns=7),
    "a number for a label": lambda told: told["info"]["columns"][0].update(label=7),
    "half a character": lambda told: told["info"].update(note="half \ud800"),
    "more rows than bytes": lambda told: told.update(rows=10**12, blocks=10**12 // 32),
    "huge blocks": lambda told: told.update(rows=10**12, blocks=1, block_rows=10**12),
    "a huge shape": lambda told: told["info"]["arrays"][1].update(shape=[1 << 40]),
    "many axes": lambda told: told["info"]["arrays"][1].update(shape=[1] * 40),
    "10,000 columns": lambda told: told["info"].update(
        columns=[{"name": f"c{n}", "type": "int"} for n in range(10_000)]
    ),
    "10,000 arrays": lambda told: told["info"].update(
        arrays=[{"name": f"a{n}", "shape": [1], "dtype": "uint8"} for n in range(10_000)]
    ),
    "one array twice": lambda told: told["info"].update(arrays=told["info"]["arrays"][:1] * 2),
}


@pytest.mark.parametrize("change", MANIFESTS.values(), ids=list(MANIFESTS))
def test_a_forged_manifest_takes_nothing_else_down(study: Study, change: Callable[[dict[str, Any]], object]) -> None:
    record(study, 10, name="other")
    path = folder_of(study) / "manifest.json"
    value = json.loads(path.read_bytes())
    del value["seal"]
    change(value)
    text = json.dumps(value).encode()
    path.write_bytes(sealed(text))
    began = time.monotonic()
    assert study.recordings() == ["other"]
    assert [damage.part for damage in study.damaged()] == ["recordings/run"]
    assert study.recording("other").columns().height == 10
    assert time.monotonic() - began < 2


@pytest.mark.parametrize("kind", ["fifo", "folder", "device"])
def test_only_plain_files_are_opened(tmp_path: Path, kind: str) -> None:
    """A pipe is never waited for."""
    study = make_study(tmp_path)
    result = study.results()[0].id
    for place in (
        "recordings/run/manifest.json",
        "names.json",
        f"results/{result}/result.json",
        "subjects/agent/card.json",
    ):
        path = study.path / place
        path.unlink()
        if kind == "fifo":
            os.mkfifo(path)
        elif kind == "folder":
            path.mkdir()
        else:
            path.symlink_to("/dev/zero")
    found = {damage.part: damage.problem for damage in check(study.path)}
    assert {"recordings/run", "names.json", f"results/{result}/result.json", "subjects/agent/card.json"} == set(found)
    assert study.recordings() == ["asked"] and study.results() == [] and study.recording("asked").columns().height == 20


def test_too_many_columns_are_refused_when_they_are_written(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "study")
    columns = tuple(Column(name=f"c{n}", type="int") for n in range(1001))
    with pytest.raises(StoreError, match="1001 columns; a recording has at most 1000"):
        study.writer(info(columns=columns))


def test_the_process_that_decodes_keeps_the_limits_that_it_was_given() -> None:
    code = (
        "import resource as r; from innerview.store.isolation.child import _limit; most = 1 << 33\n"
        "r.setrlimit(r.RLIMIT_DATA, (most, most)); _limit(memory=1 << 20, seconds=2)\n"
        "now, hard = r.getrlimit(r.RLIMIT_DATA); assert now < hard == most, (now, hard)\n"
        "_limit(memory=1 << 40, seconds=2); assert r.getrlimit(r.RLIMIT_DATA) == (most, most)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
