"""The pose network: an RGB-D picture in, where it was taken out: x and y in metres, heading in radians."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

SIZE = 256
"""Pixels a side."""
CHANNELS = 4
"""Red, green, blue and depth, each from 0 to 1."""
GAMMA = 0.3
"""How much the heading weighs in the loss, beside 1 − GAMMA for the place."""
_WIDE = 256


class Conv(nn.Module):
    """A convolution, while it is trained a batch normalisation, and a rectifier unless told otherwise."""

    def __init__(self, inside: int, outside: int, *, kernel: int, stride: int = 1, norm: bool, rectify: bool = True):
        super().__init__()
        self.conv = nn.Conv2d(inside, outside, kernel, stride, padding=kernel // 2, bias=not norm)
        self.norm = nn.BatchNorm2d(outside) if norm else None
        self.relu = nn.ReLU() if rectify else None

    def forward(self, value: Tensor) -> Tensor:
        """[n, inside, h, w] to [n, outside, h / stride, w / stride]."""
        value = self.conv(value)
        if self.norm is not None:
            value = self.norm(value)
        return self.relu(value) if self.relu is not None else value


class Residual(nn.Module):
    """Two convolutions whose result is added to what came in."""

    def __init__(self, channels: int, *, norm: bool) -> None:
        super().__init__()
        self.first = Conv(channels, channels, kernel=3, norm=norm)
        self.second = Conv(channels, channels, kernel=3, norm=norm, rectify=False)
        self.relu = nn.ReLU()

    def forward(self, value: Tensor) -> Tensor:
        """The same shape."""
        added: Tensor = self.relu(value + self.second(self.first(value)))
        return added


class PoseNet(nn.Module):
    """Five halvings down to a map of 8 × 8, which is kept as it is: pooling over it would lose where things stand.

    With `norm` it has batch normalisation, to be trained; `folded` makes the plain network of it that is kept.
    """

    input_mean: Tensor
    input_std: Tensor
    centre_m: Tensor
    scale_m: Tensor

    def __init__(self, *, norm: bool = False) -> None:
        super().__init__()
        self.register_buffer("input_mean", torch.full((CHANNELS,), 0.5))
        self.register_buffer("input_std", torch.full((CHANNELS,), 0.25))
        self.register_buffer("centre_m", torch.full((2,), 11.0))
        self.register_buffer("scale_m", torch.full((2,), 6.0))
        self.conv1 = Conv(CHANNELS, 24, kernel=5, stride=2, norm=norm)
        self.conv2 = Conv(24, 48, kernel=3, stride=2, norm=norm)
        self.conv3 = Conv(48, 64, kernel=3, stride=2, norm=norm)
        self.block3 = Residual(64, norm=norm)
        self.conv4 = Conv(64, 96, kernel=3, stride=2, norm=norm)
        self.block4 = Residual(96, norm=norm)
        self.conv5 = Conv(96, 128, kernel=3, stride=2, norm=norm)
        self.block5 = Residual(128, norm=norm)
        self.narrow = Conv(128, 24, kernel=1, norm=norm)
        self.dense = nn.Linear(24 * (SIZE // 32) ** 2, _WIDE)
        self.relu = nn.ReLU()
        self.place = nn.Linear(_WIDE, 2)
        self.heading = nn.Linear(_WIDE, 2)

    def normalise(self, seen: Tensor, place_m: Tensor) -> None:
        """Take mean and spread of pictures [n, 4, h, w] in 0 to 1 and of places [n, 2] as this model's own."""
        self.input_mean.copy_(seen.float().mean((0, 2, 3)))
        self.input_std.copy_(seen.float().std((0, 2, 3)).clamp_min(1e-3))
        self.centre_m.copy_(place_m.mean(0))
        self.scale_m.copy_(place_m.std(0).clamp_min(1e-3))

    def features(self, rgbd: Tensor) -> Tensor:
        """[n, 256] of pictures [n, 4, 256, 256] in 0 to 1."""
        value = (rgbd - self.input_mean.view(1, -1, 1, 1)) / self.input_std.view(1, -1, 1, 1)
        value = self.conv2(self.conv1(value))
        value = self.block3(self.conv3(value))
        value = self.block4(self.conv4(value))
        value = self.narrow(self.block5(self.conv5(value)))
        wide: Tensor = self.relu(self.dense(value.flatten(1)))
        return wide

    def read(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Place in metres [n, 2], and the heading as a vector [n, 2] whose length means nothing."""
        return self.centre_m + self.scale_m * self.place(features), self.heading(features)

    def forward(self, rgbd: Tensor) -> dict[str, Tensor]:
        """`pose` [n, 3]: x, y in metres and the angle in radians, counter-clockwise from +x, from −π to π."""
        place_m, heading = self.read(self.features(rgbd))
        return {"pose": torch.cat((place_m, torch.atan2(heading[:, 1:], heading[:, :1])), 1)}


def wrapped(angle_rad: Tensor) -> Tensor:
    """The same angle from −π to π: 359° from a heading of 1° is an error of 2°, not of 358°."""
    return torch.remainder(angle_rad + math.pi, 2 * math.pi) - math.pi


def pose_loss(place_m: Tensor, heading: Tensor, truth: Tensor, *, gamma: float = GAMMA, unit_m: float = 1.0) -> Tensor:
    """(1 − γ) |place error|² + γ |wrapped heading error|, as a mean over the rows of truth [n, 3].

    Headings are in radians and places in units of `unit_m`: the larger the unit, the more a heading counts.
    """
    place = ((place_m - truth[:, :2]) / unit_m).square().sum(1)
    angle = wrapped(torch.atan2(heading[:, 1], heading[:, 0]) - truth[:, 2]).abs()
    return ((1 - gamma) * place + gamma * angle).mean()


@torch.no_grad()
def folded(trained: PoseNet) -> PoseNet:
    """The plain network that computes the same: batch normalisation becomes part of the convolution before it."""
    plain = PoseNet(norm=False).to(trained.input_mean.device)
    state = {name: value for name, value in trained.state_dict().items() if ".norm." not in name}
    for name, module in trained.named_modules():
        if isinstance(module, Conv) and module.norm is not None:
            norm = module.norm
            assert norm.running_mean is not None and norm.running_var is not None
            gain = norm.weight / (norm.running_var + norm.eps).sqrt()
            state[f"{name}.conv.weight"] = module.conv.weight * gain.view(-1, 1, 1, 1)
            state[f"{name}.conv.bias"] = norm.bias - norm.running_mean * gain
    plain.load_state_dict(state)
    return plain.eval()
