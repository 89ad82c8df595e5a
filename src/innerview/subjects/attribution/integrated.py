"""Integrated gradients at a layer: what each activation adds to a target. Lenses of several rooms build on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from innerview.errors import LensError
from innerview.subjects.attribution.dependence import head_of, middle_for, reaching_layers
from innerview.subjects.attribution.tail import Tail, tail
from innerview.subjects.attribution.targets import Score, scorer
from innerview.subjects.subject import Subject

_NUMBERS_AT_ONCE = {"cpu": 2**21, "cuda": 2**26}
"""How many numbers of the layer go through the tail together: enough for the cores, little enough for the cache."""


@dataclass(frozen=True)
class Attribution:
    """How much each activation of a layer adds to a score."""

    values: Tensor
    """[rows, channel, height, width]: their sum is the score less the score at the baseline."""
    score: Tensor
    """[rows]."""
    baseline_score: Tensor
    """[rows]."""
    tail: Tail

    @property
    def error(self) -> Tensor:
        """[rows], what the sum misses, as a share of what it should be; large where that is near nothing."""
        wanted = self.score - self.baseline_score
        return (self.values.flatten(1).sum(1) - wanted).abs() / wanted.abs().clamp_min(1e-6)


def attribute(
    subject: Subject,
    inputs: Mapping[str, Tensor],
    memory: Mapping[str, Tensor] | None = None,
    *,
    layer: str = "",
    target: str = "value",
    steps: int = 50,
    baseline: Tensor | None = None,
) -> Attribution:
    """Integrate the gradient from a baseline [channel, height, width], zero unless given, to what the layer put out."""
    layer = layer or middle_for(subject, target)
    whole = subject.run(inputs, memory, keep=(layer,))
    reached = whole.sites[layer].detach()
    if reached.ndim != 4:
        raise LensError(
            f"Layer '{layer}' puts out {list(reached.shape[1:])} per row, without height and width. Layers that have "
            f"both: {', '.join(subject.convolutions) or 'none'}."
        )
    start = reached.new_zeros(reached.shape[1:]) if baseline is None else baseline.to(reached)
    if start.shape != reached.shape[1:]:
        raise LensError(f"The baseline has shape {list(start.shape)}; '{layer}' puts out {list(reached.shape[1:])}.")
    after = tail(subject, layer, inputs, memory)
    at_once = max(1, _NUMBERS_AT_ONCE.get(reached.device.type, 2**21) // start.numel())
    found = []
    for first in range(0, len(reached), at_once):
        rows = slice(first, first + at_once)
        some = {name: value[rows] for name, value in inputs.items()}
        state = None if memory is None else {name: value[rows] for name, value in memory.items()}
        heads = {name: value[rows] if len(value) == len(reached) else value for name, value in whole.heads.items()}
        path = _Path(after, some, state, reached[rows], start, scorer(subject, heads, target))
        along = path.integrate(steps, at_once)
        if along is None:
            raise LensError(_unreached(subject, layer, target))
        found.append((along, *path.ends(heads)))
    values, score, baseline_score = (torch.cat(parts) for parts in zip(*found, strict=True))
    return Attribution(values, score, baseline_score, after)


def _unreached(subject: Subject, layer: str, target: str) -> str:
    others = [name for name in reaching_layers(subject, head_of(subject, target)) if name != layer]
    return (
        f"'{target}' does not depend on layer '{layer}', so there is nothing to attribute. Layers that it depends on: "
        f"{', '.join(others) or 'none of the convolutions'}."
    )


@dataclass(frozen=True)
class _Path:
    """The straight line from the baseline to what a layer put out, for every row."""

    tail: Tail
    inputs: Mapping[str, Tensor]
    memory: Mapping[str, Tensor] | None
    reached: Tensor
    start: Tensor
    score: Score

    def integrate(self, steps: int, at_once: int) -> Tensor | None:
        """By Gauss and Legendre: exact for polynomials of a degree below twice the number of steps.

        None where the score does not depend on the layer.
        """
        places, weights = np.polynomial.legendre.leggauss(steps)
        rows, chunk = len(self.reached), max(1, at_once // len(self.reached))
        way = self._laid(self.reached - self.start)
        start, total = self._laid(self.start.expand_as(way)), torch.zeros_like(way)
        room = torch.empty(
            chunk * rows, *way.shape[1:], dtype=way.dtype, device=way.device, memory_format=self.tail.layout
        )
        for first in range(0, steps, chunk):
            shares = (places[first : first + chunk] + 1) / 2
            between = room[: len(shares) * rows].detach()
            for share, part in zip(shares, between.chunk(len(shares)), strict=True):
                torch.add(start, way, alpha=float(share), out=part)
            with torch.enable_grad():
                score = self.score(self.tail.heads(between.requires_grad_(), self.inputs, self.memory))
                # A score with a weight has a gradient with that weight: there is far less to multiply.
                weight = torch.as_tensor(weights[first : first + chunk] / 2).to(score).repeat_interleave(rows)
                whole = (score * weight).sum()
                gradient = torch.autograd.grad(whole, [between], allow_unused=True)[0] if whole.requires_grad else None
            if gradient is None:
                return None
            for part in gradient.chunk(len(shares)):
                total += part
        return total.mul_(way).contiguous()

    def _laid(self, values: Tensor) -> Tensor:
        return values.contiguous(memory_format=self.tail.layout)

    def ends(self, heads: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        """The scores [rows] where the path ends, which these heads say, and where it begins."""
        begun = self.tail.heads(self._laid(self.start.expand_as(self.reached)), self.inputs, self.memory, grad=False)
        return self.score(heads).detach(), self.score(begun).detach()
