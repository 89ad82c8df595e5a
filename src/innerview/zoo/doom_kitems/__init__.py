"""The k-items agent: conv + GRU-128 that gathers items in order in mazes never seen before."""

from __future__ import annotations

from pathlib import Path

import torch

from innerview.subjects import Subject, subject
from innerview.worlds import World, world
from innerview.worlds.kitems import ACTIONS
from innerview.zoo.doom_kitems.agent import INPUT_HW, Agent


def load() -> tuple[Subject, World]:
    """The trained agent and its mazes."""
    return adapt(Path(__file__).with_name("weights.safetensors"), name="k-items agent", memory=128)


def adapt(weights: Path, *, name: str, memory: int) -> tuple[Subject, World]:
    """An agent with a memory of that size and these weights, and the mazes it was trained for."""
    height, width = INPUT_HW
    example = torch.zeros(1, 3, height, width)
    adapted = subject(Agent(memory), name=name, example=example, actions=list(ACTIONS))
    adapted.load_weights(weights)
    return adapted, world("doom:kitems", size=(width, height))
