"""Memory elements in an order."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from fastapi import APIRouter, Query, Request, Response

from innerview.errors import RequestError
from innerview.serve import caching
from innerview.serve.context import Serving
from innerview.serve.encoding.plain import plain
from innerview.serve.wire import OrderReply

router = APIRouter(prefix="/api/recordings/{name}", tags=["recordings"])
Row = Annotated[int | None, Query(ge=0)]


@router.get("/order", response_model=OrderReply)
def order(
    name: str,
    request: Request,
    response: Response,
    service: Serving,
    by: Annotated[str, Query(max_length=40)],
    array: Annotated[str, Query(max_length=200)] = "",
    start: Row = None,
    stop: Row = None,
    from_row: Annotated[int | None, Query(ge=0, alias="from")] = None,
    to_row: Annotated[int | None, Query(ge=0, alias="to")] = None,
    column: Annotated[str, Query(max_length=200)] = "",
) -> OrderReply | Response:
    """The elements of a memory array sorted: over rows start to stop, or over the interval from–to within them."""
    opened = service.open(name)
    if kept := caching.unchanged(request, opened.etag):
        return kept
    from innerview.lenses.order import order_of

    if (from_row is None) != (to_row is None):
        raise RequestError("An interval has two ends: give both from and to, or neither.")
    interval = None if from_row is None or to_row is None else (from_row, to_row)
    made = order_of(
        service.study,
        opened.recording,
        by=by,
        array=array,
        rows=(start, stop),
        interval=interval,
        column=column,
    )
    # Derived columns may change while the recording stays as it is.
    response.headers["Cache-Control"] = "no-store" if column else caching.headers(request, opened.etag)["Cache-Control"]
    if not column:
        response.headers["ETag"] = f'"{opened.etag}"'
    scores = plain(np.asarray(made.scores, float).tolist())
    return OrderReply(by=made.by, order=made.order.tolist(), scores=scores, explains=made.explains)
