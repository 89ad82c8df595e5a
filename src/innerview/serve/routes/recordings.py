"""The values of a recording: columns, groups, arrays and pictures."""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query, Request, Response

from innerview.errors import RequestError, UnknownName
from innerview.schema import ArraySpec
from innerview.serve import caching
from innerview.serve.context import Serving
from innerview.serve.encoding import arrow, pictures
from innerview.serve.failures import TooLarge
from innerview.serve.openings import Opened
from innerview.store import Recording, metrics_digest

ARRAY_LIMIT = 64_000_000
TABLE_LIMIT = 256_000_000

router = APIRouter(prefix="/api/recordings/{name}", tags=["recordings"])
Start = Annotated[int, Query(ge=0)]
Stop = Annotated[int | None, Query(ge=0)]
Step = Annotated[int, Query(ge=1)]
Row = Annotated[int, Query(ge=0)]


def gives(*media_types: str) -> dict[int | str, dict[str, Any]]:
    """Says in the API's description that a reply is bytes."""
    return {200: {"content": {m: {"schema": {"type": "string", "format": "binary"}} for m in media_types}}}


@router.get("/columns", response_class=Response, responses=gives(arrow.MEDIA_TYPE))
def columns(
    name: str,
    request: Request,
    service: Serving,
    names: Annotated[list[str] | None, Query(max_length=500)] = None,
    start: Start = 0,
    stop: Stop = None,
) -> Response:
    """Columns, recorded or derived, as an Arrow IPC stream; `names` holds commas or is given several times."""
    opened = service.open(name)
    recorded = [column.name for column in opened.recording.info.columns]
    wanted = recorded if names is None else split_names(names, recorded)
    derived = opened.derived(service.study) if set(wanted) - set(recorded) else None
    # What is made from columns changes with the study's metrics, too.
    etag = opened.etag if derived is None else f"{opened.etag}-{metrics_digest(derived.metrics)}"
    if kept := caching.unchanged(request, etag):
        return kept
    if derived is not None:
        wanted = known_names(split_names(names or [], known := [*recorded, *(c.name for c in derived.specs)]), known)
    start, stop = row_range(opened.recording, start, stop)
    check_table_size(len(wanted), stop - start)
    content = arrow.stream((derived or opened.recording).columns(wanted, start, stop))
    return caching.binary(request, etag, content=content, media_type=arrow.MEDIA_TYPE)


@router.get("/groups", response_class=Response, responses=gives(arrow.MEDIA_TYPE))
def groups(name: str, request: Request, service: Serving) -> Response:
    """One line per group (episode) as an Arrow IPC stream."""
    opened = service.open(name)
    if kept := caching.unchanged(request, opened.etag):
        return kept
    content = arrow.stream(opened.recording.groups())
    return caching.binary(request, opened.etag, content=content, media_type=arrow.MEDIA_TYPE)


@router.get("/arrays/{array}", response_class=Response, responses=gives("application/octet-stream"))
def array(
    name: str, array: str, request: Request, service: Serving, start: Start = 0, stop: Stop = None, step: Step = 1
) -> Response:
    """Rows of an array as raw little-endian bytes in C order; shape and type are in the headers."""
    opened = service.open(name)
    if kept := caching.unchanged(request, opened.etag):
        return kept
    spec = array_spec(opened.recording, array)
    start, stop = row_range(opened.recording, start, stop)
    wanted = range(start, stop, step)
    check_array_size(spec, len(wanted))
    if spec.kind == "ragged":
        check_array_size(spec, len(wanted), int(opened.recording.lengths(array, wanted).max(initial=0)))
    return raw(request, opened.etag, opened.recording.array(array, start, stop, step))


@router.get("/arrays/{array}/lengths", response_class=Response, responses=gives("application/octet-stream"))
def lengths(
    name: str, array: str, request: Request, service: Serving, start: Start = 0, stop: Stop = None, step: Step = 1
) -> Response:
    """How many entries each row of a ragged array has, as raw int32; rows themselves are filled up with zeros."""
    opened = service.open(name)
    if kept := caching.unchanged(request, opened.etag):
        return kept
    spec = array_spec(opened.recording, array)
    if spec.kind != "ragged":
        raise RequestError(f"Array '{array}' is not ragged: all its rows have the same shape.")
    start, stop = row_range(opened.recording, start, stop)
    wanted = range(start, stop, step)
    check_array_size(spec, len(wanted))
    return raw(request, opened.etag, opened.recording.lengths(array, wanted).astype(np.int32))


@router.get("/images/{array}/{row}", response_class=Response, responses=gives(*pictures.MEDIA_TYPES.values()))
def image(
    name: str,
    array: str,
    row: int,
    request: Request,
    service: Serving,
    format: pictures.Format = "png",
    channel: Annotated[int | None, Query(ge=0)] = None,
    low: float | None = None,
    high: float | None = None,
) -> Response:
    """One row as a lossless picture; values that are not 8-bit are scaled, X-Innerview-Range tells between what."""
    opened = service.open(name)
    if kept := caching.unchanged(request, opened.etag):
        return kept
    spec = _image_spec(opened, array)
    if not 0 <= row < opened.recording.rows:
        raise RequestError(f"There is no row {row}; '{name}' has rows 0 to {opened.recording.rows - 1}.")
    shown = spec.as_shown(opened.recording.array(array, row, row + 1)[0], channel)
    picture = pictures.encode(shown, format=format, low=low, high=high)
    described = {"X-Innerview-Range": ",".join(f"{v:.9g}" for v in picture.range)}
    media_type = pictures.MEDIA_TYPES[format]
    return caching.binary(request, opened.etag, content=picture.content, media_type=media_type, extra=described)


def check_table_size(columns: int, rows: int) -> None:
    """Refuse a table that is too large for one reply."""
    if columns * rows * 8 > TABLE_LIMIT:
        raise TooLarge(f"{columns} columns of {rows} rows are too much at once. Ask for fewer of either.")


def check_array_size(spec: ArraySpec, rows: int, entries: int = 1) -> None:
    """Refuse rows of an array that are too large for one reply; of a ragged one, with the entries of the longest."""
    bytes_per_row = max(1, entries * math.prod(spec.shape) * np.dtype(spec.dtype).itemsize)
    if rows * bytes_per_row > ARRAY_LIMIT:
        raise TooLarge(f"That is more than {ARRAY_LIMIT} bytes. Ask for at most {ARRAY_LIMIT // bytes_per_row} rows.")


def raw(request: Request, etag: str, values: np.ndarray) -> Response:
    """Values as raw little-endian bytes in C order; shape and type in the headers."""
    little = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    described = {"X-Innerview-Shape": ",".join(map(str, values.shape)), "X-Innerview-Dtype": values.dtype.name}
    return caching.binary(
        request, etag, content=little.tobytes(), media_type="application/octet-stream", extra=described
    )


def split_names(names: list[str], known: list[str]) -> list[str]:
    """Names one by one; a known name may itself hold commas."""
    return list(dict.fromkeys(w for given in names for w in ([given] if given in known else given.split(",")) if w))


def known_names(wanted: list[str], known: list[str]) -> list[str]:
    for name in wanted:
        if name not in known:
            raise UnknownName("column", name, known)
    return wanted


def row_range(recording: Recording, start: int, stop: int | None) -> tuple[int, int]:
    """The rows asked for, cut at the end of the recording, which may still grow."""
    stop = recording.rows if stop is None else min(stop, recording.rows)
    if start > stop:
        raise RequestError(f"Rows {start} to {stop} are no range; the recording has {recording.rows} rows.")
    return start, stop


def array_spec(recording: Recording, name: str) -> ArraySpec:
    specs = {spec.name: spec for spec in recording.info.arrays}
    if name not in specs:
        raise UnknownName("array", name, specs)
    return specs[name]


def _image_spec(opened: Opened, name: str) -> ArraySpec:
    spec = array_spec(opened.recording, name)
    if not spec.is_image:
        raise RequestError(f"Array '{name}' holds no pictures; its axes are {', '.join(spec.axes) or 'not named'}.")
    return spec
