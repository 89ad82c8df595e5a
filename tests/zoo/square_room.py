"""A square room whose walls change colour along the way: a place to take pictures in, without a renderer."""

from __future__ import annotations

import math

import torch
from torch import Tensor

SIDE_M = 8.0
_FIELD_RAD = 1.4
_RANGE_M = 12.0


class SquareRoom:
    """Poses anywhere, tours on two circles, and a stand-in that is darker and has no depth."""

    lens = None

    def __init__(self, size: int = 256) -> None:
        self.size = size

    def anywhere(self, count: int, seed: int) -> Tensor:
        drawn = torch.rand(count, 3, generator=torch.Generator().manual_seed(seed))
        place = 0.5 + (SIDE_M - 1) * drawn[:, :2]
        return torch.cat((place, math.pi * (2 * drawn[:, 2:] - 1)), 1)

    def tour(self, which: int, count: int) -> Tensor:
        turn = torch.linspace(0, 2 * math.pi, count)
        middle, radius = SIDE_M / 2, 1.0 + which
        heading = torch.remainder(turn + math.pi / 2 + math.pi, 2 * math.pi) - math.pi
        return torch.stack((middle + radius * turn.cos(), middle + radius * turn.sin(), heading), 1)

    def pictures(self, poses: Tensor, *, month: int, device: torch.device) -> Tensor:
        poses = poses.to(device)
        across = torch.linspace(_FIELD_RAD / 2, -_FIELD_RAD / 2, self.size, device=device)
        ray = poses[:, 2:] + across
        sine, cosine = ray.sin(), ray.cos()
        far_x = torch.where(cosine > 0, SIDE_M - poses[:, :1], -poses[:, :1]) / cosine
        far_y = torch.where(sine > 0, SIDE_M - poses[:, 1:2], -poses[:, 1:2]) / sine
        far = torch.minimum(far_x, far_y)
        hit_x, hit_y = poses[:, :1] + far * cosine, poses[:, 1:2] + far * sine
        colour = torch.stack(((hit_x * 0.7).sin(), (hit_y * 0.7).sin(), ((hit_x - hit_y) * 0.5).cos()), 1) * 0.4 + 0.5
        up = torch.linspace(-1, 1, self.size, device=device)[None, :, None]
        wall = up.abs() < 1.2 / far[:, None, :]
        rgb = torch.where(wall[:, None], colour[:, :, None, :], 0.1)
        depth = torch.where(wall, far[:, None, :], 1.2 / up.abs().clamp_min(1e-3)).clamp(0, _RANGE_M) / _RANGE_M
        if month:
            rgb, depth = rgb * (0.5 + 0.1 * month), depth * 0
        return (torch.cat((rgb, depth[:, None]), 1) * 255).round().to(torch.uint8)
