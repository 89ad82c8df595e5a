"""An array in tiles: exact rows when seen closely, means over many rows from afar."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query, Request, Response

from innerview.errors import DamagedPart, RequestError
from innerview.serve import caching
from innerview.serve.context import Serving
from innerview.serve.failures import TooLarge
from innerview.serve.openings import Opened
from innerview.store.results.pyramid import BINS, check_tile, elements_of, exact_tile, is_stored, mean_tile

DIRECT_VALUES = 16_000_000
"""Up to this many values a recording is read whole rather than kept in coarser levels."""
TILE_VALUES = 128_000_000
BYTES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}},
    202: {"description": "Still being built; X-Innerview-Building says how much of it is (0 to 1). Ask again."},
}

router = APIRouter(prefix="/api/recordings/{name}", tags=["recordings"])
Whole = Annotated[int, Query(ge=0)]
Bound = Annotated[int | None, Query(ge=0)]


@router.get("/tiles/{array}", response_class=Response, responses=BYTES)
def tile(
    name: str,
    array: str,
    request: Request,
    service: Serving,
    level: Whole,
    tile: Whole,
    start: Bound = None,
    stop: Bound = None,
) -> Response:
    """256 bins of an array, [bins, elements]: means over 2**level rows as float16, at level 0 exact rows as float32.

    With `start` and `stop` the bins divide these rows alone (an episode), so that no bin reaches over their border.
    """
    opened = service.open(name)
    if kept := caching.unchanged(request, opened.etag):
        return kept
    rows = opened.recording.rows
    first, last = start or 0, rows if stop is None else min(stop, rows)
    if first > last:
        raise RequestError(f"Rows {first} to {last} are no range; the recording has {rows} rows.")
    check_tile(last - first, level, tile)
    values = _values(service, opened, array, level=level, tile=tile, rows=(first, last))
    if isinstance(values, float):
        waiting = {"X-Innerview-Building": f"{values:.3f}", "Cache-Control": "no-store"}
        return Response(status_code=202, headers=waiting)
    described = {"X-Innerview-Shape": ",".join(map(str, values.shape)), "X-Innerview-Dtype": values.dtype.name}
    return caching.binary(
        request, opened.etag, content=values.tobytes(), media_type="application/octet-stream", extra=described
    )


def _values(
    service: Serving, opened: Opened, array: str, *, level: int, tile: int, rows: tuple[int, int]
) -> np.ndarray | float:
    """The tile, or how much of the pyramid that holds it is built."""
    recording, (first, last) = opened.recording, rows
    elements = elements_of(recording, array)
    if level == 0:
        return exact_tile(recording, array, tile=tile, start=first, stop=last)
    whole = rows == (0, recording.rows)
    if whole and is_stored(level) and recording.rows * elements > DIRECT_VALUES:
        pyramid = service.pyramids.ask(recording, array)
        if isinstance(pyramid, float):
            return pyramid
        try:
            return pyramid.tile(level, tile)
        except DamagedPart:
            pyramid.forget()  # it holds nothing that the rows do not
            return 0.0
    if min(last - first, BINS << level) * elements > TILE_VALUES:
        raise TooLarge("That stretch is too long to be read at once. Ask for tiles of the whole recording instead.")
    return mean_tile(recording, array, level=level, tile=tile, start=first, stop=last)
