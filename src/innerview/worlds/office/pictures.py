"""Textures that show something once: posters, screens, signs, fronts. Each draws [side, side, 3], bottom row first."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Random = np.random.Generator


def _blank(random: Random, side: int) -> np.ndarray:
    return np.ones((side, side, 3)) * 0.9


PICTURES: dict[str, Callable[[Random, int], np.ndarray]] = {
    name: _blank
    for name in (
        "lamp", "board_a", "board_b", "board_c", *(f"art_{c}" for c in "abcdefgh"), "screen_a", "screen_b", "screen_c",
        "exit", "fire_sign", *(f"number_{i}" for i in range(20)), "drawers", "cabinet", "fridge", "mirror", "rack", "snacks",
        "rug_a", "rug_b", "notes", "keys_top", "print", "carton", "door", "outside",
    )
}  # fmt: skip
