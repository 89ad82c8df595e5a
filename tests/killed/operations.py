"""Counts what this process does to files below a folder, and kills it before one of these operations."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_BY_DESCRIPTOR = ("write", "fsync", "ftruncate")
_BY_PATH = ("replace", "rename", "mkdir", "unlink", "remove", "rmdir", "link")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


@dataclass(frozen=True)
class Point:
    """Before which operation, or in the middle of which write, a process is killed."""

    operation: int
    torn: bool = False


def watch(folder: Path, reached: Callable[[str], None], kill_at: Point | None = None) -> None:
    """From here on tell of every operation on a file below the folder; to be called in a process of its own."""
    inside, count = os.path.realpath(folder), 0

    def before(name: str, path: str) -> int:
        nonlocal count
        if not path.startswith(inside):
            return -1
        here, count = count, count + 1
        if kill_at is not None and kill_at.operation == here and not kill_at.torn:
            os.kill(os.getpid(), signal.SIGKILL)
        reached(f"{name} {os.path.relpath(path, inside)}")
        return here

    def opened(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and not isinstance(arguments[0], int) and arguments[2] & _WRITING:
            before("open", os.path.abspath(os.fsdecode(arguments[0])))  # noqa: PTH100 (a link is not to be followed)

    def by_descriptor(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(descriptor: int, *rest: Any) -> Any:
            here = before(name, os.readlink(f"/proc/self/fd/{descriptor}"))  # noqa: PTH115
            if kill_at == Point(here, torn=True):
                real(descriptor, rest[0][: len(rest[0]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return real(descriptor, *rest)

        return call

    def by_path(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any, *rest: Any, **named: Any) -> Any:
            folder = os.readlink(f"/proc/self/fd/{named['dir_fd']}") if named.get("dir_fd") else ""  # noqa: PTH115
            before(name, os.path.abspath(os.path.join(folder, path)))  # noqa: PTH100, PTH118
            return real(path, *rest, **named)

        return call

    for name in _BY_DESCRIPTOR:
        setattr(os, name, by_descriptor(name, getattr(os, name)))
    for name in _BY_PATH:
        setattr(os, name, by_path(name, getattr(os, name)))
    sys.addaudithook(opened)
