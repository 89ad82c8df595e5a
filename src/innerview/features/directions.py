"""Splits what a layer's channels say into a few directions, none of which is ever negative."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from innerview.errors import LensError

if TYPE_CHECKING:
    from torch import Tensor

METHODS: tuple[str, ...] = ("nmf", "sparse")
_ITERATIONS = 200
_SETTLED = 1e-4
_TINY = 1e-12
MAX_CELLS = 50_000
"""So many places are enough to find a few directions in some dozens of channels; more only take longer."""
_SPARSITY = 0.2
"""How much a dictionary pays for using a direction, as a share of the strongest response to it."""


@dataclass(frozen=True, kw_only=True)
class Factors:
    """Directions in the space of channels, and how well they explain what they were fitted to."""

    directions: np.ndarray
    """[factor, channel], of length 1, the one that explains most first."""
    explained: float
    """Share of the sum of squares that all together explain; the rest is the residual."""
    shares: np.ndarray
    """[factor], of the total amount."""
    method: str = "nmf"

    @property
    def count(self) -> int:
        """How many directions."""
        return len(self.directions)

    def amounts(self, values: Tensor) -> Tensor:
        """How much of each direction: [rows, channel, height, width] to [rows, factor, height, width], signed."""
        import torch  # here: the list of lenses is wanted without it

        rows, channels, height, width = values.shape
        if channels != self.directions.shape[1]:
            raise LensError(f"These factors are of {self.directions.shape[1]} channels; the layer has {channels}.")
        directions = torch.as_tensor(self.directions).to(values)
        flat = values.permute(0, 2, 3, 1).reshape(-1, channels)
        cost = _SPARSITY if self.method == "sparse" else 0.0
        up, down = (_amounts(part, directions, cost=cost) for part in (flat.clamp_min(0), (-flat).clamp_min(0)))
        return (up - down).view(rows, height, width, self.count).permute(0, 3, 1, 2)

    def residual(self, values: Tensor, amounts: Tensor) -> Tensor:
        """What the directions leave out, as the length of the rest at each place: [rows, height, width]."""
        import torch

        rebuilt = torch.einsum("rfhw,fc->rchw", amounts, torch.as_tensor(self.directions).to(values))
        rest: Tensor = (values - rebuilt).norm(dim=1)
        return rest


def cells(values: Tensor, *, signed: bool, max_cells: int, seed: int) -> Tensor:
    """At most so many places [place, channel] of [rows, channel, height, width], split by sign, without silent ones."""
    import torch

    if values.ndim != 4:
        raise LensError(f"Factors need a layer with channels, height and width; got {list(values.shape[1:])} per row.")
    flat = values.permute(0, 2, 3, 1).reshape(-1, values.shape[1])
    parts = [flat.clamp_min(0), (-flat).clamp_min(0)] if signed else [flat.clamp_min(0)]
    speaking = torch.cat([part[part.amax(dim=1) > 0] for part in parts])
    if len(speaking) <= max_cells:
        return speaking
    drawn = np.random.default_rng(seed).choice(len(speaking), max_cells, replace=False)
    return speaking[torch.as_tensor(np.sort(drawn), device=speaking.device)]


def check(count: int, channels: int, method: str) -> None:
    """An error where a layer of so many channels cannot be split like this."""
    if not 1 <= count <= channels:
        raise LensError(f"{count} factors were asked for; a layer of {channels} channels has 1 to {channels}.")
    if method not in METHODS:
        raise LensError(f"Unknown method '{method}'. Known: {', '.join(METHODS)}.")


def fit(places: Tensor, *, count: int, method: str = "nmf", seed: int = 0) -> Factors:
    """Fit directions to [place, channel], none of it negative."""
    check(count, places.shape[1], method)
    if not len(places):
        raise LensError("Everything is zero here: there is nothing to split into factors. Try another layer or target.")
    directions, amounts = _fitted(places, count, seed, _SPARSITY if method == "sparse" else 0.0)
    rest = float(((places - amounts @ directions) ** 2).sum() / (places**2).sum())
    weight = amounts.sum(dim=0)
    order = weight.argsort(descending=True)
    return Factors(
        directions=directions[order].cpu().numpy(),
        explained=1 - rest,
        shares=(weight[order] / weight.sum().clamp_min(_TINY)).cpu().numpy(),
        method=method,
    )


def _fitted(data: Tensor, count: int, seed: int, cost: float) -> tuple[Tensor, Tensor]:
    """Directions [factor, channel] and amounts [row, factor] by hierarchical alternating least squares."""
    directions = _start(data, count, seed)
    amounts = _amounts(data, directions, cost=cost, sweeps=10)
    before = np.inf
    for turn in range(_ITERATIONS):
        _improve_directions(data, directions, amounts)
        amounts = _amounts(data, directions, cost=cost, sweeps=2, begin=amounts)
        if turn % 10 == 9:
            error = float(((data - amounts @ directions) ** 2).sum())
            if before - error <= _SETTLED * error:
                break
            before = error
    return directions, amounts


def _start(data: Tensor, count: int, seed: int) -> Tensor:
    """Rows of the data that lie far from each other, drawn as k-means++ does: the same for the same seed."""
    import torch

    generator = np.random.default_rng(seed)
    units = data / data.norm(dim=1, keepdim=True).clamp_min(_TINY)
    weight = (data**2).sum(dim=1)
    chosen = [units[_draw(weight, generator)]]
    for _ in range(count - 1):
        nearest = (units @ torch.stack(chosen).T).amax(dim=1)
        chosen.append(units[_draw(weight * (1 - nearest).clamp_min(_TINY), generator)])
    spread = torch.as_tensor(generator.random((count, data.shape[1]))).to(data) * 0.01
    return _unit(torch.stack(chosen) + spread)


def _draw(weight: Tensor, generator: np.random.Generator) -> int:
    import torch

    total = weight.double().cumsum(0)
    return min(int(torch.searchsorted(total, float(generator.random() * total[-1]))), len(weight) - 1)


def _improve_directions(data: Tensor, directions: Tensor, amounts: Tensor) -> None:
    """One sweep over the directions, each given all others; in place."""
    wanted, among = amounts.T @ data, amounts.T @ amounts
    for k in range(len(directions)):
        step = (wanted[k] - among[k] @ directions) / among[k, k].clamp_min(_TINY)
        directions[k] = (directions[k] + step).clamp_min(0)
        directions[k] /= directions[k].norm().clamp_min(_TINY)


def _amounts(
    data: Tensor, directions: Tensor, *, cost: float = 0.0, sweeps: int = 30, begin: Tensor | None = None
) -> Tensor:
    """How much of each direction [row, factor] rebuilds the data best, none negative, each use costing something."""
    wanted, among = data @ directions.T, directions @ directions.T
    price = cost * wanted.amax(dim=1) if cost else 0.0
    # Factors first: each sweep goes over one factor of all places, which then lies together in memory.
    amounts = (begin if begin is not None else (wanted / among.sum(dim=1)).clamp_min(0)).T.contiguous()
    wanted = wanted.T.contiguous()
    for _ in range(sweeps):
        moved = 0.0
        for k in range(len(directions)):
            step = (wanted[k] - among[k] @ amounts - price) / among[k, k].clamp_min(_TINY)
            new = (amounts[k] + step).clamp_min_(0)
            moved = max(moved, float((new - amounts[k]).abs().amax()))
            amounts[k] = new
        if moved <= _SETTLED * float(amounts.amax()):
            break
    return amounts.T


def _unit(rows: Tensor) -> Tensor:
    unit: Tensor = rows / rows.norm(dim=1, keepdim=True).clamp_min(_TINY)
    return unit
