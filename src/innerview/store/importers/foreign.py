"""Files of other people's tools: looked at before they are read, and what a library says of one becomes a sentence."""

from __future__ import annotations

import stat
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
from PIL import Image

from innerview.errors import StoreError

FILE_LIMIT = 2 << 30
PICTURE_LIMIT = 256 << 20
_UNREADABLE = (
    *(OSError, ValueError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError, EOFError, SyntaxError),
    *(MemoryError, RuntimeError, AssertionError, struct.error, tokenize.TokenError, zipfile.BadZipFile, zlib.error),
    *(pl.exceptions.PolarsError, pl.exceptions.PanicException, Image.DecompressionBombError),
)
"""What numpy, polars, Pillow and Python's own readers raise over a file that is not what it says it is."""


def look_at(path: Path, *, limit: int = FILE_LIMIT) -> None:
    """Refuse what is no file, or too large to be read as a whole."""
    try:
        found = path.stat()
    except FileNotFoundError as error:
        raise StoreError(f"There is no file '{path}'.") from error
    except (OSError, ValueError, RuntimeError) as error:
        raise StoreError(f"'{path.name}' cannot be read: {_reason(error)}.") from error
    if not stat.S_ISREG(found.st_mode):
        raise StoreError(f"'{path.name}' is a {_kind(found.st_mode)}, not a file.")
    if found.st_size > limit:
        raise StoreError(f"'{path.name}' has {found.st_size:,} bytes; at most {limit:,} are read. Import it in parts.")


@contextmanager
def foreign(path: Path, what: str) -> Iterator[None]:
    """Read a file inside: whatever goes wrong says which file, and that it cannot be read as that."""
    look_at(path)
    try:
        yield
    except StoreError:
        raise
    except _UNREADABLE as error:
        raise StoreError(f"'{path.name}' cannot be read as {what}: {_reason(error)}.") from error


def picture_bytes(path: Path) -> bytes:
    """The content of a file that should be a picture."""
    look_at(path, limit=PICTURE_LIMIT)
    try:
        return path.read_bytes()
    except OSError as error:
        raise StoreError(f"It cannot be read ({error.strerror}).") from error


def _reason(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "it asks for more memory than there is"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    said = str(error).strip().splitlines()
    return (said[0][:200] if said else type(error).__name__).rstrip(".")


def _kind(mode: int) -> str:
    return "folder" if stat.S_ISDIR(mode) else "pipe" if stat.S_ISFIFO(mode) else "device"
