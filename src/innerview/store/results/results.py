"""Keeps what lenses and tables found: results/<id>/result.json, and an .npy beside it for each array. Never pickle."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from innerview.errors import DamagedPart, FormatVersionError, StoreError, UnknownName
from innerview.schema import Result, from_json, to_json
from innerview.store.files import read_json, replace_file
from innerview.store.paths import checked_name, confined, is_plain_file

_FOLDER, _FILE = "results", "result.json"
_VERSION = 1
_ID = re.compile(r"[0-9a-f]{16}")
_VALUE_LIMIT = 64 << 20
_KINDS = "biuf"
"""Kinds of numbers an array may hold."""


def result_id(*, kind: str, recording: str, digest: str, arguments: Mapping[str, Any]) -> str:
    """The id that this question has: it changes with the recording's content and with every argument."""
    asked = json.dumps([kind, recording, digest, to_json(arguments)], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(asked.encode()).hexdigest()[:16]


def keep_result(root: Path, result: Result, arrays: Mapping[str, np.ndarray]) -> Result:
    """Write a result, or replace a provisional one; a reader sees the old or the new, never half."""
    folder = _folder(root, result.id)
    contents = {checked_name("array", name): _npy(name, values) for name, values in arrays.items()}
    kept = replace(result, arrays=tuple(arrays), created_at=result.created_at or _now())
    told = _told(kept)
    folder.mkdir(parents=True, exist_ok=True)
    durable = not result.provisional
    stamps = {n: replace_file(folder / f"{n}.npy", content, durable=durable).sha256 for n, content in contents.items()}
    whole = {"version": _VERSION, "digests": stamps, "result": told}
    replace_file(folder / _FILE, json.dumps(whole, ensure_ascii=False).encode(), durable=durable)
    return kept


def load_results(root: Path, *, kind: str | None = None, recording: str | None = None) -> list[Result]:
    """Every result that can be read, oldest first."""
    found = []
    for path in root.glob(f"{_FOLDER}/*/{_FILE}"):
        with suppress(StoreError):  # `check` names it; one that cannot be read must not hide the others
            found.append(load_result(root, path.parent.name))
    wanted = (r for r in found if kind in (None, r.kind) and recording in (None, r.recording))
    return sorted(wanted, key=lambda result: (result.created_at, result.id))


def load_result(root: Path, result: str) -> Result:
    """What was found under that id."""
    return from_json(Result, _whole(root, result)["result"])


def load_result_array(root: Path, result: str, name: str) -> np.ndarray:
    """One array of a result."""
    known = load_result(root, result).arrays
    if name not in known:
        raise UnknownName("array", name, known)
    content = _content(_folder(root, result) / f"{name}.npy")
    try:
        values = np.load(io.BytesIO(content), allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise DamagedPart(f"'{name}.npy' of result {result} cannot be read: {error}.") from error
    if not isinstance(values, np.ndarray) or values.dtype.kind not in _KINDS:
        raise DamagedPart(f"'{name}.npy' of result {result} holds no numbers.")
    return values


def drop_result(root: Path, result: str) -> None:
    """Remove a result and its arrays."""
    folder = _folder(root, result)
    if not is_plain_file(folder / _FILE):
        raise UnknownName("result", result, [], "It may have been removed already.")
    (folder / _FILE).unlink()  # first, so that no reader finds half of it
    shutil.rmtree(folder)


def check_result(root: Path, result: str) -> None:
    """Raise where a result or one of its arrays is damaged."""
    whole = _whole(root, result)
    for name in from_json(Result, whole["result"]).arrays:
        if hashlib.sha256(_content(_folder(root, result) / f"{name}.npy")).hexdigest() != whole["digests"].get(name):
            raise DamagedPart(f"'{name}.npy' of result {result} is not what was written.")


def _folder(root: Path, result: str) -> Path:
    if not isinstance(result, str) or not _ID.fullmatch(result):
        raise UnknownName("result", str(result)[:80], [], "An id has 16 hexadecimal digits.")
    return confined(root, _FOLDER, result)


def _whole(root: Path, result: str) -> dict[str, Any]:
    path = _folder(root, result) / _FILE
    if not is_plain_file(path):
        raise UnknownName("result", result, [], "It may have been removed; run the lens again.")
    whole = read_json(path, limit=2 * _VALUE_LIMIT)
    if not isinstance(whole, dict) or not isinstance(whole.get("digests"), dict) or "result" not in whole:
        raise DamagedPart(f"'{_FILE}' of result {result} does not hold a result.")
    if whole.get("version") != _VERSION:
        raise FormatVersionError(f"Result {result} has version {whole.get('version')!r}; this one reads {_VERSION}.")
    return whole


def _content(path: Path) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        with os.fdopen(descriptor, "rb") as file:
            return file.read()
    except OSError as error:
        raise DamagedPart(f"'{path.name}' of result {path.parent.name} cannot be read: {error.strerror}.") from error


def _npy(name: str, values: np.ndarray) -> bytes:
    if values.dtype.kind not in _KINDS:
        raise StoreError(f"Array '{name}' holds {values.dtype}; a result keeps numbers.")
    file = io.BytesIO()
    np.save(file, np.ascontiguousarray(values), allow_pickle=False)
    return file.getvalue()


def _told(result: Result) -> Any:
    told = to_json(result)
    try:
        size = len(json.dumps(told, ensure_ascii=False, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise StoreError(f"What '{result.kind}' found is not JSON: {error}. Arrays go beside the value.") from error
    if size > _VALUE_LIMIT:
        raise StoreError(f"What '{result.kind}' found takes {size} bytes; arrays go beside the value, not into it.")
    return told


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
