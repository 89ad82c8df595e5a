"""A lamp that is left, right or off: the subject should say which."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

import innerview as iv


class Lamps(gymnasium.Env[np.ndarray, int]):
    """Pictures of 8 × 8 with a lamp in one of three places."""

    observation_space = gymnasium.spaces.Box(0, 255, (8, 8, 3), np.uint8)
    action_space = gymnasium.spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self._step = 0
        return self._picture(), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        right = float(action == self._place)
        self._step += 1
        return self._picture(), right, self._step == 12, False, {}

    def _picture(self) -> np.ndarray:
        self._place = int(self.np_random.integers(3))
        picture = self.np_random.integers(0, 60, (8, 8, 3)).astype(np.uint8)
        picture[2:6, 3 * self._place : 3 * self._place + 2] = 255
        return picture


def make() -> Any:
    """The world as innerview takes it."""
    return iv.world(Lamps())
