"""Many games that are played for how they end: what a world may offer for that, and the usual way where it does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from innerview.errors import UnknownName, WorldError
from innerview.schema import Moment
from innerview.worlds.protocols import World

LANES, LANES_ON_GPU, LANES_OF_GAMES, LANES_RECORDED = 256, 2048, 8, 4
"""Games side by side: in one batch on a processor, on a graphics card, of a world that steps them one by one, and of a
recording, which holds every row and gives the subject a full batch however few games there are."""


class Crowd(Protocol):
    """Running games in a row; more can join at the end, and any can leave."""

    def begin(self, seeds: Sequence[int]) -> None:
        """Further games behind those that run."""

    def seen(self) -> Mapping[str, np.ndarray]:
        """What is seen in each game, [games, …] by name of the observation."""

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, list[str]]:
        """Act in every game: what each earned, and why it is over, empty where it is not."""

    def facts(self, place: int) -> Mapping[str, Any]:
        """What is true in a game now; nothing where that is not worked out."""

    def leave(self, gone: np.ndarray) -> None:
        """Take games out, where a row of booleans is true; the others keep their order."""

    def close(self) -> None:
        """Free everything."""


@runtime_checkable
class Crowded(Protocol):
    """A world that plays many games in one batch."""

    def crowd(self, *, device: Any = "cpu") -> Crowd:
        """No games yet."""


@runtime_checkable
class Hiding(Protocol):
    """A world whose things can be there without being seen."""

    @property
    def hidable(self) -> tuple[str, ...]:
        """Classes of things that can be made invisible."""

    def hiding(self, name: str) -> World:
        """The same world with one class invisible."""


@runtime_checkable
class Known(Protocol):
    """A world that says how its episodes end and which seeds nobody trains on."""

    @property
    def endings(self) -> tuple[str, ...]:
        """Every reason why an episode ends, the good one first."""

    @property
    def fresh_seed(self) -> int | None:
        """From this seed on nobody trained; None where that cannot be said."""


@runtime_checkable
class MaskProvider(Protocol):
    """A world that can say which class each pixel belongs to."""

    def with_masks(self) -> World:
        """The same world with masks."""


def hiding(world: World, name: str) -> World:
    """The world with one class of things invisible."""
    if not isinstance(world, Hiding):
        raise WorldError(
            f"World '{world.info.name}' cannot make anything invisible. Leave that out, or give the world `hidable` "
            "and `hiding(name)`."
        )
    if name not in world.hidable:
        raise UnknownName("class that can be invisible", name, world.hidable)
    unseen = world.hiding(name)
    if (unseen.info.name, unseen.info.settings) == (world.info.name, world.info.settings):
        raise WorldError(
            f"World '{world.info.name}' is called the same with '{name}' invisible, so that nobody could know what was "
            "played in which. Let `hiding` give it another name, as in iv.world(…, name=…), or other settings."
        )
    return unseen


def default_lanes(world: World, *, recorded: bool = False, crowd_on: Any = None) -> int:
    """How many games run side by side unless somebody says: the world does, or it follows from what is done with them.

    They are `recorded`, or played as a crowd on a device where the world has such; else only counted.
    """
    if crowd_on is not None and isinstance(world, Crowded):
        return lanes_of_crowd(crowd_on)
    return int(getattr(world, "default_lanes", LANES_RECORDED if recorded else LANES_OF_GAMES))


def lanes_of_crowd(device: Any) -> int:
    """How many games run in one batch."""
    return LANES if str(device).startswith("cpu") else LANES_ON_GPU


def crowd(world: World, lanes: int, *, device: Any = None) -> Crowd:
    """Room for that many games of any world; in lanes, where no device is named or the world has no other way."""
    return world.crowd(device=device) if device is not None and isinstance(world, Crowded) else LaneCrowd(world, lanes)


class LaneCrowd:
    """A crowd in the lanes of a world."""

    def __init__(self, world: World, lanes: int) -> None:
        self._lanes = world.open(lanes)
        self._free = list(range(lanes))
        self._games: list[tuple[int, Moment]] = []

    def begin(self, seeds: Sequence[int]) -> None:
        """Further games, each in a lane that is free."""
        for seed in seeds:
            lane = self._free.pop(0)
            self._games.append((lane, self._lanes.reset(lane, seed)))

    def seen(self) -> Mapping[str, np.ndarray]:
        """Observations of every game."""
        names = self._games[0][1].observation
        return {name: np.stack([moment.observation[name] for _, moment in self._games]) for name in names}

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, list[str]]:
        """Act in every lane that has a game."""
        chosen = {lane: action for (lane, _), action in zip(self._games, actions, strict=True)}
        after = self._lanes.step(chosen)
        self._games = [(lane, after[lane]) for lane, _ in self._games]
        moments = [moment for _, moment in self._games]
        return np.array([moment.reward for moment in moments]), [moment.ended for moment in moments]

    def facts(self, place: int) -> Mapping[str, Any]:
        """What is true in a game now."""
        return self._games[place][1].facts

    def leave(self, gone: np.ndarray) -> None:
        """Their lanes are free again."""
        self._free += [lane for (lane, _), left in zip(self._games, gone, strict=True) if left]
        self._games = [game for game, left in zip(self._games, gone, strict=True) if not left]

    def close(self) -> None:
        """Close every game."""
        self._lanes.close()
