"""Worlds of our own: mazes in Doom, a platformer and an office floor. But for Doom's, torch and numpy suffice."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from innerview.worlds import World

GYMNASIUM_IDS = {
    "innerview/Office-v0": "innerview_zoo.worlds.office.gymnasium_env:OfficeEnv",
    "innerview/Platformer-v0": "innerview_zoo.worlds.platformer.gymnasium_env:PlatformerEnv",
}


def make_kitems(**settings: Any) -> World:
    """Mazes in Doom in which items are to be gathered in order: `world("doom:kitems")`."""
    from innerview_zoo.worlds.kitems.world import KItemsSettings, KItemsWorld

    return KItemsWorld(KItemsSettings.of(**settings))


def make_platformer(**settings: Any) -> World:
    """A platform game whose levels are made of seeds: `world("platformer")`."""
    from innerview_zoo.worlds.platformer.lanes import PlatformerWorld, PlatformerWorldSettings

    return PlatformerWorld(PlatformerWorldSettings.of(**settings))


def make_office(**settings: Any) -> World:
    """An office floor to find one's way on: `world("office")`."""
    from innerview_zoo.worlds.office.navigation import NavigationSettings, OfficeWorld

    return OfficeWorld(NavigationSettings.of(**settings))


def make_office_tour(**settings: Any) -> World:
    """The same floor seen from one pose after the other: `world("office:tour")`."""
    from innerview_zoo.worlds.office.tour import TourSettings, TourWorld

    return TourWorld(TourSettings.of(**settings))


def _register() -> None:
    """Make the Gymnasium ids known; Gymnasium itself reads no entry points."""
    with suppress(ImportError):
        import gymnasium

        for name, home in GYMNASIUM_IDS.items():
            if name not in gymnasium.registry:
                gymnasium.register(id=name, entry_point=home)


_register()
