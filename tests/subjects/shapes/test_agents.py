"""What is recorded of an SB3 agent is what its own predict does, for every algorithm and kind of action."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from innerview import from_sb3
from innerview.errors import SubjectError
from innerview.testing.subjects.check import check_subject
from tests.subjects.shapes.agents import AGENTS, OBSERVATIONS, AgentShape, by_hindsight, predicted, spread_by_hand
from tests.subjects.shapes.world import LENGTHS, NoiseWorld, Played, continuous, recorded

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")


def done(played: Played, action: str) -> np.ndarray:
    """What was recorded, as predict gives it."""
    if action == "Box":
        return np.stack([np.array(played.rows["action_0"]), np.array(played.rows["action_1"])], 1)
    numbers = np.array(played.rows["action"])
    sizes = {"MultiDiscrete": (3, 2), "MultiBinary": (2, 2, 2)}.get(action)
    return numbers if sizes is None else np.stack(np.unravel_index(numbers, sizes), 1)


@pytest.mark.parametrize("shape", AGENTS, ids=lambda shape: shape.name)
def test_what_is_recorded_is_what_predict_does(shape: AgentShape) -> None:
    model = shape.build()
    adapted = from_sb3(model)
    episodes = recorded(adapted, NoiseWorld(shape.shown, shape.actions))
    assert [len(played.rows["step"]) for played in episodes] == list(LENGTHS)
    for played in episodes:
        wanted = predicted(model, played.seen)
        np.testing.assert_allclose(done(played, shape.action), wanted, atol=1e-6, rtol=1e-6)
    names = {head.name for head in adapted.info.heads}
    assert ("action" if shape.action == "Box" else "q" if "DQN" in shape.algorithm else "policy") in names


@pytest.mark.parametrize(
    "shape",
    [s for s in AGENTS if s.action == "Box" and s.seen == "vector" and s.algorithm not in ("TD3", "DDPG", "ARS")],
    ids=lambda shape: shape.name,
)
def test_continuous_policies_keep_mean_and_spread(shape: AgentShape) -> None:
    model = shape.build()
    adapted = from_sb3(model)
    seen = np.random.default_rng(0).uniform(-1, 1, (5, 6)).astype(np.float32)
    with torch.no_grad():
        model.policy.set_training_mode(False)
        said = adapted.run(adapted.inputs({"observation": seen}))
        if shape.algorithm == "RecurrentPPO":
            wanted = model.policy.log_std.exp().expand(5, -1)
        else:
            wanted = spread_by_hand(model, seen)
    torch.testing.assert_close(said.heads["action.log_std"].exp(), wanted, atol=1e-6, rtol=1e-5)
    drawn = adapted.act(said, greedy=False, generators=[np.random.default_rng(row) for row in range(5)])
    low, high = model.action_space.low, model.action_space.high
    assert (drawn >= low).all() and (drawn <= high).all() and np.ptp(drawn, axis=0).min() > 0.05


def test_hindsight_agents_are_adapted_on_their_goals() -> None:
    model = by_hindsight()
    for played in recorded(from_sb3(model), NoiseWorld(OBSERVATIONS["goal"], continuous(2))):
        np.testing.assert_allclose(done(played, "Box"), predicted(model, played.seen), atol=1e-6, rtol=1e-6)


def test_an_agent_that_learnt_on_is_what_it_is_now() -> None:
    model = next(shape for shape in AGENTS if shape.name == "CrossQ Box vector").build()
    model.learning_starts = 4
    model.learn(12)
    adapted = from_sb3(model)
    check_subject(adapted)
    for played in recorded(adapted, NoiseWorld(OBSERVATIONS["vector"], continuous(2))):
        np.testing.assert_allclose(done(played, "Box"), predicted(model, played.seen), atol=1e-6, rtol=1e-6)


def test_decisions_with_too_many_combinations_are_refused() -> None:
    from gymnasium import spaces
    from stable_baselines3 import PPO

    env = next(iter(AGENTS)).build().get_env()
    env.action_space = spaces.MultiDiscrete([20, 20, 20])
    with pytest.raises(SubjectError, match=r"20 × 20 × 20 choices have 8,000 combinations; .* up to 4,096"):
        from_sb3(PPO("MlpPolicy", env, device="cpu"))


def test_a_policy_of_ones_own_is_refused_by_name() -> None:
    from stable_baselines3.common.policies import BasePolicy

    agent = next(iter(AGENTS)).build()

    class Mine(BasePolicy):
        def _predict(self, observation: torch.Tensor, deterministic: bool = False) -> torch.Tensor:
            return observation

    agent.policy = Mine(agent.observation_space, agent.action_space)
    with pytest.raises(SubjectError, match=r"Mine of PPO is a policy that from_sb3\(\) does not know.*ActorCritic"):
        from_sb3(agent)
