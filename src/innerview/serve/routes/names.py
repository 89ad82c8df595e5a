"""Names that people gave to parts of results, such as factors."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field, RootModel, StringConstraints

from innerview.serve.context import Serving
from innerview.store import load_names, save_names

router = APIRouter(prefix="/api/names", tags=["names"])

Part = Annotated[str, StringConstraints(min_length=1, max_length=80)]
Given = Annotated[str, StringConstraints(max_length=80)]


class Names(RootModel[Annotated[dict[Part, Given], Field(max_length=1_000)]]):
    """A name for each part that somebody named."""


@router.get("/{result_id}")
def names(result_id: str, service: Serving) -> Names:
    """What the parts of a result are called."""
    return Names(load_names(service.study, service.study.result(result_id).id))


@router.put("/{result_id}")
def keep_names(result_id: str, body: Names, service: Serving) -> Names:
    """Replace the names of a result's parts; an empty name is none."""
    save_names(service.study, service.study.result(result_id).id, body.root)
    return Names(load_names(service.study, result_id))
