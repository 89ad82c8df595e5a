"""Named selections, kept in the study."""

from __future__ import annotations

from typing import Any

from innerview.errors import StoreError, UnknownName
from innerview.store.changes import change_json
from innerview.store.files import json_text, read_json
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


def save_selection(study: Study, name: str, selection: Any) -> dict[str, Any]:
    """Save a selection under a name; one of the same name is replaced. Gives all there are now."""
    if not isinstance(name, str) or not 0 < len(name) <= _NAME_LENGTH:
        raise StoreError(f"{name!r:.60} cannot name a selection: use 1 to {_NAME_LENGTH} characters.")
    json_text(selection)

    def change(before: dict[str, Any]) -> dict[str, Any]:
        after = {**before, name: selection}
        if len(after) > _COUNT:
            raise StoreError(f"A study keeps at most {_COUNT} selections. Drop some first.")
        return after

    return change_json(study.path, _FILE, lambda: load_selections(study), change, _document, limit=_LIMIT)


def drop_selection(study: Study, name: str) -> dict[str, Any]:
    """Forget a selection; gives those that are left."""

    def change(before: dict[str, Any]) -> dict[str, Any]:
        if name not in before:
            raise UnknownName("selection", name, before)
        return {key: value for key, value in before.items() if key != name}

    return change_json(study.path, _FILE, lambda: load_selections(study), change, _document, limit=_LIMIT)


def _document(selections: dict[str, Any]) -> dict[str, Any]:
    return {"selections": selections}
