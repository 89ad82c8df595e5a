"""What people named and saved: parts of results, such as factors, and selections of rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field, RootModel, StringConstraints, ValidationError

from innerview.errors import DamagedPart
from innerview.serve.context import Serving
from innerview.serve.wire import SavedSelection, SavedSelections
from innerview.store import drop_selection, load_names, load_selections, save_names, save_selection

router = APIRouter(prefix="/api")

Part = Annotated[str, StringConstraints(min_length=1, max_length=80)]
Given = Annotated[str, StringConstraints(max_length=80)]


class Names(RootModel[Annotated[dict[Part, Given], Field(max_length=1_000)]]):
    """A name for each part that somebody named."""


@router.get("/names/{result_id}", tags=["names"])
def names(result_id: str, service: Serving) -> Names:
    """What the parts of a result are called."""
    return Names(load_names(service.study, service.study.result(result_id).id))


@router.patch("/names/{result_id}", tags=["names"])
def name_parts(result_id: str, body: Names, service: Serving) -> Names:
    """Name parts of a result; an empty name is none. Parts that are left out stay as they are."""
    save_names(service.study, service.study.result(result_id).id, body.root)
    return Names(load_names(service.study, result_id))


@router.get("/selections", tags=["selections"])
def selections(service: Serving) -> SavedSelections:
    """Every named selection."""
    return _reply(load_selections(service.study))


@router.put("/selections", tags=["selections"])
def save_one(body: SavedSelection, service: Serving) -> SavedSelections:
    """Save a selection; one of the same recording and name is replaced. Gives all there are now."""
    return _reply(save_selection(service.study, _key(body.recording, body.name), body.model_dump()))


@router.delete("/selections", tags=["selections"])
def drop_one(
    service: Serving,
    recording: Annotated[str, Query(max_length=80)],
    name: Annotated[str, Query(max_length=100)],
) -> SavedSelections:
    """Forget a selection; gives those that are left."""
    return _reply(drop_selection(service.study, _key(recording, name)))


def _key(recording: str, name: str) -> str:
    # No recording has a slash in its name, so a key stands for one pair of names.
    return f"{recording}/{name}"


def _reply(saved: Mapping[str, Any]) -> SavedSelections:
    try:
        return SavedSelections.model_validate(list(saved.values()))
    except ValidationError as problem:
        raise DamagedPart("'selections.json' does not hold selections. Remove it to begin anew.") from problem
