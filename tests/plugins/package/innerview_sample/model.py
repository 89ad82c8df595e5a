"""A small recurrent model for the lamps; untrained, as it is here to be looked at."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

import innerview as iv
from innerview_sample.world import make


class Watcher(nn.Module):
    """Sees, remembers, and says what it would do and what it expects."""

    def __init__(self) -> None:
        super().__init__()
        self.see = nn.Conv2d(3, 6, 3, stride=2, padding=1)
        self.core = nn.GRUCell(6 * 16, 8)
        self.policy, self.value = nn.Linear(8, 3), nn.Linear(8, 1)

    def forward(self, x: Tensor, h: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
        h = self.core(torch.relu(self.see(x)).flatten(1), h)
        return self.policy(h), self.value(h), h


def load(name: str = "watcher") -> tuple[iv.Subject, Any]:
    """The model and the world that it was made for."""
    if name != "watcher":
        raise iv.UnknownName("sample model", name, ["watcher"])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        module = Watcher()
    return iv.subject(module, example=torch.zeros(1, 3, 8, 8), name=name), make()


def make_subject() -> iv.Subject:
    """The model alone."""
    return load()[0]


def make_module() -> nn.Module:
    """What iv.subject has yet to adapt."""
    return load()[0].module
