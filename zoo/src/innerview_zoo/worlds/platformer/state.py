"""Where everything is in many games at once: tensors whose first axis is the game."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class State:
    """Games that can be saved, restored and edited. Places are in units of 1/256 tile, y up."""

    level: Tensor
    """int64: the seed the level is made of."""
    steps: Tensor
    outcome: Tensor
    x: Tensor
    """Middle of the agent."""
    y: Tensor
    """Its feet."""
    vx: Tensor
    vy: Tensor
    facing: Tensor
    """-1 left, 1 right."""
    grounded: Tensor
    charged: Tensor
    """About to jump: up was pressed, and the next action that is not up lets go."""
    grid: Tensor
    """uint8 [games, rows, columns]: kinds of cells, row 0 at the bottom."""
    enemy_x: Tensor
    enemy_y: Tensor
    enemy_way: Tensor
    """-1 left, 1 right; 0 where there is no enemy."""
    enemy_speed: Tensor
    enemy_low: Tensor
    enemy_high: Tensor
    enemy_look: Tensor
    ground: Tensor
    """Which theme walls and floors have."""
    sky: Tensor
    colour: Tensor
    """Of the agent."""
    length: Tensor
    """Columns between the walls at both ends."""

    @property
    def count(self) -> int:
        """How many games."""
        return self.x.shape[0]

    def map(self, change: Any) -> State:
        """The same with a function of (name, tensor) applied to each part."""
        return replace(self, **{f.name: change(f.name, getattr(self, f.name)) for f in fields(self)})

    def to(self, device: torch.device | str) -> State:
        """On another device."""
        return self.map(lambda _, part: part.to(device))

    def at(self, games: Tensor | slice) -> State:
        """Some of the games, by number, in that order."""
        return self.map(lambda _, part: part[games])

    def copy(self) -> State:
        """One that nothing else changes."""
        return self.map(lambda _, part: part.clone())

    def where(self, mask: Tensor, other: State) -> State:
        """These games where the mask is true, the other's where it is not."""

        def pick(name: str, part: Tensor) -> Tensor:
            instead: Tensor = getattr(other, name)
            if part is instead:  # as cells are, which no step changes
                return part
            return torch.where(mask.view(-1, *(1,) * (part.dim() - 1)), part, instead)

        return self.map(pick)
