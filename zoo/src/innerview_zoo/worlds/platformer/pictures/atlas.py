"""All pictures as numbers ready to be put together: the class in the upper byte, the colour in the lower three.

The larger number covers the smaller one, so that painting is taking the maximum, and what is seen in a pixel and
the class of that pixel can never disagree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from innerview_zoo.worlds.platformer import names as n
from innerview_zoo.worlds.platformer.pictures import skies, sprites
from innerview_zoo.worlds.platformer.pictures.painting import rasterise
from innerview_zoo.worlds.platformer.settings import PlatformerSettings

VIEW = 64
PER_TILE = 6
"""Pixels to a tile at 64 × 64."""
STEP = 32
"""Views are multiples of this wide: then everything falls on whole pixels."""


@dataclass(frozen=True)
class Atlas:
    """Pictures for one size of the view, as int32 tensors on one device."""

    view: int
    per_tile: int
    tiles: Tensor
    """[ground, beat, kind, rows, columns] flattened to one axis."""
    agents: Tensor
    """[colour, facing, pose, rows, columns]"""
    enemies: Tensor
    """[look, way, step, rows, columns]"""
    skies: Tensor
    """[sky, rows, twice the columns]"""
    velocity: bool
    """Whether the two squares are painted."""


def make_atlas(view: int, settings: PlatformerSettings, device: torch.device) -> Atlas:
    """Draw everything that the settings can show, at the size asked for."""
    per_tile = view * PER_TILE // VIEW
    hidden = frozenset(n.CLASSES.index(name) for name in settings.invisible)

    def coded(picture: np.ndarray, kind: int) -> np.ndarray:
        if kind in hidden:
            return np.zeros(picture.shape, np.int32)
        red, green, blue = picture >> 16 & 255, picture >> 8 & 255, picture & 255
        return np.where(picture >= 0, kind << 24 | blue << 16 | green << 8 | red, 0).astype(np.int32)

    def tile(ground: int, beat: int, kind: int) -> np.ndarray:
        return coded(rasterise(sprites.tile(kind, ground, beat), 1, 1, per_tile), n.TILE_CLASS[kind])

    def agent(pose: str, colour: int) -> np.ndarray:
        drawn = rasterise(sprites.agent(pose, colour), sprites.AGENT_WIDTH, sprites.AGENT_HEIGHT, per_tile)
        return coded(drawn, n.CLASSES.index("agent"))

    def enemy(look: int, way: int, step: int) -> np.ndarray:
        drawn = rasterise(sprites.enemy(look, step), sprites.ENEMY_WIDTH, sprites.ENEMY_HEIGHT, per_tile)
        return coded(drawn[:, :: 1 if way else -1], n.CLASSES.index("enemy moving left") + way)

    kinds = range(len(n.TILES))
    tiles = [[[tile(g, b, k) for k in kinds] for b in range(2)] for g in range(settings.themes)]
    right = [[agent(pose, colour) for pose in sprites.POSES] for colour in range(settings.sprites)]
    agents = [[[pose[:, ::-1] for pose in poses], poses] for poses in right]
    enemies = [[[enemy(e, way, s) for s in range(2)] for way in range(2)] for e in range(settings.sprites)]
    behind = [coded(skies.sky(look, per_tile), 0) for look in range(settings.themes)]
    return Atlas(
        view=view,
        per_tile=per_tile,
        tiles=_tensor(tiles, device).flatten(),
        agents=_tensor(agents, device),
        enemies=_tensor(enemies, device),
        skies=_tensor(behind, device),
        velocity=n.CLASSES.index("velocity") not in hidden,
    )


def _tensor(pictures: object, device: torch.device) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(np.array(pictures, dtype=np.int32))).to(device)
