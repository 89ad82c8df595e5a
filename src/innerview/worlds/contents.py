"""Digests of the files that a world is made of: its identity is what they hold, not what they are called."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from innerview.errors import WorldError


def digest_of_file(path: Path) -> str:
    """SHA-256 of a file, or of all files of a folder with their places in it."""
    if path.is_dir():
        inside = sorted(each for each in path.rglob("*") if each.is_file())
        return digest_of_text(
            "\n".join(f"{each.relative_to(path).as_posix()} {digest_of_file(each)}" for each in inside)
        )
    try:
        about = path.stat()
        return _digest(path, about.st_mtime_ns, about.st_size)
    except OSError as error:
        raise WorldError(f"{path} cannot be read: {error.strerror}.") from error


def digest_of_text(text: str) -> str:
    """SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


@lru_cache(maxsize=4096)
def _digest(path: Path, modified_ns: int, size: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
