"""What was played, on the device: every frame once, stacked when it is drawn."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from innerview_zoo.models.atari.networks import SIDE


@dataclass(frozen=True)
class Batch:
    """Moments drawn from the past, and what came of them some steps later."""

    frames: Tensor
    actions: Tensor
    returns: Tensor
    """Discounted rewards of the steps in between."""
    later: Tensor
    weight: Tensor
    """What the worth of the later moment counts: 0 where a life ended in between."""


class Replay:
    """A ring of moments for each lane; both groups of lanes have a cursor of their own."""

    def __init__(self, *, lanes: int, capacity: int, device: torch.device, stack: int = 4) -> None:
        self.stack = stack
        """How many frames are seen at once."""
        self.length = max(capacity // lanes, 4 * stack)
        self.lanes = lanes
        self.frames = torch.zeros(lanes, self.length, SIDE * SIDE, dtype=torch.uint8, device=device)
        self.actions = torch.zeros(lanes, self.length, dtype=torch.int64, device=device)
        self.rewards = torch.zeros(lanes, self.length, device=device)
        self.ended = torch.zeros(lanes, self.length, dtype=torch.bool, device=device)
        self.age = torch.zeros(lanes, self.length, dtype=torch.int64, device=device)
        """Steps since the game began, as far as a stack may reach back."""
        self.cursor = torch.full((2,), -1, dtype=torch.int64, device=device)
        """Where each group's newest moment is, counted without end."""

    def add(self, group: int, frames: Tensor, *, rewards: Tensor, ended: Tensor, over: Tensor) -> Tensor:
        """Take what the group's last actions brought and the new frames [n, 84, 84]; new stacks [n, stack, 84, 84]."""
        rows = self._rows(group)
        here = self.cursor[group : group + 1] % self.length
        self.rewards[rows].index_copy_(1, here, rewards[:, None])
        self.ended[rows].index_copy_(1, here, ended[:, None])
        before = self.age[rows].index_select(1, here)
        # The very first moment has none before it, as one whose game just began.
        fresh = over[:, None] | (self.cursor[group : group + 1] < 0)
        self.cursor[group : group + 1] += 1
        here = self.cursor[group : group + 1] % self.length
        self.frames[rows].index_copy_(1, here, frames.reshape(len(frames), 1, -1))
        age = torch.where(fresh, 0, (before + 1).clamp(max=self.stack - 1))
        self.age[rows].index_copy_(1, here, age)
        lanes = torch.arange(rows.start, rows.stop, device=frames.device)
        return self.stacks(lanes, self.cursor[group].expand(len(lanes)))

    def act(self, group: int, actions: Tensor) -> None:
        """What the group does in its newest moment."""
        here = self.cursor[group : group + 1] % self.length
        self.actions[self._rows(group)].index_copy_(1, here, actions[:, None])

    def stacks(self, lanes: Tensor, times: Tensor) -> Tensor:
        """[n, stack, 84, 84], oldest first; before a game's first frame stands that frame again."""
        age = self.age[lanes, times % self.length]
        back = torch.arange(self.stack - 1, -1, -1, device=lanes.device)
        reach = times[:, None] - torch.minimum(back[None], age[:, None])
        return self.frames[lanes[:, None], reach % self.length].reshape(-1, self.stack, SIDE, SIDE)

    def draw(self, count: int, *, steps: int, discount: float) -> Batch:
        """Moments from all lanes alike, with what the next `steps` steps brought."""
        device = self.frames.device
        newest, oldest = self.cursor.min() - steps, (self.cursor.max() - self.length + 2 * self.stack).clamp(min=0)
        lanes = torch.randint(self.lanes, (count,), device=device)
        times = oldest + (torch.rand(count, device=device) * (newest - oldest + 1)).long()
        times = torch.minimum(times, newest.clamp(min=0))
        returns, weight = torch.zeros(count, device=device), torch.ones(count, device=device)
        for step in range(steps):
            here = (times + step) % self.length
            returns = returns + weight * self.rewards[lanes, here]
            weight = weight * discount * (~self.ended[lanes, here])
        return Batch(
            self.stacks(lanes, times),
            self.actions[lanes, times % self.length],
            returns,
            self.stacks(lanes, times + steps),
            weight,
        )

    def _rows(self, group: int) -> slice:
        half = self.lanes // 2
        return slice(group * half, (group + 1) * half)
