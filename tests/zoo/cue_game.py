"""A game whose best play is known: press left where the left half is bright, else right."""

from __future__ import annotations

import numpy as np

LENGTH = 8


class CueGame:
    """Every right press earns a point, every wrong one costs a life; a game has eight turns.

    With `blank` turns after each cue the screen is dark, and only then the press counts: it must be remembered.
    """

    def __init__(self, blank: int, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._blank = blank
        self._turn, self._cue = 0, 0

    def begin(self, out: np.ndarray) -> None:
        self._turn = 0
        self._draw(out)

    def act(self, action: int, out: np.ndarray) -> tuple[float, bool, bool]:
        counts = self._turn % (self._blank + 1) == self._blank
        right = counts and action == self._cue
        self._turn += 1
        self._draw(out)
        return float(right), counts and not right, self._turn == LENGTH * (self._blank + 1)

    def _draw(self, out: np.ndarray) -> None:
        out[:] = 0
        if self._turn % (self._blank + 1) == 0:
            self._cue = int(self._rng.integers(2))
            half = out.shape[1] // 2
            out[:, self._cue * half : (self._cue + 1) * half] = 255


class StumblingGame(CueGame):
    """Breaks after a few turns, as an emulator may."""

    def act(self, action: int, out: np.ndarray) -> tuple[float, bool, bool]:
        if self._turn == 3:
            raise SystemExit(7)
        return super().act(action, out)
