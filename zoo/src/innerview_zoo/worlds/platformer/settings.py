"""Everything a person can set about the platformer."""

from __future__ import annotations

import operator
from dataclasses import dataclass, fields
from typing import Any, Self

from innerview.errors import UnknownName, WorldError
from innerview_zoo.worlds.platformer.names import CLASSES, FIRST_TEST_LEVEL

MAX_THEMES, MAX_SPRITES, MAX_DIFFICULT = 6, 4, 10
LARGEST_SEED = 2**62
MAX_LEVELS = 2**31 - 1


@dataclass(frozen=True, kw_only=True)
class PlatformerSettings:
    """How levels are drawn, what they look like and when a game is over."""

    levels: int | None = None
    """How many levels there are to train on: first_level and those after it; None is without limit."""
    first_level: int = 0
    themes: int = MAX_THEMES
    """How many kinds of ground and of background there are."""
    sprites: int = MAX_SPRITES
    """How many looks the agent and the enemies have."""
    difficulty: int = 8
    """Levels are drawn from very easy to this: 1 to 10."""
    invisible: tuple[str, ...] = ()
    """Classes that are there but not painted."""
    turning: bool = True
    """Whether enemies turn at the ends of their way; else they stop there and keep looking where they went."""
    time_limit: int = 500
    """Steps."""
    auto_reset: bool = True
    """Whether a game that ended begins anew by itself, in a fresh level."""

    @classmethod
    def of(cls, /, **settings: Any) -> Self:
        """Settings by name; an unknown name gets an error with the nearest one."""
        known = [f.name for f in fields(cls)]
        for name in settings:
            if name not in known:
                raise UnknownName("setting of the platformer", name, known)
        return cls(**settings)

    def __post_init__(self) -> None:
        if isinstance(self.invisible, str):
            object.__setattr__(self, "invisible", (self.invisible,))
        if not isinstance(self.invisible, list | tuple):
            raise WorldError(f"invisible is a list of classes, such as ('saw',), not {self.invisible!r:.40}.")
        object.__setattr__(self, "invisible", tuple(self.invisible))
        for name in self.invisible:
            if name not in CLASSES[1:]:
                raise UnknownName("class of things in the platformer", str(name), CLASSES[1:])
        if self.levels is not None:
            _check("levels", self.levels, 1, MAX_LEVELS)
        _check("first_level", self.first_level, 0, LARGEST_SEED)
        _check("themes", self.themes, 1, MAX_THEMES)
        _check("sprites", self.sprites, 1, MAX_SPRITES)
        _check("difficulty", self.difficulty, 1, MAX_DIFFICULT)
        _check("time_limit", self.time_limit, 1, 1_000_000)
        check_switch("turning", self.turning)

    @property
    def drawn_from(self) -> int:
        """How many levels a fresh one is drawn from."""
        return FIRST_TEST_LEVEL if self.levels is None else self.levels

    def level(self, seed: Any) -> int:
        """The level that a seed leads to."""
        try:
            whole = operator.index(seed)
        except TypeError:
            raise WorldError(f"The seed of a level is a whole number, not {seed!r}.") from None
        if not 0 <= whole <= LARGEST_SEED:
            raise WorldError(f"The seed of a level goes from 0 to {LARGEST_SEED:,}; {whole:,} is outside.")
        return self.first_level + (whole if self.levels is None else whole % self.levels)


def check_switch(name: str, value: Any) -> None:
    """Whether a setting is one of two."""
    if not isinstance(value, bool):
        raise WorldError(f"{name} is True or False, not {value!r:.40}.")


def _check(name: str, value: Any, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise WorldError(f"{name} is a whole number from {low} to {high}, not {value!r}.")
    if not low <= value <= high:
        raise WorldError(f"{name} goes from {low} to {high}; {value} is outside.")
