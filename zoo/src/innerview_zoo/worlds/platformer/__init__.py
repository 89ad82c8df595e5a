"""A side-scrolling platformer whose levels are made of seeds: run to the coin past saws, enemies and lava.

Batched torch code: the same files play a handful of levels on a laptop and thousands on a GPU.
"""

from innerview_zoo.worlds.platformer.game import Platformer, Turn
from innerview_zoo.worlds.platformer.levels import digest, make_levels
from innerview_zoo.worlds.platformer.names import ACTIONS, CLASSES, FIRST_TEST_LEVEL, OUTCOMES, TILES
from innerview_zoo.worlds.platformer.settings import PlatformerSettings
from innerview_zoo.worlds.platformer.state import State

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
