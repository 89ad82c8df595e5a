"""A small canvas on which textures are drawn: u to the right and v up, both in 0-1."""

from __future__ import annotations

import numpy as np

from innerview_zoo.worlds.office.textures.patterns import hex_rgb

FONT: dict[str, tuple[str, ...]] = {
    "0": ("111", "101", "101", "101", "111"),
    "1": ("010", "110", "010", "010", "111"),
    "2": ("111", "001", "111", "100", "111"),
    "3": ("111", "001", "111", "001", "111"),
    "4": ("101", "101", "111", "001", "001"),
    "5": ("111", "100", "111", "001", "111"),
    "6": ("111", "100", "111", "101", "111"),
    "7": ("111", "001", "010", "010", "010"),
    "8": ("111", "101", "111", "101", "111"),
    "9": ("111", "101", "111", "001", "111"),
}


class Canvas:
    """Pixels [side, side, 3] with the bottom row first, and a few ways to paint on them."""

    def __init__(self, side: int, paint: str) -> None:
        self.pixels = np.tile(hex_rgb(paint), (side, side, 1))
        at = (np.arange(side) + 0.5) / side
        self.u, self.v = np.meshgrid(at, at)

    def fill(self, where: np.ndarray, paint: str, opacity: float = 1.0) -> None:
        """Paint where a mask is true."""
        self.pixels[where] = self.pixels[where] * (1 - opacity) + hex_rgb(paint) * opacity

    def box(self, u0: float, v0: float, u1: float, v1: float, paint: str) -> None:
        """A rectangle."""
        self.fill((self.u >= u0) & (self.u < u1) & (self.v >= v0) & (self.v < v1), paint)

    def disc(self, u: float, v: float, r: float, paint: str, *, hole: float = 0.0) -> None:
        """A disc or a ring."""
        away = np.hypot(self.u - u, self.v - v)
        self.fill((away <= r) & (away >= hole), paint)

    def line(self, u0: float, v0: float, u1: float, v1: float, paint: str, width: float = 0.012) -> None:
        """A straight stroke."""
        du, dv = u1 - u0, v1 - v0
        share = np.clip(((self.u - u0) * du + (self.v - v0) * dv) / (du * du + dv * dv + 1e-12), 0, 1)
        self.fill(np.hypot(self.u - u0 - share * du, self.v - v0 - share * dv) <= width, paint)

    def polygon(self, points: list[tuple[float, float]], paint: str) -> None:
        """A filled outline."""
        inside = np.zeros(self.u.shape, dtype=bool)
        for (x0, y0), (x1, y1) in zip(points, [*points[1:], points[0]], strict=True):
            if y0 != y1:
                inside ^= ((y0 > self.v) != (y1 > self.v)) & (self.u < (x1 - x0) * (self.v - y0) / (y1 - y0) + x0)
        self.fill(inside, paint)

    def number(self, text: str, u: float, v: float, height: float, paint: str) -> None:
        """Digits of blocks, from their lower left corner."""
        block = height / 5
        for place, digit in enumerate(text):
            for row, bits in enumerate(FONT[digit]):
                for column, bit in enumerate(bits):
                    if bit == "1":
                        left, low = u + block * (4 * place + column), v + block * (4 - row)
                        self.box(left, low, left + block, low + block, paint)

    def writing(
        self, random: np.random.Generator, u0: float, v0: float, u1: float, v1: float, lines: int, paint: str
    ) -> None:
        """Rows of strokes that look like words from afar."""
        step = (v1 - v0) / lines
        for i in range(lines):
            at, low = u0, v1 - (i + 0.7) * step
            end = u0 + (u1 - u0) * float(random.uniform(0.55, 1.0))
            while at < end:
                wide = float(random.uniform(0.03, 0.1))
                self.box(at, low, min(at + wide, end), low + step * 0.4, paint)
                at += wide + 0.02
