"""The camera of the stand-in: exposure, white balance, motion blur, and a depth sensor with noise and holes."""

from __future__ import annotations

import torch
from torch.nn import functional

from innerview_zoo.worlds.office.conditions import Conditions
from innerview_zoo.worlds.office.rendering.camera import Camera


def sense(
    colour: torch.Tensor,
    depth: torch.Tensor,
    *,
    poses: torch.Tensor,
    shiny: torch.Tensor,
    conditions: Conditions,
    camera: Camera,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Linear colour [n, 3, h, w] and true depth [n, h, w] to what the camera gives: uint8 colour and depth.

    Chance comes from the pose and the pixel, so an image is the same alone and among others.
    """
    month = conditions.of_month
    seeds = _seeds(poses, conditions.seed)
    if conditions.motion_blur:
        longest = 1 + month.blur_px * conditions.motion_blur * camera.width_height[0] / 256
        colour = _smeared(colour.clamp(0, 4), 1 + (longest - 1) * _uniform(seeds, 11))
    if conditions.white_balance:
        gains = torch.tensor(month.white_balance, device=colour.device) ** (2 * conditions.white_balance)
        colour = colour * gains.view(1, 3, 1, 1)
    if conditions.exposure:
        gain = (month.exposure * (0.85 + 0.3 * _uniform(seeds, 12))) ** (2 * conditions.exposure)
        colour = colour * gain.view(-1, 1, 1, 1)
    if conditions.depth_noise:
        depth = _measured(depth, shiny, seeds, conditions)
    rgb = colour.clamp(0, 1).sqrt().mul(255).add(0.5).to(torch.uint8)
    return rgb, depth


def _seeds(poses: torch.Tensor, seed: int) -> torch.Tensor:
    """A number for each pose, from the bits of it."""
    bits = poses.contiguous().view(torch.int32).to(torch.int64)
    return _mixed(bits[:, 0] * 73856093 + bits[:, 1] * 19349663 + bits[:, 2] * 83492791 + seed * 2654435761)


def _mixed(x: torch.Tensor) -> torch.Tensor:
    """Bits well stirred; the result is not negative."""
    x = (x ^ (x >> 30)) * -4658895280553007687
    x = (x ^ (x >> 27)) * -7723592293110705685
    return (x ^ (x >> 31)) & 0x7FFFFFFFFFFFFFFF


def _uniform(seeds: torch.Tensor, salt: int) -> torch.Tensor:
    return (_mixed(seeds + salt * 0x9E3779B9) & 0xFFFFFF).to(torch.float32) / 0x1000000


def _field(seeds: torch.Tensor, salt: int, rows: int, columns: int) -> torch.Tensor:
    """Noise [n, rows, columns] in 0-1."""
    index = torch.arange(rows * columns, device=seeds.device) * 0x9E3779B1 + salt * 0x85EBCA6B
    return (_mixed(seeds.view(-1, 1) + index) & 0xFFFFFF).to(torch.float32).view(-1, rows, columns) / 0x1000000


def _smeared(colour: torch.Tensor, length: torch.Tensor) -> torch.Tensor:
    """Mean over `length` pixels [n] from left to right."""
    width = colour.shape[3]
    reach = int(torch.ceil((length.max() - 1) / 2).clamp(min=1))
    at = torch.arange(-reach, reach + 1, device=colour.device)
    weight = (length.view(-1, 1) / 2 + 0.5 - at.abs()).clamp(0, 1)
    weight = weight / weight.sum(1, keepdim=True)
    padded = functional.pad(colour, (reach, reach, 0, 0), mode="replicate")
    total = torch.zeros_like(colour)
    for i in range(2 * reach + 1):
        total.addcmul_(padded[..., i : i + width], weight[:, i].view(-1, 1, 1, 1))
    return total


def _measured(depth: torch.Tensor, shiny: torch.Tensor, seeds: torch.Tensor, conditions: Conditions) -> torch.Tensor:
    """Depth with an error that grows with its square, holes, and a range."""
    month, share = conditions.of_month, conditions.depth_noise
    _, height, width = depth.shape
    fine = _field(seeds, 1, height, width) + _field(seeds, 2, height, width) - 1
    coarse = functional.interpolate(
        _field(seeds, 3, 24, 24).unsqueeze(1) - 0.5, size=(height, width), mode="bilinear", align_corners=False
    ).squeeze(1)
    error = month.depth_sigma * share * depth * (0.4 + depth) * (1.6 * fine + 3.0 * coarse)
    cloud = functional.interpolate(
        _field(seeds, 4, 14, 14).unsqueeze(1), size=(height, width), mode="bilinear", align_corners=False
    ).squeeze(1)
    low = -functional.max_pool2d(-depth.unsqueeze(1), 5, 1, 2).squeeze(1)
    high = functional.max_pool2d(depth.unsqueeze(1), 5, 1, 2).squeeze(1)
    edge = (high - low) > 0.12 + 0.06 * depth
    chance = _field(seeds, 5, height, width)
    holes = month.holes * share
    lost = edge & (chance < 0.55 * holes)
    lost |= shiny & (cloud > 0.42 / max(holes, 0.2))
    lost |= (cloud > 1 - 0.12 * holes) & (chance < 0.85)
    near, far = month.depth_range_m
    if share < 1:
        near, far = near * share, far / max(share, 0.05)
    measured = depth + error
    return torch.where(lost | (measured < near) | (measured > far), 0.0, measured)
