"""Names that may become file names, and paths that stay inside the study."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from itertools import count
from pathlib import Path

from innerview.errors import StoreError

LONGEST_NAME = 80
_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9 ._+-]{{0,{LONGEST_NAME - 1}}}")


def checked_name(what: str, name: str) -> str:
    """The name itself where it can be a file name, else an error that says what can."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise StoreError(
            f"{name!r:.100} cannot be the name of a {what}. Use 1 to {LONGEST_NAME} letters, digits, spaces or . _ + - "
            "and begin with a letter or digit."
        )
    return name


def plain_name(wanted: str, *, end: str = "") -> str:
    """Made of what a name may hold; where it would be too long it is cut before its end."""
    plain = re.sub(r"[^A-Za-z0-9 ._+-]+", "-", wanted).strip(" .-")
    begun = re.sub(r"^[^A-Za-z0-9]+", "", plain) or "unnamed"
    return f"{begun[: LONGEST_NAME - len(end)].strip()}{end}"


def free_name(wanted: str, is_free: Callable[[str], bool], *, end: str = "") -> str:
    """A plain name that is free, numbered from the second on."""
    names = (plain_name(wanted, end=end if number == 1 else f"{end} no {number}") for number in count(1))
    return next(name for name in names if is_free(name))


def confined(root: Path, *parts: str) -> Path:
    """The path below `root`; one that leaves it, also through a symbolic link, is refused."""
    path = root.joinpath(*parts)
    try:
        inside = path.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError, ValueError) as error:
        raise StoreError(f"{'/'.join(parts)!r:.100} in '{root.name}' leads nowhere.") from error
    if not inside:
        raise StoreError(f"'{'/'.join(parts)}' leads out of '{root.name}'. Links to other folders are not followed.")
    return path


def is_there(path: Path) -> bool:
    """Whether anything has that name, readable or not: what is there and cannot be read is damaged, not missing."""
    return os.path.lexists(path)


def is_plain_file(path: Path) -> bool:
    """Whether there is a regular file, not a link to one."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
