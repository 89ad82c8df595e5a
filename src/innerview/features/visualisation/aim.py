"""What a picture is optimised for, and how strongly what was seen responds to that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from innerview.errors import LensError
from innerview.schema import Output, Rows

if TYPE_CHECKING:
    from torch import Tensor

    from innerview.subjects import Subject

OBJECTIVES = ("cell", "layer", "caricature")
_BATCH = 64
_COLOURED = 256
"""Rows whose colours are looked at."""


@dataclass(frozen=True)
class Aim:
    """What is wanted of a layer's activations: something for each picture."""

    objective: str
    goal: Tensor
    """[picture, channel]; for a caricature [1, channel, height, width], of length 1."""
    row: int = -1
    """The row that a caricature is of."""
    length: float = 0.0
    """What that row itself reaches."""

    def chosen(self, which: np.ndarray) -> Aim:
        """Some of it."""
        return replace(self, goal=self.goal[which])

    def rows(self, activations: Tensor) -> tuple[Tensor, Tensor]:
        """How strongly rows respond to each, and the cell where they do: [row, picture] both."""
        import torch

        if self.objective == "caricature":
            found = torch.einsum("rchw,pchw->rp", activations, self.goal)
            return found, torch.zeros_like(found, dtype=torch.long)
        cells = torch.einsum("rchw,pc->rphw", activations, self.goal).flatten(2)
        strongest = cells.max(dim=2)
        return (strongest.values if self.objective == "cell" else cells.mean(dim=2)), strongest.indices

    def baseline(self, activations: Tensor) -> Tensor:
        """What rows respond on average, over all places: [row, picture]."""
        import torch

        if self.objective == "caricature":
            return self.rows(activations)[0]
        return torch.einsum("rc,pc->rp", activations.mean(dim=(2, 3)), self.goal)

    def own(self, activations: Tensor) -> Tensor:
        """How strongly each optimised picture responds to what it was optimised for: [picture]."""
        if self.objective == "caricature":
            return (activations * self.goal).flatten(1).sum(dim=1)
        if self.objective == "layer":
            return (activations.mean(dim=(2, 3)) * self.goal).sum(dim=1)
        height, width = activations.shape[2:]
        return (activations[:, :, height // 2, width // 2] * self.goal).sum(dim=1)


@dataclass(frozen=True)
class Seen:
    """What observations reach, for each thing that is wanted."""

    baseline: np.ndarray
    strongest: np.ndarray
    rows: np.ndarray
    cells: np.ndarray
    grid: tuple[int, int]
    """Cells of the layer, height and width."""

    def chosen(self, which: np.ndarray) -> Seen:
        """Some of them."""
        baseline, strongest, rows, cells = (
            values[which] for values in (self.baseline, self.strongest, self.rows, self.cells)
        )
        return Seen(baseline, strongest, rows, cells, self.grid)

    @property
    def span(self) -> np.ndarray:
        """From the usual response to the strongest, which counts as 1; 1 where no row responds otherwise."""
        apart = self.strongest - self.baseline
        return np.where(apart > 1e-6 * np.maximum(np.abs(self.baseline), 1e-6), apart, 1.0)


def everything(subject: Subject, rows: Rows, *, layer: str, objective: str, row: int, given: Output | None) -> Aim:
    """Everything that could be wanted: one row, every factor, or every channel."""
    import torch

    place = int(np.searchsorted(rows.numbers, row)) if objective == "caricature" else 0
    if objective == "caricature" and (place == rows.count or rows.numbers[place] != row):
        first, last = rows.numbers[0], rows.numbers[-1]
        raise LensError(f"Row {row} is not among those that are looked at: {first} to {last}.")
    said = rows.activations(layer, np.array([place]))
    if said.ndim != 4:
        raise LensError(
            f"Layer '{layer}' puts out {list(said.shape[1:])} per row, without height and width. Layers that have "
            f"both: {', '.join(subject.convolutions) or 'none'}."
        )
    if objective == "caricature":
        if not bool(said.any()):
            raise LensError(f"Layer '{layer}' says nothing to row {row}, so there is nothing to exaggerate.")
        length = float(said.norm())
        return Aim(objective, said / length, row, length)
    channels = said.shape[1]
    if given is None:
        return Aim(objective, torch.eye(channels).to(said))
    directions = torch.as_tensor(given.arrays["directions"]).to(said)
    if directions.shape[1] != channels:
        raise LensError(f"These factors are of {directions.shape[1]} channels; '{layer}' has {channels}.")
    return Aim(objective, directions)


def survey(
    subject: Subject, rows: Rows, *, layer: str, aim: Aim, places: np.ndarray, progress: Callable[[int], None]
) -> tuple[Seen, Mapping[str, Tensor]]:
    """What rows reach, and the pictures of some of them by name of the input."""
    import torch

    values, cells, baseline = [], [], []
    pictures: dict[str, list[Tensor]] = {spec.name: [] for spec in subject.info.inputs if spec.kind == "image"}
    for first in range(0, len(places), _BATCH):
        progress(first)
        batch = places[first : first + _BATCH]
        said = rows.activations(layer, batch)
        found, where = aim.rows(said)
        values.append(found)
        cells.append(where)
        baseline.append(aim.baseline(said))
        if first < _COLOURED:
            inputs = rows.inputs(batch)
            for name, kept in pictures.items():
                kept.append(inputs[name])
    best = torch.cat(values).max(dim=0)
    at = best.indices.cpu().numpy()
    where = torch.cat(cells).cpu().numpy()[at, np.arange(len(at))]
    numbers, strongest = rows.numbers[places[at]], best.values.cpu().numpy()
    if aim.objective == "caricature":  # What it is compared with is the row itself.
        numbers, strongest = np.full_like(numbers, aim.row), np.full_like(strongest, aim.length)
    mean = torch.cat(baseline).mean(dim=0).cpu().numpy()
    height, width = said.shape[2:]
    seen = Seen(mean, strongest, numbers, where, (height, width))
    return seen, {name: torch.cat(kept) for name, kept in pictures.items()}
