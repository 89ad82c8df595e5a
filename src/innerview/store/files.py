"""Writes files so that a reader sees the old content or the new one, never half.

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
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from innerview.errors import DamagedPart, DiskFull, ReadOnly, StoreError

STUDY_FILE = "study.json"
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
    return Stamp(hashlib.sha256(content).hexdigest(), len(content))


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


def json_bytes(value: Any, *, indent: int | None = None) -> bytes:
    """A JSON file's content; an error where the value is no JSON. To indent takes ten times as long."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent).encode()
    except (TypeError, ValueError) as error:
        raise StoreError(f"It cannot be saved, as it is not JSON: {error}.") from error


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


def read_json(path: Path, *, limit: int = 64 * 1024 * 1024) -> Any:
    """The value of a JSON file, or DamagedPart."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        with os.fdopen(descriptor, "rb") as file:
            content = file.read(limit + 1)
    except FileNotFoundError as error:
        raise DamagedPart(f"'{path.name}' is missing in '{path.parent.name}'.") from error
    except OSError as error:
        raise DamagedPart(f"'{path.name}' in '{path.parent.name}' cannot be read: {error.strerror}.") from error
    if len(content) > limit:
        raise DamagedPart(f"'{path.name}' in '{path.parent.name}' is larger than {limit} bytes.")
    try:
        return json.loads(content)
    except ValueError as error:
        raise DamagedPart(f"'{path.name}' in '{path.parent.name}' is not valid JSON: {error}.") from error


def file_digest(path: Path) -> str:
    """SHA-256 of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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
