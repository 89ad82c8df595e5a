"""Textures that repeat: grounds, walls, woods and cloths. Each draws [side, side, 3], the first row at the bottom."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Random = np.random.Generator


@dataclass(frozen=True)
class Pattern:
    """How to draw a texture, and how many metres it covers."""

    draw: Callable[[Random, int], np.ndarray]
    metres: float = 1.0


def noise(random: Random, side: int, cells: int, *, octaves: int = 3, stretch: int = 1) -> np.ndarray:
    """Smooth noise in 0-1 that repeats; `stretch` draws it out along u."""
    total, weight = np.zeros((side, side)), 0.0
    for octave in range(octaves):
        rows = min(cells << octave, side)
        columns = max(1, rows // stretch)
        grid = random.random((rows, columns))
        total += _enlarged(grid, side) / (1 << octave)
        weight += 1 / (1 << octave)
    return total / weight


def _enlarged(grid: np.ndarray, side: int) -> np.ndarray:
    for axis in (0, 1):
        count = grid.shape[axis]
        at = (np.arange(side) + 0.5) * count / side - 0.5
        low = np.floor(at).astype(int)
        share = at - low
        share = share * share * (3 - 2 * share)
        shape = (-1, 1) if axis == 0 else (1, -1)
        a, b = (np.take(grid, (low + i) % count, axis=axis) for i in (0, 1))
        grid = a + (b - a) * share.reshape(shape)
    return grid


def grey(values: np.ndarray) -> np.ndarray:
    """The same value in all three colours."""
    return np.repeat(np.asarray(values)[..., None], 3, axis=2)


def hex_rgb(colour: str) -> np.ndarray:
    """A colour such as "#c79a63" as three numbers in 0-1."""
    return np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])


def _metre_grid(side: int, metres: float) -> tuple[np.ndarray, np.ndarray]:
    """Metres along u and v of every texel."""
    at = (np.arange(side) + 0.5) / side * metres
    return np.broadcast_to(at, (side, side)), np.broadcast_to(at[:, None], (side, side))


def carpet(random: Random, side: int) -> np.ndarray:
    """Loops of yarn."""
    return grey(0.72 + 0.2 * random.random((side, side)) + 0.12 * (noise(random, side, 6) - 0.5))


def carpet_tiles(random: Random, side: int) -> np.ndarray:
    """Squares of carpet laid crosswise."""
    u, v = _metre_grid(side, 1.0)
    shade = np.where((u // 0.5 + v // 0.5) % 2 > 0, 0.92, 0.78)
    return grey(shade) * (0.86 + 0.2 * random.random((side, side, 1)))


def parquet(random: Random, side: int) -> np.ndarray:
    """Staves of wood, shifted row by row."""
    u, v = _metre_grid(side, 1.2)
    row = (v // 0.12).astype(int)
    shift = random.random(11)[row % 11] * 0.6
    stave = np.floor((u + shift) / 0.6).astype(int) % 2
    tone = random.uniform(0.74, 1.0, (11, 2))[row % 11, stave]
    grain = 0.1 * (noise(random, side, 32, octaves=2, stretch=8) - 0.5)
    gap = np.minimum(v % 0.12, (u + shift) % 0.6) < 0.009
    return np.asarray(grey((tone + grain) * np.where(gap, 0.62, 1.0)) * np.array([1.0, 0.97, 0.92]))


def linoleum(random: Random, side: int) -> np.ndarray:
    """Speckled floor covering."""
    spots = random.random((side, side))
    base = 0.86 + 0.08 * (noise(random, side, 4) - 0.5)
    return grey(base + np.where(spots > 0.94, 0.1, 0) - np.where(spots < 0.06, 0.14, 0))


def tiles(random: Random, side: int) -> np.ndarray:
    """Tiles of 25 cm with joints."""
    u, v = _metre_grid(side, 1.0)
    tone = random.uniform(0.82, 1.0, (4, 4))[(v // 0.25).astype(int), (u // 0.25).astype(int)]
    joint = np.minimum(u % 0.25, v % 0.25) < 0.012
    return grey(np.where(joint, 0.55, tone)) + 0.03 * (noise(random, side, 8)[..., None] - 0.5)


def checker(random: Random, side: int) -> np.ndarray:
    """Light and dark tiles of half a metre."""
    u, v = _metre_grid(side, 1.0)
    dark = (u // 0.5 + v // 0.5) % 2 > 0
    joint = np.minimum(u % 0.5, v % 0.5) < 0.012
    rgb = np.where(dark[..., None], hex_rgb("#55707a"), hex_rgb("#f4efe3"))
    return np.where(joint[..., None], 0.6, rgb) * (0.95 + 0.1 * noise(random, side, 6)[..., None])


def concrete(random: Random, side: int) -> np.ndarray:
    """Poured concrete with stains."""
    return grey(0.66 + 0.4 * (noise(random, side, 3, octaves=5) - 0.3) - 0.05 * random.random((side, side)))


def steel(random: Random, side: int) -> np.ndarray:
    """Raised floor of steel plates."""
    u, v = _metre_grid(side, 1.2)
    joint = np.minimum(u % 0.6, v % 0.6) < 0.015
    hole = ((u % 0.1 - 0.05) ** 2 + (v % 0.1 - 0.05) ** 2) < 0.0004
    return grey(np.where(joint, 0.45, np.where(hole, 0.6, 0.9)) + 0.06 * (noise(random, side, 6) - 0.5))


def plaster(random: Random, side: int) -> np.ndarray:
    """A painted wall."""
    return grey(0.95 + 0.08 * (noise(random, side, 8, octaves=4) - 0.5))


def ceiling(random: Random, side: int) -> np.ndarray:
    """Panels of 60 cm."""
    u, v = _metre_grid(side, 1.2)
    joint = np.minimum(u % 0.6, v % 0.6) < 0.014
    return grey(np.where(joint, 0.8, 0.95) + 0.04 * (random.random((side, side)) - 0.5))


def _wall(random: Random, side: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Plaster of three metres, with a white skirting board; and metres along u and v."""
    u, v = _metre_grid(side, 3.0)
    rgb = plaster(random, side)
    return u, v, np.where((v < 0.09)[..., None], np.array([0.96, 0.95, 0.92]), rgb)


def skirting(random: Random, side: int) -> np.ndarray:
    """Plain wall with a skirting board."""
    return _wall(random, side)[2]


def striped(colour: str) -> Callable[[Random, int], np.ndarray]:
    """A wall with a broad line at the height of the hip."""

    def draw(random: Random, side: int) -> np.ndarray:
        _, v, rgb = _wall(random, side)
        band = (v > 0.92) & (v < 1.12)
        rgb = np.where((v < 0.92)[..., None], rgb * 0.93, rgb)
        return np.where(band[..., None], hex_rgb(colour), rgb)

    return draw


def panel(random: Random, side: int) -> np.ndarray:
    """Acoustic panels in upright fields."""
    u, _, rgb = _wall(random, side)
    groove = (u % 0.6) < 0.03
    tone = random.uniform(0.9, 1.0, 5)[(u // 0.6).astype(int) % 5]
    return rgb * np.where(groove, 0.72, tone)[..., None]


def wainscot(random: Random, side: int) -> np.ndarray:
    """Wood up to a metre, paint above."""
    u, v, rgb = _wall(random, side)
    low = v < 1.0
    wood = hex_rgb("#8a5c3c") * (0.86 + 0.24 * noise(random, side, 24, octaves=2)[..., None])
    wood = wood * np.where((u % 0.3 < 0.03) | (v > 0.95) | (v < 0.1), 0.72, 1.0)[..., None]
    return np.where(low[..., None], wood, rgb)


def brick(random: Random, side: int) -> np.ndarray:
    """A wall of bricks."""
    u, v = _metre_grid(side, 1.5)
    row = (v // 0.094).astype(int)
    shift = np.where(row % 2 > 0, 0.125, 0.0)
    which = np.floor((u + shift) / 0.25).astype(int) % 6
    tone = random.uniform(0.72, 1.08, (17, 6))[row % 17, which]
    joint = np.minimum(v % 0.094, (u + shift) % 0.25) < 0.013
    rgb = hex_rgb("#b5694c") * tone[..., None] * (0.88 + 0.24 * noise(random, side, 16)[..., None])
    return np.where(joint[..., None], hex_rgb("#cfc4b4"), rgb)


def wall_tiles(random: Random, side: int) -> np.ndarray:
    """Glazed tiles up to two metres."""
    u, v = _metre_grid(side, 3.0)
    joint = np.minimum(u % 0.2, v % 0.2) < 0.024
    tone = random.uniform(0.9, 1.0, (15, 15))[(v // 0.2).astype(int), (u // 0.2).astype(int)]
    rgb = grey(np.where(joint, 0.74, tone))
    band = (v > 1.8) & (v < 2.0)
    rgb = np.where(band[..., None], hex_rgb("#5fa0a6"), rgb)
    return np.where((v > 2.0)[..., None], plaster(random, side), rgb)


def splash(random: Random, side: int) -> np.ndarray:
    """A kitchen wall: small tiles between counter and cupboards, paint elsewhere."""
    u, v, rgb = _wall(random, side)
    joint = np.minimum(u % 0.1, v % 0.1) < 0.024
    tone = random.uniform(0.75, 1.0, (30, 30))[(v // 0.1).astype(int), (u // 0.1).astype(int)]
    small = np.where(joint[..., None], 0.9, hex_rgb("#7fb0a4") * tone[..., None])
    return np.where(((v > 0.9) & (v < 1.5))[..., None], small, rgb)


def concrete_wall(random: Random, side: int) -> np.ndarray:
    """Fair-faced concrete with the marks of its boards."""
    u, v = _metre_grid(side, 3.0)
    seam = (u % 1.0 < 0.024) | (v % 1.0 < 0.024)
    hole = ((u % 1.0 - 0.2) % 0.6) ** 2 + ((v % 1.0 - 0.2) % 0.6) ** 2 < 0.001
    return concrete(random, side) * np.where(seam | hole, 0.72, 1.0)[..., None] + 0.12


def wood(random: Random, side: int) -> np.ndarray:
    """Grain along u."""
    grain = noise(random, side, 32, octaves=2, stretch=16)
    return np.asarray(grey(0.82 + 0.24 * grain) * np.array([1.0, 0.98, 0.95]))


def cloth(random: Random, side: int) -> np.ndarray:
    """Woven cloth."""
    u, v = np.meshgrid(np.arange(side), np.arange(side))
    weave = ((u // 2 + v // 2) % 2) * 0.08
    return grey(0.86 + weave + 0.1 * (random.random((side, side)) - 0.5))


def leaf(random: Random, side: int) -> np.ndarray:
    """Many small leaves."""
    return np.asarray(grey(0.55 + 0.65 * noise(random, side, 20, octaves=2)) * np.array([1.0, 1.03, 0.9]))


def stone(random: Random, side: int) -> np.ndarray:
    """Polished stone with speckles."""
    return grey(0.8 + 0.3 * (random.random((side, side)) - 0.5) + 0.1 * noise(random, side, 8))


def books(random: Random, side: int) -> np.ndarray:
    """Backs of books side by side."""
    paints = ("#8f3b2e", "#2f5d7c", "#d3a63c", "#3f6b4f", "#e6dfd0", "#5b4a6b", "#b5653f", "#27364a", "#a9b7a0")
    image = np.zeros((side, side, 3))
    at = 0
    while at < side:
        wide = int(random.integers(3, 8))
        paint = hex_rgb(paints[int(random.integers(len(paints)))]) * random.uniform(0.8, 1.1)
        image[:, at : at + wide] = paint
        image[:, at : at + 1] *= 0.55
        label = int(random.integers(side // 4, side // 2))
        image[label : label + side // 12, at + 1 : at + wide] = paint * 0.6 + 0.35
        at += wide
    return image


def ribs(random: Random, side: int) -> np.ndarray:
    """Upright ribs, as on a heater."""
    u, _ = _metre_grid(side, 1.0)
    return grey(0.84 + 0.16 * np.cos(u / 0.0625 * 2 * np.pi))


def cabinet_row(random: Random, side: int) -> np.ndarray:
    """Doors side by side, each with a grip."""
    u, v = _metre_grid(side, 1.0)
    gap = (u % 0.5 < 0.016) | (v < 0.012)
    grip = (np.abs(u % 0.5 - 0.44) < 0.014) & (np.abs(v - 0.5) < 0.1)
    return grey(np.where(gap, 0.45, np.where(grip, 0.35, 0.97)))


def pegboard(random: Random, side: int) -> np.ndarray:
    """A board with holes and tools."""
    u, v = _metre_grid(side, 1.0)
    hole = (u % 0.05 - 0.025) ** 2 + (v % 0.05 - 0.025) ** 2 < 0.00007
    rgb = grey(np.where(hole, 0.5, 0.95))
    for i, paint in enumerate(("#c0392b", "#2c3e50", "#d9a441", "#5d6d7e", "#27ae60", "#c0392b")):
        x = 0.08 + 0.16 * i
        tool = (np.abs(u - x) < 0.014 + 0.012 * (i % 3)) & (np.abs(v % 0.6 - 0.3) < 0.1 + 0.03 * (i % 4))
        rgb = np.where(tool[..., None], hex_rgb(paint), rgb)
    return rgb


PATTERNS: dict[str, Pattern] = {
    "carpet": Pattern(carpet, 1.0),
    "carpet_tiles": Pattern(carpet_tiles, 1.0),
    "parquet": Pattern(parquet, 1.2),
    "linoleum": Pattern(linoleum, 1.5),
    "tiles": Pattern(tiles, 1.0),
    "checker": Pattern(checker, 1.0),
    "concrete": Pattern(concrete, 3.0),
    "steel": Pattern(steel, 1.2),
    "plaster": Pattern(plaster, 3.0),
    "skirting": Pattern(skirting, 3.0),
    "stripe_blue": Pattern(striped("#3d7fb5"), 3.0),
    "stripe_green": Pattern(striped("#4fa37f"), 3.0),
    "panel": Pattern(panel, 3.0),
    "wainscot": Pattern(wainscot, 3.0),
    "brick": Pattern(brick, 1.5),
    "wall_tiles": Pattern(wall_tiles, 3.0),
    "splash": Pattern(splash, 3.0),
    "concrete_wall": Pattern(concrete_wall, 3.0),
    "ceiling": Pattern(ceiling, 1.2),
    "wood": Pattern(wood, 1.0),
    "cloth": Pattern(cloth, 0.6),
    "leaf": Pattern(leaf, 0.8),
    "stone": Pattern(stone, 0.6),
    "books": Pattern(books, 1.0),
    "ribs": Pattern(ribs, 1.0),
    "cabinet_row": Pattern(cabinet_row, 1.0),
    "pegboard": Pattern(pegboard, 1.0),
}
