"""Names that people gave to parts of results, kept in the study: results can be made again, names cannot."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from innerview.errors import DamagedPart, StoreError, UnknownName
from innerview.store.changes import change_json
from innerview.store.files import read_json
from innerview.store.paths import confined, is_there
from innerview.store.study import Study

_FILE = "names.json"
_LIMIT = 4 << 20
_NAME_LENGTH = 80
_PARTS = 1_000
_MAX_BEFORE = 100


def load_names(study: Study, result: str) -> dict[str, str]:
    """Names by part of a result; where nobody gave one, those of the result whose factors it goes by, if any."""
    everything = _all(study)
    for _ in range(_MAX_BEFORE):
        if result in everything:
            return everything[result]
        with suppress(UnknownName):
            if source := str(study.result_info(result).parameters.get("factors", "")):
                result = source
                continue
        break
    return {}


def save_names(study: Study, result: str, names: Mapping[str, str]) -> None:
    """Name these parts of a result; an empty name is none. Parts that are not named here stay as they are."""
    given = {part: name.strip() for part, name in names.items()}
    long = [name for name in given.values() if len(name) > _NAME_LENGTH or not name.isprintable()]
    if long:
        raise StoreError(f"{long[0]!r:.60} cannot be a name: use 1 to {_NAME_LENGTH} letters, digits or signs.")

    def change(before: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
        changed = {**load_names(study, result), **given}
        kept = {part: name for part, name in changed.items() if name}
        if len(kept) > _PARTS:
            raise StoreError(f"At most {_PARTS} parts of a result have names, not {len(kept)}.")
        return {key: value for key, value in {**before, result: kept}.items() if value}

    change_json(study.path, _FILE, lambda: _all(study), change, lambda names: {"names": names}, limit=_LIMIT)


def _all(study: Study) -> dict[str, dict[str, str]]:
    path = confined(study.path, _FILE)
    if not is_there(path):
        return {}
    value: Any = read_json(path, limit=_LIMIT).get("names")
    whole = isinstance(value, dict) and all(
        isinstance(names, dict) and all(isinstance(name, str) for name in names.values()) for names in value.values()
    )
    if not whole:
        raise DamagedPart(f"'{_FILE}' does not hold names. Remove it to begin anew.")
    return dict(value)
