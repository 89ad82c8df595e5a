"""The same network in a form that a GPU's matrix units run faster: fewer, wider convolutions with the same weights.

Channels of 3, 16 and 32 leave most of a tensor core idle. Neighbouring pixels are therefore taken as channels: the
first layer looks at squares of 2 × 2 pixels (12 channels in, 4 × 16 out), the others at pairs along a row. The kernels
are the agent's own, laid out anew with zeros where a pixel does not reach, so gradients flow back into its weights.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from innerview_zoo.models.platformer.agent import EPSILON, SIZE, Agent
from innerview_zoo.worlds.platformer import CLASSES

BLOCKS = SIZE // 2 + 1
COLOURS = 12  # 3 colours × 2 × 2 pixels
CHANNELS = 16  # and four that the agent does not see: memory is read in units of eight
DANGERS = ("lava", "saw", "enemy moving left", "enemy moving right")
PLACES = SIZE // 4  # a side, of layer 2b after its pooling
WIDTH = 32  # channels of layer 2b


class FastAgent(nn.Module):
    """Blocks of `as_blocks` in, logits and value out, computed in `dtype` with the weights of an agent."""

    def __init__(
        self,
        agent: Agent,
        dtype: torch.dtype = torch.bfloat16,
        *,
        alone: float = 0.0,
        namer: Namer | None = None,
    ) -> None:
        super().__init__()
        self.agent, self.dtype, self.alone, self.namer = agent, dtype, alone, namer

    def forward(self, blocks: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """uint8 [n, 33, 33, 16] to logits [n, 9], value [n, 1], how loud layer 2b is and how badly it names dangers."""
        agent = self.agent
        x = self._first(agent.conv1a, blocks.to(self.dtype))
        x = self._pairs(agent.conv2a, x)
        x = pooled(self._pairs(agent.conv2b, x))
        loud, wrong = self._losses(x, blocks)
        x = pooled(self._pairs(agent.conv3a, x))
        x = pooled(self._pairs(agent.conv4a, x))
        x = x.permute(0, 3, 1, 2).flatten(1)
        x = F.relu(self._dense(agent.dense1, x))
        x = F.relu(self._dense(agent.dense2, x)).float()
        return agent.policy(x), agent.value(x), loud, wrong

    def _losses(self, x: Tensor, blocks: Tensor) -> tuple[Tensor, Tensor]:
        reader = self.agent.conv3a.weight
        if self.namer is None:
            loud = loudness(x, reader, alone=self.alone)
            return loud, torch.zeros_like(loud)
        kernel = self.namer.kernel
        return loudness(x, reader, kernel, alone=self.alone), self.namer.wrong(x, dangers_of(blocks))

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


def loudness(x: Tensor, *readers: Tensor, alone: float = 0.0) -> Tensor:
    """What channels of [n, h, w, c] say on average times how strongly kernels [out, c, ...] read them, summed.

    The product stays the same when a channel is made smaller and its reader larger, so only silence makes it less.
    With `alone`, what is said at a place by more than one channel costs more, by their products.
    """
    read = torch.stack([reader.square().transpose(0, 1).flatten(1).sum(1) for reader in readers]).sum(0)
    said = x.float() * (read + EPSILON).sqrt()
    at = said.sum(-1)
    loud = at.mean()
    if not alone:
        return loud
    together = (at.square() - said.square().sum(-1)).mean()
    return loud + alone * together / (loud.detach() + 1e-3)


class Namer(nn.Module):
    """Says from layer 2b which dangers are where. It is asked in training only and is no part of the agent."""

    FASTER = 20.0  # it begins with nothing while the agent may have learnt for long: the same rate, larger steps
    RARE = 4.0  # what an overlooked danger weighs beside an imagined one

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(len(DANGERS), WIDTH) * 0.02 / self.FASTER)
        self.bias = nn.Parameter(torch.full((len(DANGERS),), -3.0 / self.FASTER))

    @property
    def kernel(self) -> Tensor:
        """How it reads the channels [danger, channel]."""
        return self.weight * self.FASTER

    def wrong(self, x: Tensor, there: Tensor) -> Tensor:
        """The cross entropy of what it says of [n, 16, 16, channel], summed over dangers, a place."""
        said = F.linear(x.float(), self.kernel, self.bias * self.FASTER)
        rare = torch.full((len(DANGERS),), self.RARE, device=x.device)
        return F.binary_cross_entropy_with_logits(said, there, pos_weight=rare, reduction="none").sum(-1).mean()


def as_blocks(frames: Tensor, masks: Tensor | None = None) -> Tensor:
    """uint8 [n, 3, 64, 64] to [n, 33, 33, 16]: squares of 2 × 2 pixels that begin at an edge of one empty pixel.

    With masks [n, 64, 64] of the world's classes, a channel that the agent does not see keeps which dangers are where.
    """
    n = frames.shape[0]
    x = F.pad(frames, (1, 1, 1, 1)).view(n, 3, BLOCKS, 2, BLOCKS, 2)
    x = x.permute(0, 2, 4, 1, 3, 5).reshape(n, BLOCKS, BLOCKS, COLOURS)
    x = F.pad(x, (0, CHANNELS - COLOURS))
    if masks is not None:
        side = SIZE // PLACES
        places = masks.view(n, PLACES, side, PLACES, side).permute(0, 1, 3, 2, 4).flatten(3)
        for bit, name in enumerate(DANGERS):
            shown = (places == CLASSES.index(name)).any(-1)
            x[:, :PLACES, :PLACES, COLOURS] |= shown.to(torch.uint8) << bit
    return x


def dangers_of(blocks: Tensor) -> Tensor:
    """Which dangers blocks say are where: [n, 16, 16, danger] of 0 and 1."""
    bits = blocks[:, :PLACES, :PLACES, COLOURS].int()
    return torch.stack([(bits >> bit) & 1 for bit in range(len(DANGERS))], -1).float()


def square_kernel(weight: Tensor) -> Tensor:
    """[16, 3, 7, 7] to [4 × 16, 16, 4, 4]: one kernel for each of the four pixels of a square."""
    kernels = []
    for down in range(2):
        for right in range(2):
            moved = F.pad(weight, (right, 1 - right, down, 1 - down))
            parts = moved.view(*weight.shape[:2], 4, 2, 4, 2).permute(0, 1, 3, 5, 2, 4)
            kernels.append(parts.reshape(weight.shape[0], COLOURS, 4, 4))
    return F.pad(torch.cat(kernels), (0, 0, 0, 0, 0, CHANNELS - COLOURS))


def pair_kernel(weight: Tensor) -> Tensor:
    """[out, in, 5, 5] to [2 × out, 2 × in, 5, 3]: one kernel for each of the two pixels of a pair."""
    out, channels, height, _ = weight.shape
    kernels = []
    for right in range(2):
        parts = F.pad(weight, (right, 1 - right)).view(out, channels, height, 3, 2).permute(0, 4, 1, 2, 3)
        kernels.append(parts.reshape(out, 2 * channels, height, 3))
    return torch.cat(kernels)
