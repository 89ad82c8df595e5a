"""What lenses and tables found."""

from __future__ import annotations

import math
import zlib
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Query, Request, Response

from innerview.schema import ResultArray, ResultInfo
from innerview.serve import caching
from innerview.serve.context import Serving
from innerview.serve.encoding.plain import plain
from innerview.serve.encoding.small import quantised
from innerview.serve.failures import TooLarge
from innerview.serve.routes.recordings import ARRAY_LIMIT, gives
from innerview.serve.wire import ResultReply, ResultSummary

router = APIRouter(prefix="/api/results", tags=["results"])


@router.get("")
def results(
    service: Serving,
    recording: Annotated[str | None, Query(max_length=200)] = None,
    kind: Annotated[str | None, Query(max_length=200)] = None,
) -> list[ResultSummary]:
    """Every result, oldest first, without what it found."""
    return [_summary(result) for result in service.study.results(kind=kind, recording=recording)]


@router.get("/{result_id}")
def result(result_id: str, service: Serving) -> ResultReply:
    """One result with what it found."""
    found = service.study.result(result_id)
    return ResultReply(**_summary(found).model_dump(), value=plain(found.value), shown=plain(found.shown))


@router.get("/{result_id}/arrays/{name}", response_class=Response, responses=gives("application/octet-stream"))
def result_array(
    result_id: str,
    name: str,
    request: Request,
    service: Serving,
    start: Annotated[int, Query(ge=0)] = 0,
    stop: Annotated[int | None, Query(ge=0)] = None,
    small: Annotated[bool, Query()] = False,
) -> Response:
    """An array of a result as raw little-endian bytes, or a part of its first axis; shape and type in the headers.

    `small`: in 16 bits and deflated; times X-Innerview-Step they are the numbers to 1/65534 of the largest.
    """
    found = service.study.result_info(result_id)
    etag = f"{found.id}-{found.created_at}-{int(found.provisional)}" + ("-small" if small else "")
    if kept := caching.unchanged(request, etag):
        return kept
    if name in found.arrays and _size(found.arrays[name], start, stop) > ARRAY_LIMIT:
        raise TooLarge(f"That is more than {ARRAY_LIMIT} bytes. Ask for a part of it with start and stop.")
    values = service.study.result_array(result_id, name, start, stop)
    described: dict[str, str] = {}
    if small:
        values, step = quantised(values)
        described["X-Innerview-Step"] = repr(step)
    little = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    described |= {"X-Innerview-Shape": ",".join(map(str, values.shape)), "X-Innerview-Dtype": values.dtype.name}
    content = little.tobytes()
    if small:
        content, described["Content-Encoding"] = zlib.compress(content, 6), "deflate"
    return caching.binary(request, etag, content=content, media_type="application/octet-stream", extra=described)


@router.delete("/{result_id}", status_code=204)
def drop_result(result_id: str, service: Serving) -> None:
    """Remove a result; it can be computed again."""
    service.study.drop_result(result_id)


def _size(array: ResultArray, start: int, stop: int | None) -> int:
    """Bytes of some of its rows."""
    rows = len(range(*slice(start, stop).indices(array.shape[0]))) if array.shape else 1
    return rows * math.prod(array.shape[1:]) * np.dtype(array.dtype).itemsize


def _summary(result: ResultInfo) -> ResultSummary:
    told = {name: getattr(result, name) for name in ResultSummary.model_fields}
    return ResultSummary(**{**told, "arguments": plain(result.arguments)})
