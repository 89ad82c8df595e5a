"""The same network in a form that a GPU's matrix units run faster: fewer, wider convolutions with the same weights.

Channels of 3, 16 and 32 leave most of a tensor core idle. Neighbouring pixels are therefore taken as channels: the
first layer looks at squares of 2 × 2 pixels (12 channels in, 4 × 16 out), the others at pairs along a row. The kernels
are the agent's own, laid out anew with zeros where a pixel does not reach, so gradients flow back into its weights.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from innerview.zoo.platformer.agent import EPSILON, SIZE, Agent

BLOCKS = SIZE // 2 + 1
CHANNELS = 16  # 3 colours × 2 × 2 pixels, and four that stay empty: memory is read in units of eight


class FastAgent(nn.Module):
    """Blocks of `as_blocks` in, logits and value out, computed in `dtype` with the weights of an agent."""

    def __init__(self, agent: Agent, dtype: torch.dtype = torch.bfloat16) -> None:
        super().__init__()
        self.agent, self.dtype = agent, dtype

    def forward(self, blocks: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """uint8 [n, 33, 33, 16] to logits [n, 9] and value [n, 1], as float32, and how loud layer 2b is."""
        agent = self.agent
        x = self._first(agent.conv1a, blocks.to(self.dtype))
        x = self._pairs(agent.conv2a, x)
        x = pooled(self._pairs(agent.conv2b, x))
        loud = loudness(x, agent.conv3a.weight)
        x = pooled(self._pairs(agent.conv3a, x))
        x = pooled(self._pairs(agent.conv4a, x))
        x = x.permute(0, 3, 1, 2).flatten(1)
        x = F.relu(self._dense(agent.dense1, x))
        x = F.relu(self._dense(agent.dense2, x)).float()
        return agent.policy(x), agent.value(x), loud

    def _first(self, conv: nn.Conv2d, blocks: Tensor) -> Tensor:
        """The first layer with ReLU and pooling: [n, 33, 33, 16] to [n, 32, 32, 16]."""
        weight = square_kernel(conv.weight) / 255  # bytes are exact in bfloat16, their 255th parts are not
        x = self._conv(blocks, weight, conv.bias, 4, (1, 1))
        n, height, width, _ = x.shape
        squares: Tensor = F.relu(x).view(n, height, width, 4, -1).square().mean(3)
        return (squares + EPSILON).sqrt()

    def _pairs(self, conv: nn.Conv2d, x: Tensor) -> Tensor:
        """A 5 × 5 layer with ReLU on [n, h, w, c], two pixels of a row at a time."""
        n, height, width, channels = x.shape
        x = self._conv(x.reshape(n, height, width // 2, 2 * channels), pair_kernel(conv.weight), conv.bias, 2, (2, 1))
        return F.relu(x.view(n, height, width, -1))

    def _conv(self, x: Tensor, weight: Tensor, bias: Tensor | None, times: int, padding: tuple[int, int]) -> Tensor:
        assert bias is not None
        weight = weight.to(self.dtype).contiguous(memory_format=torch.channels_last)
        out = F.conv2d(x.permute(0, 3, 1, 2), weight, bias.repeat(times).to(self.dtype), padding=padding)
        return out.contiguous(memory_format=torch.channels_last).permute(0, 2, 3, 1)

    def _dense(self, layer: nn.Linear, x: Tensor) -> Tensor:
        return F.linear(x, layer.weight.to(self.dtype), layer.bias.to(self.dtype))


def pooled(x: Tensor) -> Tensor:
    """L2 pooling of [n, h, w, c] over squares of 2 × 2."""
    n, height, width, channels = x.shape
    squares = x.view(n, height // 2, 2, width // 2, 2, channels).square().mean((2, 4))
    return (squares + EPSILON).sqrt()


def loudness(x: Tensor, reader: Tensor) -> Tensor:
    """What channels of [n, h, w, c] say on average times how strongly a kernel [out, c, 5, 5] reads them, summed.

    The product stays the same when a channel is made smaller and its reader larger, so only silence makes it less.
    """
    read = (reader.square().sum((0, 2, 3)) + EPSILON).sqrt()
    return (x.float().mean((0, 1, 2)) * read).sum()


def as_blocks(frames: Tensor) -> Tensor:
    """uint8 [n, 3, 64, 64] to [n, 33, 33, 16]: squares of 2 × 2 pixels that begin at an edge of one empty pixel."""
    n = frames.shape[0]
    x = F.pad(frames, (1, 1, 1, 1)).view(n, 3, BLOCKS, 2, BLOCKS, 2)
    x = x.permute(0, 2, 4, 1, 3, 5).reshape(n, BLOCKS, BLOCKS, 12)
    return F.pad(x, (0, CHANNELS - 12))


def square_kernel(weight: Tensor) -> Tensor:
    """[16, 3, 7, 7] to [4 × 16, 16, 4, 4]: one kernel for each of the four pixels of a square."""
    kernels = []
    for down in range(2):
        for right in range(2):
            moved = F.pad(weight, (right, 1 - right, down, 1 - down))
            parts = moved.view(*weight.shape[:2], 4, 2, 4, 2).permute(0, 1, 3, 5, 2, 4)
            kernels.append(parts.reshape(weight.shape[0], 12, 4, 4))
    return F.pad(torch.cat(kernels), (0, 0, 0, 0, 0, CHANNELS - 12))


def pair_kernel(weight: Tensor) -> Tensor:
    """[out, in, 5, 5] to [2 × out, 2 × in, 5, 3]: one kernel for each of the two pixels of a pair."""
    out, channels, height, _ = weight.shape
    kernels = []
    for right in range(2):
        parts = F.pad(weight, (right, 1 - right)).view(out, channels, height, 3, 2).permute(0, 4, 1, 2, 3)
        kernels.append(parts.reshape(out, 2 * channels, height, 3))
    return torch.cat(kernels)
