"""The first layer of a subject, where all that the heads know of a picture comes through it and it is linear."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from innerview.subjects.attribution.tail import Tail, tail
from innerview.subjects.subject import Subject

_CLOSE = 1e-5


@dataclass(frozen=True)
class Stem:
    """What a first layer put out at both ends of a straight line, and the way back through it."""

    tail: Tail
    input: str
    given: Tensor
    """What leads to it, which its output hangs on."""
    said: Tensor
    """What it puts out, with the graph that leads back."""
    begun: Tensor

    @property
    def begin(self) -> dict[str, Tensor]:
        """Where the line begins behind the layer, by its name."""
        return {self.tail.layer: self.begun}

    @property
    def end(self) -> dict[str, Tensor]:
        """Where it ends."""
        return {self.tail.layer: self.said.detach()}

    def back(self, gradients: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Gradients by what the layer puts out as those by its input, by name."""
        (found,) = torch.autograd.grad(self.said, [self.given], gradients[self.tail.layer], retain_graph=True)
        return {self.input: found}


def stem_of(
    subject: Subject, inputs: Mapping[str, Tensor], memory: Mapping[str, Tensor], start: Mapping[str, Tensor]
) -> Stem | None:
    """The first convolution of a subject with one input, if it is linear from `start` to `inputs`; tried on these."""
    if len(subject.info.inputs) != 1 or set(start) != set(inputs) or not subject.convolutions:
        return None
    (name,), layer = inputs, subject.convolutions[0]
    given = inputs[name].detach().clone().requires_grad_()
    after = tail(subject, layer, inputs, memory)
    if not after.alone:
        return None
    with torch.enable_grad():
        said = subject.run({name: given}, memory, keep=(layer,), grad=True).sites[layer]
    middle = (inputs[name] + start[name]) / 2
    begun, half = (subject.run({name: value}, memory, keep=(layer,)).sites[layer] for value in (start[name], middle))
    if said.shape[0] != len(given) or not said.requires_grad:
        return None
    far = ((said.detach() + begun) / 2 - half).abs().max() > _CLOSE * half.abs().max()
    return None if bool(far) else Stem(after, name, given, said, begun)
