"""The office as a Gymnasium environment: innerview/Office-v0."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from innerview.errors import UnknownName
from innerview.schema import Moment
from innerview_zoo.worlds.office.navigation import ACTIONS, NavigationSettings, OfficeWorld

RENDER_MODES = ("rgb_array",)


class OfficeEnv(gymnasium.Env[np.ndarray, Any]):
    """Turn left, turn right or go forward; `info` holds the facts."""

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 5}  # noqa: RUF012 as Gymnasium has it

    def __init__(self, *, render_mode: str | None = None, **settings: Any) -> None:
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise UnknownName("render mode of the office", str(render_mode), RENDER_MODES)
        self.render_mode = render_mode
        if render_mode == "rgb_array":
            settings.setdefault("picture", 512)
        self._world = OfficeWorld(NavigationSettings.of(**settings))
        self._lanes = self._world.open(1)
        seen = self._world.info.observations[0]
        self.observation_space = gymnasium.spaces.Box(0, 255, seen.shape, np.uint8)
        self.action_space = gymnasium.spaces.Discrete(len(ACTIONS))
        self._moment: Moment | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin somewhere; without a seed somewhere new each time."""
        super().reset(seed=seed)
        chosen = int(self.np_random.integers(1 << 31)) if seed is None else seed
        self._moment = self._lanes.reset(0, chosen)
        return self._moment.observation["rgbd"], dict(self._moment.facts)

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Act once."""
        moment = self._moment = self._lanes.step({0: int(action)})[0]
        late = moment.ended == "time limit"
        return moment.observation["rgbd"], moment.reward, bool(moment.ended) and not late, late, dict(moment.facts)

    def render(self) -> Any:
        """The picture for people, where render_mode is "rgb_array"."""
        if self.render_mode != "rgb_array" or self._moment is None:
            return None
        return self._moment.observation["picture"]

    def get_action_meanings(self) -> list[str]:
        """Names of the actions."""
        return list(ACTIONS)
