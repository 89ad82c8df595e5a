"""A changed byte in any file of a study is named, takes nothing else down and is never served as if it were whole."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from starlette.testclient import TestClient

from innerview.serve.app import create_app
from innerview.serve.door import Door
from innerview.store import Study, check
from tests.store.samples import flip
from tests.store.whole_study import addresses, files_of, make_study

DERIVED = ("tables", "pyramid", "derived", "played")
"""What is damaged here is read from elsewhere or made again."""
OF_ALL = ("study.json",)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return make_study(tmp_path_factory.mktemp("flipped"))


@pytest.fixture(scope="module")
def whole(study: Study) -> dict[str, bytes]:
    """What each address answers while nothing is damaged."""
    answers = dict(_answers(study, list(addresses(study))))
    assert {address for address, (status, _) in answers.items() if status != 200} == set()
    return {address: content for address, (_, content) in answers.items()}


def _answers(study: Study, wanted: list[str]) -> Iterator[tuple[str, tuple[int, bytes]]]:
    app = create_app(Study(study.path, study.name), door=Door(token="t"), port=80)
    client = TestClient(app, "http://127.0.0.1", raise_server_exceptions=False, headers={"Authorization": "Bearer t"})
    for address in wanted:
        reply = client.get(f"/api/{address}")
        yield address, (reply.status_code, reply.content)


def _kinds(study: Study) -> dict[str, list[Path]]:
    """Files by what they are: of many that are alike the first and the last are enough."""
    found: dict[str, list[Path]] = {}
    for path in files_of(study):
        place = path.relative_to(study.path)
        kind = "/".join((*place.parts[:1], *place.parts[2:-1], place.suffix))
        found.setdefault(kind, []).append(path)
    return {kind: [paths[0], paths[-1]] for kind, paths in found.items()}


def _places(path: Path) -> list[int]:
    size = path.stat().st_size
    return sorted({0, size // 3, size // 2, 2 * size // 3, size - 1})


def _said(content: bytes) -> object:
    """What a reply says: the rows of a table, a value without what it says about damage, or its bytes."""
    if content.startswith(b"\xff\xff\xff\xff"):
        return pl.read_ipc_stream(io.BytesIO(content)).rechunk().write_json()
    try:
        value = json.loads(content)
    except ValueError:
        return content
    if isinstance(value, dict):
        value.pop("damage", None)
        for recording in value.get("recordings", ()):
            recording.pop("damage", None)
    return value


def test_every_kind_of_file_is_there(study: Study) -> None:
    assert check(study.path) == []
    endings = {path.name.split(".", 1)[-1] if "." in path.name else path.name for path in files_of(study)}
    assert {"parquet", "jsonl", "safetensors", "f16", "png"} <= {ending.split(".")[-1] for ending in endings}
    assert len(_kinds(study)) > 25


def test_a_flipped_bit_is_named_by_check_and_by_nothing_else(study: Study) -> None:
    for path in {path for paths in _kinds(study).values() for path in paths}:
        before = path.read_bytes()
        for place in _places(path):
            flip(path, place)
            found = check(study.path)
            path.write_bytes(before)
            told = path.relative_to(study.path).as_posix()
            assert found, f"byte {place} of {told} is not named"
            for damage in found:
                same = told.startswith(damage.part.rpartition("/")[0] or damage.part)
                assert same, f"byte {place} of {told} is named as {damage}"
                assert damage.problem and damage.advice


def test_a_flipped_bit_is_never_served(study: Study, whole: dict[str, bytes]) -> None:
    served = 0
    for kind, paths in _kinds(study).items():
        if kind.startswith(OF_ALL):
            continue
        for path in paths:
            before = path.read_bytes()
            for place in _places(path)[2:3]:
                flip(path, place)
                answers = dict(_answers(study, list(whole)))
                path.write_bytes(before)
                served += _compared(answers, whole, f"byte {place} of {path.relative_to(study.path)}")
    assert served > 1000


def _compared(answers: dict[str, tuple[int, bytes]], whole: dict[str, bytes], what: str) -> int:
    """How many answers are as before. The others refuse, or leave out what is named as damaged."""
    same = 0
    damage = json.loads(answers["study"][1])
    told = damage["damage"] + [each for recording in damage["recordings"] for each in recording["damage"]]
    for address, (status, content) in answers.items():
        assert status == 200 or 400 <= status < 500, f"{what}: {address} gives {status}: {content[:300]!r}"
        if status != 200:
            assert json.loads(content)["error"]["message"], what
        elif _said(content) == _said(whole[address]):
            same += 1
        elif b"cannot suggest it" not in content:  # a threshold that says itself why it is not known
            assert told, f"{what}: {address} is served with another content and nobody is told"
            assert len(content) < len(whole[address]), f"{what}: {address} is served changed: {content[:300]!r}"
    assert same > len(whole) // 3, what
    return same
