"""What of a picture reaches a layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

    from innerview.subjects import Subject

_NOISE = 16
"""Pictures of noise that show what a cell sees: in one alone, much is below zero and passes nothing on."""
_WHOLE = 0.95
"""A cell that sees so much of what another sees is not cut off."""
_SAME_PX = 0.75
"""Cells that are no farther from an even grid lie on it."""


def blanks(subject: Subject, rows: int) -> dict[str, Tensor]:
    """Every input with nothing in it."""
    import torch

    return {
        spec.name: torch.zeros(rows, *spec.shape, dtype=getattr(torch, spec.dtype), device=subject.device)
        for spec in subject.info.inputs
    }


@dataclass(frozen=True)
class Sight:
    """Where in the picture the cells of a layer look."""

    reach: int
    """How many pixels the middle cell sees, along the longer side."""
    first: tuple[float, float]
    """The middle of what the first cell sees, down and across, as shares of the picture."""
    stride: tuple[float, float]
    """From one cell to the next."""

    @classmethod
    def even(cls, grid: tuple[int, int], reach: int) -> Sight:
        """Cells that part the picture among them."""
        return cls(reach, (0.5 / grid[0], 0.5 / grid[1]), (1 / grid[0], 1 / grid[1]))

    def is_even(self, grid: tuple[int, int]) -> bool:
        """Whether they do."""
        return self == Sight.even(grid, self.reach)

    def told(self) -> dict[str, Any]:
        """As JSON."""
        return {"first": list(self.first), "stride": list(self.stride)}


def sight(subject: Subject, layer: str) -> Sight:
    """What cells of a layer see: where noise moves them. Without padding they keep away from the edges."""
    import torch

    picture = next(spec for spec in subject.info.inputs if spec.kind == "image")
    noise = torch.rand(_NOISE, *picture.shape, generator=torch.Generator().manual_seed(0)).to(subject.device)
    given = blanks(subject, _NOISE) | {picture.name: noise.requires_grad_()}
    with torch.enable_grad():
        said = subject.run(given, keep=(layer,), grad=True).activations[layer].sum(dim=(0, 1))
    grid, size = (int(said.shape[0]), int(said.shape[1])), tuple(picture.shape[1:])
    picks = list(zip(*(_picked(cells) for cells in grid), strict=True))
    seen = [_seen(said[y, x], noise) for y, x in picks]
    middle = seen[len(seen) // 2]
    if middle is None:
        return Sight.even(grid, max(size))
    reach = max(stop - start for start, stop in middle)
    axes = []
    for axis, cells in enumerate(grid):
        spans = [(pick[axis], *span[axis]) for pick, span in zip(picks, seen, strict=True) if span is not None]
        axes.append(_laid(spans, cells, size[axis]))
    return Sight(reach, (axes[0][0], axes[1][0]), (axes[0][1], axes[1][1]))


def _picked(cells: int) -> list[int]:
    """Some cells along a side: those at the ends, in the middle and beside them."""
    last = cells - 1
    return [0, min(1, last), cells // 2, max(last - 1, 0), last]


def _seen(cell: Tensor, noise: Tensor) -> list[tuple[int, int]] | None:
    """From where to where a cell sees, down and across; None where that cannot be told."""
    import torch

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
