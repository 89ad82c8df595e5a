"""A side-scrolling platformer whose levels are made of seeds: run to the coin past saws, enemies and lava.

Batched torch code: the same files play a handful of levels on a laptop and thousands on a GPU.
"""

from innerview.worlds.platformer.game import Platformer, Turn
from innerview.worlds.platformer.levels import digest, make_levels
from innerview.worlds.platformer.names import ACTIONS, CLASSES, FIRST_TEST_LEVEL, OUTCOMES, TILES
from innerview.worlds.platformer.settings import PlatformerSettings
from innerview.worlds.platformer.state import State

__all__ = [
    "ACTIONS",
    "CLASSES",
    "FIRST_TEST_LEVEL",
    "OUTCOMES",
    "TILES",
    "Platformer",
    "PlatformerSettings",
    "State",
    "Turn",
    "digest",
    "make_levels",
]
