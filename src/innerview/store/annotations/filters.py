"""Named filters of pictures, kept in the study as filters.json."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from innerview.errors import DamagedPart, InnerviewError, StoreError, UnknownName
from innerview.schema import SavedFilter, from_json, parse_filters, to_json
from innerview.store.changes import change_json
from innerview.store.files import read_json
from innerview.store.paths import confined, is_there

_FILE = "filters.json"
_FORMAT, _VERSION = "innerview filters", 1
_LIMIT = 4 << 20
_COUNT = 500
_NAME_LENGTH = 60


def load_filters(root: Path) -> tuple[SavedFilter, ...]:
    """Every filter that was saved, oldest first."""
    path = confined(root, _FILE)
    return _filters(read_json(path, limit=_LIMIT)) if is_there(path) else ()


def save_filter(root: Path, made: SavedFilter) -> tuple[SavedFilter, ...]:
    """Save a filter; one of the same name is replaced."""
    _check(made)

    def change(before: tuple[SavedFilter, ...]) -> tuple[SavedFilter, ...]:
        after = {**{kept.name: kept for kept in before}, made.name: made}
        if len(after) > _COUNT:
            raise StoreError(f"A study keeps at most {_COUNT} filters. Drop some first.")
        return tuple(after.values())

    return _change(root, change)


def drop_filter(root: Path, name: str) -> tuple[SavedFilter, ...]:
    """Forget a filter."""

    def change(before: tuple[SavedFilter, ...]) -> tuple[SavedFilter, ...]:
        if name not in [kept.name for kept in before]:
            raise UnknownName("filter", name, [kept.name for kept in before])
        return tuple(kept for kept in before if kept.name != name)

    return _change(root, change)


def _change(
    root: Path, change: Callable[[tuple[SavedFilter, ...]], tuple[SavedFilter, ...]]
) -> tuple[SavedFilter, ...]:
    return change_json(root, _FILE, lambda: load_filters(root), change, _document, limit=_LIMIT)


def _document(filters: tuple[SavedFilter, ...]) -> dict[str, Any]:
    return {"format": _FORMAT, "version": _VERSION, "filters": to_json(filters)}


def _filters(value: Any) -> tuple[SavedFilter, ...]:
    if not isinstance(value, dict) or value.get("format") != _FORMAT or not isinstance(value.get("filters"), list):
        raise DamagedPart(f"'{_FILE}' does not hold filters of innerview.")
    if value.get("version") != _VERSION:
        raise StoreError(f"'{_FILE}' has version {value.get('version')!r}; this innerview reads {_VERSION}.")
    try:
        found = tuple(from_json(SavedFilter, one) for one in value["filters"])
        for kept in found:
            _check(kept)
    except InnerviewError as error:
        raise DamagedPart(f"'{_FILE}' holds a filter that cannot be read: {error}") from error
    return found


def _check(made: SavedFilter) -> None:
    name = made.name
    if not isinstance(name, str) or not 0 < len(name.strip()) <= _NAME_LENGTH or not name.isprintable() or "|" in name:
        raise StoreError(f"{name!r:.80} cannot name a filter: use 1 to {_NAME_LENGTH} printable characters but |.")
    if not isinstance(made.note, str):
        raise StoreError(f"The note of filter '{name}' is text, not {made.note!r:.40}.")
    parse_filters(made.steps)
