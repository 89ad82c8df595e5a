"""Named selections of a study."""

from __future__ import annotations

from fastapi import APIRouter

from innerview.serve import selections as kept
from innerview.serve.context import Serving
from innerview.serve.wire import KeptSelections

router = APIRouter(prefix="/api/selections", tags=["selections"])


@router.get("")
def selections(service: Serving) -> KeptSelections:
    """Every named selection."""
    return kept.load(service.study)


@router.put("")
def keep_selections(body: KeptSelections, service: Serving) -> KeptSelections:
    """Replace all named selections."""
    kept.save(service.study, body)
    return body
