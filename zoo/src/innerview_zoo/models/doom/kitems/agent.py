"""The network of the k-items agent."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from innerview_zoo.worlds.kitems.game import ACTIONS

INPUT_HW = (64, 112)


class Agent(nn.Module):
    """Frame in, action logits and value out, with a GRU as memory."""

    def __init__(self, memory: int = 128, actions: int = len(ACTIONS)) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, 8, 4)
        self.conv2 = nn.Conv2d(32, 64, 4, 2)
        self.conv3 = nn.Conv2d(64, 64, 3, 1)
        self.dense = nn.Linear(64 * 4 * 10, 256)
        self.gru = nn.GRUCell(256, memory)
        self.policy = nn.Linear(memory, actions)
        self.value = nn.Linear(memory, 1)
        for layer in (self.conv1, self.conv2, self.conv3, self.dense):
            nn.init.orthogonal_(layer.weight, 2**0.5)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
        nn.init.orthogonal_(self.policy.weight, 0.01)
        # Elements keep what they hold for 1 to 64 steps at first, so that learning can reach back.
        with torch.no_grad():
            self.gru.bias_ih[memory : 2 * memory] = torch.empty(memory).uniform_(1, 64).log()

    def see(self, frame: Tensor) -> Tensor:
        """Frames [n, 3, 64, 112] in 0–1 to features [n, 256]."""
        x = F.relu(self.conv1(frame))
        x = F.relu(self.conv2(x))
        x = F.relu(self.conv3(x))
        return F.relu(self.dense(x.flatten(1)))

    def forward(self, frame: Tensor, memory: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Logits, value and the new memory."""
        memory = self.gru(self.see(frame), memory)
        return self.policy(memory), self.value(memory), memory


def shrink(frames: Tensor) -> Tensor:
    """Screens [n, h, w, 3] to the agent's input [n, 3, 64, 112], uint8, every pixel counted."""
    x = frames.permute(0, 3, 1, 2).float()
    return (
        F.interpolate(x, INPUT_HW, mode="bilinear", antialias=True, align_corners=False).add_(0.5).clamp_(0, 255).byte()
    )
