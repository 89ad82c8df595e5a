"""Saves what lenses and tables found, in results/<id>/. Never pickle.

`result.json` says what it is and is all that a list reads; a JSON file holds the figures, an .npy each array. They have
a part of their digest in their names, and `result.json` says which belong to it: a reader never sees half of a new one.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from innerview.errors import DamagedPart, FormatVersionError, StoreError, UnknownName
from innerview.schema import Result, ResultArray, ResultInfo, from_json, to_json
from innerview.store.changes import changing
from innerview.store.files import (
    file_digest,
    json_bytes,
    make_folder,
    opened,
    parsed_json,
    plain_stat,
    read_at,
    read_json,
    remove_file,
    remove_folder,
    replace_file,
)
from innerview.store.paths import checked_name, confined, is_there
from innerview.store.seal import broken_seal, crc32c

_FOLDER, _FILE, _VALUE = "results", "result.json", "value.json"
_VERSION = 3
_ID = re.compile(r"[0-9a-f]{16}")
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._+-]{0,99}\.(json|npy)")
_VALUE_LIMIT = 64 << 20
_INFO_LIMIT = 4 << 20
_ARRAY_LIMIT = 1 << 36
_PIECE = 1 << 20
"""Bytes that have a checksum of their own, so that some rows of an array can be read alone."""
_MAX_AXES = 32
_TRIES = 20
T = TypeVar("T")
_KINDS = "biuf"
"""Kinds of numbers an array may hold."""


@dataclass(frozen=True, kw_only=True)
class _File:
    """What a file of a result must look like; `crc32c` has eight digits for each piece."""

    name: str
    sha256: str
    size: int
    crc32c: str


def result_id(*, kind: str, version: int, recording: str, digest: str, arguments: Mapping[str, Any]) -> str:
    """The id that this question has: it changes with the recording's content and with every argument."""
    asked = json.dumps([kind, version, recording, digest, to_json(arguments)], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(asked.encode()).hexdigest()[:16]


def save_result(root: Path, result: Result, arrays: Mapping[str, np.ndarray]) -> Result:
    """Write a result, or replace a provisional one; a reader sees the old or the new, never half."""
    folder = _folder(root, result.id)
    contents = {f"{checked_name('array', name)}.npy": _npy(name, values) for name, values in arrays.items()}
    listed = {name: ResultArray(shape=values.shape, dtype=values.dtype.name) for name, values in arrays.items()}
    kept = replace(result, arrays=listed, created_at=result.created_at or _now())
    contents[_VALUE] = _value(kept)
    files = {name: _file_of(name, content) for name, content in contents.items()}
    info = to_json(ResultInfo(**{name: getattr(kept, name) for name in _INFO}))
    whole = json_bytes({"version": _VERSION, "files": to_json(files), "result": info})
    durable = not result.provisional
    with changing(root):
        make_folder(folder)
        for name, content in contents.items():
            replace_file(folder / files[name].name, content, durable=durable, beside=root)
        replace_file(folder / _FILE, whole, durable=durable, beside=root)
        _forget_others(folder, {_FILE, *(file.name for file in files.values())})
    return kept


def _file_of(name: str, content: bytes) -> _File:
    """What a file of a result looks like, under a name that no other content has."""
    stem, _, ending = name.rpartition(".")
    digest = hashlib.sha256(content).hexdigest()
    pieces = [crc32c(content[start : start + _PIECE]) for start in range(0, len(content), _PIECE)]
    return _File(name=f"{stem}.{digest[:8]}.{ending}", sha256=digest, size=len(content), crc32c="".join(pieces))


def _forget_others(folder: Path, names: set[str]) -> None:
    """Remove files of what stood there before; a reader who is still at it begins again."""
    for path in [entry for entry in folder.iterdir() if entry.name not in names and not entry.is_dir()]:
        remove_file(path)


def load_results(root: Path, *, kind: str | None = None, recording: str | None = None) -> list[ResultInfo]:
    """Every result that can be read, oldest first, without its values."""
    found = [info for name, content in _contents(root) if (info := _listed(name, content)) is not None]
    wanted = (r for r in found if kind in (None, r.kind) and recording in (None, r.recording))
    return sorted(wanted, key=lambda result: (result.created_at, result.id))


def damaged_results(root: Path) -> list[str]:
    """Ids of results that a list leaves out, without a look at their figures."""
    return sorted(name for name, content in _contents(root) if _listed(name, content) is None)


def load_result_info(root: Path, result: str) -> ResultInfo:
    """What a list says of the result of that id."""
    return _info(result, _whole(root, result)["result"])


def load_result(root: Path, result: str) -> Result:
    """The result of that id with its figures."""
    return _read(root, result, lambda whole: _figures(root, result, whole))


def _figures(root: Path, result: str, whole: Mapping[str, Any]) -> Result:
    info, where = _info(result, whole["result"]), f"'{_VALUE}' of result {result}"
    file = _file(result, whole, _VALUE)
    value = parsed_json(_content(_folder(root, result), file, 0, file.size), where)
    if not isinstance(value, dict) or not isinstance(value.get("shown") or {}, dict):
        raise DamagedPart(f"{where} does not hold a value.")
    given = {name: getattr(info, name) for name in _INFO}
    return Result(**given, value=value.get("value"), shown=value.get("shown") or {})


def load_result_array(root: Path, result: str, name: str, start: int = 0, stop: int | None = None) -> np.ndarray:
    """One array of a result, or some rows of its first axis; nothing else of it is read."""
    return _read(root, result, lambda whole: _part_of_array(root, result, whole, name, start, stop))


def _part_of_array(
    root: Path, result: str, whole: Mapping[str, Any], name: str, start: int = 0, stop: int | None = None
) -> np.ndarray:
    known = _info(result, whole["result"]).arrays
    if name not in known:
        raise UnknownName("array", name, known)
    told, file = known[name], _file(result, whole, f"{name}.npy")
    head = len(_npy_head(told))
    first, last, _ = slice(start, stop).indices(told.shape[0]) if told.shape else (0, 1, 1)
    rows = max(0, last - first)
    row_bytes = math.prod(told.shape[1:]) * np.dtype(told.dtype).itemsize
    size = head + (told.shape[0] if told.shape else 1) * row_bytes
    if file.size != size:
        raise DamagedPart(f"'{file.name}' of result {result} has {file.size} bytes instead of {size}.")
    begin = head + first * row_bytes
    content = _content(_folder(root, result), file, begin, begin + rows * row_bytes)
    values = np.frombuffer(bytearray(content), told.dtype)
    return values.reshape(rows, *told.shape[1:]) if told.shape else values.reshape(())


def _read(root: Path, result: str, read: Callable[[Mapping[str, Any]], T], *, deep: bool = False) -> T:
    """What `read` makes of a result; of the new one where it was replaced meanwhile."""
    for _ in range(_TRIES):
        whole = _whole(root, result, deep=deep)
        try:
            return read(whole)
        except DamagedPart:
            if _whole(root, result) == whole:
                raise
    return read(_whole(root, result, deep=deep))


def _content(folder: Path, file: _File, start: int, stop: int) -> bytes:
    """Bytes of a file, of which whole pieces are read and compared."""
    where = f"'{file.name}' of result {folder.name}"
    with opened(folder / file.name) as descriptor:
        size = os.fstat(descriptor).st_size
        if size != file.size:
            raise DamagedPart(f"{where} has {size} bytes instead of {file.size}.")
        first, after = start // _PIECE, -(-stop // _PIECE)
        content = read_at(descriptor, first * _PIECE, (after - first) * _PIECE)
    for piece in range(first, after):
        found = crc32c(content[(piece - first) * _PIECE : (piece - first + 1) * _PIECE])
        if found != file.crc32c[8 * piece : 8 * piece + 8]:
            raise DamagedPart(f"{where} was changed after it was written: its checksum (CRC32C) does not match.")
    return content[start - first * _PIECE : stop - first * _PIECE]


def drop_result(root: Path, result: str) -> None:
    """Remove a result and its arrays."""
    folder = _folder(root, result)
    with changing(root):
        if not is_there(folder / _FILE):
            raise UnknownName("result", result, [], "It may have been removed already.")
        remove_folder(folder, beside=root)


def results_begun(root: Path) -> list[Path]:
    """Files that say what a result is: those that are there, and those that ought to be beside its arrays."""
    folders = [path for path in root.glob(f"{_FOLDER}/*") if _ID.fullmatch(path.name)]
    return sorted(path / _FILE for path in folders if is_there(path / _FILE) or any(path.glob("*.*")))


def check_result(root: Path, result: str) -> None:
    """Raise where a result or one of its arrays is damaged."""

    def read(whole: Mapping[str, Any]) -> None:
        arrays = _info(result, whole["result"]).arrays
        for file in (_file(result, whole, name) for name in (_VALUE, *(f"{array}.npy" for array in arrays))):
            path = _folder(root, result) / file.name
            if plain_stat(path)[0] != file.size or file_digest(path) != file.sha256:
                raise DamagedPart(f"'{file.name}' of result {result} is not what was written: its SHA-256 differs.")
        _figures(root, result, whole)
        for name in arrays:
            _part_of_array(root, result, whole, name, 0, 0)

    _read(root, result, read, deep=True)


def _folder(root: Path, result: str) -> Path:
    if not isinstance(result, str) or not _ID.fullmatch(result):
        raise UnknownName("result", str(result)[:80], [], "An id has 16 hexadecimal digits.")
    return confined(root, _FOLDER, result)


def _whole(root: Path, result: str, *, deep: bool = False) -> dict[str, Any]:
    path = _folder(root, result) / _FILE
    if not is_there(path):
        raise UnknownName("result", result, [], "It may have been removed; run the lens again.")
    whole = read_json(path, limit=_INFO_LIMIT, deep=deep)
    if whole.get("version") != _VERSION:
        raise FormatVersionError(f"Result {result} has version {whole.get('version')!r}; this one reads {_VERSION}.")
    if not isinstance(whole.get("files"), dict) or "result" not in whole:
        raise DamagedPart(f"'{_FILE}' of result {result} does not hold a result.")
    return whole


def _file(result: str, whole: Mapping[str, Any], name: str) -> _File:
    """What a file of a result must look like."""
    try:
        file = from_json(_File, whole["files"].get(name))
    except StoreError as error:
        raise DamagedPart(f"'{_FILE}' of result {result} does not say what '{name}' looks like: {error}") from error
    fits = _FILE_NAME.fullmatch(file.name) and 0 <= file.size <= _ARRAY_LIMIT
    if not fits or len(file.crc32c) != 8 * -(-file.size // _PIECE):
        raise DamagedPart(f"'{_FILE}' of result {result} does not say what '{name}' looks like.")
    return file


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
            content = b""
            with suppress(DamagedPart), opened(Path(f"{name}/{_FILE}"), inside=folder) as file:
                content = read_at(file, 0, _INFO_LIMIT)
            if content or _is_listed(f"{name}/{_FILE}", folder):
                yield name, content
    finally:
        os.close(folder)


def _is_listed(path: str, folder: int) -> bool:
    """Whether anything has that name, readable or not."""
    try:
        os.stat(path, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return False
    return True


def _listed(result: str, content: bytes) -> ResultInfo | None:
    """None where it cannot be read: `check` names it, and it must not hide the others."""
    try:
        whole = None if broken_seal(content) else parsed_json(content, result)
        if not isinstance(whole, dict) or whole.get("version") != _VERSION:
            return None
        return _info(result, whole.get("result"))
    except DamagedPart:
        return None


_INFO = tuple(each.name for each in fields(ResultInfo))


def _info(result: str, told: Any) -> ResultInfo:
    """As `from_json` would, in a tenth of the time: a study holds thousands."""
    texts = ("id", "kind", "title", "recording", "created_at", "type")
    try:
        arrays = {str(name): _array(each) for name, each in told["arrays"].items()}
        if not isinstance(told["arguments"], dict):
            raise TypeError("its arguments are not given by name")
        known = {name: str(told[name]) for name in texts}
        return ResultInfo(**known, arguments=told["arguments"], arrays=arrays, provisional=told["provisional"] is True)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DamagedPart(f"'{_FILE}' of result {result} does not hold a result: {error}.") from error


def _array(told: Any) -> ResultArray:
    """An array as it is declared, where there can be one of that shape and type."""
    shape, dtype = tuple(int(size) for size in told["shape"]), np.dtype(str(told["dtype"]))
    if dtype.kind not in _KINDS or len(shape) > _MAX_AXES or any(size < 0 for size in shape):
        raise ValueError(f"there is no array of {shape} and {dtype} in a result")
    if math.prod(shape) * dtype.itemsize > _ARRAY_LIMIT:
        raise ValueError(f"an array of {shape} is too large")
    return ResultArray(shape=shape, dtype=dtype.name)


def _npy_head(array: ResultArray) -> bytes:
    """What the .npy of that array begins with; nothing in the file itself is believed."""
    file = io.BytesIO()
    described = np.lib.format.dtype_to_descr(np.dtype(array.dtype))
    np.lib.format.write_array_header_1_0(file, {"descr": described, "fortran_order": False, "shape": array.shape})
    return file.getvalue()


def _npy(name: str, values: np.ndarray) -> bytes:
    if values.dtype.kind not in _KINDS:
        raise StoreError(f"Array '{name}' holds {values.dtype}; a result keeps numbers.")
    plain = np.ascontiguousarray(values, np.dtype(values.dtype.name))
    return _npy_head(ResultArray(shape=values.shape, dtype=values.dtype.name)) + plain.tobytes()


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
