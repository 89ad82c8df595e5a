"""Patches of one picture in another, and what a subject says of each: all of them in few runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from innerview.transfer.domains import spatial_layers

if TYPE_CHECKING:
    from torch import Tensor

    from innerview.subjects import ReceptiveField, Subject, Tail

ACROSS = 6
"""Patches along a side unless said."""
_NUMBERS_AT_ONCE = {"cpu": 2**22, "cuda": 2**27}
"""How many numbers of an input are run together."""
_WORTH = 3
"""The front of a network is shared where that is for so many patches in each of its runs, at least."""
_CLOSE = 1e-4
_SHARED: WeakKeyDictionary[Subject, dict[tuple[int, ...], str]] = WeakKeyDictionary()
"""The layer up to which patches share a run, by size of the picture, patch and step; "" where there is none."""
_TAILS: WeakKeyDictionary[Subject, dict[str, Tail]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Swap:
    """One row as a subject is given it, and the picture that patches are taken from."""

    inputs: Mapping[str, Tensor]
    """[1, …] by name."""
    memory: Mapping[str, Tensor]
    name: str
    """The input whose patches are replaced."""
    instead: Tensor
    """[1, channel, height, width]: as the input, with the other domain's values in the channels that are replaced."""

    def replaced(self, masks: Tensor) -> Tensor:
        """Pictures [n, channel, height, width] with what lies in masks [n, 1, height, width] replaced."""
        import torch

        return torch.where(masks, self.instead, self.inputs[self.name])

    def given(self, pictures: Tensor) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """Inputs and memory of as many rows."""
        count = len(pictures)
        inputs = {name: value.expand(count, *value.shape[1:]) for name, value in self.inputs.items()}
        memory = {name: value.expand(count, *value.shape[1:]).contiguous() for name, value in self.memory.items()}
        return {**inputs, self.name: pictures}, memory


@dataclass(frozen=True)
class Patches:
    """Squares that together cover a picture; those at the far edges are cut off there."""

    height: int
    width: int
    patch: int
    step: int

    @classmethod
    def over(cls, height: int, width: int, patch: int = 0, step: int = 0) -> Patches:
        """Of a side and so far apart; a sixth of the shorter side and beside each other unless said."""
        patch = min(patch or ceil(min(height, width) / ACROSS), max(height, width))
        return cls(height, width, patch, step or patch)

    @cached_property
    def corners(self) -> tuple[tuple[int, int], ...]:
        """Top and left of each, line by line."""
        tops, lefts = (range(0, max(side - self.patch, 0) + self.step, self.step) for side in (self.height, self.width))
        return tuple((top, left) for top in tops if top < self.height for left in lefts if left < self.width)

    @cached_property
    def masks(self) -> Tensor:
        """[patch, 1, height, width]: true inside."""
        first, stride = (0.5 / self.height, 0.5 / self.width), (1 / self.height, 1 / self.width)
        return self._near(0, (self.height, self.width), first, stride)

    def _cells(self, field: ReceptiveField, cells: tuple[int, int]) -> Tensor:
        """[patch, 1, height, width]: which cells of a layer a patch can change."""
        return self._near(field.reach / 2 + 1, cells, field.first, field.stride)

    def _near(
        self, margin: float, cells: tuple[int, int], first: tuple[float, float], stride: tuple[float, float]
    ) -> Tensor:
        """Cells of a grid over the picture, placed by shares of it, that are in a patch or as near to it."""
        import torch

        inside = []
        for axis, side in enumerate((self.height, self.width)):
            middles = (first[axis] + torch.arange(cells[axis], dtype=torch.float64) * stride[axis]) * side
            starts = torch.tensor([corner[axis] for corner in self.corners])[:, None]
            inside.append((middles > starts - margin) & (middles < starts + self.patch + margin))
        return (inside[0][:, :, None] & inside[1][:, None, :])[:, None]

    def pictured(self, values: Tensor) -> Tensor:
        """A value per patch [patch] as a picture [1, height, width]: the mean over the patches that cover a pixel."""
        import torch

        total, times = torch.zeros(2, 1, self.height, self.width, dtype=values.dtype)
        for value, (top, left) in zip(values.tolist(), self.corners, strict=True):
            total[:, top : top + self.patch, left : left + self.patch] += value
            times[:, top : top + self.patch, left : left + self.patch] += 1
        mean: Tensor = total / times.clamp_min(1)
        return mean

    def heads(self, subject: Subject, swap: Swap) -> dict[str, Tensor]:
        """What the subject says of the row as it is, and then with each patch replaced, [1 + patch, size] by head."""
        import torch

        layer = self._shared_layer(subject, swap)
        if layer:
            return self._shared(subject, swap, layer)
        return self._each(subject, swap, torch.cat([torch.zeros_like(self.masks[:1]), self.masks]))

    def _each(self, subject: Subject, swap: Swap, masks: Tensor) -> dict[str, Tensor]:
        """A run for as many patches as fit."""
        import torch

        own = swap.inputs[swap.name]
        at_once = max(1, _NUMBERS_AT_ONCE.get(subject.device.type, 2**22) // own[0].numel())
        parts = [
            subject.run(*swap.given(swap.replaced(some.to(own.device)))).heads for some in torch.split(masks, at_once)
        ]
        return {name: torch.cat([part[name] for part in parts]) for name in parts[0]}

    def _shared(self, subject: Subject, swap: Swap, layer: str, only: slice = slice(None)) -> dict[str, Tensor]:
        """Patches of which no cell of a layer sees two share a picture up to there; then each goes alone."""
        import torch

        from innerview.subjects import receptive_field, tail

        field, own = receptive_field(subject, layer), swap.inputs[swap.name]
        classes = self._classes(field.reach)
        masks = torch.stack([self.masks[classes == c].any(0) for c in range(int(classes.max()) + 1)]).to(own.device)
        masks = torch.cat([torch.zeros_like(masks[:1]), masks])
        run = subject.run(*swap.given(swap.replaced(masks)), keep=(layer,))
        said = run.sites[layer]
        near = self._cells(field, (said.shape[2], said.shape[3]))[only].to(own.device)
        after = _TAILS.setdefault(subject, {}).get(layer)
        if after is None:
            after = _TAILS[subject][layer] = tail(subject, layer, dict(swap.inputs), swap.memory)
        activation = torch.where(near, said[1:][classes[only].to(own.device)], said[:1])
        heads = after.heads(activation.contiguous(memory_format=after.layout), swap.inputs, swap.memory, grad=False)
        return {name: torch.cat([value[:1], heads[name]]) for name, value in run.heads.items()}

    def _classes(self, reach: int) -> Tensor:
        """[patch]: which of the pictures that patches share each of them is in."""
        import torch

        apart = ceil((reach + 2 + self.patch) / self.step)
        numbers = {corner: place for place, corner in enumerate(self.corners)}
        kinds = [(top // self.step % apart) * apart + left // self.step % apart for top, left in numbers]
        order = {kind: place for place, kind in enumerate(sorted(set(kinds)))}
        return torch.tensor([order[kind] for kind in kinds])

    def _shared_layer(self, subject: Subject, swap: Swap) -> str:
        """The last layer up to which sharing is worth it, tried on this row: some patches must say the same alone."""
        key = (self.height, self.width, self.patch, self.step)
        known = _SHARED.setdefault(subject, {})
        if key not in known:
            known[key] = self._found_layer(subject, swap)
        return known[key]

    def _found_layer(self, subject: Subject, swap: Swap) -> str:
        import torch

        from innerview.subjects import receptive_field, tail

        images = [spec for spec in subject.info.inputs if spec.kind == "image"]
        if len(images) != 1 or subject.info.memory:
            return ""
        some, best = slice(0, None, max(1, len(self.corners) // 8)), ""
        for layer in _last_of_each_size(subject):
            runs = int(self._classes(receptive_field(subject, layer).reach).max()) + 2
            if runs * _WORTH > len(self.corners):
                break  # deeper ones see more
            best = layer
        if not best or not tail(subject, best, dict(swap.inputs), swap.memory).alone:
            return ""
        alone, shared = self._each(subject, swap, self.masks[some]), self._shared(subject, swap, best, some)
        same = all(torch.allclose(alone[name], shared[name][1:], atol=_CLOSE, rtol=_CLOSE) for name in alone)
        return best if same else ""


def _last_of_each_size(subject: Subject) -> list[str]:
    """Of the layers with as many cells, the last; finest first."""
    shapes = dict(zip(subject.info.layers, subject.info.layer_shapes, strict=False))
    last = {shapes[name][1:]: name for name in spatial_layers(subject)}
    return sorted(last.values(), key=lambda name: -shapes[name][1])
