"""Heat as the page draws it: the same colours, and the same opacity by strength."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

Rgb = tuple[int, int, int]
SIGNS: Mapping[str, tuple[Rgb, Rgb]] = {
    "blue and orange": ((106, 176, 243), (242, 166, 90)),
    "green and red": ((226, 38, 38), (30, 190, 60)),
}
"""Of what is below zero and of what is above it: the page's on dark ground, and those of papers."""
TURBO = (
    (0.1357, 4.5974, -42.3277, 130.5887, -150.5666, 58.1375),
    (0.0914, 2.1856, 4.8052, -14.0195, 4.2109, 2.7747),
    (0.1067, 12.5925, -60.1097, 109.0745, -88.5066, 26.8183),
)
"""Red, green and blue of heat without a sign: coefficients of a polynomial, as its authors give them."""
MAX_OPACITY, STEEPNESS = 0.85, 1.1


def heat_colours(values: np.ndarray, full: float, signs: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Colours [..., 3] and opacity [...] from 0 to 1 of values, where `full` has full colour; no signs: turbo."""
    strength = np.minimum(np.abs(values) / full, 1.0) if full else np.zeros(values.shape)
    if signs is None:
        colours = np.stack([_polynomial(strength, each) for each in TURBO], axis=-1)
    else:
        below, above = SIGNS[signs]
        colours = np.where((values < 0)[..., None], below, above).astype(float)
    return colours, np.minimum(MAX_OPACITY, strength * STEEPNESS)


def laid_over(picture: np.ndarray, values: np.ndarray, full: float, signs: str | None, opacity: float) -> np.ndarray:
    """uint8 [height, width, 3]: heat [height, width] over a picture in colour, which is that opaque over black."""
    colours, strength = heat_colours(values, full, signs)
    below = picture.astype(float) * opacity
    mixed: np.ndarray = np.rint(below + (colours - below) * strength[..., None]).astype(np.uint8)
    return mixed


def _polynomial(at: np.ndarray, coefficients: tuple[float, ...]) -> np.ndarray:
    found: np.ndarray = 255 * np.polynomial.polynomial.polyval(at, coefficients).clip(0, 1)
    return found
