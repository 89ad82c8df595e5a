"""Pieces of the k-items training: memory over a window, what memory is asked for, advantages."""

from __future__ import annotations

import pytest
import torch
from innerview_zoo.models.doom.kitems.agent import Agent, shrink
from innerview_zoo.models.doom.kitems.teacher import KNOWN
from innerview_zoo.models.doom.kitems.train import Scores
from innerview_zoo.models.doom.kitems.windows import Rollout, compare, remember


def test_memory_over_a_window_is_that_of_single_steps() -> None:
    torch.manual_seed(0)
    cell, features, memory = torch.nn.GRUCell(6, 5), torch.randn(9, 4, 6), torch.randn(4, 5)
    fresh = torch.rand(9, 4) < 0.25
    fresh[0] = torch.tensor([True, False, True, False])
    one_by_one, state = [], memory
    for step, is_fresh in zip(features, fresh, strict=True):
        state = cell(step, torch.where(is_fresh[:, None], 0.0, state))
        one_by_one.append(state)
    assert torch.allclose(remember(cell, features, memory, fresh), torch.stack(one_by_one), atol=1e-6)


def test_without_memory_each_step_stands_alone() -> None:
    cell, features = torch.nn.GRUCell(3, 2), torch.randn(4, 2, 3)
    states = remember(cell, features, torch.randn(2, 2), torch.ones(4, 2, dtype=torch.bool))
    assert torch.allclose(states.flatten(0, 1), cell(features.flatten(0, 1)), atol=1e-6)


def test_a_perfect_guess_costs_nothing_and_unseen_items_are_not_asked_for() -> None:
    seen = torch.zeros(1, KNOWN)
    seen[0, :3] = torch.tensor([1.0, 0.5, -0.5])
    seen[0, 12] = 1.0
    guess = seen.clone()
    guess[0, [0, 3, 6, 9]] = torch.tensor([20.0, -20.0, -20.0, -20.0])
    guess[0, 12] = 20.0
    assert compare(guess, seen).item() == pytest.approx(0.0, abs=1e-6)
    guess[0, 4] = 7.0  # where an item is that was never seen
    assert compare(guess, seen).item() == pytest.approx(0.0, abs=1e-6)
    guess[0, 1] = 1.5
    assert compare(guess, seen).item() == pytest.approx(0.5)


def test_advantages_are_rewards_to_come_less_what_was_expected() -> None:
    roll = Rollout(3, 1, 2, torch.device("cpu"))
    roll.rewards[:, 0] = torch.tensor([0.0, 1.0, 5.0])
    roll.values[:, 0] = torch.tensor([0.5, 0.0, 0.0])
    roll.done[1] = 1.0
    assert roll.advantages(0.5, 1.0)[:, 0].tolist() == pytest.approx([0.0, 1.0, 5.0])


def test_levels_half_mastered_come_more_often_than_mastered_ones() -> None:
    scores = Scores(0.2)
    for _ in range(50):
        scores.add(0, 1, 1, 10)
    for i in range(50):
        scores.add(1, i % 2, 1, 10)
    chances = scores.chances()
    assert chances.sum() == pytest.approx(1.0)
    assert chances[1] > 3 * chances[0] and chances[-1] >= 0.2


def test_the_agent_sees_a_screen_and_keeps_its_memory() -> None:
    agent = Agent(memory=32)
    frames = shrink(torch.randint(0, 256, (2, 125, 200, 3), dtype=torch.uint8))
    assert frames.shape == (2, 3, 64, 112) and frames.dtype == torch.uint8
    logits, value, memory = agent(frames.float() / 255, torch.zeros(2, 32))
    assert logits.shape == (2, 5) and value.shape == (2, 1) and memory.shape == (2, 32)
