"""Named selections of a study."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import ValidationError

from innerview.errors import DamagedPart, RequestError
from innerview.serve.context import Serving
from innerview.serve.wire import KeptSelections
from innerview.store import load_selections, save_selections

router = APIRouter(prefix="/api/selections", tags=["selections"])


@router.get("")
def selections(service: Serving) -> KeptSelections:
    """Every named selection."""
    kept = load_selections(service.study)
    try:
        return KeptSelections.model_validate(list(kept.values()))
    except ValidationError as problem:
        raise DamagedPart("'selections.json' does not hold selections. Remove it to begin anew.") from problem


@router.put("")
def keep_selections(body: KeptSelections, service: Serving) -> KeptSelections:
    """Replace all named selections; a name is taken once in each recording."""
    # No recording has a slash in its name, so a key stands for one pair of names.
    by_name = {f"{one.recording}/{one.name}": one.model_dump() for one in body.root}
    if len(by_name) < len(body.root):
        raise RequestError("Two selections of one recording have the same name. Choose another for one of them.")
    save_selections(service.study, by_name)
    return body
