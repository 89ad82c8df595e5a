"""Atari behind somebody's own preprocessing: the emulator inside still has its memory and its colour screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from innerview.schema import ArraySpec, Column
from innerview.worlds.atari.facts import Seen, columns_of, facts_of
from innerview.worlds.gym.actions import levels

_CHANGED_REWARDS = frozenset(("ClipReward", "ClipRewardEnv", "TransformReward", "NormalizeReward"))
"""Wrappers after which the rewards are no points of the game."""
SCORE = "score"


@dataclass(frozen=True, kw_only=True)
class Emulator:
    """What the emulator inside an environment says of its game."""

    game: str
    screen_hw: tuple[int, int]
    seen_wh: tuple[int, int]
    scores: bool
    """Whether rewards are the game's points."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """Facts of the game."""
        return tuple(column for column in columns_of(self.game) if self.scores or column.name != SCORE)

    def read(self, env: Any, before: Mapping[str, Any], reward: float) -> dict[str, Any]:
        """What is true now; `before` is what was true a step ago, nothing at the start of an episode."""
        ale = env.unwrapped.ale
        lives = int(ale.lives())
        lost = bool(before) and lives < before["lives"]
        now = Seen(ram=ale.getRAM().tolist(), lives=lives, reward=reward, life_lost=lost)
        facts = facts_of(self.game, before, now, screen_wh=self.screen_hw[::-1], seen_wh=self.seen_wh)
        return facts if self.scores else {name: value for name, value in facts.items() if name != SCORE}

    def picture(self, env: Any) -> np.ndarray:
        """The screen in colour."""
        screen: np.ndarray = env.unwrapped.ale.getScreenRGB()
        return screen


def find_emulator(env: Any, seen: Sequence[ArraySpec]) -> Emulator | None:
    """The Atari emulator inside an environment, where there is one."""
    inner = env.unwrapped
    ale, game = getattr(inner, "ale", None), getattr(inner, "_game", None)
    asked = ("getRAM", "getScreenRGB", "getScreenDims", "lives")
    if ale is None or not isinstance(game, str) or not all(hasattr(ale, name) for name in asked):
        return None
    height, width = (int(size) for size in ale.getScreenDims())
    picture = next((spec for spec in seen if spec.is_image), None)
    return Emulator(
        game=game,
        screen_hw=(height, width),
        seen_wh=(picture.shape[1], picture.shape[0]) if picture else (width, height),
        scores=not any(type(level).__name__ in _CHANGED_REWARDS for level in levels(env)),
    )
