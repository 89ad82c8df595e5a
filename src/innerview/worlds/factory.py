"""Finds out what kind of world a thing is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from innerview.errors import WorldError
from innerview.registry import Plugin, plugins
from innerview.worlds.protocols import World


def world(thing: Any, /, **settings: Any) -> World:
    """A world from a Gymnasium id, environment, vector environment or maker, or from ViZDoom configs.

    `world("CartPole-v1")`, `world(env)`, `world(lambda: MyEnv())`, `world("my.cfg")`, `world("doom:basic")`,
    `world("atari:breakout")`; `world("scenarios/")` and `world(["one.cfg", "two.cfg"])`, whose configs take turns by
    seed. Packages add worlds by name through the entry points `innerview.worlds`: the zoo adds
    "doom:kitems", "platformer", "office" and "office:tour".
    """
    if isinstance(thing, str) and (plugin := plugins("worlds").get(thing)) is not None:
        return _checked(plugin, plugin.load()(**settings))
    if isinstance(thing, str) and thing.startswith("atari:"):
        from innerview.worlds.atari.world import AtariSettings, AtariWorld

        return AtariWorld(thing.removeprefix("atari:"), AtariSettings.of(**settings))
    if (configs := _doom_configs(thing)) is not None:
        from innerview.worlds.doom.world import DoomSettings, DoomWorld

        return DoomWorld(configs, DoomSettings.of(**settings))
    if isinstance(thing, World) and not isinstance(thing, type):
        if settings:
            raise WorldError(f"{thing!r} is a world already; it takes no more settings ({', '.join(settings)}).")
        return thing
    if isinstance(thing, str) or callable(thing) or hasattr(thing, "observation_space"):
        from innerview.worlds.gym.world import gym_world

        return gym_world(thing, **settings)
    none = "A loaded stable-baselines3 model has no environment of its own. " if thing is None else ""
    raise WorldError(
        f"Cannot make a world of {thing!r}. {none}Give a Gymnasium id such as 'CartPole-v1', an environment or vector "
        "environment, a function that makes one, a path to a ViZDoom .cfg, or 'doom:health_gathering_supreme'."
    )


def _checked(plugin: Plugin, made: Any) -> World:
    if not isinstance(made, World):
        raise WorldError(f"{plugin} made {type(made).__name__}, not a world. Its author has to mend that.")
    return made


def _doom_configs(thing: Any) -> str | list[str] | None:
    """The config, the folder or the list of configs that is meant; None where a thing is something else."""
    if isinstance(thing, list | tuple) and thing and all(isinstance(each, str | Path) for each in thing):
        return [str(each) for each in thing]
    if isinstance(thing, Path):
        return str(thing)
    if not isinstance(thing, str):
        return None
    folder = not thing.startswith("doom:") and Path(thing).expanduser().is_dir()
    return thing if folder or thing.startswith("doom:") or thing.endswith(".cfg") else None
