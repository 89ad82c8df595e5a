"""What happened before and after a row, never looking over the border of its group."""

from __future__ import annotations

import numpy as np

from innerview.metrics.rows import Stretch


def shifted(values: np.ndarray, rows: Stretch, by: int) -> np.ndarray:
    """The value `by` rows earlier (later, where negative) in the same group; NaN where there is none."""
    wanted = np.arange(rows.count) - by
    there = (wanted >= rows.starts) & (wanted < rows.stops)
    return np.where(there, values[np.clip(wanted, 0, max(rows.count - 1, 0))], np.nan) if rows.count else values


def since(holds: np.ndarray, rows: Stretch) -> np.ndarray:
    """Rows since it held last: 0 where it holds, NaN before the first time."""
    here = np.arange(rows.count)
    last = np.maximum.accumulate(np.where(holds, here, -1)) if rows.count else here
    return np.where(last >= rows.starts, here - last, np.nan)


def until(holds: np.ndarray, rows: Stretch) -> np.ndarray:
    """Rows until it holds next: 0 where it holds, NaN after the last time."""
    here = np.arange(rows.count)
    following = np.minimum.accumulate(np.where(holds, here, rows.count)[::-1])[::-1] if rows.count else here
    return np.where(following < rows.stops, following - here, np.nan)


def total(values: np.ndarray, rows: Stretch, last: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Sum of the known values among the last rows (all rows of the group so far), and how many are known."""
    known = ~np.isnan(values)
    sums = np.concatenate([[0.0], np.cumsum(np.where(known, values, 0.0))])
    counts = np.concatenate([[0], np.cumsum(known)])
    here = np.arange(rows.count)
    first = rows.starts if last is None else np.maximum(rows.starts, here - last + 1)
    return sums[here + 1] - sums[first], counts[here + 1] - counts[first]


def mean(values: np.ndarray, rows: Stretch, last: int) -> np.ndarray:
    """Mean of the known values among the last rows."""
    sums, counts = total(values, rows, last)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def highest(values: np.ndarray, rows: Stretch, last: int) -> np.ndarray:
    """The largest known value among the last rows.

    Two overlapping windows whose length is a power of two cover each row's window, so it takes log(last) passes.
    """
    here = np.arange(rows.count)
    first = np.maximum(rows.starts, here - last + 1)
    power = np.frexp((here - first + 1).astype(np.float64))[1] - 1
    out = np.full(rows.count, np.nan)
    best = values.astype(np.float64, copy=True)
    for k in range(int(power.max(initial=-1)) + 1):
        mine = power == k
        out[mine] = np.fmax(best[mine], best[(first + 2**k - 1)[mine]])
        best[2**k :] = np.fmax(best[2**k :], best[: -(2**k)])
    return out
