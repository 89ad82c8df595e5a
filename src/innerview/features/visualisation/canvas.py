"""Pictures that are optimised by following a gradient: how they are held, what colours they have, how they are
shaken.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from torch import Generator, Tensor

HELD = ("fourier", "pixels")
_SPREAD = 1.0
"""How far colours reach from the usual one at the beginning of the sigmoid, in its own units."""
_BEGIN = 0.01
"""How much noise there is at the start."""
_RAREST = 0.01
"""No mixture of channels counts as rarer than this share of the commonest: what never varied may still be optimised."""
_TINY = 1e-6


@dataclass(frozen=True, kw_only=True)
class Palette:
    """What observations look like: from black to white as the subject takes them, and colours that come together."""

    low: Tensor
    """[channel, height, width]: black."""
    high: Tensor
    """[channel, height, width]: white."""
    middle: Tensor
    """[channel], from 0 to 1: the usual colour."""
    mix: Tensor
    """[channel, channel]: turns noise of its own in each channel into colours, or frames, that vary as observed."""
    rarity: Tensor
    """[channel, channel]: turns how far a colour is from the usual one into how rare it is, in standard deviations."""

    def inputs(self, shares: Tensor) -> Tensor:
        """From black (0) to white (1), as the subject takes it."""
        return self.low + shares * (self.high - self.low)


def palette_of(pictures: Tensor, ends: tuple[Any, Any] | None) -> Palette:
    """Black and white where they are known, else the range of what was seen, [rows, channel, height, width]."""
    import torch

    if ends is not None:
        low, high = (torch.as_tensor(end).to(pictures) for end in ends)
    else:
        low, high = (end[:, None, None].expand(pictures.shape[1:]) for end in _range(pictures))
    span = torch.where(high > low, high - low, torch.ones_like(high))
    shares = ((pictures - low) / span).clamp(0, 1).transpose(0, 1).flatten(1)
    middle = shares.mean(dim=1)
    apart = (shares - middle[:, None]).double()
    values, vectors = torch.linalg.eigh(apart @ apart.T / max(1, apart.shape[1]))
    values = values.clamp_min(max(_RAREST * float(values.max()), _TINY))
    root, rare = (vectors * values**power for power in (0.5, -0.5))
    mix = root / root.norm(dim=1).amax()
    return Palette(low=low, high=high, middle=middle, mix=mix.to(pictures), rarity=rare.T.to(pictures))


def _range(pictures: Tensor) -> tuple[Tensor, Tensor]:
    flat = pictures.transpose(0, 1).flatten(1)
    return flat.amin(dim=1), flat.amax(dim=1)


@dataclass(frozen=True)
class Canvas:
    """Some pictures of a size with a margin around, as numbers that a gradient can follow."""

    palette: Palette
    held: str
    size: tuple[int, int]
    margin: int
    numbers: Tensor
    weights: Tensor
    """Of frequencies, where it is optimised in those."""

    def shares(self) -> Tensor:
        """[pictures, channel, height, width] with the margin, from black (0) to white (1)."""
        import torch

        flat = self._plain()
        colours = torch.einsum("dc,nchw->ndhw", self.palette.mix, flat) * _SPREAD
        middle = self.palette.middle.clamp(0.05, 0.95)
        return torch.sigmoid(colours + torch.logit(middle)[:, None, None])

    def _plain(self) -> Tensor:
        """Numbers as pictures whose channels know nothing of each other."""
        import torch

        if self.held == "pixels":
            return self.numbers
        height, width = (side + 2 * self.margin for side in self.size)
        spectrum = torch.view_as_complex(self.numbers) * self.weights
        flat: Tensor = torch.fft.irfft2(spectrum, s=(height, width), norm="ortho")
        return flat

    def middle(self, shares: Tensor) -> Tensor:
        """Without the margin."""
        (height, width), m = self.size, self.margin
        return shares[..., m : m + height, m : m + width]


def blank(palette: Palette, *, count: int, held: str, margin: int, seed: int) -> Canvas:
    """Canvases with next to nothing on them, the same for the same seed on any machine."""
    import torch

    channels, height, width = palette.low.shape
    tall, wide = height + 2 * margin, width + 2 * margin
    generator = torch.Generator().manual_seed(seed)
    shape = (count, channels, tall, wide) if held == "pixels" else (count, channels, tall, wide // 2 + 1, 2)
    numbers = (_BEGIN * torch.randn(shape, generator=generator)).to(palette.low).requires_grad_()
    return Canvas(palette, held, (height, width), margin, numbers, _falling(tall, wide).to(numbers))


def _falling(height: int, width: int) -> Tensor:
    """Weights of a spectrum that falls with frequency, as that of pictures does: large shapes come first."""
    import torch

    y, x = np.fft.fftfreq(height)[:, None], np.fft.rfftfreq(width)[None]
    frequency = np.sqrt(y**2 + x**2)
    weights = 1 / np.maximum(frequency, 1 / max(height, width))
    return torch.as_tensor(weights / weights.mean() * 4)


@dataclass(frozen=True, kw_only=True)
class Shaking:
    """What is done to pictures between steps, so that only what stands it is optimised."""

    jitter: int
    turn: float
    """In degrees."""
    zoom: float
    """As a share."""

    def shaken(self, shares: Tensor, canvas: Canvas, generator: Generator) -> Tensor:
        """Moved by some pixels, turned and zoomed a little, and cut to their size."""
        import torch
        from torch.nn.functional import affine_grid, grid_sample

        drawn = torch.rand(4, generator=generator).tolist()
        if self.turn or self.zoom:
            angle = math.radians(self.turn) * (2 * drawn[2] - 1)
            scale = 1 + self.zoom * (2 * drawn[3] - 1)
            ratio = shares.shape[2] / shares.shape[3]
            cos, sin = math.cos(angle) / scale, math.sin(angle) / scale
            turned = torch.tensor([[cos, -sin * ratio, 0], [sin / ratio, cos, 0]]).to(shares)
            grid = affine_grid(turned.expand(len(shares), -1, -1), list(shares.shape), align_corners=False)
            shares = grid_sample(shares, grid, padding_mode="reflection", align_corners=False)
        top, left = (canvas.margin + round(self.jitter * (2 * part - 1)) for part in drawn[:2])
        return shares[:, :, top : top + canvas.size[0], left : left + canvas.size[1]]


def penalty(shares: Tensor, palette: Palette, *, area: float, l2: float, tv: float) -> Tensor:
    """[pictures]: what extreme colours and unrest cost, added up and seen from the area that counts."""
    import torch

    whole = shares.shape[1] * area
    apart = shares - palette.middle[:, None, None]
    far = torch.einsum("dc,nchw->ndhw", palette.rarity, apart).square().flatten(1).sum(dim=1)
    rough = sum(torch.diff(shares, dim=side).abs().flatten(1).sum(dim=1) for side in (2, 3))
    return (l2 * far + tv * rough) / whole
