"""The last stretch that all lanes played, on the device: what an actor-critic learns from."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from innerview_zoo.models.atari.networks import SIDE


@dataclass(frozen=True)
class Past:
    """Moments of the stretch, in one row each."""

    actions: Tensor
    logs: Tensor
    advantages: Tensor
    returns: Tensor


class Rollout:
    """`steps` moments of each lane and one more, whose value stands for all that comes after."""

    def __init__(self, *, lanes: int, steps: int, frames: int, memory: int, device: torch.device) -> None:
        self.steps, self.lanes = steps, lanes
        size = (steps + 1, lanes)
        self.frames = torch.zeros(*size, frames, SIDE, SIDE, dtype=torch.uint8, device=device)
        self.over = torch.zeros(size, dtype=torch.bool, device=device)
        """Where a game began: nothing is remembered from before."""
        self.states = torch.zeros(steps + 1, 2, lanes, memory, device=device)
        """Hidden and cell state before each moment was seen."""
        self.actions = torch.zeros(size, dtype=torch.int64, device=device)
        self.logs = torch.zeros(size, device=device)
        self.values = torch.zeros(size, device=device)
        self.rewards = torch.zeros(size, device=device)
        self.ended = torch.zeros(size, dtype=torch.bool, device=device)
        self.advantages = torch.zeros(steps, lanes, device=device)
        self.slot = torch.full((2,), -1, dtype=torch.int64, device=device)
        """Where each group's newest moment is."""

    def add(
        self,
        group: int,
        *,
        rewards: Tensor,
        ended: Tensor,
        frames: Tensor,
        over: Tensor,
        states: Tensor,
        actions: Tensor,
        logs: Tensor,
        values: Tensor,
    ) -> None:
        """What the group's last actions brought, and its new moment with what was decided there."""
        half = self.lanes // 2
        rows = slice(group * half, (group + 1) * half)
        slot = self.slot[group : group + 1]
        last = slot.clamp(min=0)
        self.rewards[:, rows].index_copy_(0, last, rewards[None])
        self.ended[:, rows].index_copy_(0, last, ended[None])
        slot += 1
        for kept, new in (
            (self.frames, frames),
            (self.over, over),
            (self.actions, actions),
            (self.logs, logs),
            (self.values, values),
        ):
            kept[:, rows].index_copy_(0, slot, new[None])
        self.states[:, :, rows].index_copy_(0, slot, states[None])

    def judge(self, discount: float, smoothing: float) -> None:
        """How much better than expected each action turned out."""
        ahead = torch.zeros(self.lanes, device=self.values.device)
        for step in reversed(range(self.steps)):
            going_on = (~self.ended[step]).float()
            surprise = self.rewards[step] + discount * going_on * self.values[step + 1] - self.values[step]
            ahead = surprise + discount * smoothing * going_on * ahead
            self.advantages[step] = ahead

    def past(self, chosen: Tensor, *, by_lane: bool) -> Past:
        """Chosen moments, or all moments of chosen lanes, step after step."""
        steps = self.steps
        returns = self.advantages + self.values[:steps]
        columns = (self.actions[:steps], self.logs[:steps], self.advantages, returns)
        if by_lane:
            return Past(*(column[:, chosen].flatten() for column in columns))
        return Past(*(column.flatten()[chosen] for column in columns))

    def shift(self) -> None:
        """The one moment more becomes the first of the next stretch."""
        for kept in (self.frames, self.over, self.states, self.actions, self.logs, self.values):
            kept[0].copy_(kept[self.steps])
        self.slot.zero_()
