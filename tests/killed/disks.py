"""Disks that take no more: mounted where the system lets us, else as the system would answer."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Nothing below the folder can be written."""
    if _mounted(["--bind", str(folder), str(folder)]):
        try:
            subprocess.run(["mount", "-o", "remount,ro,bind", str(folder)], check=True)
            yield
        finally:
            subprocess.run(["umount", "-l", str(folder)], check=True)
        return
    with pytest.MonkeyPatch.context() as patch:
        _refuse(patch, folder, errno.EROFS)
        yield


@contextmanager
def small_disk(folder: Path) -> Iterator[Callable[[], None]]:
    """A disk with some room left; the call given takes what is left."""
    folder.mkdir()
    if _mounted(["-t", "tmpfs", "-o", "size=400k", "tmpfs", str(folder)]):
        try:
            yield lambda: _fill(folder)
        finally:
            subprocess.run(["umount", "-l", str(folder)], check=True)
        return
    with pytest.MonkeyPatch.context() as patch:
        yield lambda: _refuse(patch, folder, errno.ENOSPC)


def _mounted(how: list[str]) -> bool:
    try:
        return subprocess.run(["mount", *how], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def _fill(folder: Path) -> None:
    with (folder / "filling").open("wb", buffering=0) as file:
        try:
            for size in (1 << 16, 1 << 12, 1):
                while file.write(b"x" * size) == size:
                    pass
        except OSError as error:
            assert error.errno == errno.ENOSPC


def _refuse(patch: pytest.MonkeyPatch, folder: Path, number: int) -> None:
    """Every opening of a file to be written, and every new folder, is refused."""
    real_open, real_mkdir = os.open, os.mkdir

    def opened(path: Any, flags: int, *rest: Any, **named: Any) -> int:
        if flags & _WRITING and str(path).startswith(str(folder)):
            raise OSError(number, os.strerror(number), str(path))
        return real_open(path, flags, *rest, **named)

    def made(path: Any, *rest: Any, **named: Any) -> None:
        if str(path).startswith(str(folder)):
            raise OSError(number, os.strerror(number), str(path))
        real_mkdir(path, *rest, **named)

    patch.setattr(os, "open", opened)
    patch.setattr(os, "mkdir", made)
