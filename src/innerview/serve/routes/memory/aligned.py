"""What happened around an event, averaged over all times it happened."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field

from innerview.lenses.columns import aligned as derived_aligned
from innerview.lenses.columns.aligned import Occurrences
from innerview.metrics import Aligned
from innerview.serve.context import Serving
from innerview.serve.encoding.plain import plain
from innerview.serve.routes.recordings import gives
from innerview.serve.wire import AlignedReply, Name, SpreadReply

router = APIRouter(prefix="/api/recordings/{name}", tags=["recordings"])
MEDIA_TYPE = "application/octet-stream"
LISTED = 500
"""Occurrences that are named one by one."""
Window = Annotated[int, Field(ge=0, le=derived_aligned.MAX_WINDOW)]


class AlignRequest(BaseModel):
    """Where the event stands, how much around it is looked at, and what is averaged there."""

    model_config = ConfigDict(extra="forbid")

    column: Name | None = None
    """A column that says yes or no: events where they stand, others where they begin to hold."""
    rows: Annotated[list[int], Field(max_length=50_000)] | None = None
    before: Window = 20
    after: Window = 40
    array: Name | None = None
    metrics: Annotated[list[Name], Field(max_length=derived_aligned.MAX_METRICS)] = []


@router.post(
    "/aligned",
    response_class=Response,
    responses={200: {"model": AlignedReply, **gives(MEDIA_TYPE)[200]}},
    response_description="AlignedReply as JSON, then float32",
)
def align(name: str, body: AlignRequest, service: Serving) -> Response:
    """Averages around an event: the length of a JSON text (uint32), that text, then float32 [offsets, elements]."""
    source = service.open(name).derived(service.study)
    at = derived_aligned.occurrences(source, column=body.column, rows=body.rows, window=body.before + body.after + 1)
    found = derived_aligned.aligned(
        source, at, before=body.before, after=body.after, array=body.array, metrics=body.metrics
    )
    return Response(
        _packed(_reply(found, at), found.memory), media_type=MEDIA_TYPE, headers={"Cache-Control": "no-store"}
    )


def _reply(found: Aligned, at: Occurrences) -> AlignedReply:
    def numbers(values: np.ndarray) -> Any:
        return plain(values.tolist())

    return AlignedReply(
        total=at.total,
        used=len(at.rows),
        paired=found.paired,
        first_after=at.first_after,
        rows=at.rows[:LISTED].tolist(),
        offsets=found.offsets.tolist(),
        counts=found.counts.tolist(),
        elements=found.memory.shape[1],
        before=numbers(found.before),
        after=numbers(found.after),
        effect=numbers(found.effect),
        metrics={
            name: SpreadReply(mean=numbers(spread.mean), low=numbers(spread.low), high=numbers(spread.high))
            for name, spread in found.metrics.items()
        },
    )


def _packed(reply: AlignedReply, values: np.ndarray) -> bytes:
    """The text is filled up with spaces, so that the numbers begin at a multiple of four bytes."""
    text = reply.model_dump_json().encode()
    text += b" " * (-len(text) % 4)
    return len(text).to_bytes(4, "little") + text + np.ascontiguousarray(values, "<f4").tobytes()
