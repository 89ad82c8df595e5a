"""What a world is and what it tells at each moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from innerview.schema.data import ArraySpec, Column, Scene


@dataclass(frozen=True, kw_only=True)
class ActionSpace:
    """Discrete actions have names; continuous ones a size and bounds, with a name per dimension."""

    kind: Literal["discrete", "continuous"]
    names: tuple[str, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()

    @property
    def size(self) -> int:
        """How many actions, or how many dimensions."""
        return len(self.names)


@dataclass(frozen=True, kw_only=True)
class WorldInfo:
    """A world's observations, actions and the facts it can tell."""

    name: str
    family: str
    observations: tuple[ArraySpec, ...]
    """What the subject sees, as the world gives it: images are height, width, channel."""
    actions: ActionSpace
    facts: tuple[Column, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Moment:
    """One point in time of one running game."""

    observation: Mapping[str, np.ndarray]
    facts: Mapping[str, Any] = field(default_factory=dict)
    """By name of `WorldInfo.facts`; one that is missing or None is unknown at this moment."""
    reward: float = 0.0
    """What the last action earned; 0 after a reset."""
    ended: str = ""
    """Why the episode is over ("died", "time limit", "goal"…); empty while it goes on."""
    cut: bool = False
    """Whether it was cut here and would have gone on, as by a time limit that is no part of the task."""
    scene: Scene | None = None
    """Given after a reset where the world has a map."""


@dataclass(frozen=True, kw_only=True)
class ThingInView:
    """Something in a running game that can be moved or taken away; its box is in pixels of the observation."""

    id: str
    """Names it at this moment; once moved it may have another."""
    name: str
    """Its class, such as "saw"."""
    x_px: float
    """Left edge."""
    y_px: float
    """Upper edge."""
    width_px: float
    height_px: float
    unit_px: float
    """Pixels to one unit of the world's length."""
    grid: float = 0.0
    """It is moved by multiples of so many units; 0: by any amount."""
    movable: bool = True
    removable: bool = True
