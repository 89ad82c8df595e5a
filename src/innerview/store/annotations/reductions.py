"""Named reductions of the memory, kept in the study as reductions.json, and as files to carry elsewhere."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from innerview.errors import StoreError
from innerview.schema import EditSet
from innerview.store.annotations.named import NamedFile
from innerview.store.files import parsed_json, read_plain, replace_file

_NAME_LENGTH = 60


def _check(reduction: EditSet) -> None:
    name = reduction.name
    if not isinstance(name, str) or not 0 < len(name.strip()) <= _NAME_LENGTH or not name.isprintable():
        raise StoreError(f"{name!r:.80} cannot name a reduction: use 1 to {_NAME_LENGTH} printable characters.")
    if not reduction.edits:
        raise StoreError(f"Reduction '{name}' has no edits: it would change nothing.")


REDUCTIONS = NamedFile(one="reduction", type=EditSet, check=_check, limit=32 << 20)


def reductions_document(reductions: Sequence[EditSet]) -> dict[str, Any]:
    """What a file of reductions says, as JSON values."""
    return REDUCTIONS.document(reductions)


def export_reductions(reductions: Sequence[EditSet], out: Path) -> Path:
    """Write reductions to a file of their own, which people may edit: it has no checksum."""
    replace_file(out, json.dumps(reductions_document(reductions), ensure_ascii=False, indent=1).encode())
    return out


def import_reductions(source: Path) -> tuple[EditSet, ...]:
    """Reductions from a file that was exported."""
    if not source.is_file():
        raise StoreError(f"There is no file {source}.")
    value = parsed_json(read_plain(source.resolve(), limit=REDUCTIONS.limit), f"'{source.name}'")
    return REDUCTIONS.read(value, source)
