"""Tiny agents of stable-baselines3, made when asked for, and their own way of running step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

SIZE = 36
"""The smallest picture SB3's convolutional network takes."""


def model(algorithm: str, observations: str, *, continuous: bool = False, **settings: Any) -> Any:
    """A fresh PPO, A2C or DQN on "vector", "image" or "dict" observations."""
    import stable_baselines3

    policy = {"vector": "MlpPolicy", "image": "CnnPolicy", "dict": "MultiInputPolicy"}[observations]
    made = getattr(stable_baselines3, algorithm)
    return made(policy, environment(observations, continuous=continuous), device="cpu", **settings)


def recurrent(lstm: str, *, layers: int = 1, observations: str = "vector") -> Any:
    """A fresh RecurrentPPO whose critic has an LSTM of its own ("separate"), the actor's ("shared") or none."""
    from sb3_contrib import RecurrentPPO

    settings = {
        "lstm_hidden_size": 8,
        "n_lstm_layers": layers,
        "shared_lstm": lstm == "shared",
        "enable_critic_lstm": lstm == "separate",
    }
    policy = {"vector": "MlpLstmPolicy", "image": "CnnLstmPolicy", "dict": "MultiInputLstmPolicy"}[observations]
    return RecurrentPPO(policy, environment(observations), device="cpu", policy_kwargs=settings)


def environment(observations: str, *, continuous: bool = False) -> Any:
    """A Gymnasium world that shows noise."""
    import gymnasium
    from gymnasium import spaces

    vector = spaces.Box(-1.0, 1.0, (6,), np.float32)
    image = spaces.Box(0, 255, (SIZE, SIZE, 3), np.uint8)
    both = spaces.Dict({"camera": image, "speed": spaces.Box(-1.0, 1.0, (2,), np.float32)})
    space: Any = {"vector": vector, "image": image, "dict": both}[observations]

    class Noise(gymnasium.Env[Any, Any]):
        observation_space = space
        action_space = spaces.Box(-1.0, 1.0, (2,), np.float32) if continuous else spaces.Discrete(3)

        def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
            super().reset(seed=seed)
            return space.sample(), {}

        def step(self, action: Any) -> Any:
            return space.sample(), 0.0, False, False, {}

    return Noise()


def by_hand(agent: Any, steps: Sequence[Mapping[str, Tensor]]) -> list[dict[str, Tensor]]:
    """Heads of each step as SB3's own methods give them."""
    policy = agent.policy
    if hasattr(policy, "q_net"):
        return [{"q": policy.q_net(_observation(step))} for step in steps]
    if hasattr(policy, "lstm_actor"):
        return _recurrent_by_hand(policy, steps)
    found = []
    for step in steps:
        observation = _observation(step)
        decided = policy.get_distribution(observation).distribution
        found.append(_heads(decided) | {"value": policy.predict_values(observation)})
    return found


def _recurrent_by_hand(policy: Any, steps: Sequence[Mapping[str, Tensor]]) -> list[dict[str, Tensor]]:
    rows = len(next(iter(steps[0].values())))
    zeros = (torch.zeros(policy.lstm_actor.num_layers, rows, policy.lstm_actor.hidden_size),) * 2
    starts, found = torch.zeros(rows), []
    actor = critic = zeros
    for step in steps:
        observation = _observation(step)
        value = policy.predict_values(observation, critic, starts)
        features = policy.extract_features(observation)
        if policy.lstm_critic is not None:
            _, critic = policy._process_sequence(features, critic, starts, policy.lstm_critic)
        decided, actor = policy.get_distribution(observation, actor, starts)
        critic = critic if policy.lstm_critic is not None else actor
        found.append(_heads(decided.distribution) | {"value": value})
    return found


def _heads(decided: Any) -> dict[str, Tensor]:
    if hasattr(decided, "logits"):
        return {"policy": decided.logits}
    return {"action": decided.mean, "action.log_std": decided.stddev.log()}


def _observation(step: Mapping[str, Tensor]) -> Any:
    return dict(step) if len(step) > 1 else next(iter(step.values()))
