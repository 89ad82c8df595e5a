"""What a world, its lanes and a single game must be able to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from innerview.schema import Camera, Moment, ThingInView, WorldInfo


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


@runtime_checkable
class Renderer(Protocol):
    """A world that shows what a camera would see from any pose."""

    def render(self, poses: np.ndarray, camera: Camera) -> tuple[np.ndarray, np.ndarray]:
        """Colours uint8 [pose, height, width, 3] and depth in metres [pose, height, width], 0 where none was measured.

        Poses are x, y in metres and the angle in radians, anticlockwise from the x axis; the camera says its height
        and pitch.
        """


@runtime_checkable
class Rewindable(Protocol):
    """Lanes that can go back to where they were: nothing has to be played again to try something else."""

    def state(self, lane: int) -> Any:
        """Everything about a game, to be restored later."""

    def restore(self, lane: int, state: Any) -> Moment:
        """Go back to a state; the moment is that of then, without what the last action earned."""

    def skip(self, lane: int, actions: Sequence[Any]) -> Moment:
        """Act so many times and tell only the last moment: quicker than to step and look each time."""


@runtime_checkable
class Changeable(Protocol):
    """Lanes in which things can be moved and taken away while a game runs."""

    def things(self, lane: int) -> list[ThingInView]:
        """What is in view and can be changed."""

    def move(self, lane: int, thing: str, by: tuple[float, float]) -> tuple[Moment, str]:
        """Move a thing so far right and up, in the world's unit of length: the moment, and its id from now on."""

    def remove(self, lane: int, thing: str) -> Moment:
        """Take a thing away."""
