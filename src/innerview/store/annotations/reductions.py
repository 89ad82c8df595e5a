"""Named reductions of the memory, kept in the study as reductions.json, and as files to carry elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from innerview.errors import DamagedPart, StoreError, UnknownName
from innerview.schema import EditSet, from_json, to_json
from innerview.store.changes import change_json
from innerview.store.files import parsed_json, read_json, read_plain, replace_file
from innerview.store.paths import confined, is_there

_FILE = "reductions.json"
_FORMAT, _VERSION = "innerview reductions", 1
_LIMIT = 32 << 20
_COUNT = 500
_NAME_LENGTH = 60


def load_reductions(root: Path) -> tuple[EditSet, ...]:
    """Every reduction that was kept, oldest first."""
    path = confined(root, _FILE)
    return _reductions(read_json(path, limit=_LIMIT), path) if is_there(path) else ()


def save_reduction(root: Path, reduction: EditSet) -> tuple[EditSet, ...]:
    """Keep a reduction; one of the same name is replaced."""
    _check(reduction)

    def change(before: tuple[EditSet, ...]) -> tuple[EditSet, ...]:
        if reduction.name in [kept.name for kept in before]:
            return tuple(reduction if kept.name == reduction.name else kept for kept in before)
        if len(before) >= _COUNT:
            raise StoreError(f"A study keeps at most {_COUNT} reductions. Drop some first.")
        return (*before, reduction)

    return _change(root, change)


def drop_reduction(root: Path, name: str) -> tuple[EditSet, ...]:
    """Forget a reduction."""

    def change(before: tuple[EditSet, ...]) -> tuple[EditSet, ...]:
        if name not in [kept.name for kept in before]:
            raise UnknownName("reduction", name, [kept.name for kept in before])
        return tuple(kept for kept in before if kept.name != name)

    return _change(root, change)


def _change(root: Path, change: Callable[[tuple[EditSet, ...]], tuple[EditSet, ...]]) -> tuple[EditSet, ...]:
    return change_json(root, _FILE, lambda: load_reductions(root), change, reductions_document, limit=_LIMIT)


def reductions_document(reductions: Sequence[EditSet]) -> dict[str, Any]:
    """What a file of reductions says, as JSON values."""
    return {"format": _FORMAT, "version": _VERSION, "reductions": to_json(tuple(reductions))}


def export_reductions(reductions: Sequence[EditSet], out: Path) -> Path:
    """Write reductions to a file of their own, which people may edit: it has no checksum."""
    replace_file(out, json.dumps(reductions_document(reductions), ensure_ascii=False, indent=1).encode())
    return out


def import_reductions(source: Path) -> tuple[EditSet, ...]:
    """Reductions from a file that was exported."""
    if not source.is_file():
        raise StoreError(f"There is no file {source}.")
    return _reductions(parsed_json(read_plain(source.resolve(), limit=_LIMIT), f"'{source.name}'"), source)


def _reductions(value: Any, path: Path) -> tuple[EditSet, ...]:
    if not isinstance(value, dict) or value.get("format") != _FORMAT or not isinstance(value.get("reductions"), list):
        raise DamagedPart(f"'{path.name}' does not hold reductions of innerview.")
    if value.get("version") != _VERSION:
        raise StoreError(f"'{path.name}' has version {value.get('version')!r}; this innerview reads {_VERSION}.")
    try:
        found = tuple(from_json(EditSet, one) for one in value["reductions"])
        for reduction in found:
            _check(reduction)
    except StoreError as error:
        raise DamagedPart(f"'{path.name}' holds a reduction that cannot be read: {error}") from error
    return found


def _check(reduction: EditSet) -> None:
    name = reduction.name
    if not isinstance(name, str) or not 0 < len(name.strip()) <= _NAME_LENGTH or not name.isprintable():
        raise StoreError(f"{name!r:.80} cannot name a reduction: use 1 to {_NAME_LENGTH} printable characters.")
    if not reduction.edits:
        raise StoreError(f"Reduction '{name}' has no edits: it would change nothing.")
