"""What lies behind everything: quiet pictures that wrap around, so that things in front stand out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from innerview_zoo.worlds.platformer.pictures.painting import Paint, ellipse, polygon, rasterise, wave

WIDTH, HEIGHT = 64 / 3, 32 / 3
"""In tiles; twice as wide as the view."""

# (sky on top, sky below, far hills, near hills, what floats)
SKIES = (
    (0x6FA9DC, 0x9CC8E8, 0x86B4C9, 0x6FA08F, 0x8FBDE2),  # day
    (0x8E6A9E, 0xD0937F, 0x8A6079, 0x6B4A66, 0xA67B9C),  # dusk
    (0x243352, 0x3C4F75, 0x2E3F63, 0x223150, 0x4B608A),  # night
    (0x5F9E95, 0x92C1AB, 0x6BA38B, 0x4B8270, 0x77B2A4),  # forest
    (0xA88F72, 0xCDB48F, 0xA98C68, 0x8D7254, 0xB9A181),  # canyon
    (0x51476F, 0x7A6A95, 0x5E5280, 0x473D66, 0x6E608F),  # cave
)


def sky(look: int, per_tile: int) -> np.ndarray:
    """Pixels of 0xRRGGBB; the right edge goes on at the left one."""
    top, low, far, near, floating = SKIES[look]
    down, across = round(HEIGHT * per_tile), round(WIDTH * per_tile)
    share = (np.arange(down) + 0.5)[:, None] / down
    shades = [((top >> s & 255) * (1 - share) + (low >> s & 255) * share).astype(np.int64) for s in (16, 8, 0)]
    back = np.broadcast_to(shades[0] << 16 | shades[1] << 8 | shades[2], (down, across))
    front = rasterise((*_floating(look, floating), *_hills(far, near)), WIDTH, HEIGHT, per_tile)
    return np.where(front >= 0, front, back)


def _hills(far: int, near: int) -> Sequence[Paint]:
    return (
        wave(far, 3.6, 0.9, period=WIDTH / 2),
        wave(far, 3.2, 0.9, period=WIDTH / 3, shift=0.4),
        wave(near, 2.0, 0.8, period=WIDTH / 2, shift=0.3),
    )


def _floating(look: int, colour: int) -> Sequence[Paint]:
    """Clouds by day, else rocks that hang in the air: never near the edge, where the picture wraps."""
    places = ((3.0, 8.2), (9.0, 6.9), (14.5, 8.8), (18.6, 7.2))
    if look in (0, 1, 3):
        return [
            ellipse(colour, x + dx, y + dy, 0.8 + 0.3 * (dx == 0), 0.5)
            for x, y in places
            for dx, dy in ((-0.8, 0.0), (0.0, 0.25), (0.9, 0.0))
        ]
    if look == 2:
        return [
            ellipse(0x93A3C4, (x * 1.7 + k * 3.3) % 20 + 0.6, y - k * 0.9, 0.09) for x, y in places for k in range(4)
        ]
    return [polygon(colour, (x - 1, y), (x + 0.2, y + 0.9), (x + 1.1, y + 0.1), (x + 0.1, y - 0.6)) for x, y in places]
