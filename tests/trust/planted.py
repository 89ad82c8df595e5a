"""Small networks of which it is known by hand what their maps are, and what is asked of them."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

import innerview as iv
from innerview.lenses.discovery import as_loaded_lens
from innerview.lenses.trust.methods import MethodLens
from innerview.schema import Heat, Rows
from innerview.testing.feeds import fed_rows
from innerview.trust.held import held
from innerview.trust.question import Method


class Halves(nn.Module):
    """The first action is read off the left half, the second off the right half, and both off the top row."""

    def __init__(self) -> None:
        super().__init__()
        self.see, self.relu, self.policy = nn.Conv2d(1, 1, 1), nn.ReLU(), nn.Linear(36, 2)
        weight = torch.zeros(2, 6, 6)
        weight[0, 1:, :3], weight[1, 1:, 3:], weight[:, 0] = 1.0, 1.0, 5.0
        with torch.no_grad():
            self.see.weight.fill_(1.0)
            self.see.bias.zero_()  # type: ignore[union-attr]
            self.policy.weight.copy_(weight.view(2, 36))
            self.policy.bias.zero_()

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        return {"q": self.policy(self.relu(self.see(x)).flatten(1))}


class Deep(nn.Module):
    """Random weights; a policy and a value that have a layer of their own each."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.two = nn.Conv2d(2, 6, 3, padding=1), nn.Conv2d(6, 6, 3, padding=1)
        self.policy, self.value = nn.Linear(6 * 64, 3), nn.Linear(6 * 64, 1)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        seen = torch.relu(self.two(torch.relu(self.one(x)))).flatten(1)
        return {"policy": self.policy(seen), "value": self.value(seen)}


def halves() -> iv.Subject:
    return iv.subject(Halves(), example=torch.zeros(1, 1, 6, 6), actions=["left", "right"])


def deep() -> iv.Subject:
    with torch.random.fork_rng():
        torch.manual_seed(4)
        return iv.subject(Deep(), example=torch.zeros(1, 2, 8, 8), actions=["a", "b", "c"])


def pictures(subject: iv.Subject, count: int = 6) -> Rows:
    """Random pictures above 0, read once."""
    shape = subject.info.inputs[0].shape
    seen = torch.rand(count, *shape, generator=torch.Generator().manual_seed(1)) + 0.1
    return held(fed_rows(subject, {subject.info.inputs[0].name: seen}), subject)


def method(name: str, **parameters: bool | int | float | str) -> Method:
    """A lens as the figures want it."""
    looking = as_loaded_lens(name)
    usual = {parameter.name: parameter.default for parameter in looking.lens.parameters}
    return MethodLens(looking, name, {**usual, **parameters}).method()


def showing(name: str, maps: np.ndarray, *, signed: bool = True) -> Method:
    """A method whose maps are given [row, channel, height, width], whatever the network."""

    def look(rows: Rows, subject: iv.Subject, *, target: str, action: str) -> Heat:
        return Heat(heat={"x": maps[rows.numbers]}, rows=rows.numbers, signed=signed)

    return Method(name=name, maps=look)
