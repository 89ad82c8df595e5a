"""The games as training plays them: full games one after the other, without colour."""

from __future__ import annotations

import numpy as np

from innerview.worlds.atari.game import AtariGame


class AtariEmulator:
    """One game of ale-py, the same that is recorded later, with other starts for each game."""

    def __init__(self, game: str, seed: int) -> None:
        self._game = AtariGame(game)
        self._seeds = np.random.default_rng(seed)

    def begin(self, out: np.ndarray) -> None:
        """Start a game and write its first screen."""
        out[:] = self._game.reset(int(self._seeds.integers(2**31)))

    def act(self, action: int, out: np.ndarray) -> tuple[float, bool, bool]:
        """Act once and write the screen; reward, whether a life was lost, whether the game is over."""
        turn = self._game.step(action)
        out[:] = turn.screen_hw
        return turn.reward, turn.life_lost, turn.over
