"""Named filters of pictures, kept in the study as filters.json."""

from __future__ import annotations

from innerview.errors import StoreError
from innerview.schema import SavedFilter, parse_filters
from innerview.store.annotations.named import NamedFile

_NAME_LENGTH = 60


def _check(made: SavedFilter) -> None:
    name = made.name
    if not isinstance(name, str) or not 0 < len(name.strip()) <= _NAME_LENGTH or not name.isprintable() or "|" in name:
        raise StoreError(f"{name!r:.80} cannot name a filter: use 1 to {_NAME_LENGTH} printable characters but |.")
    if not isinstance(made.note, str):
        raise StoreError(f"The note of filter '{name}' is text, not {made.note!r:.40}.")
    parse_filters(made.steps)


FILTERS = NamedFile(one="filter", type=SavedFilter, check=_check, limit=4 << 20)
