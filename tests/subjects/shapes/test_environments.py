"""Agents of SB3 in their own Gymnasium environment: spaces of both sides fit, and what is done is what predict does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import innerview as iv

pytest.importorskip("stable_baselines3")

import gymnasium
from gymnasium import spaces
from stable_baselines3 import PPO


class Still(gymnasium.Env[Any, Any]):
    """Shows samples of a space, and takes any action of another for 20 steps."""

    def __init__(self, seen: Any, done: Any) -> None:
        self.observation_space, self.action_space = seen, done

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.observation_space.seed(seed)
        self.left = 20
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> Any:
        assert self.action_space.contains(action)
        self.left -= 1
        return self.observation_space.sample(), 0.0, self.left == 0, False, {}


SEEN = {
    "discrete": spaces.Discrete(5),
    "multi-discrete": spaces.MultiDiscrete([3, 4]),
    "multi-binary": spaces.MultiBinary(4),
    "box": spaces.Box(-1, 1, (3,), np.float32),
}
DONE = {
    "multi-discrete": spaces.MultiDiscrete([3, 2]),
    "multi-binary": spaces.MultiBinary(3),
    "box": spaces.Box(-2, 1, (2,), np.float32),
}


@pytest.mark.parametrize("seen", SEEN)
@pytest.mark.parametrize("done", DONE)
def test_what_is_recorded_is_what_predict_does(seen: str, done: str, tmp_path: Path) -> None:
    env = Still(SEEN[seen], DONE[done])
    model = PPO("MlpPolicy", env, policy_kwargs={"net_arch": [8]}, device="cpu", seed=0)
    agent = iv.from_sb3(model)
    world = iv.world(lambda: Still(SEEN[seen], DONE[done]))
    played = iv.record(tmp_path / "a.study", agent, world, seeds=[1], greedy=True, progress=False)
    shown = played.array("observation", 0, 20)
    wanted = model.predict(shown[:, 0] if seen == "discrete" else shown, deterministic=True)[0]
    columns = [column.name for column in played.info.columns if column.kind == "action"]
    acted = played.columns(columns).to_numpy()
    if done != "box":
        sizes = (3, 2) if done == "multi-discrete" else (2, 2, 2)
        acted = np.stack(np.unravel_index(acted[:, 0], sizes), 1)
    np.testing.assert_allclose(acted, wanted, atol=1e-6)
