"""Shapes with colours, and how they become pixels of any size: all sprites are drawn from these."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

Inside = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Paint:
    """A shape in one colour. Places are in tiles, y up, from the lower left of the picture it is part of."""

    colour: int
    """0xRRGGBB."""
    inside: Inside


def ellipse(colour: int, x: float, y: float, across: float, up: float | None = None) -> Paint:
    """An ellipse by its middle and its half axes; one half axis makes a disc."""
    tall = across if up is None else up
    return Paint(colour, lambda px, py: ((px - x) / across) ** 2 + ((py - y) / tall) ** 2 <= 1)


def bar(colour: int, left: float, bottom: float, right: float, top: float) -> Paint:
    """An upright rectangle."""
    return Paint(colour, lambda px, py: (px >= left) & (px < right) & (py >= bottom) & (py < top))


def polygon(colour: int, *corners: tuple[float, float]) -> Paint:
    """A polygon by its corners."""

    def inside(px: np.ndarray, py: np.ndarray) -> np.ndarray:
        odd = np.zeros(np.broadcast_shapes(px.shape, py.shape), dtype=bool)
        for (ax, ay), (bx, by) in zip(corners, (*corners[1:], corners[0]), strict=True):
            if ay != by:
                odd ^= ((ay > py) != (by > py)) & (px < (bx - ax) * (py - ay) / (by - ay) + ax)
        return odd

    return Paint(colour, inside)


def star(colour: int, x: float, y: float, outer: float, inner: float, *, points: int, turn: float = 0.0) -> Paint:
    """A star with so many points, turned by a share of the way from one point to the next."""
    step = math.pi / points
    radii = ((outer, inner)[corner % 2] for corner in range(2 * points))
    angles = (step * (corner + 2 * turn) for corner in range(2 * points))
    return polygon(colour, *((x + r * math.cos(a), y + r * math.sin(a)) for r, a in zip(radii, angles, strict=True)))


def wave(colour: int, level: float, height: float, *, period: float = 1.0, shift: float = 0.0) -> Paint:
    """Everything below a line that swings about a level."""
    return Paint(colour, lambda px, py: py < level + height * np.sin(2 * np.pi * (px / period + shift)))


def rasterise(paints: Sequence[Paint], width: float, height: float, per_tile: int) -> np.ndarray:
    """Pixels of 0xRRGGBB, row 0 on top; -1 where less than half of a pixel is covered."""
    fine = max(2, 48 // per_tile)
    across, down = round(width * per_tile) * fine, round(height * per_tile) * fine
    px = (np.arange(across) + 0.5)[None, :] / (per_tile * fine)
    py = (np.arange(down, 0, -1) - 0.5)[:, None] / (per_tile * fine)
    colour = np.full((down, across), -1, dtype=np.int64)
    for paint in paints:
        colour[np.broadcast_to(paint.inside(px, py), colour.shape)] = paint.colour
    return _shrink(colour, fine)


def _shrink(colour: np.ndarray, fine: int) -> np.ndarray:
    """Mean colour of what is painted in each pixel."""
    down, across = colour.shape[0] // fine, colour.shape[1] // fine
    blocks = colour.reshape(down, fine, across, fine).transpose(0, 2, 1, 3).reshape(down, across, -1)
    painted = blocks >= 0
    count = painted.sum(-1)
    shares = [((blocks >> shift & 255) * painted).sum(-1) // np.maximum(count, 1) for shift in (16, 8, 0)]
    mean = shares[0] << 16 | shares[1] << 8 | shares[2]
    return np.where(2 * count >= painted.shape[-1], mean, -1)
