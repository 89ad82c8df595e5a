"""Filters of pictures: what there are, and those that were saved under a name."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel

from innerview.schema import PICTURE_FILTERS, PictureFilter, SavedFilter
from innerview.serve.context import Serving

router = APIRouter(prefix="/api", tags=["filters"])


class FiltersReply(BaseModel):
    """What filters there are, and what was saved."""

    known: tuple[PictureFilter, ...]
    """Each with its numbers and their ranges."""
    saved: tuple[SavedFilter, ...]
    """Oldest first."""


@router.get("/filters")
def filters(service: Serving) -> FiltersReply:
    """Every filter that a binding may have, and every one that was saved under a name."""
    return FiltersReply(known=tuple(PICTURE_FILTERS.values()), saved=service.study.filters())


@router.put("/filters")
def save_filter(body: SavedFilter, service: Serving) -> FiltersReply:
    """Save filters under a name; one of the same name is replaced."""
    service.study.save_filter(body)
    return filters(service)


@router.delete("/filters/{made:path}")
def drop_filter(made: Annotated[str, Path(max_length=200)], service: Serving) -> FiltersReply:
    """Forget a saved filter."""
    service.study.drop_filter(made)
    return filters(service)
