"""Changes pictures while a model is trained, so that it relies less on what differs outside the simulation.

All take pictures [n, 4, h, w] in 0 to 1 and a generator on their device, and give new ones; each picture draws its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

_LUMA = (0.299, 0.587, 0.114)
# From red, green, blue to brightness and two colour axes, around which a rotation changes the hue.
_TO_YIQ = ((0.299, 0.587, 0.114), (0.596, -0.274, -0.322), (0.211, -0.523, 0.312))


def randomise_light(rgbd: Tensor, generator: torch.Generator) -> Tensor:
    """Domain randomisation: brightness, contrast, hue (with saturation) and dynamic range of the colours."""
    n, _, height, width = rgbd.shape
    draw = _Draw(n, generator)
    gain = draw.between(0.5, 1.6)
    contrast = draw.between(0.5, 1.6)
    matrix = _hue(draw.between(-0.6, 0.6), draw.between(0.4, 1.4))
    # A gain per colour as well: another white balance turns the hue of greys, which a rotation leaves grey.
    balance = torch.stack([draw.between(0.8, 1.25) for _ in range(3)], 1)
    matrix = (gain * contrast)[:, None, None] * balance[:, :, None] * matrix
    rgb = rgbd[:, :3].reshape(n, 3, -1)
    luma = torch.tensor(_LUMA, device=rgb.device, dtype=rgb.dtype)
    middle = gain * torch.einsum("ncp,c->n", rgb, luma) / rgb.shape[2]
    offset = ((1 - contrast) * middle + draw.between(-0.1, 0.1))[:, None, None].expand(n, 3, 1)
    rgb = torch.baddbmm(offset, matrix, rgb)
    low, high = draw.between(-0.05, 0.15)[:, None, None], draw.between(0.75, 1.1)[:, None, None]
    rgb = ((rgb - low) / (high - low)).clamp(0, 1)
    rgb = rgb.clamp_min(1e-4).pow(draw.between(-0.4, 0.4).exp()[:, None, None])
    return torch.cat((rgb.reshape(n, 3, height, width), rgbd[:, 3:]), 1)


def perlin_depth(rgbd: Tensor, generator: torch.Generator) -> Tensor:
    """Depth as a cheap camera measures it: wrong by patches, more so far away, with holes and a limited range."""
    n, _, size, _ = rgbd.shape
    draw = _Draw(n, generator)
    depth = rgbd[:, 3]
    coarse = perlin(n, size, cells=4, generator=generator) + 0.5 * perlin(n, size, cells=16, generator=generator)
    patches = perlin(n, size, cells=8, generator=generator) + 0.6 * perlin(n, size, cells=32, generator=generator)
    strength = draw.between(0.0, 0.2)[:, None, None]
    fine = draw.between(0.0, 0.03)[:, None, None] * _normal(depth, generator)
    wrong = depth * (1 + strength * coarse + fine)
    # Far and noisy go together: what is far away falls into a hole more easily.
    holes = patches + draw.between(0.0, 0.5)[:, None, None] * depth > draw.between(0.35, 1.2)[:, None, None]
    beyond = (depth > draw.between(0.4, 1.2)[:, None, None]) | (depth < draw.between(-0.03, 0.05)[:, None, None])
    measured = torch.where(holes | beyond, torch.zeros_like(wrong), wrong.clamp(0, 1))
    clean = draw.between(0, 1)[:, None, None] < 0.1
    return torch.cat((rgbd[:, :3], torch.where(clean, depth, measured)[:, None]), 1)


@dataclass(frozen=True)
class Lens:
    """What must be known of a camera to say what it would have seen had it been turned a little."""

    focal_px: float
    pitch_rad: float


def turn_aside(rgbd: Tensor, turn_rad: Tensor, lens: Lens) -> Tensor:
    """Pictures as if the camera had stood turned by `turn_rad` [n], counter-clockwise; what enters repeats the border.

    A turn on the spot moves every pixel to a place that does not depend on depth, so this is no guess but geometry.
    """
    size = rgbd.shape[2]
    at = (torch.arange(size, device=rgbd.device) + 0.5 - size / 2) / lens.focal_px
    right, up = at.view(1, 1, -1), -at.view(1, -1, 1)
    across, along = math.cos(lens.pitch_rad), math.sin(lens.pitch_rad)
    forward, high = across - up * along, along + up * across
    cosine, sine = turn_rad.cos().view(-1, 1, 1), turn_rad.sin().view(-1, 1, 1)
    ahead, left = cosine * forward + sine * right, sine * forward - cosine * right
    deep = ahead * across + high * along
    to_pixel = 2 * lens.focal_px / size
    grid = torch.stack((-left / deep * to_pixel, (ahead * along - high * across) / deep * to_pixel), 3)
    moved = F.grid_sample(rgbd, grid, mode="nearest", padding_mode="border", align_corners=False)
    return torch.cat((moved[:, :3], moved[:, 3:] / deep[:, None]), 1).clamp_(0, 1)


def perlin(n: int, size: int, *, cells: int, generator: torch.Generator) -> Tensor:
    """Perlin noise [n, size, size], about −1 to 1, zero at the corners of cells × cells squares."""
    device = generator.device
    turn = 2 * math.pi * torch.rand(n, cells + 1, cells + 1, generator=generator, device=device)
    at = torch.arange(size, device=device) * (cells / size)
    cell, inside = at.long(), at - at.floor()
    ease = inside**3 * (inside * (inside * 6 - 15) + 10)
    corners = []
    for down in (0, 1):
        for right in (0, 1):
            spread = turn[:, cell + down][:, :, cell + right]
            across, along = (inside - right)[None, None, :], (inside - down)[None, :, None]
            corners.append(spread.cos() * across + spread.sin() * along)
    top = torch.lerp(corners[0], corners[1], ease[None, None, :])
    bottom = torch.lerp(corners[2], corners[3], ease[None, None, :])
    return math.sqrt(2) * torch.lerp(top, bottom, ease[None, :, None])


class _Draw:
    """Draws a number for each picture."""

    def __init__(self, n: int, generator: torch.Generator) -> None:
        self.n, self.generator = n, generator

    def between(self, low: float, high: float) -> Tensor:
        """[n], evenly distributed."""
        drawn = torch.rand(self.n, generator=self.generator, device=self.generator.device)
        return low + (high - low) * drawn


def _normal(like: Tensor, generator: torch.Generator) -> Tensor:
    return torch.randn(like.shape, generator=generator, device=like.device, dtype=like.dtype)


def _hue(turn_rad: Tensor, saturation: Tensor) -> Tensor:
    """[n, 3, 3]: colours turned around the grey axis and made paler or stronger."""
    there = torch.tensor(_TO_YIQ, device=turn_rad.device)
    back = torch.linalg.inv(there)
    turned = torch.zeros(len(turn_rad), 3, 3, device=turn_rad.device)
    turned[:, 0, 0] = 1
    cosine, sine = saturation * turn_rad.cos(), saturation * turn_rad.sin()
    turned[:, 1, 1], turned[:, 1, 2], turned[:, 2, 1], turned[:, 2, 2] = cosine, -sine, sine, cosine
    matrix: Tensor = back @ turned @ there
    return matrix
