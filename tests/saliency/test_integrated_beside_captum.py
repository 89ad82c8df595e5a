"""Integrated gradients beside Captum's: the same numbers on three kinds of network, and complete on a real agent."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import innerview_zoo as zoo
import pytest
import torch
from innerview_zoo.worlds.platformer import FIRST_TEST_LEVEL, Platformer, PlatformerSettings
from torch import Tensor, nn

from innerview.subjects import Subject, attribute, from_sb3, middle_for, subject
from innerview.testing.subjects import random_inputs
from innerview.testing.subjects.sb3 import SIZE, model

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Captum's own import warns of what it will not need
    captum = pytest.importorskip("captum.attr")

STEPS = 50


class Block(nn.Module):
    """Two convolutions with a way past both."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.one, self.two = (nn.Conv2d(channels, channels, 3, padding=1) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.two(torch.relu(self.one(torch.relu(x))))


class Residual(nn.Module):
    """Convolutions in blocks as IMPALA has them, and a speed beside the picture."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.block, self.second = nn.Conv2d(3, 8, 3, padding=1), Block(8), nn.Conv2d(8, 8, 3, padding=1)
        self.pool, self.dense = nn.MaxPool2d(3, 2, 1), nn.Linear(8 * 16 + 2, 32)
        self.policy, self.value = nn.Linear(32, 4), nn.Linear(32, 1)

    def forward(self, image: Tensor, speed: Tensor) -> dict[str, Tensor]:
        x = self.block(self.pool(self.first(image)))
        x = torch.relu(self.pool(self.second(x))).flatten(1)
        out = torch.relu(self.dense(torch.cat([x, speed], 1)))
        return {"policy": self.policy(out), "value": self.value(out)}


def theirs(layer: nn.Module, score: Callable[..., Tensor], inputs: tuple[Tensor, ...]) -> Tensor:
    """Captum's, from what the layer says of inputs that are zero, by the same rule of integration."""
    found: Any = captum.LayerIntegratedGradients(score, layer)
    blank = tuple(torch.zeros_like(value) for value in inputs)
    result: Tensor = found.attribute(inputs, baselines=blank, n_steps=STEPS, method="gausslegendre")
    return result


def ours(agent: Subject, inputs: dict[str, Tensor], layer: str, target: str) -> Tensor:
    blank = {name: torch.zeros_like(value[:1]) for name, value in inputs.items()}
    begin = agent.run(blank, keep=(layer,)).sites[layer][0]
    return attribute(agent, inputs, layer=layer, target=target, steps=STEPS, baseline=begin).values


def assert_same(got: Tensor, wanted: Tensor) -> None:
    """To 1e-5, and where all are small, to far less than the largest."""
    largest = float(wanted.abs().max())
    assert largest > 1e-4
    torch.testing.assert_close(got, wanted, atol=min(1e-5, 1e-4 * largest), rtol=1e-5)


def agent_input(agent: Subject, frames: Tensor) -> dict[str, Tensor]:
    return {agent.info.inputs[0].name: frames.float() / 255}


@pytest.fixture(scope="module")
def platformer() -> tuple[Subject, dict[str, Tensor]]:
    """The zoo's agent, and what it saw in eight levels that it was not trained on."""
    agent, _ = zoo.load("platformer")
    game = Platformer(8, settings=PlatformerSettings(), seed=0)
    frames = game.reset(level_seeds=torch.arange(FIRST_TEST_LEVEL, FIRST_TEST_LEVEL + 8))
    for _ in range(20):
        action = agent.run(agent_input(agent, frames)).heads["policy"].argmax(dim=1)
        frames = game.step(action).frames
    return agent, agent_input(agent, frames)


@pytest.mark.parametrize("layer", ["conv2b", "conv3a"])
def test_the_platformer_agent_as_captum_sees_it(platformer: tuple[Subject, dict[str, Tensor]], layer: str) -> None:
    agent, inputs = platformer
    module: Any = agent.module
    (frames,) = inputs.values()
    wanted = theirs(getattr(module, layer), lambda x: module(x)[1][:, 0], (frames[:2],))
    got = ours(agent, {name: value[:2] for name, value in inputs.items()}, layer, "value")
    assert_same(got, wanted)


@pytest.mark.parametrize("layer", ["block.two", "second"])
def test_a_residual_network_with_two_inputs_as_captum_sees_it(layer: str) -> None:
    torch.manual_seed(0)
    module = Residual()
    agent = subject(module, example={"image": torch.zeros(1, 3, 16, 16), "speed": torch.zeros(1, 2)})
    inputs = random_inputs(agent.info, batch=3, seed=2)
    given = (inputs["image"], inputs["speed"])
    wanted = theirs(module.get_submodule(layer), lambda i, s: module(i, s)["policy"][:, 2], given)
    assert_same(ours(agent, inputs, layer, "2 of policy"), wanted)


def test_a_policy_of_stable_baselines_as_captum_sees_it() -> None:
    torch.manual_seed(0)
    made = model("PPO", "image")
    agent = from_sb3(made)
    (name,) = (spec.name for spec in agent.info.inputs)
    frames = 255 * torch.rand(3, 3, SIZE, SIZE)
    layer = middle_for(agent)
    module = agent.module.get_submodule(layer)
    wanted = theirs(module, lambda x: made.policy.predict_values(x)[:, 0], (frames,))
    assert_same(ours(agent, {name: frames}, layer, "value"), wanted)


def test_what_the_platformer_agent_says_is_accounted_for(platformer: tuple[Subject, dict[str, Tensor]]) -> None:
    agent, inputs = platformer
    found = attribute(agent, inputs, target="value", steps=STEPS)
    wanted = found.score - found.baseline_score
    missed = (found.values.flatten(1).sum(1) - wanted).abs()
    assert found.tail.alone and float(missed.sum() / wanted.abs().sum()) < 0.01
    # A single row may miss a little more: the agent's value bends where a ReLU does, and no rule sees every bend.
    assert float(found.error.median()) < 0.005 and float(found.error.max()) < 0.02
