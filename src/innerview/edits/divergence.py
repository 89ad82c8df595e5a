"""Says where two runs diverge, such as one as recorded and one with its memory changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

EPSILON = 1e-4
"""Probabilities that differ by less are the same decision."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """One episode: [steps, …] each."""

    actions: np.ndarray
    places: np.ndarray | None = None
    """Coordinates, where the world tells them."""
    probabilities: np.ndarray | None = None


@dataclass(frozen=True, kw_only=True)
class Divergence:
    """First steps at which two runs differ; None where they never do."""

    decision: int | None
    """Probabilities differ by more than a ten-thousandth."""
    action: int | None
    """Another action, or one of the two has ended."""
    place: int | None
    """Another place; what was done shows a step later."""


def find_divergence(first: Run, second: Run, *, epsilon: float = EPSILON) -> Divergence:
    """Where two runs diverge."""
    shorter = min(len(first.actions), len(second.actions))
    ended = shorter if len(first.actions) != len(second.actions) else None
    decision = place = action = None
    if (chances := _both(first.probabilities, second.probabilities, shorter)) is not None:
        decision = _first(np.abs(chances[0] - chances[1]) > epsilon)
    if (places := _both(first.places, second.places, shorter)) is not None:
        place = _first(~np.isclose(*places, atol=1e-6, equal_nan=True))
    if (actions := _both(first.actions, second.actions, shorter)) is not None:
        action = _first(actions[0] != actions[1])
    return Divergence(decision=decision, action=ended if action is None else action, place=place)


def _both(first: np.ndarray | None, second: np.ndarray | None, steps: int) -> tuple[np.ndarray, np.ndarray] | None:
    """The first steps of both; None where they cannot be compared: one is missing, or of another kind."""
    if first is None or second is None or first.shape[1:] != second.shape[1:]:
        return None
    return first[:steps], second[:steps]


def begins_alike(first: Mapping[str, np.ndarray], second: Mapping[str, np.ndarray], *, until: int) -> bool:
    """Whether two runs saw the same up to and in the step in which they first did something else."""
    return all(np.array_equal(first[name][: until + 1], second[name][: until + 1]) for name in first)


def _first(differs: np.ndarray) -> int | None:
    found = np.flatnonzero(differs.reshape(len(differs), -1).any(axis=1)) if len(differs) else np.empty(0, int)
    return int(found[0]) if len(found) else None
