"""Where in a picture the cells of a layer look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

if TYPE_CHECKING:
    from innerview.subjects.subject import Subject

_NOISE = 16
"""Pictures of noise that show what a cell sees: in one alone, much is below zero and passes nothing on."""
_WHOLE = 0.95
"""A cell that sees so much of what another sees is not cut off."""
_SAME_PX = 0.75
"""Cells that are no farther from an even grid lie on it."""


def blanks(subject: Subject, rows: int, *, grad: bool = False) -> dict[str, Tensor]:
    """Every input with nothing in it; gradients flow back to it where asked."""
    given = {}
    for spec in subject.info.inputs:
        blank = torch.zeros(rows, *spec.shape, dtype=getattr(torch, spec.dtype), device=subject.device)
        given[spec.name] = blank.requires_grad_(grad and blank.is_floating_point())
    return given


@dataclass(frozen=True)
class ReceptiveField:
    """Where in the picture the cells of a layer look."""

    reach: int
    """How many pixels the middle cell sees, along the longer side."""
    first: tuple[float, float]
    """The middle of what the first cell sees, down and across, as shares of the picture."""
    stride: tuple[float, float]
    """From one cell to the next."""

    @classmethod
    def even(cls, grid: tuple[int, int], reach: int) -> ReceptiveField:
        """Cells that part the picture among them."""
        return cls(reach, (0.5 / grid[0], 0.5 / grid[1]), (1 / grid[0], 1 / grid[1]))

    def is_even(self, grid: tuple[int, int]) -> bool:
        """Whether they do."""
        return self == ReceptiveField.even(grid, self.reach)

    def summary(self) -> dict[str, Any]:
        """As JSON."""
        return {"first": list(self.first), "stride": list(self.stride)}

    def pictured(self, cells: Tensor, size: Sequence[int]) -> Tensor:
        """Values of cells [n, channel, height, width] as pictures: straight from middle to middle, level beyond."""
        down, across = (self._shares(axis, cells.shape[2 + axis], pixels, cells) for axis, pixels in enumerate(size))
        return down @ cells @ across.T

    def _shares(self, axis: int, cells: int, pixels: int, like: Tensor) -> Tensor:
        """How much of each cell a pixel takes along an axis, [pixel, cell]: of the two beside it, or of the last."""
        middles = (torch.arange(pixels, dtype=like.dtype, device=like.device) + 0.5) / pixels
        at = ((middles - self.first[axis]) / self.stride[axis]).clamp(0, cells - 1)
        return (1 - (at[:, None] - torch.arange(cells, dtype=like.dtype, device=like.device)).abs()).clamp_min(0)


_KNOWN: WeakKeyDictionary[Subject, dict[str, ReceptiveField]] = WeakKeyDictionary()


def receptive_field(subject: Subject, layer: str) -> ReceptiveField:
    """What cells of a layer see; it is measured once."""
    known = _KNOWN.setdefault(subject, {})
    if layer not in known:
        known[layer] = _measured(subject, layer)
    return known[layer]


def _measured(subject: Subject, layer: str) -> ReceptiveField:
    """By where noise moves some cells. Without padding they keep away from the edges."""
    picture = next(spec for spec in subject.info.inputs if spec.kind == "image")
    noise = torch.rand(_NOISE, *picture.shape, generator=torch.Generator().manual_seed(0)).to(subject.device)
    given = blanks(subject, _NOISE) | {picture.name: noise.requires_grad_()}
    with torch.enable_grad():
        said = subject.run(given, keep=(layer,), grad=True).sites[layer].sum(dim=(0, 1))
    grid, size = (int(said.shape[0]), int(said.shape[1])), tuple(picture.shape[1:])
    picks = list(zip(*(_picked(cells) for cells in grid), strict=True))
    seen = [_seen(said[y, x], noise) for y, x in picks]
    middle = seen[len(seen) // 2]
    if middle is None:
        return ReceptiveField.even(grid, max(size))
    reach = max(stop - start for start, stop in middle)
    axes = []
    for axis, cells in enumerate(grid):
        spans = [(pick[axis], *span[axis]) for pick, span in zip(picks, seen, strict=True) if span is not None]
        axes.append(_laid(spans, cells, size[axis]))
    return ReceptiveField(reach, (axes[0][0], axes[1][0]), (axes[0][1], axes[1][1]))


def _picked(cells: int) -> list[int]:
    """Some cells along a side: those at the ends, in the middle and beside them."""
    last = cells - 1
    return [0, min(1, last), cells // 2, max(last - 1, 0), last]


def _seen(cell: Tensor, noise: Tensor) -> list[tuple[int, int]] | None:
    """From where to where a cell sees, down and across; None where that cannot be told."""
    moved = torch.autograd.grad(cell, [noise], retain_graph=True, allow_unused=True)[0] if cell.requires_grad else None
    if moved is None:
        return None
    places = moved.abs().sum(dim=(0, 1)).nonzero()
    if not len(places):
        return [(0, 1), (0, 1)]
    begin, end = places.amin(dim=0).tolist(), (places.amax(dim=0) + 1).tolist()
    return list(zip(begin, end, strict=True))


def _laid(spans: list[tuple[int, int, int]], cells: int, size: int) -> tuple[float, float]:
    """Middle of the first cell and way to the next, as shares of a side, from (cell, begin, end) of some."""
    even = 0.5 / cells, 1 / cells
    widest = max(end - begin for _, begin, end in spans)
    # A cell whose sight is cut off at an edge has its middle elsewhere.
    whole = [(cell, (begin + end) / 2) for cell, begin, end in spans if end - begin >= _WHOLE * widest]
    if widest >= size or widest <= 1:
        return even
    (one, here), (other, there) = min(whole), max(whole)
    stride = (there - here) / (other - one) if other > one else size / cells
    first = here - one * stride
    off = max(abs(first - even[0] * size), abs(first + (cells - 1) * stride - (1 - even[0]) * size))
    return even if off <= _SAME_PX else (first / size, stride / size)
