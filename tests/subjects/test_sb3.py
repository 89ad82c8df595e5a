"""SB3 agents act under innerview as under SB3."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from innerview.subjects import from_sb3
from innerview.testing.subjects.sb3 import environment, model, recurrent


def shown(kind: str, rows: int, seed: int) -> Any:
    space = environment(kind).observation_space
    space.seed(seed)
    samples = [space.sample() for _ in range(rows)]
    if kind == "dict":
        return {name: np.stack([sample[name] for sample in samples]) for name in samples[0]}
    return np.stack(samples)


@pytest.mark.parametrize("algorithm", ["PPO", "A2C", "DQN"])
@pytest.mark.parametrize("kind", ["vector", "image", "dict"])
def test_greedy_actions_equal_predict(algorithm: str, kind: str) -> None:
    agent = model(algorithm, kind)
    adapted = from_sb3(agent)
    observation = shown(kind, 16, 0)
    inputs = adapted.inputs(observation if kind == "dict" else {"observation": observation})
    acted = adapted.act(adapted.run(inputs), greedy=True)
    assert np.array_equal(acted, agent.predict(observation, deterministic=True)[0])


@pytest.mark.parametrize(
    "settings", [{}, {"use_sde": True}, {"use_sde": True, "policy_kwargs": {"squash_output": True}}]
)
def test_continuous_actions_equal_predict_and_stay_in_bounds(settings: dict[str, Any]) -> None:
    agent = model("PPO", "vector", continuous=True, **settings)
    adapted = from_sb3(agent)
    observation = shown("vector", 8, 1)
    output = adapted.run(adapted.inputs({"observation": observation}))
    wanted = agent.predict(observation, deterministic=True)[0]
    np.testing.assert_allclose(adapted.act(output, greedy=True), wanted, atol=1e-6)
    drawn = adapted.act(output, greedy=False, generators=[np.random.default_rng(i) for i in range(8)])
    assert (np.abs(drawn) <= 1).all() and drawn.std() > 0.1
    decided = agent.policy.get_distribution(torch.as_tensor(observation)).distribution
    torch.testing.assert_close(output.heads["action.log_std"].exp(), decided.stddev, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize(("lstm", "layers"), [("separate", 1), ("shared", 2), ("actor only", 1)])
@pytest.mark.parametrize("kind", ["vector", "image", "dict"])
def test_recurrent_actions_equal_predict_over_resets(kind: str, lstm: str, layers: int) -> None:
    agent = recurrent(lstm, layers=layers, observations=kind)
    adapted = from_sb3(agent)
    state, memory = None, adapted.initial_memory(3)
    rng = np.random.default_rng(0)
    for step in range(6):
        observation = shown(kind, 3, step)
        done = rng.random(3) < 0.4
        memory = adapted.reset_memory(memory, done)
        wanted, state = agent.predict(observation, state, episode_start=done, deterministic=True)
        output = adapted.run(adapted.inputs(observation if kind == "dict" else {"observation": observation}), memory)
        memory = output.memory
        assert np.array_equal(adapted.act(output, greedy=True), wanted)
        assert state is not None
        hidden = memory["lstm_actor.hidden"].reshape(3, layers, 8).transpose(0, 1)
        # SB3 passes images with strides of their own, which convolutions round otherwise.
        np.testing.assert_allclose(hidden, state[0], atol=1e-5)


def test_observations_are_normalised_as_in_training() -> None:
    env = VecNormalize(DummyVecEnv([lambda: environment("vector")]))
    agent = PPO("MlpPolicy", env, n_steps=32, batch_size=32, device="cpu")
    agent.learn(64)
    raw = shown("vector", 5, 3)
    inputs = from_sb3(agent).inputs({"observation": raw})
    np.testing.assert_allclose(inputs["observation"], env.normalize_obs(raw), atol=1e-5)


def test_image_inputs_are_described_channel_first() -> None:
    (spec,) = from_sb3(model("PPO", "image")).info.inputs
    assert (spec.kind, spec.shape) == ("image", (3, 36, 36))


def test_action_names_are_saved() -> None:
    head = from_sb3(model("DQN", "vector"), actions=("left", "stay", "right")).info.heads[0]
    assert head.names == ("left", "stay", "right")
