"""Orders the elements of a recording's memory."""

from __future__ import annotations

import numpy as np

from innerview.errors import RequestError
from innerview.lenses.rows.recorded import Columns, episodes, memory_array, states
from innerview.memory.orders import Order, Span, sort_elements
from innerview.store import Recording, Study


def order_of(
    study: Study,
    recording: Recording,
    *,
    by: str,
    array: str = "",
    rows: tuple[int | None, int | None] = (None, None),
    interval: tuple[int, int] | None = None,
    column: str = "",
) -> Order:
    """The elements of a memory array by one of the orders, over some rows or an interval of them."""
    chosen = memory_array(recording, array)
    start, stop = rows[0] or 0, recording.rows if rows[1] is None else min(rows[1], recording.rows)
    if start >= stop:
        raise RequestError(f"Rows {start} to {stop} are no range; the recording has {recording.rows} rows.")
    if interval and not start <= interval[0] < interval[1] <= stop:
        raise RequestError(f"The interval {interval[0]} to {interval[1]} is not within rows {start} to {stop}.")
    numbers = np.arange(start, stop)
    begins = np.zeros(len(numbers), bool)
    begins[[first for first, _ in episodes(recording, numbers)]] = True
    told = Columns(study=study, recording=recording, numbers=numbers)[column] if column else None
    span = Span(
        states=states(recording, chosen, numbers),
        begins=begins,
        start=0,
        stop=stop - start,
        interval=None if interval is None else (interval[0] - start, interval[1] - start),
    )
    return sort_elements(by, span, column=told, column_name=column)
