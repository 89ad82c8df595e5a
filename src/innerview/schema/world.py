"""What a world is and what it tells at each moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from innerview.schema.data import ArraySpec, Column
from innerview.schema.place.scene import Scene
from innerview.schema.plain import to_json

BESIDE = ("image", "mask")
"""Roles of what a world shows beside what a subject is given."""


@dataclass(frozen=True, kw_only=True)
class ActionSpace:
    """Discrete actions have names; continuous ones a size and bounds, with a name per dimension."""

    kind: Literal["discrete", "continuous"]
    names: tuple[str, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    choices: tuple[int, ...] = ()
    """Of discrete actions that are several choices at once: how many there are to choose among each time. The actions
    are their combinations, the last choice counting fastest (as numpy.unravel_index)."""

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
    files: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of each file that it is made of (config, levels, ROM), by what that is; its name no longer matters."""
    first: str = ""
    """SHA-256 of its first moments with seed 0, of a world that is made of no files; empty where it cannot be said."""
    repeats: bool = True
    """Whether the same seed gave the same episode when it was tried; where not, nothing can be played again."""

    @property
    def identity(self) -> dict[str, Any]:
        """Its content in plain values: where it is the same, the same seed and actions give the same rows.

        Facts, masks and pictures for people are left out: they change nothing that a subject is given.
        """
        given = [spec for spec in self.observations if spec.role not in BESIDE]
        told: dict[str, Any] = to_json(
            {
                "family": self.family,
                "name": "" if self.files else self.name,
                "settings": self.settings,
                "files": list(self.files.items()),  # in their order: configs and layouts take turns
                "first": self.first,
                "actions": self.actions,
                "observations": {spec.name: [*spec.shape, spec.dtype] for spec in given},
            }
        )
        return told


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
