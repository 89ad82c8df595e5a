"""Tables as Arrow IPC streams of plain types that the page reads without copying."""

from __future__ import annotations

import io

import polars as pl

MEDIA_TYPE = "application/vnd.apache.arrow.stream"
INT32 = 2**31
EPSILON32 = 2.0**-23


def stream(frame: pl.DataFrame) -> bytes:
    """One uncompressed record batch; unknown floats are NaN, other unknown values null."""
    plain = pl.DataFrame([_plain(column) for column in frame.get_columns()]).rechunk()
    out = io.BytesIO()
    # The oldest level writes large_utf8 instead of string views, which few readers know.
    plain.write_ipc_stream(out, compression="uncompressed", compat_level=pl.CompatLevel.oldest())
    return out.getvalue()


def _plain(column: pl.Series) -> pl.Series:
    kind = column.dtype
    if kind.is_integer():
        return _narrow_int(column)
    if kind.is_float():
        return _narrow_float(column)
    if kind == pl.String:
        return _dictionary(column)
    if isinstance(kind, pl.List | pl.Struct):
        return column.cast(_narrow_type(kind))
    if isinstance(kind, pl.Categorical | pl.Enum):
        return _dictionary(column.cast(pl.String))
    return column


def _narrow_int(column: pl.Series) -> pl.Series:
    low, high = column.min(), column.max()
    fits = low is None or (int(low) >= -INT32 and int(high) < INT32)  # type: ignore[arg-type]
    return column.cast(pl.Int32 if fits else pl.Int64)


def _narrow_float(column: pl.Series) -> pl.Series:
    """float32, unless that would blur the differences between the values (clock times, say) or overflow."""
    known = column.filter(column.is_finite().fill_null(False)).cast(pl.Float64)
    if len(known):
        low, high = float(known.min()), float(known.max())  # type: ignore[arg-type]
        largest = max(abs(low), abs(high))
        if largest > 3e38 or largest * EPSILON32 > (high - low) * 1e-3 > 0:
            return column.cast(pl.Float64).fill_null(float("nan"))
    return column.cast(pl.Float32).fill_null(float("nan"))


def _dictionary(column: pl.Series) -> pl.Series:
    words = column.drop_nulls().unique().sort()
    return column.cast(pl.Enum(words)) if len(words) * 2 <= len(column) else column


def _narrow_type(kind: pl.DataType) -> pl.DataType:
    if isinstance(kind, pl.List):
        return pl.List(_narrow_type(kind.inner))  # type: ignore[arg-type]
    if isinstance(kind, pl.Struct):
        return pl.Struct([pl.Field(f.name, _narrow_type(f.dtype)) for f in kind.fields])  # type: ignore[arg-type]
    return pl.Float32() if kind == pl.Float64 else kind
