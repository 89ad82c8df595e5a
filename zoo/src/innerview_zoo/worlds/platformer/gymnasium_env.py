"""The platformer as a Gymnasium environment: innerview/Platformer-v0."""

from __future__ import annotations

import operator
from typing import Any

import gymnasium
import numpy as np
import torch

from innerview.errors import UnknownName, WorldError
from innerview_zoo.worlds.platformer import names as n
from innerview_zoo.worlds.platformer.game import Platformer
from innerview_zoo.worlds.platformer.pictures.atlas import VIEW
from innerview_zoo.worlds.platformer.settings import PlatformerSettings

RENDER_MODES = ("rgb_array",)


class PlatformerEnv(gymnasium.Env[np.ndarray, Any]):
    """One game; `reset(options={"level": seed})` begins in a certain level, else a training level is drawn."""

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 15}  # noqa: RUF012 as Gymnasium has it

    def __init__(self, *, render_mode: str | None = None, size: int = 512, **settings: Any) -> None:
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise UnknownName("render mode of the platformer", str(render_mode), RENDER_MODES)
        self.render_mode, self._size = render_mode, size
        settings["auto_reset"] = False
        self._game = Platformer(1, settings=PlatformerSettings.of(**settings))
        self.observation_space = gymnasium.spaces.Box(0, 255, (VIEW, VIEW, 3), np.uint8)
        self.action_space = gymnasium.spaces.Discrete(len(n.ACTIONS))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin a level: that of the options, or one drawn by the seed."""
        super().reset(seed=seed)
        settings = self._game.settings
        level = (options or {}).get("level")
        if level is None:
            level = settings.first_level + int(self.np_random.integers(settings.drawn_from))
        frames = self._game.reset(level_seeds=[_whole(level)])
        return _picture(frames), self._info()

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Act once."""
        if not self.action_space.contains(action):
            raise WorldError(f"An action is a number from 0 to {len(n.ACTIONS) - 1}, not {action!r}.")
        turn = self._game.step(torch.tensor([int(action)]))
        outcome = int(turn.outcome[0])
        late = outcome == n.BY_TIME
        return _picture(turn.frames), float(turn.reward[0]), outcome > 0 and not late, late, self._info()

    def render(self) -> np.ndarray | None:
        """The picture for people."""
        return _picture(self._game.render(self._size)) if self.render_mode == "rgb_array" else None

    def get_action_meanings(self) -> list[str]:
        """Names of the actions."""
        return list(n.ACTIONS)

    def _info(self) -> dict[str, Any]:
        facts = self._game.facts()
        told: dict[str, Any] = {name: float(facts[name][0]) for name in ("x", "y", "vx", "vy", "coin_distance")}
        told["level"] = int(facts["level"][0])
        told["outcome"] = n.OUTCOMES[int(facts["outcome"][0])]
        return told


def _whole(level: Any) -> int:
    try:
        return operator.index(level)
    except TypeError:
        raise WorldError(f"The seed of a level is a whole number, not {level!r}.") from None


def _picture(frames: torch.Tensor) -> np.ndarray:
    return np.ascontiguousarray(frames[0].permute(1, 2, 0).cpu().numpy())
