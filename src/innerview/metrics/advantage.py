"""How much better or worse things turned out than the subject expected."""

from __future__ import annotations

import numpy as np

from innerview.metrics.rows import Stretch


def advantage(reward: np.ndarray, value: np.ndarray, rows: Stretch, *, discount: float, smoothing: float) -> np.ndarray:
    """Generalised advantage estimates: TD errors of this row and, ever less, of those after it in the episode.

    One row's TD error is what it earned, plus the discounted value of the next, less its own value; nothing is
    expected after the last row. Rows are added up backwards, all episodes side by side.
    """
    last = rows.stops - 1 == np.arange(rows.count)
    after = np.where(last, 0.0, np.append(value[1:], 0.0))
    total: np.ndarray = np.nan_to_num(reward + discount * after - value)
    order = np.argsort(rows.stops - np.arange(rows.count), kind="stable")  # how far from its end, nearest first
    from_end = (rows.stops - np.arange(rows.count))[order]
    for distance in range(2, int(from_end[-1]) + 1 if rows.count else 0):
        begin, end = np.searchsorted(from_end, [distance, distance + 1])
        now = order[begin:end]
        total[now] += discount * smoothing * total[now + 1]
    total[np.isnan(value)] = np.nan
    return total
