"""Rows as a table: CSV or Parquet."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import polars as pl

from innerview.store.exporters.files import new_file

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A text that begins so is computed by a spreadsheet; a quotation mark in front makes it text again."""
_INERT = (
    pl.when(pl.col(pl.String).str.contains(r"^[=+\-@\t\r]"))
    .then(pl.lit("'") + pl.col(pl.String))
    .otherwise(pl.col(pl.String))
    .name.keep()
)


class HasColumns(Protocol):
    """A recording, or one with derived columns beside the recorded ones."""

    def columns(self, names: Sequence[str] | None = None, start: int = 0, stop: int | None = None) -> pl.DataFrame:
        """Columns of a range of rows."""
        ...


def export_rows(
    recording: HasColumns,
    path: Path | str,
    *,
    columns: Sequence[str] | None = None,
    start: int = 0,
    stop: int | None = None,
) -> Path:
    """Rows as .csv or .parquet. In CSV objects in view become JSON text, and no text is taken for a formula."""
    table = recording.columns(columns, start, stop)
    with new_file(path, (".csv", ".parquet")) as (temporary, suffix):
        if suffix == ".parquet":
            table.write_parquet(temporary)
        else:
            nested = [n for n, kind in table.schema.items() if isinstance(kind, pl.List)]
            plain = table.with_columns(_as_json(table[n]) for n in nested)
            plain.rename({n: _inert(n) for n in plain.columns}).with_columns(_INERT).write_csv(temporary)
    return Path(path)


def _inert(name: str) -> str:
    return f"'{name}" if name.startswith(_FORMULA) else name


def _as_json(series: pl.Series) -> pl.Series:
    texts = [None if row is None else json.dumps(row, ensure_ascii=False) for row in series.to_list()]
    return pl.Series(series.name, texts, dtype=pl.String)
