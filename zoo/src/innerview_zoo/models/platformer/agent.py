"""The network of the platformer agents: appendix C of the paper, without memory."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

SIZE = 64
ACTION_COUNT = 9
EPSILON = 1e-8


class L2Pool(nn.Module):
    """The root of the mean of squares over squares of 2 × 2, with a gradient that is never above one half."""

    def forward(self, x: Tensor) -> Tensor:
        # Without the small number the gradient at zero, where most of a ReLU's outputs are, would be 0 / 0.
        return (F.avg_pool2d(x.square(), 2) + EPSILON).sqrt()


class Agent(nn.Module):
    """Frame in, action logits and value out: the value is the discounted chance to reach the coin."""

    def __init__(self, actions: int = ACTION_COUNT) -> None:
        super().__init__()
        self.conv1a = nn.Conv2d(3, 16, 7, padding=3)
        self.relu1a = nn.ReLU()
        self.pool1 = L2Pool()
        self.conv2a = nn.Conv2d(16, 32, 5, padding=2)
        self.relu2a = nn.ReLU()
        self.conv2b = nn.Conv2d(32, 32, 5, padding=2)
        self.relu2b = nn.ReLU()
        self.pool2 = L2Pool()
        self.conv3a = nn.Conv2d(32, 32, 5, padding=2)
        self.relu3a = nn.ReLU()
        self.pool3 = L2Pool()
        self.conv4a = nn.Conv2d(32, 32, 5, padding=2)
        self.relu4a = nn.ReLU()
        self.pool4 = L2Pool()
        self.dense1 = nn.Linear(32 * (SIZE // 16) ** 2, 256)
        self.relu5 = nn.ReLU()
        self.dense2 = nn.Linear(256, 512)
        self.relu6 = nn.ReLU()
        self.policy = nn.Linear(512, actions)
        self.value = nn.Linear(512, 1)
        self._begin()

    def _begin(self) -> None:
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d | nn.Linear):
                nn.init.orthogonal_(layer.weight, 2**0.5)
                if layer.bias is not None:
                    nn.init.zeros_(layer.bias)
        nn.init.orthogonal_(self.policy.weight, 0.01)
        nn.init.orthogonal_(self.value.weight, 0.1)

    def see(self, frame: Tensor) -> Tensor:
        """Frames [n, 3, 64, 64] in 0–1 to what the last pooling layer says [n, 32, 4, 4]."""
        x: Tensor = self.pool1(self.relu1a(self.conv1a(frame)))
        x = self.relu2a(self.conv2a(x))
        x = self.pool2(self.relu2b(self.conv2b(x)))
        x = self.pool3(self.relu3a(self.conv3a(x)))
        x = self.pool4(self.relu4a(self.conv4a(x)))
        return x

    def decide(self, seen: Tensor) -> tuple[Tensor, Tensor]:
        """What was seen [n, 32, 4, 4] to logits [n, 9] and value [n, 1]."""
        x = self.relu5(self.dense1(seen.flatten(1)))
        x = self.relu6(self.dense2(x))
        return self.policy(x), self.value(x)

    def forward(self, frame: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [n, 9] and value [n, 1]."""
        return self.decide(self.see(frame))


def as_input(frames: Tensor) -> Tensor:
    """Bytes [n, 3, 64, 64] to what the agent takes."""
    return frames.float().div_(255).contiguous(memory_format=torch.channels_last)
