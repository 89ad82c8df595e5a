"""Saves what lenses and tables found, in results/<id>/. Never pickle.

`result.json` says what it is and is all that a list reads; `value.json` holds the figures, an .npy each array. Their
names have a part of their digest, so that replacing `result.json` replaces a result as a whole."""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from datetime import UTC, datetime
from io import BufferedReader
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from innerview.errors import DamagedPart, FormatVersionError, StoreError, UnknownName
from innerview.schema import Result, ResultArray, ResultInfo, to_json
from innerview.store.changes import changing
from innerview.store.files import Stamp, make_folder, read_json, remove_file, remove_folder, replace_file
from innerview.store.paths import checked_name, confined, is_plain_file

_FOLDER, _FILE, _VALUE = "results", "result.json", "value.json"
_VERSION = 3
_ID = re.compile(r"[0-9a-f]{16}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_VALUE_LIMIT = 64 << 20
_INFO_LIMIT = 4 << 20
T = TypeVar("T")
_TRIES = 20
_KINDS = "biuf"
"""Kinds of numbers an array may hold."""


def result_id(*, kind: str, version: int, recording: str, digest: str, arguments: Mapping[str, Any]) -> str:
    """The id that this question has: it changes with the recording's content and with every argument."""
    asked = json.dumps([kind, version, recording, digest, to_json(arguments)], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(asked.encode()).hexdigest()[:16]


def save_result(root: Path, result: Result, arrays: Mapping[str, np.ndarray]) -> Result:
    """Write a result, or replace a provisional one; a reader sees the old or the new, never half."""
    folder = _folder(root, result.id)
    contents = {checked_name("array", name): _npy(name, values) for name, values in arrays.items()}
    listed = {name: ResultArray(shape=values.shape, dtype=values.dtype.name) for name, values in arrays.items()}
    kept = replace(result, arrays=listed, created_at=result.created_at or _now())
    files = {f"{name}.npy": content for name, content in contents.items()} | {_VALUE: _value(kept)}
    info = to_json(ResultInfo(**{name: getattr(kept, name) for name in _INFO}))
    durable = not result.provisional
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    whole = json.dumps({"version": _VERSION, "digests": digests, "result": info}, ensure_ascii=False).encode()

    def write(name: str, content: bytes) -> Stamp:
        return replace_file(folder / name, content, durable=durable, beside=root)

    with changing(root):
        make_folder(folder)
        for name, content in files.items():
            write(_stored(name, digests), content)
        write(_FILE, whole)
        _forget_others(folder, digests)
    return kept


def _stored(name: str, digests: Mapping[str, str]) -> str:
    """The file's own name: of "value.json" for instance "value.3f9a0c51.json"."""
    stem, _, ending = name.rpartition(".")
    digest = digests.get(name)
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise DamagedPart(f"'{_FILE}' does not say which '{name}' belongs to it.")
    return f"{checked_name('array', stem)}.{digest[:8]}.{ending}"


def _forget_others(folder: Path, digests: Mapping[str, str]) -> None:
    """Remove files of what stood there before."""
    used = {_FILE, *(_stored(name, digests) for name in digests)}
    for path in [entry for entry in folder.iterdir() if entry.name not in used and not entry.is_dir()]:
        remove_file(path)


def load_results(root: Path, *, kind: str | None = None, recording: str | None = None) -> list[ResultInfo]:
    """Every result that can be read, oldest first, without its values."""
    found = [info for name, content in _contents(root) if (info := _listed(name, content)) is not None]
    wanted = (r for r in found if kind in (None, r.kind) and recording in (None, r.recording))
    return sorted(wanted, key=lambda result: (result.created_at, result.id))


def load_result_info(root: Path, result: str) -> ResultInfo:
    """What a list says of the result of that id."""
    return _info(result, _whole(root, result)["result"])


def load_result(root: Path, result: str) -> Result:
    """The result of that id with its figures."""

    def read(whole: Mapping[str, Any]) -> Result:
        info = _info(result, whole["result"])
        value = read_json(_folder(root, result) / _stored(_VALUE, whole["digests"]), limit=2 * _VALUE_LIMIT)
        if not isinstance(value, dict):
            raise DamagedPart(f"'{_VALUE}' of result {result} does not hold a value.")
        given = {name: getattr(info, name) for name in _INFO}
        return Result(**given, value=value.get("value"), shown=value.get("shown") or {})

    return _read(root, result, read)


def load_result_array(root: Path, result: str, name: str, start: int = 0, stop: int | None = None) -> np.ndarray:
    """One array of a result, or some rows of its first axis; nothing else of it is read."""

    def read(whole: Mapping[str, Any]) -> np.ndarray:
        known = _info(result, whole["result"]).arrays
        if name not in known:
            raise UnknownName("array", name, known)
        path = _folder(root, result) / _stored(f"{name}.npy", whole["digests"])
        return _part_of_array(path, known[name], start, stop)

    return _read(root, result, read)


def _part_of_array(path: Path, known: ResultArray, start: int, stop: int | None) -> np.ndarray:
    result = path.parent.name
    with _opened(path) as file:
        try:
            shape, dtype = _header(file)
        except (ValueError, EOFError, TypeError) as error:
            raise DamagedPart(f"'{path.name}' of result {result} cannot be read: {error}.") from error
        if dtype.kind not in _KINDS or list(shape) != list(known.shape):
            raise DamagedPart(f"'{path.name}' of result {result} does not hold the numbers it should.")
        first, last, _ = slice(start, stop).indices(shape[0]) if shape else (0, 1, 1)
        each = math.prod(shape[1:])
        count = max(0, last - first) * each
        file.seek(first * each * dtype.itemsize, os.SEEK_CUR)
        content = file.read(count * dtype.itemsize)
    if len(content) != count * dtype.itemsize:
        raise DamagedPart(f"'{path.name}' of result {result} is cut short.")
    values = np.frombuffer(bytearray(content), dtype)
    return values.reshape(max(0, last - first), *shape[1:]) if shape else values.reshape(())


def drop_result(root: Path, result: str) -> None:
    """Remove a result and its arrays."""
    folder = _folder(root, result)
    with changing(root):
        if not is_plain_file(folder / _FILE):
            raise UnknownName("result", result, [], "It may have been removed already.")
        remove_folder(folder, beside=root)


def check_result(root: Path, result: str) -> None:
    """Raise where a result or one of its arrays is damaged."""

    def read(whole: Mapping[str, Any]) -> None:
        for name in (_VALUE, *(f"{array}.npy" for array in _info(result, whole["result"]).arrays)):
            with _opened(_folder(root, result) / _stored(name, whole["digests"])) as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            if digest != whole["digests"].get(name):
                raise DamagedPart(f"'{name}' of result {result} is not what was written.")

    _read(root, result, read)


def _read(root: Path, result: str, read: Callable[[Mapping[str, Any]], T]) -> T:
    """What `read` makes of a result; of the new one where it was replaced meanwhile."""
    for _ in range(_TRIES):
        whole = _whole(root, result)
        try:
            return read(whole)
        except DamagedPart:
            if _whole(root, result) == whole:
                raise
    return read(_whole(root, result))


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


def _contents(root: Path) -> Iterator[tuple[str, bytes]]:
    """Ids of all results, and what is in the file of each that a list reads; links are not followed."""
    try:
        folder = os.open(confined(root, _FOLDER), os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    except FileNotFoundError:
        return
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if _ID.fullmatch(entry.name) and not entry.is_symlink()]
        for name in names:
            with suppress(OSError):  # being written or removed, or a link
                file = os.open(f"{name}/{_FILE}", os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0), dir_fd=folder)
                try:
                    yield name, os.read(file, _INFO_LIMIT)
                finally:
                    os.close(file)
    finally:
        os.close(folder)


def _listed(result: str, content: bytes) -> ResultInfo | None:
    """None where it cannot be read: `check` names it, and it must not hide the others."""
    try:
        whole = json.loads(content)
        fits = isinstance(whole, dict) and whole.get("version") == _VERSION
        return _info(result, whole.get("result")) if fits else None
    except (ValueError, RecursionError, DamagedPart):
        return None


_INFO = tuple(each.name for each in fields(ResultInfo))


def _info(result: str, told: Any) -> ResultInfo:
    """As `from_json` would, in a tenth of the time: a study holds thousands."""
    texts = ("id", "kind", "title", "recording", "created_at", "type")
    try:
        arrays = {
            str(name): ResultArray(shape=tuple(int(n) for n in each["shape"]), dtype=str(each["dtype"]))
            for name, each in told["arrays"].items()
        }
        if not isinstance(told["arguments"], dict):
            raise TypeError("its arguments are not given by name")
        known = {name: str(told[name]) for name in texts}
        return ResultInfo(**known, arguments=told["arguments"], arrays=arrays, provisional=told["provisional"] is True)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DamagedPart(f"'{_FILE}' of result {result} does not hold a result: {error}.") from error


def _opened(path: Path) -> BufferedReader:
    try:
        return BufferedReader(io.FileIO(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))))
    except OSError as error:
        raise DamagedPart(f"'{path.name}' of result {path.parent.name} cannot be read: {error.strerror}.") from error


def _header(file: BufferedReader) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and type of an .npy, which is then read as far as its numbers."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, by_columns, dtype = read(file)
    if by_columns and len(shape) > 1:
        raise ValueError("its columns come first")
    return shape, dtype


def _npy(name: str, values: np.ndarray) -> bytes:
    if values.dtype.kind not in _KINDS:
        raise StoreError(f"Array '{name}' holds {values.dtype}; a result keeps numbers.")
    file = io.BytesIO()
    np.save(file, np.ascontiguousarray(values), allow_pickle=False)
    return file.getvalue()


def _value(result: Result) -> bytes:
    whole = to_json({"value": result.value, "shown": result.shown})
    try:
        content = json.dumps(whole, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise StoreError(f"What '{result.kind}' found is not JSON: {error}. Arrays go beside the value.") from error
    if len(content) > _VALUE_LIMIT:
        raise StoreError(f"What '{result.kind}' found takes {len(content)} bytes; arrays go beside it, not into it.")
    return content


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
