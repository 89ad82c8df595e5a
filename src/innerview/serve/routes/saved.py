"""What people named and saved: parts of results, such as factors, and selections of rows."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field, RootModel, StringConstraints, ValidationError

from innerview.errors import DamagedPart, RequestError
from innerview.serve.context import Serving
from innerview.serve.wire import SavedSelections
from innerview.store import load_names, load_selections, save_names, save_selections

router = APIRouter(prefix="/api")

Part = Annotated[str, StringConstraints(min_length=1, max_length=80)]
Given = Annotated[str, StringConstraints(max_length=80)]


class Names(RootModel[Annotated[dict[Part, Given], Field(max_length=1_000)]]):
    """A name for each part that somebody named."""


@router.get("/names/{result_id}", tags=["names"])
def names(result_id: str, service: Serving) -> Names:
    """What the parts of a result are called."""
    return Names(load_names(service.study, service.study.result(result_id).id))


@router.put("/names/{result_id}", tags=["names"])
def replace_names(result_id: str, body: Names, service: Serving) -> Names:
    """Replace the names of a result's parts; an empty name is none."""
    save_names(service.study, service.study.result(result_id).id, body.root)
    return Names(load_names(service.study, result_id))


@router.get("/selections", tags=["selections"])
def selections(service: Serving) -> SavedSelections:
    """Every named selection."""
    kept = load_selections(service.study)
    try:
        return SavedSelections.model_validate(list(kept.values()))
    except ValidationError as problem:
        raise DamagedPart("'selections.json' does not hold selections. Remove it to begin anew.") from problem


@router.put("/selections", tags=["selections"])
def replace_selections(body: SavedSelections, service: Serving) -> SavedSelections:
    """Replace all named selections; a name is taken once in each recording."""
    # No recording has a slash in its name, so a key stands for one pair of names.
    by_name = {f"{one.recording}/{one.name}": one.model_dump() for one in body.root}
    if len(by_name) < len(body.root):
        raise RequestError("Two selections of one recording have the same name. Choose another for one of them.")
    save_selections(service.study, by_name)
    return body
