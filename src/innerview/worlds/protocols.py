"""What a world, its lanes and a single game must be able to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from innerview.schema import Moment, WorldInfo


class Game(Protocol):
    """One running game; `ThreadedLanes` makes lanes out of several."""

    def reset(self, seed: int) -> Moment:
        """Begin an episode; the same seed and actions give the same moments."""

    def step(self, action: Any) -> Moment:
        """Act once: an int for discrete actions, an array of floats for continuous ones."""

    def close(self) -> None:
        """Free everything; calling it twice does no harm."""


class Lanes(Protocol):
    """Several running games, stepped together."""

    @property
    def count(self) -> int:
        """How many lanes there are."""

    def reset(self, lane: int, seed: int) -> Moment:
        """Begin an episode in one lane."""

    def step(self, actions: Mapping[int, Any]) -> dict[int, Moment]:
        """Act in the lanes that have an action, in parallel where the world can; other lanes stand still."""

    def close(self) -> None:
        """Close every game, also after an error."""


@runtime_checkable
class World(Protocol):
    """What feeds a subject: it says what it is and opens games."""

    @property
    def info(self) -> WorldInfo:
        """Observations, actions, facts and settings."""

    def open(self, lanes: int) -> Lanes:
        """Start that many games."""
