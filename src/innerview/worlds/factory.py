"""Finds out what kind of world a thing is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from innerview.errors import WorldError
from innerview.worlds.protocols import World

K_ITEMS = "doom:kitems"


def world(thing: Any, /, **settings: Any) -> World:
    """A world from a Gymnasium id, environment, vector environment or maker, or from a ViZDoom config.

    `world("CartPole-v1")`, `world(env)`, `world(lambda: MyEnv())`, `world("my.cfg")`, `world("doom:basic")`, and
    `world("doom:kitems")` for mazes of our own in which items are to be gathered in order. `world("atari:breakout")`
    is a game of ale-py, `world("platformer")` one of our own whose levels are made of seeds. `world("office")` is a
    floor to find one's way on, `world("office:tour")` the same floor seen from one pose after the other.
    """
    if isinstance(thing, str) and thing == K_ITEMS:
        from innerview.worlds.kitems_world import KItemsSettings, KItemsWorld

        return KItemsWorld(KItemsSettings.of(**settings))
    if isinstance(thing, str) and thing == "platformer":
        from innerview.worlds.platformer.lanes import PlatformerWorld, PlatformerWorldSettings

        return PlatformerWorld(PlatformerWorldSettings.of(**settings))
    if isinstance(thing, str) and thing.startswith("atari:"):
        from innerview.worlds.atari import AtariSettings, AtariWorld

        return AtariWorld(thing.removeprefix("atari:"), AtariSettings.of(**settings))
    if isinstance(thing, str) and thing == "office":
        from innerview.worlds.office.navigation import NavigationSettings, OfficeWorld

        return OfficeWorld(NavigationSettings.of(**settings))
    if isinstance(thing, str) and thing == "office:tour":
        from innerview.worlds.office.tour import TourSettings, TourWorld

        return TourWorld(TourSettings.of(**settings))
    if isinstance(thing, Path) or (isinstance(thing, str) and _means_doom(thing)):
        from innerview.worlds.doom import DoomSettings, DoomWorld

        return DoomWorld(str(thing), DoomSettings.of(**settings))
    if isinstance(thing, World) and not isinstance(thing, type):
        if settings:
            raise WorldError(f"{thing!r} is a world already; it takes no more settings ({', '.join(settings)}).")
        return thing
    if isinstance(thing, str) or callable(thing) or hasattr(thing, "observation_space"):
        from innerview.worlds.gym import gym_world

        return gym_world(thing, **settings)
    none = "A loaded stable-baselines3 model has no environment of its own. " if thing is None else ""
    raise WorldError(
        f"Cannot make a world of {thing!r}. {none}Give a Gymnasium id such as 'CartPole-v1', an environment or vector "
        "environment, a function that makes one, a path to a ViZDoom .cfg, or 'doom:health_gathering_supreme'."
    )


def _means_doom(text: str) -> bool:
    return text.startswith("doom:") or text.endswith(".cfg")
