"""Whether a method tells actions apart: how far the maps of different actions differ in the same row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from innerview.schema import Rows
from innerview.trust.interval import Interval, bootstrap
from innerview.trust.maps import signed_strength, strength
from innerview.trust.question import Method, Question, image_of, maps_of_actions

if TYPE_CHECKING:
    from innerview.subjects import Subject

MAX_ACTIONS = 3
"""In each row the chosen action and those that came next."""


@dataclass(frozen=True, kw_only=True)
class ActionDifference:
    """How much of a map lies elsewhere when another action is asked about."""

    differs: Interval
    """Share of one action's map that another's does not have: 0 the same map, 1 no pixel of the same sign shared."""
    actions: int
    empty: float
    """Share of pairs that are left out as one of the two maps is empty."""
    by_row: tuple[float | None, ...]
    """Of each row, None where all its pairs are left out."""


def action_difference(method: Method, rows: Rows, subject: Subject, question: Question) -> ActionDifference | None:
    """Compare the maps of the most preferred actions; None for a method that is not asked about an action.

    Actions are asked about by their own numbers, before any softmax.
    """
    count = min(MAX_ACTIONS, question.order.shape[1])
    if not method.takes_action or len(question.actions) < 2:
        return None
    maps, image = [], image_of(subject)
    for place in range(count):
        asked = question.order[:, place]
        found = maps_of_actions(method, rows, subject, question, asked, number=True)
        maps.append((signed_strength if found.signed else strength)(found.heat[image]))
    return difference_of(maps)


def difference_of(maps: Sequence[np.ndarray]) -> ActionDifference | None:
    """The same, of the maps [row, height, width] of several actions."""
    pairs = np.stack([elsewhere(one, other) for one, other in combinations(maps, 2)])
    known = np.isfinite(pairs)
    with np.errstate(invalid="ignore"):
        by_row = np.nansum(pairs, axis=0) / np.where(known.any(axis=0), known.sum(axis=0), np.nan)
    differs = bootstrap(by_row)
    if differs is None:
        return None
    each = tuple(float(value) if np.isfinite(value) else None for value in by_row)
    return ActionDifference(differs=differs, actions=len(maps), empty=float(1 - known.mean()), by_row=each)


def elsewhere(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Share of the mass of maps [row, height, width] that others do not have: [row], NaN where one is 0 everywhere.

    Half the sum of absolute differences, each map scaled to a mass of 1; another sign is another place.
    """
    a, b = (maps.reshape(len(maps), -1).astype(np.float64) for maps in (one, other))
    sizes = np.abs(a).sum(axis=1), np.abs(b).sum(axis=1)
    there = (sizes[0] > 0) & (sizes[1] > 0)
    found = np.full(len(a), np.nan)
    found[there] = 0.5 * np.abs(a[there] / sizes[0][there, None] - b[there] / sizes[1][there, None]).sum(axis=1)
    return found


def more_discriminative(one: ActionDifference, other: ActionDifference) -> Interval | None:
    """By how much more the first method's maps differ than the second's, over the rows that both have."""
    pairs = [(a, b) for a, b in zip(one.by_row, other.by_row, strict=True) if a is not None and b is not None]
    return bootstrap(np.array([a - b for a, b in pairs])) if pairs else None
