"""Named selections, kept in the study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from innerview.errors import StoreError
from innerview.store.files import json_bytes, read_json, replace_file
from innerview.store.paths import confined, is_there
from innerview.store.study import Study

_FILE = "selections.json"
_LIMIT = 4 << 20
_COUNT = 500
_NAME_LENGTH = 200


def load_selections(study: Study) -> dict[str, Any]:
    """Every named selection; none where nothing was kept yet."""
    path = confined(study.path, _FILE)
    if not is_there(path):
        return {}
    value = read_json(path, limit=_LIMIT).get("selections")
    if not isinstance(value, dict):
        raise StoreError(f"'{_FILE}' holds no named selections. Remove it to begin anew.")
    return value


def save_selections(study: Study, selections: Mapping[str, Any]) -> None:
    """Replace the named selections by these."""
    if len(selections) > _COUNT:
        raise StoreError(f"A study keeps at most {_COUNT} selections, not {len(selections)}.")
    long = [name for name in selections if not isinstance(name, str) or not 0 < len(name) <= _NAME_LENGTH]
    if long:
        raise StoreError(f"{long[0]!r:.60} cannot name a selection: use 1 to {_NAME_LENGTH} characters.")
    try:
        content = json_bytes({"selections": dict(selections)}, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise StoreError(f"A selection holds something that is not JSON: {error}") from error
    if len(content) > _LIMIT:
        raise StoreError(f"The selections take {len(content)} bytes; a study keeps at most {_LIMIT}.")
    replace_file(confined(study.path, _FILE), content)
