"""Where a direction responds most: rows and places to look at, spread over rows and places."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

SIGNS = ("good", "bad")
COARSE = 8
"""Cells along a side of the map of examples."""


@dataclass
class Examples:
    """Collects, over all rows, where each direction responds most, of either sign."""

    rows: list[np.ndarray] = field(default_factory=list)
    strongest: list[np.ndarray] = field(default_factory=list)
    """[row, factor, sign] of each batch: the strongest response in a row."""
    places: list[np.ndarray] = field(default_factory=list)
    """[row, factor, sign]: in which cell of the layer."""
    by_cell: np.ndarray | None = None
    """[factor, sign, COARSE, COARSE]: the strongest response in that part of the picture over all rows."""
    row_of_cell: np.ndarray | None = None

    def add(self, rows: np.ndarray, amounts: Tensor) -> None:
        """Signed amounts [row, factor, height, width] of these rows."""
        import torch
        from torch.nn.functional import adaptive_max_pool2d

        both = torch.stack([amounts, -amounts], dim=2).clamp_min(0)
        best = both.flatten(3).max(dim=3)
        self.rows.append(rows)
        self.strongest.append(best.values.cpu().numpy())
        self.places.append(best.indices.cpu().numpy())
        cells = adaptive_max_pool2d(both.flatten(0, 1), COARSE).view(*both.shape[:3], COARSE, COARSE)
        top = cells.max(dim=0)
        found, which = top.values.cpu().numpy(), rows[top.indices.cpu().numpy()]
        if self.by_cell is None or self.row_of_cell is None:
            self.by_cell, self.row_of_cell = found, which
            return
        better = found > self.by_cell
        self.by_cell[better], self.row_of_cell[better] = found[better], which[better]

    def chosen(self, *, width: int, most: int = 12, each_place: int = 2) -> list[dict[str, list[dict[str, Any]]]]:
        """Per factor and sign the rows with the strongest response, one place a row and few rows a place."""
        rows, strongest = np.concatenate(self.rows), np.concatenate(self.strongest)
        places = np.concatenate(self.places)
        return [
            {
                sign: [
                    {
                        "row": int(rows[i]),
                        "y": int(p) // width,
                        "x": int(p) % width,
                        "amount": float(strongest[i, f, s]),
                    }
                    for i, p in _spread(strongest[:, f, s], places[:, f, s], most, each_place)
                ]
                for s, sign in enumerate(SIGNS)
            }
            for f in range(strongest.shape[1])
        ]


def _spread(strength: np.ndarray, places: np.ndarray, most: int, each_place: int) -> list[tuple[int, int]]:
    taken: dict[int, int] = {}
    found: list[tuple[int, int]] = []
    for i in np.argsort(-strength, kind="stable"):
        place = int(places[i])
        if strength[i] <= 0 or len(found) == most:
            break
        if taken.get(place, 0) < each_place:
            taken[place] = taken.get(place, 0) + 1
            found.append((int(i), place))
    return found
