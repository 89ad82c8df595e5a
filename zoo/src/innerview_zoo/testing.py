"""Small recorded studies to make pages of: a room that only counts, and a maze of four cells."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn

from innerview.rollouts.record import record
from innerview.store import Study
from innerview.subjects import Subject, subject
from innerview.testing.worlds import CountingWorld
from innerview.worlds import World, world
from innerview_zoo.explorable.grid import Fineness
from innerview_zoo.worlds.kitems.game import ACTIONS

_WAYS = ["left", "right", "forward"]
COARSE = Fineness(lines_per_cell=2, headings=16)
"""So that a test looks around in seconds; far too coarse to play on well."""


class Walker(nn.Module):
    """A small agent with any recurrent cell, and a policy of one or two layers."""

    def __init__(self, core: nn.Module, *, pixels: int, actions: int, deep: bool = False) -> None:
        super().__init__()
        self.see = nn.Linear(pixels, 12)
        self.core = core
        size = int(core.hidden_size)  # type: ignore[arg-type]
        self.policy = (
            nn.Sequential(nn.Linear(size, 9), nn.Tanh(), nn.Linear(9, actions)) if deep else nn.Linear(size, actions)
        )

    def forward(self, x: Tensor, h: object = None) -> tuple[Tensor, object]:
        """Logits and the new state."""
        state = self.core(torch.relu(self.see(x.flatten(1))), h)
        return self.policy(state[0] if isinstance(state, tuple) else state), state


def counting(core: nn.Module, *, deep: bool = False, name: str = "walker") -> Subject:
    """An agent for the counting world."""
    torch.manual_seed(4)
    for part in core.parameters():  # it was made before the seed was set
        nn.init.uniform_(part, -0.35, 0.35)
    module = Walker(core, pixels=8 * 8 * 3, actions=3, deep=deep)
    return subject(module, name=name, example=torch.zeros(1, 3, 8, 8), actions=_WAYS, heads="policy")


def counted(folder: Path, agent: Subject, *, length: int = 30, **settings: object) -> Study:
    """Three episodes in the counting world."""
    record(folder, agent, CountingWorld(length=length), episodes=3, lanes=1, name="walks", **settings)  # type: ignore[arg-type]
    return Study.open(folder)


def in_maze() -> tuple[Subject, World]:
    """An untrained agent with a GRU of 8 elements in mazes of four cells with two items."""
    torch.manual_seed(11)
    module = Walker(nn.GRUCell(12, 8), pixels=28 * 16 * 3, actions=len(ACTIONS))
    agent = subject(module, name="tiny agent", example=torch.zeros(1, 3, 16, 28), actions=list(ACTIONS), heads="policy")
    return agent, world("doom:kitems", size=(28, 16), cells=2, items=2)


def mazed(folder: Path) -> tuple[Study, Subject]:
    """One episode of the untrained agent."""
    agent, mazes = in_maze()
    record(folder, agent, mazes, seeds=[1_000_003], lanes=1, name="maze")
    return Study.open(folder), agent
