"""Named selections, kept in the study."""

from __future__ import annotations

import threading

from pydantic import ValidationError

from innerview.errors import DamagedPart
from innerview.serve.wire import KeptSelections
from innerview.store import Study
from innerview.store.files import read_json, replace_json
from innerview.store.paths import confined, is_plain_file

_FILE = "selections.json"
_writing = threading.Lock()


def load(study: Study) -> KeptSelections:
    """Every named selection; none where nothing was kept yet."""
    path = confined(study.path, _FILE)
    if not is_plain_file(path):
        return KeptSelections([])
    try:
        return KeptSelections.model_validate(read_json(path))
    except ValidationError as problem:
        raise DamagedPart(f"'{_FILE}' of study '{study.name}' does not hold selections.") from problem


def save(study: Study, selections: KeptSelections) -> None:
    """Replace them all at one stroke."""
    with _writing:
        replace_json(confined(study.path, _FILE), selections.model_dump())
