"""Agents of every algorithm of stable-baselines3 and sb3-contrib, small and fresh, each with one kind of action."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from innerview.schema import ActionSpace
from tests.subjects.shapes.world import Shown, continuous, discrete

SMALL = {"net_arch": [8]}
IMAGE = {"features_extractor_kwargs": {"features_dim": 8}, **SMALL}
LSTM = {"lstm_hidden_size": 6, **SMALL}
CONTINUOUS = ("Box",)


@dataclass(frozen=True, kw_only=True)
class AgentShape:
    """One algorithm, with one policy, in one kind of environment."""

    algorithm: str
    action: str
    """Discrete, Box, MultiDiscrete or MultiBinary."""
    seen: str = "vector"
    settings: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""

    @property
    def name(self) -> str:
        return " ".join(filter(None, (self.algorithm, self.action, self.seen, self.title)))

    @property
    def actions(self) -> ActionSpace:
        return {"Discrete": discrete(3), "MultiDiscrete": discrete(6), "MultiBinary": discrete(8)}.get(
            self.action, continuous(2)
        )

    @property
    def shown(self) -> dict[str, Shown]:
        return OBSERVATIONS[self.seen]

    def build(self) -> Any:
        import sb3_contrib
        import stable_baselines3

        made: Callable[..., Any] = getattr(stable_baselines3, self.algorithm, None) or getattr(
            sb3_contrib, self.algorithm
        )
        return made(self._policy(), _environment(self.seen, self.action), device="cpu", seed=0, **self._settings())

    def _policy(self) -> str:
        kind = {"vector": "Mlp", "image": "Cnn"}.get(self.seen, "MultiInput")
        return f"{kind}{'Lstm' if self.algorithm == 'RecurrentPPO' else ''}Policy"

    def _settings(self) -> dict[str, Any]:
        small = LSTM if self.algorithm == "RecurrentPPO" else IMAGE if self.seen == "image" else SMALL
        given = {"policy_kwargs": dict(small), **self.settings}
        if self.algorithm in ("DQN", "QRDQN", "SAC", "TD3", "DDPG", "TQC", "CrossQ"):
            given["buffer_size"] = 10
        if self.algorithm == "ARS":
            given["policy_kwargs"] = {"net_arch": [4]}
        return given

    def policy_space(self) -> Any:
        return _action_space(self.action)


OBSERVATIONS = {
    "vector": {"observation": Shown((6,))},
    "image": {"observation": Shown((36, 36, 3), "uint8")},
    "dict": {"camera": Shown((36, 36, 3), "uint8"), "speed": Shown((2,))},
    "goal": {"observation": Shown((4,)), "achieved_goal": Shown((2,)), "desired_goal": Shown((2,))},
}


def _action_space(kind: str) -> Any:
    from gymnasium import spaces

    return {
        "Discrete": spaces.Discrete(3),
        "Box": spaces.Box(np.array([-2.0, 0.0], np.float32), np.array([1.0, 5.0], np.float32)),
        "MultiDiscrete": spaces.MultiDiscrete([3, 2]),
        "MultiBinary": spaces.MultiBinary(3),
    }[kind]


def _environment(seen: str, action: str) -> Any:
    import gymnasium
    from gymnasium import spaces

    def space_of(shown: Shown) -> Any:
        bytes_ = shown.dtype == "uint8"
        return spaces.Box(0 if bytes_ else -1, 255 if bytes_ else 1, shown.shape, np.dtype(shown.dtype).type)

    parts = {name: space_of(shown) for name, shown in OBSERVATIONS[seen].items()}
    whole: Any = spaces.Dict(parts) if len(parts) > 1 else parts["observation"]

    class Still(gymnasium.Env[Any, Any]):
        observation_space, action_space = whole, _action_space(action)

        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            super().reset(seed=seed)
            return whole.sample(), {}

        def step(self, action: Any) -> Any:
            return whole.sample(), 0.0, False, False, {}

        def compute_reward(self, achieved: Any, desired: Any, info: Any) -> Any:
            return -np.linalg.norm(achieved - desired, axis=-1)

    return Still()


def _each(algorithm: str, *actions: str, **more: Any) -> tuple[AgentShape, ...]:
    return tuple(AgentShape(algorithm=algorithm, action=action, **more) for action in actions)


_ALL = ("Discrete", "Box", "MultiDiscrete", "MultiBinary")
_SDE = {"use_sde": True}
AGENTS: tuple[AgentShape, ...] = (
    *_each("PPO", *_ALL),
    *_each("PPO", "Discrete", seen="image"),
    *_each("PPO", "Box", seen="dict"),
    *_each("PPO", "Box", settings=_SDE, title="gSDE"),
    *_each("PPO", "Box", settings={**_SDE, "policy_kwargs": {"squash_output": True, **SMALL}}, title="gSDE, squashed"),
    *_each("A2C", "Discrete", "Box", "MultiDiscrete"),
    *_each("TRPO", "Discrete", "Box"),
    *_each("MaskablePPO", "Discrete", "MultiDiscrete", "MultiBinary"),
    *_each("RecurrentPPO", *_ALL),
    *_each("RecurrentPPO", "Discrete", seen="image"),
    *_each("DQN", "Discrete"),
    *_each("DQN", "Discrete", seen="image"),
    *_each("DQN", "Discrete", seen="dict"),
    *_each("QRDQN", "Discrete"),
    *_each("QRDQN", "Discrete", seen="image"),
    *_each("SAC", "Box"),
    *_each("SAC", "Box", seen="image"),
    *_each("SAC", "Box", settings=_SDE, title="gSDE"),
    *_each("TD3", "Box"),
    *_each("TD3", "Box", seen="dict"),
    *_each("DDPG", "Box"),
    *_each("TQC", "Box"),
    *_each("TQC", "Box", settings=_SDE, title="gSDE"),
    *_each("CrossQ", "Box"),
    *_each("ARS", "Discrete", "Box"),
)


def by_hindsight() -> Any:
    """SAC with hindsight experience replay, on goals."""
    from stable_baselines3 import SAC, HerReplayBuffer

    return SAC(
        "MultiInputPolicy",
        _environment("goal", "Box"),
        replay_buffer_class=HerReplayBuffer,
        buffer_size=10,
        policy_kwargs=dict(SMALL),
        device="cpu",
        seed=0,
    )


def predicted(model: Any, seen: Mapping[str, np.ndarray]) -> np.ndarray:
    """What it does in each step of an episode by its own predict, its state handed back, one step at a time."""
    state, found = None, []
    count = len(next(iter(seen.values())))
    for step in range(count):
        one = {name: array[step : step + 1] for name, array in seen.items()}
        shown = one if len(one) > 1 else one["observation"]
        action, state = model.predict(shown, state, episode_start=np.array([step == 0]), deterministic=True)
        found.append(action[0])
    return np.stack(found)


def spread_by_hand(model: Any, observation: np.ndarray) -> torch.Tensor:
    """The standard deviations of a policy's gaussian, as the algorithm itself has them."""
    policy = model.policy
    seen, _ = policy.obs_to_tensor(observation)
    if hasattr(policy, "get_distribution"):
        found: torch.Tensor = policy.get_distribution(seen).distribution.stddev
        return found
    actor = policy.actor
    mean, spread, further = actor.get_action_dist_params(seen)
    made = actor.action_dist.proba_distribution(mean, spread, **further)
    std: torch.Tensor = made.distribution.stddev
    return std
