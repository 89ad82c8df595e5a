"""Names of the platformer's actions, classes of things, endings and tiles, and its measures."""

from __future__ import annotations

ACTIONS = ("left", "right", "up", "down", "up-left", "up-right", "A", "B", "C")
"""Four directions, the two upper diagonals, and three that do nothing."""

ACROSS = (-1, 1, 0, 0, -1, 1, 0, 0, 0)
UP = (False, False, True, False, True, True, False, False, False)
DOWN = (False, False, False, True, False, False, False, False, False)

CLASSES = (
    "background",
    "wall",
    "lava",
    "box",
    "coin",
    "saw",
    "enemy moving left",
    "enemy moving right",
    "agent",
    "velocity",
)
"""What a pixel can show, in the order of painting: a later class covers an earlier one."""

OUTCOMES = ("", "coin", "saw", "enemy moving left", "enemy moving right", "lava", "time")
"""Why an episode ended; empty while it goes on."""
COIN_REACHED, BY_SAW, BY_ENEMY_LEFT, BY_ENEMY_RIGHT, BY_LAVA, BY_TIME = range(1, 7)

FIRST_TEST_LEVEL = 1_000_000_000
"""Levels from this seed on are never drawn for training."""

TILES = ("empty", "coin", "saw", "box", "crate", "lava", "lava top", "wall", "brick", "floor", "turf")
"""Kinds of cells. Walls come last: whatever is at least WALL stops a body."""
EMPTY, COIN, SAW, BOX, CRATE, LAVA, LAVA_TOP, WALL, BRICK, FLOOR, TURF = range(11)
TILE_CLASS = (0, 4, 5, 3, 3, 2, 2, 1, 1, 1, 1)
"""The class of each kind of cell."""

ROWS, COLUMNS = 16, 64
"""Cells of a level; beyond its edge the outermost cells go on."""
ENEMIES = 6
"""At most so many in a level."""
UNIT = 256
"""Places are whole numbers, so many to a tile: whole numbers are the same on every machine."""
