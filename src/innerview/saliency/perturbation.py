"""Pictures with a part taken away, and what the subject says of them: what perturbation methods share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from innerview.schema import Parameter, Rows, Watch

if TYPE_CHECKING:
    from torch import Tensor

    from innerview.schema import InputSpec
    from innerview.subjects import Subject

EVERY = Parameter(
    name="every",
    type="int",
    default=5,
    low=1,
    high=64,
    description="A part is taken away around every so many pixels, down and across.",
)
BLUR = Parameter(
    name="blur",
    type="float",
    default=3.0,
    low=0.1,
    high=64.0,
    description="How far the blur reaches that stands where information was taken away, in pixels.",
)
SPOT = Parameter(
    name="spot",
    type="float",
    default=5.0,
    low=0.1,
    high=64.0,
    description="How far around each place information is taken away, in pixels: the standard deviation of a Gaussian.",
)
Fill = Literal["black", "mean", "blur"]
FILLS: tuple[Fill, ...] = ("black", "mean", "blur")
_NUMBERS_AT_ONCE = {"cpu": 2**21, "cuda": 2**26}
"""How many numbers of pictures are run together: enough for the cores, little enough for the cache."""


@dataclass(frozen=True)
class Grid:
    """Places over a picture, one every so many pixels."""

    down: Tensor
    """[places], in pixels."""
    across: Tensor
    rows: int
    columns: int

    @staticmethod
    def over(spec: InputSpec, every: int) -> Grid:
        """Places in the middle of squares of that size."""
        import torch

        height, width = spec.shape[1:]
        ys, xs = (torch.arange(every // 2, size, every, dtype=torch.float32) for size in (height, width))
        down, across = torch.meshgrid(ys, xs, indexing="ij")
        return Grid(down.flatten(), across.flatten(), len(ys), len(xs))

    def spots(self, spec: InputSpec, sigma: float) -> Tensor:
        """Gaussians of height 1 around each place, [places, 1, height, width]."""
        import torch

        height, width = spec.shape[1:]
        ys, xs = torch.arange(height)[None, :, None], torch.arange(width)[None, None, :]
        far = (ys - self.down[:, None, None]) ** 2 + (xs - self.across[:, None, None]) ** 2
        return torch.exp(-far / (2 * sigma**2))[:, None]

    def pictured(self, values: Tensor, spec: InputSpec) -> Tensor:
        """A value per place [row, places] as pictures [row, 1, height, width], smooth between the places."""
        from torch.nn.functional import interpolate

        small = values.view(-1, 1, self.rows, self.columns)
        return interpolate(small, size=tuple(spec.shape[1:]), mode="bilinear", align_corners=False)


def image_input(subject: Subject) -> InputSpec:
    """The first input that is a picture."""
    return next(spec for spec in subject.info.inputs if spec.kind == "image")


def blurred(pictures: Tensor, sigma: float) -> Tensor:
    """Every channel of pictures [row, channel, height, width] blurred by a Gaussian; edges are mirrored."""
    import torch
    from torch.nn.functional import conv2d, pad

    reach = min(max(1, round(3 * sigma)), min(pictures.shape[2:]) - 1)
    at = torch.arange(-reach, reach + 1, dtype=pictures.dtype, device=pictures.device)
    kernel = torch.exp(-(at**2) / (2 * sigma**2))
    kernel = kernel / kernel.sum()
    flat = pictures.reshape(-1, 1, *pictures.shape[2:])
    flat = conv2d(pad(flat, (0, 0, reach, reach), mode="reflect"), kernel.view(1, 1, -1, 1))
    flat = conv2d(pad(flat, (reach, reach, 0, 0), mode="reflect"), kernel.view(1, 1, 1, -1))
    return flat.view_as(pictures)


def covered(rows: Rows, image: InputSpec, pictures: Tensor, fill: Fill, blur: float) -> Tensor:
    """What stands in the place of pictures [row, channel, height, width]: black, their mean colour, or a blur."""
    if fill == "black":
        black = rows.ends[image.name][0] if image.name in rows.ends else 0
        return pictures * 0 + black
    return blurred(pictures, blur) if fill == "blur" else pictures.mean((2, 3), keepdim=True).expand_as(pictures)


def beginning(rows: Rows, spec: InputSpec, values: Tensor, fill: Fill) -> Tensor:
    """Where a path to values of an input begins: pictures as they would be covered, vectors at 0."""
    return values * 0 if spec.kind != "image" else covered(rows, spec, values, fill, min(spec.shape[1:]) / 8)


def perturbed(
    rows: Rows,
    subject: Subject,
    masks: Tensor,
    replacement: Callable[[Tensor], Tensor],
    measure: Callable[[Mapping[str, Tensor], Mapping[str, Tensor]], Tensor],
    watch: Watch,
) -> Tensor:
    """How far the subject's heads move for each mask [places, 1, height, width], many masks in one run: [row, places].

    A masked picture is the picture where the mask is 0 and its `replacement` where it is 1. `measure` is given the
    heads of the row as it is, repeated, and of the masked pictures, both [places, size].
    """
    import torch

    from innerview.subjects import laid

    image = image_input(subject)
    at_once = max(1, _NUMBERS_AT_ONCE.get(subject.device.type, 2**21) // int(np.prod(image.shape)))
    found = []
    for place in range(rows.count):
        watch(place, rows.count, "perturbing")
        here = np.array([place])
        inputs, memory = laid(subject, rows.inputs(here)), rows.memory_before(here)
        own, instead = inputs[image.name], replacement(inputs[image.name])
        whole = subject.run(inputs, memory).heads
        parts = []
        for some in torch.split(masks.to(own), at_once):
            pictures = own + some * (instead - own)
            given = {n: v.expand(len(some), *v.shape[1:]) for n, v in inputs.items()} | {image.name: pictures}
            state = {n: v.expand(len(some), *v.shape[1:]).contiguous() for n, v in memory.items()}
            said = subject.run(given, state).heads
            parts.append(measure({n: v.expand(len(some), -1) for n, v in whole.items()}, said))
        found.append(torch.cat(parts))
    return torch.stack(found)
