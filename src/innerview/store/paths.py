"""Names that may become file names, and paths that stay inside the study."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from innerview.errors import StoreError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._+-]{0,79}")


def checked_name(what: str, name: str) -> str:
    """The name itself where it can be a file name, else an error that says what can."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise StoreError(
            f"{name!r:.100} cannot be the name of a {what}. Use 1 to 80 letters, digits, spaces or . _ + - "
            "and begin with a letter or digit."
        )
    return name


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
