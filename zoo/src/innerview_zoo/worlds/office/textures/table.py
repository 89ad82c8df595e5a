"""All textures in one table of texels with smaller copies of each for the distance, drawn by rule and seed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch

from innerview_zoo.worlds.office.textures.patterns import PATTERNS
from innerview_zoo.worlds.office.textures.pictures import PICTURES

SIDE = 128
"""Texels along the side of the finest copy."""
LEVELS = 8
NAMES: tuple[str, ...] = ("plain", *PATTERNS, *PICTURES)
LAYERS: dict[str, int] = {name: index for index, name in enumerate(NAMES)}
METRES: tuple[float, ...] = (1.0, *(p.metres for p in PATTERNS.values()), *(1.0 for _ in PICTURES))
"""How much ground or wall a texture that repeats covers; pictures are stretched over a face instead."""


@dataclass(frozen=True, kw_only=True)
class Texels:
    """Every texture at every level in one table."""

    red: torch.Tensor
    green: torch.Tensor
    blue: torch.Tensor
    """[texels] each, linear."""
    start: torch.Tensor
    """[levels]: where the copies of a level begin; layers follow each other."""


@lru_cache(maxsize=4)
def texels(seed: int, device: torch.device) -> Texels:
    """The table for a seed on a device; drawn once and kept."""
    random = np.random.default_rng(seed)
    drawn = [np.ones((SIDE, SIDE, 3))]
    drawn += [p.draw(random, SIDE) for p in PATTERNS.values()]
    drawn += [draw(random, SIDE) for draw in PICTURES.values()]
    level = torch.from_numpy(np.stack(drawn).clip(0, 1) ** 2.0).float()  # linear: screens show about the square root
    tables, starts, begin = [], [], 0
    for _ in range(LEVELS):
        layers, side = level.shape[0], level.shape[1]
        tables.append(level.reshape(-1, 3))
        starts.append(begin)
        begin += layers * side * side
        if side > 1:
            level = level.view(layers, side // 2, 2, side // 2, 2, 3).mean((2, 4))
    table = torch.cat(tables).to(device)
    return Texels(
        red=table[:, 0].contiguous(),
        green=table[:, 1].contiguous(),
        blue=table[:, 2].contiguous(),
        start=torch.tensor(starts, device=device, dtype=torch.int32),
    )


def sample(
    texture: Texels, *, layer: torch.Tensor, u: torch.Tensor, v: torch.Tensor, blur: torch.Tensor
) -> list[torch.Tensor]:
    """Linear red, green and blue at u, v in turns of the texture; `blur` is the width of a pixel in texels."""
    level = torch.log2(blur.clamp(min=1.0)).round().to(torch.int32).clamp(0, LEVELS - 1)
    side = torch.bitwise_right_shift(torch.full_like(level, SIDE), level)
    wide = side.to(u.dtype)
    x, y = (u - u.floor()) * wide - 0.5, (v - v.floor()) * wide - 0.5
    x0, y0 = x.floor(), y.floor()
    across, up = x - x0, y - y0
    mask = side - 1
    left, low = x0.to(torch.int32) & mask, y0.to(torch.int32) & mask
    right, high = (left + 1) & mask, (low + 1) & mask
    base = texture.start.index_select(0, level) + layer * side * side
    low, high = base + low * side, base + high * side
    corners = low + left, low + right, high + left, high + right
    found = []
    for table in (texture.red, texture.green, texture.blue):
        a, b, c, d = (table.index_select(0, corner) for corner in corners)
        found.append(torch.lerp(torch.lerp(a, b, across), torch.lerp(c, d, across), up))
    return found


def linear(colour: str) -> tuple[float, float, float]:
    """Linear light of a colour such as "#c79a63"."""
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red * red, green * green, blue * blue
