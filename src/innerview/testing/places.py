"""Planted nets that see fish: one that responds to them anywhere, one by place, and one by how near the diver is."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from innerview.schema import Column, Rows, Things
from innerview.subjects import Subject, subject
from innerview.testing.feeds import fed_rows

Planting = Literal["general", "by heart", "by distance"]
SIZE = 24
_SIDE = 3
ACTIONS = ("wait", "shoot")


class Diver(nn.Module):
    """Shoots at what it sees: the first channel holds fish, the second the diver itself."""

    def __init__(self, planting: Planting) -> None:
        super().__init__()
        self.planting = planting
        self.see, self.relu = nn.Conv2d(2, 1, 2 * _SIDE + 1, padding=_SIDE, bias=True), nn.ReLU()
        self.policy, self.value = nn.Linear(SIZE * SIZE, 2, bias=False), nn.Linear(SIZE * SIZE, 1, bias=False)
        with torch.no_grad():
            self.see.weight.zero_()
            self.see.weight[0, 0, _SIDE, _SIDE] = 1.0
            if planting == "by distance":  # a fish counts where the diver is around it
                self.see.weight[0, 1] = 0.3
            self.see.bias.fill_(-1.0 if planting == "by distance" else -0.02)  # type: ignore[union-attr]
            where = torch.ones(SIZE, SIZE)
            if planting == "by heart":
                where[SIZE // 2 :] = 0.02
            shoots = where.flatten() / 4
            self.policy.weight.copy_(torch.stack([-shoots, shoots]))
            self.value.weight.copy_(shoots[None])

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        """A policy and a value of pictures [row, 2, height, width]."""
        seen = self.relu(self.see(x)).flatten(1)
        return {"policy": self.policy(seen), "value": self.value(seen)}


def diver(planting: Planting) -> Subject:
    """The net as a subject."""
    return subject(Diver(planting), name=f"diver, {planting}", example=torch.zeros(1, 2, SIZE, SIZE), actions=ACTIONS)


def dives(adapted: Subject, *, episodes: int = 16, steps: int = 30, seed: int = 0, home: float = 0.5) -> Rows:
    """Rows with two fish and the diver in view, which is around `home` down the picture, each with its box."""
    random = np.random.default_rng(seed)
    count = episodes * steps
    pictures = 0.05 * random.random((count, 2, SIZE, SIZE))
    seen: list[list[dict[str, Any]]] = []
    for row in range(count):
        y = int(np.clip(random.normal(home * SIZE, 1.5), 0, SIZE - _SIDE))
        player = (y, int(random.integers(0, SIZE - _SIDE)))
        fish = [tuple(int(at) for at in random.integers(0, SIZE - _SIDE, 2)) for _ in range(2)]
        light = random.uniform(0.5, 1.0)
        pictures[row, 1, player[0] : player[0] + _SIDE, player[1] : player[1] + _SIDE] = 1.0
        for top, left in fish:
            pictures[row, 0, top : top + _SIDE, left : left + _SIDE] = light
        seen.append([_thing("diver", player, player), *(_thing("fish", at, player) for at in fish)])
    things = Things(
        names=lambda: ("diver", "fish"), read=lambda places: [seen[p] for p in places], size_hw=(SIZE, SIZE)
    )
    return fed_rows(
        adapted,
        {adapted.info.inputs[0].name: torch.as_tensor(pictures, dtype=torch.float32)},
        groups=tuple((e * steps, (e + 1) * steps) for e in range(episodes)),
        columns={"action": random.integers(0, 2, count).astype(float)},
        specs={"action": Column(name="action", type="int", kind="action", categories=ACTIONS)},
        things=things,
    )


def _thing(name: str, at: tuple[int, ...], player: tuple[int, int]) -> dict[str, Any]:
    far = float(np.hypot(at[0] - player[0], at[1] - player[1]))
    box = {"y_px": at[0], "x_px": at[1], "width_px": _SIDE, "height_px": _SIDE}
    return {"name": name, **box, "distance": far if name != "diver" else 0.0}
