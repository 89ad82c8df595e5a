"""The platformer agents' network: the shape the paper gives, pooling with a sound gradient, the fast form the same."""

from __future__ import annotations

import pytest
import torch
from innerview_zoo.models.platformer.agent import Agent, L2Pool, as_input
from innerview_zoo.models.platformer.fast import FastAgent, as_blocks, dangers_of, loudness
from innerview_zoo.worlds.platformer import CLASSES
from torch import Tensor, nn

from innerview.subjects import subject


def _frames(count: int) -> Tensor:
    return torch.randint(0, 256, (count, 3, 64, 64), dtype=torch.uint8, generator=torch.Generator().manual_seed(3))


def _unlike_at_first(agent: Agent) -> Agent:
    """Biases begin at zero, where a mistake in them would not show."""
    for layer in agent.modules():
        if isinstance(layer, nn.Conv2d) and layer.bias is not None:
            nn.init.normal_(layer.bias, 0, 0.3)
    return agent


def test_layers_stand_in_the_order_of_the_paper() -> None:
    torch.manual_seed(0)
    adapted = subject(Agent(), name="platformer", example=torch.zeros(1, 3, 64, 64))
    named = [name for name in adapted.info.layers if name.startswith(("conv", "pool", "dense"))]
    convolutions = ["conv1a", "pool1", "conv2a", "conv2b", "pool2", "conv3a", "pool3", "conv4a", "pool4"]
    assert named == [*convolutions, "dense1", "dense2"]
    assert Agent().see(torch.zeros(2, 3, 64, 64)).shape == (2, 32, 4, 4)
    assert {head.name: head.size for head in adapted.info.heads} == {"policy": 9, "value": 1}


def test_pooling_is_the_root_of_the_mean_square() -> None:
    square = torch.tensor([[1.0, 2.0], [3.0, 4.0]])[None, None]
    assert L2Pool()(square).item() == pytest.approx(7.5**0.5, rel=1e-6)


def test_pooling_has_a_gradient_where_nothing_fired() -> None:
    x = torch.tensor([[[[0.0, 0.0], [0.0, 0.0]]], [[[5e-5, 0.0], [0.0, 0.0]]]], requires_grad=True)
    L2Pool()(x).sum().backward()
    assert x.grad is not None and torch.isfinite(x.grad).all() and x.grad.abs().max() <= 0.5


def test_the_fast_form_says_the_same_and_learns_the_same() -> None:
    torch.manual_seed(0)
    agent, frames = _unlike_at_first(Agent()), _frames(3)
    fast = FastAgent(agent, torch.float32)
    logits, value = agent(as_input(frames))
    fast_logits, fast_value, loud, _ = fast(as_blocks(frames))
    assert torch.allclose(logits, fast_logits, atol=1e-6) and torch.allclose(value, fast_value, atol=1e-6)
    says = agent.pool2(
        agent.relu2b(
            agent.conv2b(agent.relu2a(agent.conv2a(agent.pool1(agent.relu1a(agent.conv1a(as_input(frames)))))))
        )
    )
    read = agent.conv3a.weight.square().sum((0, 2, 3)).sqrt()
    assert torch.allclose(loud, (says.mean((0, 2, 3)) * read).sum(), rtol=1e-4)
    own = torch.autograd.grad(logits.square().sum() * 1e4 + value.sum(), list(agent.parameters()))
    other = torch.autograd.grad(fast_logits.square().sum() * 1e4 + fast_value.sum(), list(agent.parameters()))
    for a, b in zip(own, other, strict=True):
        assert torch.allclose(a, b, rtol=1e-3, atol=1e-4 * float(a.abs().max()))


def test_a_pixel_at_the_edge_counts() -> None:
    torch.manual_seed(0)
    agent, frames = Agent(), _frames(1)
    changed = frames.clone()
    changed[..., -1, -1] = 255 - changed[..., -1, -1]
    fast = FastAgent(agent, torch.float32)
    assert not torch.equal(fast(as_blocks(frames))[1], fast(as_blocks(changed))[1])


def test_blocks_keep_where_dangers_are_and_the_agent_does_not_see_it() -> None:
    torch.manual_seed(0)
    agent, frames = Agent(), _frames(2)
    masks = torch.zeros(2, 64, 64, dtype=torch.uint8)
    masks[0, 5, 63], masks[0, 4, 60], masks[1, 0, 0] = (CLASSES.index(c) for c in ("saw", "lava", "coin"))
    marked = as_blocks(frames, masks)
    there = dangers_of(marked)
    assert there[0, 1, 15].tolist() == [1, 1, 0, 0] and float(there.sum()) == 2
    fast = FastAgent(agent, torch.float32)
    assert all(torch.equal(a, b) for a, b in zip(fast(marked), fast(as_blocks(frames)), strict=True))


def test_speaking_at_the_same_place_is_dearer_than_speaking_apart() -> None:
    reader = torch.ones(1, 2)
    apart, together = torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.tensor([[1.0, 1.0], [0.0, 0.0]])
    assert loudness(apart, reader, alone=1.0) == pytest.approx(float(loudness(apart, reader)))
    assert loudness(together, reader) == pytest.approx(float(loudness(apart, reader)))
    assert loudness(together, reader, alone=1.0) == pytest.approx(1 + 1 / 1.001, rel=1e-4)
