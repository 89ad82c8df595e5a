"""All textures in one table of texels with smaller copies of each for the distance, drawn by rule and seed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch

from innerview.worlds.office.patterns import PATTERNS
from innerview.worlds.office.pictures import PICTURES

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

    table: torch.Tensor
    """[texels, 4]: linear red, green, blue, and nothing, so that a row is 16 bytes."""
    start: torch.Tensor
    """[levels]: where the copies of a level begin; layers follow each other."""
    metres: torch.Tensor
    """[layers]."""


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
    table = torch.cat(tables)
    return Texels(
        table=torch.cat([table, torch.zeros(len(table), 1)], 1).to(device),
        start=torch.tensor(starts, device=device),
        metres=torch.tensor(METRES, device=device),
    )


def sample(
    texture: Texels, *, layer: torch.Tensor, u: torch.Tensor, v: torch.Tensor, blur: torch.Tensor
) -> torch.Tensor:
    """Linear colour [..., 4] at u, v in turns of the texture; `blur` is the width of a pixel in texels."""
    level = torch.log2(blur.clamp(min=1.0)).round().clamp(max=LEVELS - 1).to(torch.int64)
    side = torch.bitwise_right_shift(torch.full_like(level, SIDE), level)
    wide = side.to(u.dtype)
    x, y = (u - u.floor()) * wide - 0.5, (v - v.floor()) * wide - 0.5
    x0, y0 = x.floor(), y.floor()
    fx, fy = (x - x0).unsqueeze(-1), (y - y0).unsqueeze(-1)
    mask = side - 1
    left, low = x0.to(torch.int64) & mask, y0.to(torch.int64) & mask
    right, high = (left + 1) & mask, (low + 1) & mask
    base = texture.start[level] + layer * side * side
    low, high = base + low * side, base + high * side
    table = texture.table
    bottom = torch.lerp(table[low + left], table[low + right], fx)
    top = torch.lerp(table[high + left], table[high + right], fx)
    return torch.lerp(bottom, top, fy)


def linear(colour: str) -> tuple[float, float, float]:
    """Linear light of a colour such as "#c79a63"."""
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red * red, green * green, blue * blue
