"""Files for other tools: a target is replaced when its content is whole."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from innerview.errors import StoreError, UnknownName
from innerview.store.files import unfinished, writing


@contextmanager
def new_file(path: Path | str, suffixes: tuple[str, ...]) -> Iterator[tuple[Path, str]]:
    """A temporary file beside the target that takes its place when it is whole."""
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in suffixes:
        raise UnknownName("file ending", suffix or target.name, suffixes)
    if not target.parent.is_dir():
        raise StoreError(f"There is no folder '{target.parent}' to write '{target.name}' into. Make it first.")
    temporary = unfinished(target)
    try:
        with writing(target):
            yield temporary, suffix
            temporary.replace(target)
    finally:
        with suppress(OSError):  # what failed is told
            temporary.unlink(missing_ok=True)


def export_file(path: Path | str, content: bytes) -> Path:
    """Write a file that is made already."""
    with new_file(path, (Path(path).suffix.lower(),)) as (temporary, _):
        temporary.write_bytes(content)
    return Path(path)
