"""The networks of the Atari agents: four grey frames (or one, or ten) in, what to do out."""

from __future__ import annotations

import torch
from torch import Tensor, nn

SIDE = 84
_CHANNELS, _REGIONS = 64, 7 * 7
_FLAT = _CHANNELS * _REGIONS


class Eyes(nn.Module):
    """Three convolutions with rectifiers of their own, so that each can be looked at and its gradient guided."""

    def __init__(self, frames: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(frames, 32, 8, 4)
        self.relu1 = nn.ReLU()
        self.conv2 = nn.Conv2d(32, 64, 4, 2)
        self.relu2 = nn.ReLU()
        self.conv3 = nn.Conv2d(64, 64, 3, 1)
        self.relu3 = nn.ReLU()
        for layer in (self.conv1, self.conv2, self.conv3):
            nn.init.orthogonal_(layer.weight, 2**0.5)
            nn.init.zeros_(_bias(layer))

    def forward(self, frames: Tensor) -> Tensor:
        """[n, frames, 84, 84] in 0–1 to [n, 3136]."""
        x = self.relu1(self.conv1(frames))
        x = self.relu2(self.conv2(x))
        seen: Tensor = self.relu3(self.conv3(x))
        return seen.flatten(1)


class Dueling(nn.Module):
    """Q values as the worth of the moment plus each action's advantage over the average action."""

    def __init__(self, actions: int, *, frames: int = 4, width: int = 256) -> None:
        super().__init__()
        self.eyes = Eyes(frames)
        self.value_dense = _dense(_FLAT, width)
        self.value_relu = nn.ReLU()
        self.value = nn.Linear(width, 1)
        self.advantage_dense = _dense(_FLAT, width)
        self.advantage_relu = nn.ReLU()
        self.advantage = nn.Linear(width, actions)

    def forward(self, frames: Tensor) -> dict[str, Tensor]:
        """Q values, and the two streams they are made of."""
        return self.judge(self.see(frames))

    def see(self, frames: Tensor) -> Tensor:
        """[n, frames, 84, 84] in 0–1 to [n, 3136]."""
        seen: Tensor = self.eyes(frames)
        return seen

    def judge(self, seen: Tensor) -> dict[str, Tensor]:
        """The heads, from what was seen."""
        value = self.value(self.value_relu(self.value_dense(seen)))
        advantage = self.advantage(self.advantage_relu(self.advantage_dense(seen)))
        return _merged(value, advantage)


class Glance(nn.Module):
    """One stream of the split attention: an LSTM that looks at one frame after the other, and one that reads backwards.

    Where it looks in a frame depends on what it kept of the frames before.
    """

    def __init__(self, outputs: int, *, width: int = 64, memory: int = 192) -> None:
        super().__init__()
        self.region = nn.Linear(_CHANNELS, width)
        self.before = nn.Linear(memory, width, bias=False)
        self.score = nn.Linear(width, 1)
        self.onward = nn.LSTMCell(_CHANNELS, memory)
        self.rearward = nn.LSTMCell(_CHANNELS, memory)
        self.out = nn.Linear(2 * memory, outputs)
        for cell in (self.onward, self.rearward):
            _ready(cell)

    def forward(self, regions: Tensor) -> Tensor:
        """[n, frames, 49, 64] to [n, outputs]."""
        onward = back = self._nothing(regions)
        found = []
        keys = self.region(regions)
        for frame in range(regions.shape[1]):
            asked = torch.tanh(keys[:, frame] + self.before(onward[0])[:, None])
            attention = torch.softmax(self.score(asked).transpose(1, 2), 2)
            found.append((attention @ regions[:, frame])[:, 0])
            onward = self.onward(found[-1], onward)
        for context in reversed(found):
            back = self.rearward(context, back)
        answer: Tensor = self.out(torch.cat((onward[0], back[0]), 1))
        return answer

    def _nothing(self, regions: Tensor) -> tuple[Tensor, Tensor]:
        empty = regions.new_zeros(len(regions), self.onward.hidden_size)
        return empty, empty


class SplitAttention(nn.Module):
    """Q values of two streams, each with an attention and a bidirectional LSTM of its own over ten single frames."""

    def __init__(self, actions: int, *, frames: int = 10) -> None:
        super().__init__()
        self.frames = frames
        self.eyes = Eyes(1)
        self.place = nn.Parameter(torch.zeros(_REGIONS, _CHANNELS))
        """Added to each region, as a weighted sum of regions would not tell where they are."""
        nn.init.normal_(self.place, std=0.1)
        self.value = Glance(1)
        self.advantage = Glance(actions)

    def forward(self, frames: Tensor) -> dict[str, Tensor]:
        """Q values, and the two streams they are made of."""
        return self.judge(self.see(frames))

    def see(self, frames: Tensor) -> Tensor:
        """[n, frames, 84, 84] in 0–1 to [n, frames, 3136], each frame by itself."""
        seen: Tensor = self.eyes(frames.reshape(-1, 1, SIDE, SIDE))
        return seen.reshape(-1, self.frames, _FLAT)

    def judge(self, seen: Tensor) -> dict[str, Tensor]:
        """The heads, from what was seen."""
        regions = seen.reshape(-1, self.frames, _CHANNELS, _REGIONS).transpose(2, 3) + self.place
        return _merged(self.value(regions), self.advantage(regions))


class ActorCritic(nn.Module):
    """Action logits and value from stacked frames."""

    def __init__(self, actions: int, *, frames: int = 4, width: int = 256) -> None:
        super().__init__()
        self.eyes = Eyes(frames)
        self.dense = _dense(_FLAT, width)
        self.relu = nn.ReLU()
        self.policy = _head(width, actions, 0.01)
        self.value = _head(width, 1, 1.0)

    def forward(self, frames: Tensor) -> tuple[Tensor, Tensor]:
        """Logits and value."""
        x = self.relu(self.dense(self.eyes(frames)))
        return self.policy(x), self.value(x)


class RecurrentActorCritic(nn.Module):
    """Action logits and value from one frame and what an LSTM kept of those before."""

    def __init__(self, actions: int, *, frames: int = 1, width: int = 256, memory: int = 256) -> None:
        super().__init__()
        self.eyes = Eyes(frames)
        self.dense = _dense(_FLAT, width)
        self.relu = nn.ReLU()
        self.lstm = nn.LSTMCell(width, memory)
        self.policy = _head(memory, actions, 0.01)
        self.value = _head(memory, 1, 1.0)
        _ready(self.lstm)

    def see(self, frames: Tensor) -> Tensor:
        """[n, frames, 84, 84] in 0–1 to [n, width]."""
        seen: Tensor = self.relu(self.dense(self.eyes(frames)))
        return seen

    def forward(self, frames: Tensor, hidden: Tensor, cell: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Logits, value and the new memory."""
        hidden, cell = self.lstm(self.see(frames), (hidden, cell))
        return self.policy(hidden), self.value(hidden), hidden, cell


def _merged(value: Tensor, advantage: Tensor) -> dict[str, Tensor]:
    return {"q": value + advantage - advantage.mean(1, keepdim=True), "value": value, "advantage": advantage}


def _ready(cell: nn.LSTMCell) -> None:
    """Forget slowly at first, so that learning can reach back."""
    for name, weight in cell.named_parameters():
        nn.init.zeros_(weight) if "bias" in name else nn.init.orthogonal_(weight)
    with torch.no_grad():
        cell.bias_ih[cell.hidden_size : 2 * cell.hidden_size] = 1.0


def _dense(size: int, width: int) -> nn.Linear:
    layer = nn.Linear(size, width)
    nn.init.orthogonal_(layer.weight, 2**0.5)
    nn.init.zeros_(layer.bias)
    return layer


def _head(size: int, width: int, gain: float) -> nn.Linear:
    layer = nn.Linear(size, width)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


def _bias(layer: nn.Conv2d) -> Tensor:
    assert layer.bias is not None
    return layer.bias
