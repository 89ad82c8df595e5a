"""Pictures with a part taken away, and what the subject says of them: what perturbation methods share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from innerview.saliency.backpropagation import inputs_of
from innerview.schema import Parameter, Rows, Watch

if TYPE_CHECKING:
    from torch import Tensor

    from innerview.schema import InputSpec
    from innerview.subjects import Subject

EVERY = Parameter(
    name="every",
    type="int",
    default=0,
    low=0,
    high=64,
    description="A part is taken away around every so many pixels, down and across; 0: 5, or less in a small picture.",
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
    default=0.0,
    low=0.0,
    high=64.0,
    description="How far around each place information is taken away, in pixels: the standard deviation of a Gaussian; "
    "0: as far as from one place to the next.",
)
Fill = Literal["black", "mean", "blur"]
FILLS: tuple[Fill, ...] = ("black", "mean", "blur")
_NUMBERS_AT_ONCE = {"cpu": 2**21, "cuda": 2**26}
"""How many numbers of an input are run together: enough for the cores, little enough for the cache."""
_AT_ONCE = 512
"""Parts in one run, at most."""
_EVERY, _SMALL = 5, 40
"""Pixels between places; in a picture smaller than that, an eighth of its shorter side."""
Measure = Callable[[Mapping[str, "Tensor"], Mapping[str, "Tensor"]], "Tensor"]
"""Takes the heads of a row as it is, repeated, and of what was masked, both [places, size]; gives [places]."""


@dataclass(frozen=True)
class Parts:
    """What is taken away of an input, part after part."""

    masks: Tensor
    """[places, …] as the input: 1 where a part is taken away."""
    replacement: Callable[[Tensor], Tensor]
    """What stands in the place of values [row, …]."""
    pictured: Callable[[Tensor], Tensor]
    """A value per part [row, places] as heat of the input [row, …]."""


def features(spec: InputSpec) -> Parts:
    """Each feature of a vector, or each square of a board, alone; 0 stands in its place."""
    import torch

    count = int(np.prod(spec.shape, dtype=int))
    masks = torch.eye(count).view(count, *spec.shape)
    return Parts(masks, lambda values: values * 0, lambda found: found.view(len(found), *spec.shape))


def spots(spec: InputSpec, every: int, spot: float, blur: float) -> Parts:
    """Gaussians around places of a picture; it stands there blurred."""
    every = every or (_EVERY if min(spec.shape[1:]) >= _SMALL else max(1, min(spec.shape[1:]) // 8))
    grid = Grid.over(spec, every)
    return Parts(
        grid.spots(spec, spot or float(every)),
        lambda values: blurred(values, blur),
        lambda found: grid.pictured(found, spec),
    )


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
    rows: Rows, subject: Subject, of_image: Callable[[InputSpec], Parts], measure: Measure, watch: Watch
) -> dict[str, Tensor]:
    """How far the subject's heads move when a part of an input is taken away, as heat by name of the input.

    Pictures by the parts that are given for them, vectors feature by feature; all other inputs stay as they are.
    """
    specs = {spec.name: spec for spec in subject.info.inputs}
    found = {}
    for name in inputs_of(subject):
        parts = of_image(specs[name]) if specs[name].kind == "image" else features(specs[name])
        found[name] = parts.pictured(_moved(rows, subject, name, parts, measure, watch))
    return found


def _moved(rows: Rows, subject: Subject, name: str, parts: Parts, measure: Measure, watch: Watch) -> Tensor:
    """Many parts in one run: [row, places]."""
    import torch

    from innerview.subjects import laid

    each = int(np.prod(next(spec.shape for spec in subject.info.inputs if spec.name == name)))
    at_once = max(1, min(_AT_ONCE, _NUMBERS_AT_ONCE.get(subject.device.type, 2**21) // max(1, each)))
    found = []
    for place in range(rows.count):
        watch(place, rows.count, "perturbing")
        here = np.array([place])
        inputs, memory = laid(subject, rows.inputs(here)), rows.memory_before(here)
        own, instead = inputs[name], parts.replacement(inputs[name])
        whole = subject.run(inputs, memory).heads
        moved = []
        for some in torch.split(parts.masks.to(own), at_once):
            changed = own + some * (instead - own)
            given = {n: v.expand(len(some), *v.shape[1:]) for n, v in inputs.items()} | {name: changed}
            state = {n: v.expand(len(some), *v.shape[1:]).contiguous() for n, v in memory.items()}
            said = subject.run(given, state).heads
            moved.append(measure({n: v.expand(len(some), -1) for n, v in whole.items()}, said))
        found.append(torch.cat(moved))
    return torch.stack(found)
