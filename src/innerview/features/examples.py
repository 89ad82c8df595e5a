"""Where a direction responds most: rows and places to look at, spread over rows and places."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

SIGNS = ("good", "bad")
COARSE = 8
"""Parts along a side of the map of examples."""
EACH_ROW = 4
"""In so many parts of a map the same row may stand, so that one loud row does not fill it."""
_CANDIDATES = COARSE**2 // EACH_ROW
"""Rows that are remembered for a part: there is always one among them that may still stand there."""


@dataclass
class Examples:
    """Collects, over all rows, where each direction responds most, of either sign."""

    rows: list[np.ndarray] = field(default_factory=list)
    strongest: list[np.ndarray] = field(default_factory=list)
    """[row, factor, sign] of each batch: the strongest response in a row."""
    places: list[np.ndarray] = field(default_factory=list)
    """[row, factor, sign]: in which cell of the layer."""
    by_part: np.ndarray | None = None
    """[candidate, factor, sign, COARSE, COARSE]: responses in that part of the picture, the strongest row first."""
    row_by_part: np.ndarray | None = None

    def add(self, rows: np.ndarray, amounts: Tensor) -> None:
        """Signed amounts [row, factor, height, width] of these rows."""
        import torch
        from torch.nn.functional import adaptive_max_pool2d

        both = torch.stack([amounts, -amounts], dim=2).clamp_min(0)
        best = both.flatten(3).max(dim=3)
        self.rows.append(rows)
        self.strongest.append(best.values.cpu().numpy())
        self.places.append(best.indices.cpu().numpy())
        parts = adaptive_max_pool2d(both.flatten(0, 1), COARSE).view(*both.shape[:3], COARSE, COARSE).cpu().numpy()
        which = np.broadcast_to(rows[:, None, None, None, None], parts.shape)
        if self.by_part is not None and self.row_by_part is not None:
            parts, which = np.concatenate([self.by_part, parts]), np.concatenate([self.row_by_part, which])
        order = np.argsort(-parts, axis=0, kind="stable")[:_CANDIDATES]
        self.by_part, self.row_by_part = (np.take_along_axis(values, order, axis=0) for values in (parts, which))

    def by_place(self) -> tuple[np.ndarray, np.ndarray]:
        """For each part of the picture the strongest response there and its row: [factor, sign, COARSE, COARSE] both.

        A row stands in few parts of a map; where nothing else responds it stands there all the same.
        """
        assert self.by_part is not None and self.row_by_part is not None, "rows are added first"
        kept, *maps, _, _ = self.by_part.shape
        amounts, rows = (values.reshape(kept, -1, COARSE**2) for values in (self.by_part, self.row_by_part))
        taken = np.stack([_few_each(amounts[:, m], rows[:, m]) for m in range(amounts.shape[1])])[None]
        found = (np.take_along_axis(values, taken, axis=0)[0] for values in (amounts, rows))
        cells, row_of_cell = (values.reshape(*maps, COARSE, COARSE) for values in found)
        return cells, row_of_cell

    def chosen(self, *, width: int, max_count: int = 12, each_place: int = 2) -> list[dict[str, list[dict[str, Any]]]]:
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
                    for i, p in _spread(strongest[:, f, s], places[:, f, s], max_count, each_place)
                ]
                for s, sign in enumerate(SIGNS)
            }
            for f in range(strongest.shape[1])
        ]


def _few_each(amounts: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Which candidate of [candidate, part] each part takes, the strongest part choosing first: [part]."""
    taken: np.ndarray = np.zeros(amounts.shape[1], np.int64)
    used: dict[int, int] = {}
    for part in np.argsort(-amounts[0], kind="stable"):
        free = (c for c, row in enumerate(rows[:, part]) if amounts[c, part] > 0 and used.get(int(row), 0) < EACH_ROW)
        taken[part] = next(free, 0)
        row = int(rows[taken[part], part])
        used[row] = used.get(row, 0) + 1
    return taken


def _spread(strength: np.ndarray, places: np.ndarray, max_count: int, each_place: int) -> list[tuple[int, int]]:
    taken: dict[int, int] = {}
    found: list[tuple[int, int]] = []
    for i in np.argsort(-strength, kind="stable"):
        place = int(places[i])
        if strength[i] <= 0 or len(found) == max_count:
            break
        if taken.get(place, 0) < each_place:
            taken[place] = taken.get(place, 0) + 1
            found.append((int(i), place))
    return found
