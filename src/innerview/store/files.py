"""Writes files so that a reader sees the old content or the new one, never half."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from innerview.errors import DamagedPart, DiskFull

TEMPORARY = ".tmp"
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@dataclass(frozen=True)
class Stamp:
    """What a file must look like."""

    sha256: str
    size: int


@contextmanager
def disk_full_explained(path: Path) -> Iterator[None]:
    """Turn the system's 'no space' into an error that says what is safe."""
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        raise DiskFull(
            f"There is no room to write '{path.name}' in '{path.parent}'. What was committed before is safe: "
            "free some space and run the same command again to continue."
        ) from error


def write_file(path: Path, content: bytes, *, durable: bool = True) -> Stamp:
    """Write a file that nobody reads yet, and tell its digest and size."""
    with disk_full_explained(path):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o644)
        try:
            _write_all(descriptor, content)
            if durable:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
    return Stamp(hashlib.sha256(content).hexdigest(), len(content))


def replace_file(path: Path, content: bytes, *, durable: bool = True) -> Stamp:
    """Replace a file at one stroke."""
    temporary = path.with_name(path.name + TEMPORARY)
    stamp = write_file(temporary, content, durable=durable)
    temporary.replace(path)
    if durable:
        sync_folder(path.parent)
    return stamp


def replace_json(path: Path, value: Any, *, durable: bool = True) -> Stamp:
    """Replace a JSON file at one stroke."""
    text = json.dumps(value, ensure_ascii=False, indent=1)
    return replace_file(path, text.encode(), durable=durable)


def write_at(path: Path, offset: int, content: bytes) -> None:
    """Put bytes at an offset and cut off whatever followed."""
    with disk_full_explained(path):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o644)
        try:
            os.ftruncate(descriptor, offset)
            os.lseek(descriptor, offset, os.SEEK_SET)
            _write_all(descriptor, content)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


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
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
