"""Writes files so that a reader sees the old content or the new one, never half, and reads what is a plain file.

Everything that innerview writes into a study goes through here, so that every failure of the disk has words of its own.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import google_crc32c
import numpy as np

from innerview.errors import DamagedPart, DiskFull, ReadOnly, StoreError
from innerview.store.seal import broken_seal, crc32c, sealed

STUDY_FILE = "study.json"
MAX_JSON_BYTES = 64 << 20
MAX_JSON_VALUES = 4_000_000
MAX_JSON_DEPTH = 64
"""Deeper than anything that is written, and far from where a reader's stack ends."""
_PIECE = 1 << 18
"""Bytes read at once for a checksum: few enough to stay near the processor."""
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_STEPS = np.array([{"[": 1, "{": 1, "]": -1, "}": -1}.get(chr(sign), 0) for sign in range(256)], np.int8)
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NOT_ALLOWED = {errno.EROFS, errno.EACCES, errno.EPERM}
_IN_RUST = re.compile(r"\(os error (\d+)\)")
"""How polars says which error it was."""
_UNFINISHED = re.compile(r"\..+\.\d+-[0-9a-f]{12}\.tmp")


@dataclass(frozen=True)
class Stamp:
    """What a file must look like."""

    sha256: str
    size: int
    crc32c: str


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what the system says of a write that failed into an error that says what is safe and what to do."""
    try:
        yield
    except OSError as error:
        raise _in_words(path, error) from error


def _in_words(path: Path, error: OSError) -> StoreError:
    told = _IN_RUST.search(str(error))
    number = int(told[1]) if told and error.errno is None else error.errno
    if number in _NO_ROOM:
        return DiskFull(
            f"There is no room to write '{path.name}' in '{path.parent}'. What was saved before is safe: free some "
            "space and do the same again; a recording goes on where it stopped."
        )
    if number in _NOT_ALLOWED:
        study = next((folder for folder in path.parents if (folder / STUDY_FILE).exists()), None)
        what = "This study" if study else f"'{path.parent}'"
        why = f"'{path.name}' cannot be written in '{study or path.parent}' ({os.strerror(number or 0)})"
        return ReadOnly(
            f"{what} is read-only: {why}. It can be looked at. To save, make the folder writable, or work on a copy."
        )
    return StoreError(f"'{path.name}' could not be written in '{path.parent}': {error.strerror or error}.")


def unfinished(path: Path, *, beside: Path | None = None) -> Path:
    """A name that nobody else takes, for what will be called `path` once it is whole; `beside` is another folder."""
    return (beside or path.parent) / f".{path.name[:80]}.{os.getpid()}-{secrets.token_hex(6)}.tmp"


def is_unfinished(path: Path) -> bool:
    """Whether that is the name of something that was being written, moved away or removed."""
    return _UNFINISHED.fullmatch(path.name) is not None


def write_file(path: Path, content: bytes, *, durable: bool = True) -> Stamp:
    """Write a file that nobody reads yet, and tell its digest and size."""
    with writing(path):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o644)
        try:
            _write_all(descriptor, content)
            if durable:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
    return Stamp(hashlib.sha256(content).hexdigest(), len(content), crc32c(content))


def replace_file(path: Path, content: bytes, *, durable: bool = True, beside: Path | None = None) -> Stamp:
    """Replace a file at one stroke; what is not whole yet stands in its folder, or in `beside` on the same disk."""
    temporary = unfinished(path, beside=beside)
    try:
        stamp = write_file(temporary, content, durable=durable)
        with writing(path):
            temporary.replace(path)
    except BaseException:
        with suppress(OSError):  # what failed is told; half a file must not stay
            temporary.unlink(missing_ok=True)
        raise
    if durable:
        sync_folder(path.parent)
    return stamp


def json_text(value: Any, *, indent: int | None = None) -> bytes:
    """A value as JSON; an error where it is none. To indent takes ten times as long."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent).encode()
    except (TypeError, ValueError) as error:
        raise StoreError(f"It cannot be saved, as it is not JSON: {error}.") from error


def json_bytes(value: Mapping[str, Any], *, indent: int | None = None) -> bytes:
    """A JSON file's content: an object that ends with its checksums."""
    return sealed(json_text(value, indent=indent))


def replace_json(path: Path, value: Any, *, durable: bool = True, beside: Path | None = None) -> Stamp:
    """Replace a JSON file at one stroke."""
    return replace_file(path, json_bytes(value, indent=1), durable=durable, beside=beside)


def write_at(path: Path, offset: int, content: bytes) -> None:
    """Put bytes at an offset and cut off whatever followed."""
    with writing(path):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o644)
        try:
            os.ftruncate(descriptor, offset)
            os.lseek(descriptor, offset, os.SEEK_SET)
            _write_all(descriptor, content)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def append_line(path: Path, content: bytes) -> None:
    """Append to a file; where it does not fit, the file stays as it was."""
    with writing(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o644)
        try:
            before = os.lseek(descriptor, 0, os.SEEK_END)
            try:
                _write_all(descriptor, content)
                os.fsync(descriptor)
            except OSError:
                os.ftruncate(descriptor, before)
                raise
        finally:
            os.close(descriptor)


def make_folder(path: Path) -> None:
    """Make a folder, and those above it, where there is none."""
    if path.is_dir():
        return
    with writing(path):
        new = [folder for folder in (path, *path.parents) if not folder.exists()]
        path.mkdir(parents=True, exist_ok=True)
        for folder in reversed(new):
            sync_folder(folder.parent)


def remove_file(path: Path) -> None:
    """Remove a file."""
    with writing(path):
        path.unlink()


def remove_folder(path: Path, *, beside: Path) -> None:
    """Remove a folder at one stroke; `beside` is a folder on the same disk in which nobody looks for what it held."""
    gone = unfinished(path, beside=beside)
    with writing(path):
        path.rename(gone)
        shutil.rmtree(gone)


def clear_unfinished(folder: Path) -> None:
    """Remove what killed writers left there; only for who holds the lock under which they wrote."""
    for path in [entry for entry in folder.iterdir() if is_unfinished(entry)]:
        with writing(path):
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


@contextmanager
def opened(path: Path, *, inside: int | None = None) -> Iterator[int]:
    """A descriptor of a regular file; a link, a pipe or a device is refused and never waited for.

    `inside` is a descriptor of the folder that a relative path begins in.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags, dir_fd=inside)
    except FileNotFoundError as error:
        raise DamagedPart(f"{_named(path)} is missing.") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise DamagedPart(f"{_named(path)} cannot be read: {reason}.") from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise DamagedPart(f"{_named(path)} is not a plain file.")
        yield descriptor
    finally:
        os.close(descriptor)


def plain_stat(path: Path) -> tuple[int, int, int]:
    """Size of a regular file, when it was changed and which one it is."""
    try:
        found = path.lstat()
    except (OSError, ValueError) as error:
        raise DamagedPart(f"{_named(path)} is missing or cannot be read.") from error
    if not stat.S_ISREG(found.st_mode):
        raise DamagedPart(f"{_named(path)} is not a plain file.")
    return found.st_size, found.st_mtime_ns, found.st_ino


def read_plain(path: Path, *, limit: int = MAX_JSON_BYTES) -> bytes:
    """The content of a regular file that is no larger than `limit`."""
    with opened(path) as descriptor:
        size = os.fstat(descriptor).st_size
        if size > limit:
            raise DamagedPart(f"{_named(path)} has {size} bytes; at most {limit} are read.")
        return read_at(descriptor, 0, size)


def read_at(descriptor: int, offset: int, size: int) -> bytes:
    """Bytes from an offset on: as many as there are, at most `size`."""
    parts: list[bytes] = []
    while size > 0 and (part := os.pread(descriptor, min(size, 1 << 30), offset)):
        parts.append(part)
        offset, size = offset + len(part), size - len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def read_json(path: Path, *, limit: int = MAX_JSON_BYTES, deep: bool = False) -> dict[str, Any]:
    """The object in a sealed JSON file without its seal, or DamagedPart. `deep` compares its SHA-256 as well."""
    content = read_plain(path, limit=limit)
    if problem := broken_seal(content, deep=deep):
        raise DamagedPart(f"{_named(path)} is damaged: {problem}.")
    value: dict[str, Any] = parsed_json(content, _named(path))
    del value["seal"]
    return value


def parsed_json(content: bytes, where: str) -> Any:
    """The value that JSON says, as long as it is not too large or nested too deeply; `where` names it."""
    if sum(map(content.count, (b",", b"[", b"{"))) > MAX_JSON_VALUES:
        raise DamagedPart(f"{where} holds more than {MAX_JSON_VALUES} values.")
    try:
        value = json.loads(content.decode("utf-8-sig"))  # of bytes it would take what is no Unicode
    except RecursionError as error:
        raise DamagedPart(f"{where} is nested too deeply: at most {MAX_JSON_DEPTH} levels are read.") from error
    except ValueError as error:
        raise DamagedPart(f"{where} is not valid JSON: {error}.") from error
    if _SURROGATE.search(content) and not _is_text(value):
        raise DamagedPart(f"{where} holds text that is no Unicode.")
    if _depth(content) > MAX_JSON_DEPTH:
        raise DamagedPart(f"{where} is nested too deeply: at most {MAX_JSON_DEPTH} levels are read.")
    return value


def _depth(content: bytes) -> int:
    """How deeply valid JSON is nested; 0 where there are too few brackets for it to matter."""
    if content.count(b"[") + content.count(b"{") <= MAX_JSON_DEPTH:
        return 0
    steps = _STEPS[np.frombuffer(_STRING.sub(b"", content), np.uint8)]
    return int(np.cumsum(steps[steps != 0], dtype=np.int64).max(initial=0))


def _is_text(value: Any) -> bool:
    """Whether all text in a value can be written as UTF-8; half of a pair of surrogates cannot."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        return False
    return True


def _named(path: Path) -> str:
    return f"'{path.parent.name}/{path.name}'"


def file_digest(path: Path) -> str:
    """SHA-256 of a regular file's content."""
    with opened(path) as descriptor, os.fdopen(descriptor, "rb", closefd=False) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def file_crc32c(path: Path) -> str:
    """CRC32C of a regular file's content, a piece at a time."""
    value, offset = 0, 0
    with opened(path) as descriptor:
        while piece := os.pread(descriptor, _PIECE, offset):
            value = google_crc32c.extend(value, piece)
            offset += len(piece)
    return f"{value:08x}"


def sync_folder(path: Path) -> None:
    """Make new names in a folder survive a power cut, where the system can."""
    if os.name != "posix":
        return
    with writing(path):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _write_all(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
