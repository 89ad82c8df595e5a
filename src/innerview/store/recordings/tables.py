"""Columns as Parquet: the same schema in every file, read back a few columns at a time."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import polars as pl

from innerview.errors import DamagedPart, StoreError, UnknownName
from innerview.schema import Column, ObjectInView
from innerview.store.paths import is_plain_file

MAX_COLUMNS = 1_000
UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
_FIELDS: dict[str, pl.DataType] = {
    name: pl.String() if kind is str else pl.Float64() for name, kind in get_type_hints(ObjectInView).items()
}
TYPES: dict[str, pl.DataType] = {
    "int": pl.Int64(),
    "float": pl.Float64(),
    "bool": pl.Boolean(),
    "text": pl.String(),
    "objects": pl.List(pl.Struct(_FIELDS)),
}


def check_columns(columns: Sequence[Column]) -> None:
    """Refuse columns that cannot be kept: too many, of no known type or of one name."""
    if len(columns) > MAX_COLUMNS:
        raise StoreError(f"There are {len(columns)} columns; a recording has at most {MAX_COLUMNS}. Use an array.")
    unknown = [c for c in columns if c.type not in TYPES]
    if unknown:
        raise UnknownName("column type", unknown[0].type, TYPES, f"It was given for column '{unknown[0].name}'.")
    twice = sorted(name for name, count in Counter(c.name for c in columns).items() if count > 1)
    if twice:
        raise StoreError(f"Column names must differ: {', '.join(twice[:5])} is there more than once.")


def table_schema(columns: Sequence[Column]) -> dict[str, pl.DataType]:
    """Column names and their Parquet types."""
    check_columns(columns)
    return {c.name: TYPES[c.type] for c in columns}


def build_table(values: Mapping[str, Sequence[Any]], schema: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """A table of that schema; a value of another type is an error that names its column."""
    return pl.DataFrame([_series(name, values[name], kind) for name, kind in schema.items()])


def _series(name: str, values: Sequence[Any], kind: pl.DataType) -> pl.Series:
    try:
        if isinstance(kind, pl.List):
            return _objects(name, values, kind)
        return pl.Series(name, values, dtype=kind, strict=True)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError) as error:
        reason = str(error).splitlines()[0]
        raise StoreError(
            f"Column '{name}' takes {kind.base_type()} values; got one that does not fit: {reason}"
        ) from error


def _objects(name: str, values: Sequence[Any], kind: pl.DataType) -> pl.Series:
    """Lists of objects, built field by field: ten times quicker than from dictionaries."""
    counts = [len(row) if row else 0 for row in values]
    items = [item for row in values if row for item in row]
    for item in items:
        if not item.keys() <= _FIELDS.keys():
            wrong = ", ".join(sorted(item.keys() - _FIELDS.keys()))
            raise StoreError(f"Objects in column '{name}' have {', '.join(_FIELDS)}; not {wrong}.")
    fields = [
        pl.Series(field, [item.get(field) for item in items], dtype=of, strict=True) for field, of in _FIELDS.items()
    ]
    row = pl.Series("row", np.repeat(np.arange(len(values)), counts))
    lists = pl.DataFrame(fields).select(pl.struct(list(_FIELDS)).alias(name), row)
    lists = lists.group_by("row", maintain_order=True).agg(name)
    known = pl.Series("known", [row is not None for row in values], dtype=pl.Boolean)
    every = pl.DataFrame([pl.Series("row", np.arange(len(values))), known])
    every = every.join(lists, on="row", how="left", maintain_order="left")
    empty = pl.lit(pl.Series([[]], dtype=kind))
    return every.select(pl.when("known").then(pl.col(name).fill_null(empty)).alias(name))[name]


def parquet_bytes(table: pl.DataFrame) -> bytes:
    """The table as the content of a Parquet file."""
    buffer = io.BytesIO()
    table.write_parquet(buffer, compression="zstd", compression_level=1, statistics=False)
    return buffer.getvalue()


def read_tables(
    paths: Sequence[Path], schema: Mapping[str, pl.DataType], *, names: Sequence[str], heights: Sequence[int]
) -> pl.DataFrame:
    """Some columns of several Parquet files, one below the other. DamagedPart names the first file that fails."""
    if not paths:
        return pl.DataFrame(schema={name: schema[name] for name in names})
    try:
        for path in paths:
            if not is_plain_file(path):
                raise DamagedPart(f"'{path.parent.name}/{path.name}' is missing.")
        table = pl.scan_parquet(list(paths), schema=dict(schema), glob=False).select(names).collect()
    except UNREADABLE as error:
        raise DamagedPart(_culprit(paths, schema) or f"The tables cannot be read: {error}") from error
    if table.height != sum(heights):
        raise DamagedPart(f"{len(paths)} tables hold {table.height} rows instead of {sum(heights)}.")
    return table


def _culprit(paths: Sequence[Path], schema: Mapping[str, pl.DataType]) -> str:
    for path in paths:
        try:
            pl.scan_parquet(path, schema=dict(schema), glob=False).collect()
        except UNREADABLE as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            return f"'{path.parent.name}/{path.name}' cannot be read: {reason}."
    return ""


def key_changes(keys: pl.Series) -> np.ndarray:
    """Places at which another group begins, but for the first."""
    return np.flatnonzero(keys[1:].ne_missing(keys[:-1]).to_numpy()) + 1
