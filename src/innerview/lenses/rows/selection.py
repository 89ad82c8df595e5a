"""Which rows somebody chose, however it was said."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from innerview.errors import RequestError

ChosenRows = tuple[int, int] | range | Sequence[tuple[int, int]] | np.ndarray
"""(start, stop), several such ranges, or a NumPy array of row numbers or of true and false for every row."""


def chosen_rows(count: int, rows: ChosenRows | None) -> np.ndarray:
    """Row numbers, ascending; all where none are chosen."""
    if not count:
        raise RequestError("In this recording there are no rows to look at. Record, import or generate some first.")
    if rows is None:
        return np.arange(count)
    if isinstance(rows, np.ndarray | range):
        return _from_array(count, np.asarray(rows))
    ranges: Any = [rows] if _is_range(rows) else rows
    fit = isinstance(ranges, list | tuple) and ranges and all(_is_range(each) for each in ranges)
    if not fit or not all(0 <= start < stop <= count for start, stop in ranges):
        raise RequestError(
            f"rows are [start, stop] or several of them, with 0 ≤ start < stop ≤ {count}, not {rows!r:.60}; all where "
            "left out."
        )
    return np.unique(np.concatenate([np.arange(start, stop) for start, stop in ranges]))


def row_ranges(numbers: np.ndarray) -> tuple[tuple[int, int], ...]:
    """(start, stop) of all that stand next to each other."""
    if not len(numbers):
        return ()
    edges = [0, *(np.flatnonzero(np.diff(numbers) > 1) + 1).tolist(), len(numbers)]
    return tuple((int(numbers[first]), int(numbers[last - 1]) + 1) for first, last in pairwise(edges))


def _from_array(count: int, rows: np.ndarray) -> np.ndarray:
    if rows.dtype == bool and rows.shape == (count,):
        numbers = np.flatnonzero(rows)
    elif rows.dtype.kind in "iu" and rows.ndim == 1:
        numbers = np.unique(rows).astype(np.int64)
    else:
        raise RequestError(
            f"An array of rows holds row numbers, or true and false for all {count} rows, not {rows.dtype} "
            f"{list(rows.shape)}."
        )
    if not len(numbers) or numbers[0] < 0 or numbers[-1] >= count:
        raise RequestError(f"Rows go from 0 to {count - 1}, and at least one is needed; got {rows!r:.80}.")
    return numbers


def _is_range(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and all(type(end) is int for end in value)
