"""Ways in which pictures of two domains can differ: each is measured over all pairs, and one alone is carried over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

SIGMAS_PX = (0.0, 0.4, 0.6, 0.8, 1.0, 1.3, 1.6, 2.0, 2.5, 3.2, 4.0)
_TINY = 1e-6
_GRAINIER = 0.004
"""A spread of one step of a byte is no noise."""
_MEDIANS = 3


@dataclass(frozen=True)
class Look:
    """How pictures of a domain look as a whole: colour channels alone, from 0 to 1."""

    means: Tensor
    """[colour]."""
    contrast: float
    """Mean over the pictures of their spread as a share of their mean."""
    detail: float
    """Root mean square of what neighbours differ by, beside the spread: falls with blur, rises with noise."""
    grain: float
    """Spread of the finest noise, by the median of second differences in both directions (Immerkær's mask)."""

    @classmethod
    def of(cls, colours: Tensor) -> Look:
        """Of pictures [row, colour, height, width]."""
        grey = colours.mean(1)
        mean, spread = grey.mean((1, 2)), grey.std((1, 2))
        across, down = grey[:, :, 1:] - grey[:, :, :-1], grey[:, 1:] - grey[:, :-1]
        steps = (across.square().mean((1, 2)) + down.square().mean((1, 2))).sqrt()
        detail = (steps / spread.clamp_min(_TINY)).median()
        return cls(
            means=colours.mean((0, 2, 3)),
            contrast=float((spread / mean.clamp_min(_TINY)).median()),
            detail=float(detail),
            grain=grain_of(colours),
        )


def grain_of(colours: Tensor) -> float:
    """Standard deviation of noise that is independent from pixel to pixel: its mask ignores edges and slopes."""
    a, b, c = colours[:, :, :-2], colours[:, :, 1:-1], colours[:, :, 2:]
    lines = [line[..., :-2] - 2 * line[..., 1:-1] + line[..., 2:] for line in (a, b, c)]
    masked = (lines[0] - 2 * lines[1] + lines[2]).abs()
    return float(masked.flatten().median() / (0.6745 * 6))


Carry = Callable[["Tensor", "Look", "Look"], "Tensor"]
"""Pictures [row, colour, height, width] of one look with one property of another."""


def brightness(colours: Tensor, own: Look, wanted: Look) -> Tensor:
    """All channels times one number: the mean becomes the other's."""
    return colours * (wanted.means.mean() / own.means.mean().clamp_min(_TINY))


def contrast(colours: Tensor, own: Look, wanted: Look) -> Tensor:
    """Each picture spread about its mean as the other's are."""
    mean = colours.mean((1, 2, 3), keepdim=True)
    return mean + (colours - mean) * (wanted.contrast / max(own.contrast, _TINY))


def white_balance(colours: Tensor, own: Look, wanted: Look) -> Tensor:
    """Each channel times a number of its own, the brightness as it was."""
    gains = (wanted.means / wanted.means.mean()) / (own.means / own.means.mean()).clamp_min(_TINY)
    return colours * gains.view(1, -1, 1, 1)


def blur(colours: Tensor, own: Look, wanted: Look) -> Tensor:
    """Blurred so far that neighbours differ as little as the other's; sharp pictures cannot be made of blurred ones.

    Noise makes neighbours differ too: pictures that are grainier are not taken for sharper ones.
    """
    if own.detail <= wanted.detail or own.grain > wanted.grain + _GRAINIER:
        return colours
    tried = [blurred(colours, sigma) for sigma in SIGMAS_PX]
    off = [abs(Look.of(each).detail - wanted.detail) for each in tried]
    return tried[off.index(min(off))]


def noise(colours: Tensor, own: Look, wanted: Look) -> Tensor:
    """As much independent noise as is missing to the other's grain; of too much, a median over neighbours takes it."""
    import torch

    for _ in range(_MEDIANS):
        if own.grain > wanted.grain + _GRAINIER and grain_of(colours) > wanted.grain:
            colours = median(colours)
    missing = max(wanted.grain**2 - own.grain**2, 0.0) ** 0.5
    seeded = torch.Generator().manual_seed(0)
    added: Tensor = colours + missing * torch.randn(colours.shape, generator=seeded).to(colours)
    return added


COLOUR_FACTORS: Mapping[str, Carry] = {
    "brightness": brightness,
    "contrast": contrast,
    "white balance": white_balance,
    "blur": blur,
    "noise": noise,
}
FACTORS = (*COLOUR_FACTORS, "depth")
"""Depth is carried over as it is: every pair has the other's."""


def carried(pictures: Tensor, others: Tensor, factor: str, depth: tuple[bool, ...], looks: tuple[Look, Look]) -> Tensor:
    """Pictures [row, channel, height, width] from 0 to 1 with one factor of the others."""
    import torch

    is_depth = torch.tensor(depth, device=pictures.device)
    if factor == "depth":
        return torch.where(is_depth.view(1, -1, 1, 1), others, pictures)
    made = pictures.clone()
    made[:, ~is_depth] = COLOUR_FACTORS[factor](pictures[:, ~is_depth], *looks).clamp(0, 1)
    return made


def median(pictures: Tensor) -> Tensor:
    """Of each pixel and its eight neighbours, channel by channel; edges are repeated."""
    import torch
    from torch.nn.functional import pad

    wide = pad(pictures, (1, 1, 1, 1), mode="replicate")
    height, width = pictures.shape[2:]
    near = [wide[:, :, down : down + height, across : across + width] for down in range(3) for across in range(3)]
    return torch.stack(near).median(0).values


def blurred(pictures: Tensor, sigma: float) -> Tensor:
    """Each channel blurred by a Gaussian; edges are mirrored."""
    import torch
    from torch.nn.functional import conv2d, pad

    if not sigma:
        return pictures
    reach = min(max(1, round(3 * sigma)), min(pictures.shape[2:]) - 1)
    at = torch.arange(-reach, reach + 1, dtype=pictures.dtype, device=pictures.device)
    kernel = torch.exp(-(at**2) / (2 * sigma**2))
    kernel = kernel / kernel.sum()
    flat = pictures.reshape(-1, 1, *pictures.shape[2:])
    flat = conv2d(pad(flat, (0, 0, reach, reach), mode="reflect"), kernel.view(1, 1, -1, 1))
    flat = conv2d(pad(flat, (reach, reach, 0, 0), mode="reflect"), kernel.view(1, 1, 1, -1))
    return flat.reshape(pictures.shape)
