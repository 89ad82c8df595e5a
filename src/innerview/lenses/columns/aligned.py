"""What happened around an event: rows of a recording averaged over all times it happened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import polars as pl

from innerview.errors import RequestError, UnknownName
from innerview.lenses.columns.derived import Derived
from innerview.metrics import Aligned, Averages
from innerview.metrics.windows import shifted

MAX_ROWS = 200_000
"""Rows of memory that are read for one picture; more occurrences are thinned out evenly."""
MAX_OCCURRENCES = 2_000
MAX_WINDOW = 500
MAX_METRICS = 12


@dataclass(frozen=True, kw_only=True)
class Occurrences:
    """Rows where something happened."""

    rows: np.ndarray
    total: int
    """How many there are in all; `rows` holds at most so many that they can be read at once."""
    first_after: int
    """The first offset at which the memory can know: 1 for what an action caused, 0 for what was seen."""


def occurrences(source: Derived, *, column: str | None, rows: Sequence[int] | None, window: int) -> Occurrences:
    """Where an event stands, where a yes-or-no column begins to hold, or the rows given."""
    if (column is None) == (rows is None):
        raise RequestError("Say what to align by: a column, or rows.")
    if column is None:
        if not all(0 <= row < source.recording.rows for row in rows or ()):
            raise RequestError(f"Rows to align by lie between 0 and {source.recording.rows - 1}.")
        places, first_after = np.unique(np.asarray(rows, np.int64)), 0
    else:
        places, first_after = _rising(source, column)
    most = max(1, min(MAX_OCCURRENCES, MAX_ROWS // window))
    thin = np.unique(np.linspace(0, len(places) - 1, most).round().astype(np.int64)) if len(places) > most else ...
    return Occurrences(rows=places[thin], total=len(places), first_after=first_after)


def _rising(source: Derived, name: str) -> tuple[np.ndarray, int]:
    known = {c.name: c for c in (*source.recording.info.columns, *source.specs)}
    if name not in known:
        raise UnknownName("column", name, known)
    column = known[name]
    if column.type == "text" or (column.type != "bool" and column.kind != "event"):
        fitting = [n for n, c in known.items() if c.type == "bool" or (c.kind == "event" and c.type != "text")]
        raise RequestError(f"'{name}' does not say yes or no. Align by one of: {', '.join(fitting) or 'none here'}.")
    values = source.columns([name])[name].cast(pl.Float64).fill_null(0.0).to_numpy() > 0
    if column.kind == "event":
        return np.flatnonzero(values), 1
    before = shifted(values.astype(np.float64), source.stretch(0, len(values)), 1)
    return np.flatnonzero(values & (before == 0)), 0


def aligned(
    source: Derived, at: Occurrences, *, before: int, after: int, array: str | None, metrics: Sequence[str]
) -> Aligned:
    """Memory and metrics around the occurrences, one occurrence after another."""
    elements = 0
    if array is not None:
        specs = {spec.name: spec for spec in source.recording.info.arrays}
        if array not in specs:
            raise UnknownName("array", array, specs)
        elements = prod(specs[array].shape)
    averages = Averages(before=before, after=after, elements=elements, first_after=at.first_after)
    windows = [(row, *_inside(source, row, before, after)) for row in at.rows.tolist()]
    for row, first, last in windows:
        memory = source.recording.array(array, first, last) if array else np.zeros((last - first, 0), np.float32)
        averages.add(memory, first - row)
    return averages.result({name: _around(source, name, windows, before, after) for name in metrics})


def _around(source: Derived, name: str, windows: Sequence[tuple[int, int, int]], before: int, after: int) -> np.ndarray:
    """A column around each occurrence, [occurrences, offsets]; NaN where it is not known."""
    found = np.full((len(windows), before + after + 1), np.nan)
    # Many small reads take longer than one of everything.
    often = sum(last - first for _, first, last in windows) * 4 > source.recording.rows
    whole = _numbers(source, name, 0, source.recording.rows) if often else None
    for place, (row, first, last) in enumerate(windows):
        values = _numbers(source, name, first, last) if whole is None else whole[first:last]
        offset = first - row + before
        found[place, offset : offset + len(values)] = values
    return found


def _numbers(source: Derived, name: str, start: int, stop: int) -> np.ndarray:
    series = source.columns([name], start, stop)[name]
    if not (series.dtype.is_numeric() or series.dtype == pl.Boolean):
        raise RequestError(f"'{name}' holds no numbers and no yes or no, so that it has no mean. Leave it out.")
    return series.cast(pl.Float64).fill_null(float("nan")).to_numpy()


def _inside(source: Derived, row: int, before: int, after: int) -> tuple[int, int]:
    """The rows around one row that belong to its group."""
    group = source.whole_groups(row, row + 1) if source.recording.info.ordering else (0, source.recording.rows)
    return max(group[0], row - before), min(group[1], row + after + 1)
