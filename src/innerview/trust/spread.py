"""Which rows a method is examined on: some that are spread, and runs of steps that follow each other."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from innerview.schema import Rows

RUNS, RUN_LENGTH = 3, 8
"""Runs of steps, and steps in each."""

Runs = tuple[tuple[int, int], ...]


def spread_rows(rows: Rows, count: int) -> tuple[np.ndarray, np.ndarray, Runs]:
    """Places among the rows, ascending; which of those are the spread ones; and the runs among them (start, stop)."""
    wanted = np.unique(np.linspace(0, rows.count - 1, min(count, rows.count)).round().astype(np.int64))
    begun = [np.arange(start, stop) for start, stop in _runs(rows)]
    places = np.unique(np.concatenate([wanted, *begun]))
    found = tuple(
        (int(np.searchsorted(places, run[0])), int(np.searchsorted(places, run[-1])) + 1) for run in begun if len(run)
    )
    return places, np.searchsorted(places, wanted), found


def _runs(rows: Rows) -> Runs:
    """(start, stop) of runs of following steps of one group, spread over the rows; the longest where all are short."""
    if not rows.groups:
        return ()
    breaks = np.flatnonzero((np.diff(rows.numbers) != 1) | (np.diff(rows.group_numbers()) != 0)) + 1
    edges = [0, *breaks.tolist(), rows.count]
    pieces = [(start, stop) for start, stop in pairwise(edges) if stop - start > 1]
    slots = [
        (first, min(first + RUN_LENGTH, stop))
        for start, stop in pieces
        for first in range(start, max(stop - 1, start + 1), RUN_LENGTH)
        if min(first + RUN_LENGTH, stop) - first > 1
    ]
    whole = [slot for slot in slots if slot[1] - slot[0] == RUN_LENGTH] or slots
    if not whole:
        return ()
    chosen = np.unique(np.linspace(0, len(whole) - 1, min(RUNS + 2, len(whole))).round().astype(int))
    inner = chosen[1:-1] if len(chosen) > RUNS else chosen
    return tuple(whole[place] for place in inner[:RUNS])
