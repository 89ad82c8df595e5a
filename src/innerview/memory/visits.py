"""Stretches of rows in one state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np


@dataclass(frozen=True)
class Visit:
    """Rows that follow each other in one state of one episode."""

    state: int
    start: int
    stop: int
    begins: bool
    """Whether the episode begins with it."""
    ends: bool
    """Whether the episode ends with it."""


def visits(labels: np.ndarray, groups: Sequence[tuple[int, int]]) -> list[Visit]:
    """Every visit, in order."""
    found = []
    for first, last in groups:
        changes = np.flatnonzero(np.diff(labels[first:last])) + first + 1
        edges = [first, *changes.tolist(), last]
        for start, stop in pairwise(edges):
            found.append(Visit(int(labels[start]), start, stop, start == first, stop == last))
    return found


def smoothed(labels: np.ndarray, groups: Sequence[tuple[int, int]], *, shortest: int) -> np.ndarray:
    """Labels in which a shorter visit counts as the one before it going on, or as the beginning of the next."""
    made = labels.copy()
    for first, last in groups:
        own = visits(labels[first:last], [(0, last - first)])
        lasting = [visit for visit in own if visit.stop - visit.start >= shortest]
        if not lasting:
            made[first:last] = np.bincount(labels[first:last]).argmax()
            continue
        for visit, following in zip(lasting, [*lasting[1:], None], strict=True):
            start = 0 if visit is lasting[0] else visit.start
            stop = following.start if following else last - first
            made[first + start : first + stop] = visit.state
    return made
