"""Optimises pictures by gradient ascent, each towards its objective."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from innerview.errors import LensError
from innerview.features.visualisation.aim import Aim, Seen
from innerview.features.visualisation.canvas import Canvas, Shaking, penalty

if TYPE_CHECKING:
    from torch import Tensor

    from innerview.subjects import Subject

_RATE = 0.05
_MEAN, _SQUARE, _TINY = 0.9, 0.999, 1e-8


@dataclass(frozen=True, kw_only=True)
class GradientAscent:
    """Holds canvases, what each is for, and how far each has come."""

    subject: Subject
    layer: str
    input: str
    aim: Aim
    seen: Seen
    canvas: Canvas
    shaking: Shaking
    area: float
    """Pixels that what it is optimised for can see."""
    way: list[np.ndarray] = field(default_factory=list)
    """[picture] after each step: how far it was, shaken as it is, 1 being the strongest observation."""

    def run(self, steps: int, *, seed: int, reach: float, l2: float, tv: float) -> Iterator[int]:
        """One step after the other; between them the pictures can be looked at."""
        import torch

        numbers = self.canvas.numbers
        descent = Adam(numbers)
        generator = torch.Generator().manual_seed(seed + 1)
        baseline, span = (torch.as_tensor(part).to(numbers) for part in (self.seen.baseline, self.seen.span))
        for step in range(steps):
            with torch.enable_grad():
                shares = self.canvas.shares()
                shaken = self.shaking.shaken(shares, self.canvas, generator)
                times = (self.aim.own(self._responses(shaken, grad=True)) - baseline) / span
                goal = gain(times.clamp_max(reach) if reach else times)
                cost = penalty(shares, self.canvas.palette, area=self.area, l2=l2, tv=tv)
                (gradient,) = torch.autograd.grad((cost - goal).sum(), [numbers])
            descent.step(gradient)
            self.way.append(times.detach().cpu().numpy())
            yield step

    def pictures(self) -> np.ndarray:
        """As bytes [picture, height, width, channel], as they would be recorded."""
        import torch

        with torch.no_grad():
            shares = self.canvas.middle(self.canvas.shares())
        drawn: np.ndarray = (255 * shares).round().to(torch.uint8).permute(0, 2, 3, 1).cpu().numpy()
        return drawn

    def reached(self, pictures: np.ndarray) -> np.ndarray:
        """[picture]: what the subject responds to these bytes, held still."""
        import torch

        shares = torch.as_tensor(pictures).permute(0, 3, 1, 2).to(self.canvas.numbers) / 255
        found: np.ndarray = self.aim.own(self._responses(shares, grad=False)).cpu().numpy()
        return found

    def _responses(self, shares: Tensor, *, grad: bool) -> Tensor:
        from innerview.subjects import blanks

        given = blanks(self.subject, len(shares)) | {self.input: self.canvas.palette.inputs(shares)}
        return self.subject.run(given, keep=(self.layer,), grad=grad).sites[self.layer]


def gain(times: Tensor) -> Tensor:
    """What a response is worth: up to the strongest observation all of it, beyond only its logarithm.

    Deep layers can be driven to ten times what any observation reaches; without this, penalties that fit a shallow
    layer would count for nothing there.
    """
    import torch

    return torch.where(times <= 1, times, 1 + times.clamp_min(1).log())


class Adam:
    """Follows a gradient by its sign where it is steady, as Kingma and Ba do; torch's own takes seconds to import."""

    def __init__(self, numbers: Tensor) -> None:
        self.numbers, self.count = numbers.detach(), 0
        self.mean, self.square = self.numbers * 0, self.numbers * 0

    def step(self, gradient: Tensor) -> None:
        """One step downhill, in place."""
        self.count += 1
        for kept, new, share in ((self.mean, gradient, _MEAN), (self.square, gradient.square(), _SQUARE)):
            kept.mul_(share).add_(new, alpha=1 - share)
        size = (self.square / (1 - _SQUARE**self.count)).sqrt() + _TINY
        self.numbers -= _RATE * (self.mean / (1 - _MEAN**self.count)) / size


def visualised_input(subject: Subject, layer: str, pictures: Mapping[str, Tensor]) -> str:
    """The first picture that a layer looks at."""
    import torch

    from innerview.subjects import blanks

    for name, seen in pictures.items():
        given = blanks(subject, 1) | {name: seen[:1].detach().clone().requires_grad_()}
        with torch.enable_grad():
            said = subject.run(given, keep=(layer,), grad=True).sites[layer].sum()
            looked = torch.autograd.grad(said, [given[name]], allow_unused=True)[0] if said.requires_grad else None
        if looked is not None:
            return name
    raise LensError(
        f"Layer '{layer}' of '{subject.info.name}' looks at no picture, so none can be optimised for it. "
        f"Image inputs: {', '.join(pictures) or 'none'}."
    )
