"""The platformer agents: one network, trained on levels without limit (this one) or on a limited number of them."""

from __future__ import annotations

from pathlib import Path

import torch

from innerview.subjects import Subject, subject
from innerview.worlds import World, world
from innerview.worlds.platformer import ACTIONS
from innerview.zoo.platformer.agent import SIZE, Agent
from innerview.zoo.report import Progress, Report, quiet


def load() -> tuple[Subject, World]:
    """The agent that was trained on levels without limit, and its world."""
    return adapt(Path(__file__).with_name("weights.safetensors"), name="platformer agent")


def evaluate(count: int | None = None, progress: Progress = quiet) -> Report:
    """The card's table anew: levels completed, and what ended the others."""
    return evaluate_member("platformer", count, progress)


def adapt(weights: Path, *, name: str) -> tuple[Subject, World]:
    """An agent with these weights, and the platformer with all that can be told about it."""
    example = torch.zeros(1, 3, SIZE, SIZE)
    adapted = subject(Agent(), name=name, example=example, actions=list(ACTIONS))
    adapted.load_weights(weights)
    return adapted, world("platformer", masks=True, render=256)


def evaluate_member(name: str, count: int | None = None, progress: Progress = quiet) -> Report:
    """The table of one member of the family."""
    from innerview.zoo.platformer.score import evaluate_member

    return evaluate_member(name, count, progress)
