"""Small subjects that record quickly."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

import innerview as iv

LONG: dict[str, Any] = {"episodes": 150, "lanes": 3, "name": "killed", "block_rows": 16, "progress": False}
"""A recording of many small blocks."""


class Recurrent(nn.Module):
    """A conv, a GRU cell, a policy and a value."""

    def __init__(self) -> None:
        super().__init__()
        self.eye = nn.Conv2d(3, 4, 3)
        self.cell = nn.GRUCell(4, 6)
        self.policy = nn.Linear(6, 3)
        self.value = nn.Linear(6, 1)

    def forward(self, x: torch.Tensor, h: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        h = self.cell(self.eye(x).mean((2, 3)), h)
        return self.policy(h), self.value(h), h


def recurrent(name: str = "tiny") -> iv.Subject:
    """The same weights every time."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return iv.subject(Recurrent(), name=name, example=torch.zeros(1, 3, 8, 8))


class Pose(nn.Module):
    """A place and an angle by a convolution."""

    def __init__(self, bias: float) -> None:
        super().__init__()
        self.conv, self.out, self.bias = nn.Conv2d(3, 2, 3), nn.Linear(2, 3), bias

    def forward(self, rgb: torch.Tensor) -> torch.Tensor:
        return self.out(self.conv(rgb).mean((2, 3))) + self.bias
