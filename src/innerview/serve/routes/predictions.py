"""What subjects predict for rows of a recording: a list, and columns and arrays aligned to the recording's rows."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import polars as pl
from fastapi import APIRouter, Query, Request, Response

from innerview.errors import UnknownName
from innerview.lenses.columns.predicted import PredictedColumns, predicted_columns
from innerview.schema import targets_of, to_json
from innerview.serve import caching
from innerview.serve.context import Serving
from innerview.serve.encoding import arrow
from innerview.serve.routes.recordings import (
    Start,
    Stop,
    array_spec,
    check_array_size,
    check_table_size,
    gives,
    known_names,
    raw,
    row_range,
    split_names,
)
from innerview.serve.wire import ArrayReply, PredictionReply
from innerview.store import Predictions

router = APIRouter(prefix="/api/recordings/{name}/predictions", tags=["predictions"])


@router.get("", response_model=list[PredictionReply])
def predictions(name: str, service: Serving) -> list[PredictionReply]:
    """Every prediction for this recording, oldest first."""
    recording = service.open(name).recording
    return [_reply(each) for each in predicted_columns(service.study, recording)]


@router.get("/{id}/columns", response_class=Response, responses=gives(arrow.MEDIA_TYPE))
def prediction_columns(
    name: str,
    id: str,
    request: Request,
    service: Serving,
    names: Annotated[list[str] | None, Query(max_length=500)] = None,
    start: Start = 0,
    stop: Stop = None,
) -> Response:
    """Columns as an Arrow IPC stream, a line per row of the recording; null (floats: NaN) where not predicted.

    Beside what is predicted, how far each pose is from the recorded one, and from that of the other domain.
    """
    recording, prediction = service.open(name).recording, _prediction(service, name, id)
    source = next(each for each in predicted_columns(service.study, recording) if each.prediction.id == id)
    etag = source.digest
    if unchanged := caching.unchanged(request, etag):
        return unchanged
    known = [column.name for column in source.specs]
    wanted = known if names is None else known_names(split_names(names, known), known)
    start, stop = row_range(recording, start, stop)
    check_table_size(len(wanted), stop - start)
    places, offsets = _places(prediction, start, stop)
    placed = pl.DataFrame({"": pl.Series(offsets, dtype=pl.Int64)})
    table = placed.hstack(source.columns(wanted, *_span(places)).get_columns())
    rows = pl.DataFrame({"": pl.Series(range(stop - start), dtype=pl.Int64)})
    aligned = rows.join(table, on="", how="left", maintain_order="left").drop("")
    return caching.binary(request, etag, content=arrow.stream(aligned), media_type=arrow.MEDIA_TYPE)


@router.get("/{id}/arrays/{array}", response_class=Response, responses=gives("application/octet-stream"))
def prediction_array(
    name: str, id: str, array: str, request: Request, service: Serving, start: Start = 0, stop: Stop = None
) -> Response:
    """An array as raw little-endian bytes, a line per row of the recording; NaN where not predicted."""
    recording, prediction = service.open(name).recording, _prediction(service, name, id)
    etag = f"{prediction.digest}-{recording.rows}"
    if unchanged := caching.unchanged(request, etag):
        return unchanged
    spec = array_spec(prediction, array)
    start, stop = row_range(recording, start, stop)
    check_array_size(spec, stop - start)
    places, offsets = _places(prediction, start, stop)
    values = np.full((stop - start, *spec.shape), np.nan, spec.dtype)
    values[offsets] = prediction.array(array, *_span(places))
    return raw(request, etag, values)


def _prediction(service: Serving, name: str, id: str) -> Predictions:
    found = service.study.prediction(id)
    if found.of != name:
        raise UnknownName("predictions", id, [each.id for each in service.study.predictions(name)])
    return found


def _places(prediction: Predictions, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
    """Which predicted rows lie in a range of the recording, and where in the range each of them lies."""
    rows = prediction.source_rows
    places = np.flatnonzero((rows >= start) & (rows < stop))
    return places, rows[places] - start


def _span(places: np.ndarray) -> tuple[int, int]:
    """Predicted rows stand in the order of the recording, so those of a range stand together."""
    return (int(places[0]), int(places[-1]) + 1) if len(places) else (0, 0)


def _reply(source: PredictedColumns) -> PredictionReply:
    prediction = source.prediction
    info = prediction.info
    return PredictionReply.model_validate(
        {
            "id": prediction.id,
            "subject": prediction.subject,
            "binding": str(prediction.binding),
            "inputs": prediction.binding.texts,
            "domain": source.domain,
            "filters": prediction.binding.filters,
            "heads": to_json(info.subject.heads) if info.subject else [],
            "targets": targets_of(info.subject.heads) if info.subject else [],
            "sites": prediction.keep,
            "edits": to_json(info.edits),
            "columns": to_json(source.specs),
            "poses": to_json(source.poses),
            "arrays": [ArrayReply(**to_json(spec), is_image=spec.is_image) for spec in info.arrays],
            "rows": prediction.rows,
            "complete": prediction.complete,
            "current": prediction.is_current,
            "created_at": info.created_at,
        }
    )
