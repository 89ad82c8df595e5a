"""What a factor responds to, measured against what the world says is where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from innerview.errors import LensError

if TYPE_CHECKING:
    from torch import Tensor

    from innerview.subjects import ReceptiveField

CLEAR = 0.2
"""An excess from which a factor is said to respond to a class."""
CONSISTENT = 0.8
"""In how many groups of rows (levels, episodes) the class must have more than chance."""
RIVAL = 0.5
"""A class with so much of the best one's share and excess is named beside it: it might as well be that one."""
EVERYWHERE = 0.98
"""A class with a larger share than this by chance is nearly everywhere: to respond where it is tells nothing."""
FIXED = 0.8
"""How far a class in one row must cover the same cells as in another for its place to be always the same."""


_ROUNDING = 1e-6


@dataclass
class Meaning:
    """Adds up, group by group, how much of each factor lies on each class, and how much would by chance.

    Responses count by their square, so that what a factor responds to most decides and not what it hums at
    everywhere. Chance is the same responses laid over the masks of other rows: a factor that responds at the bottom of
    every picture does not mean floor only because the floor is there. Where a class is at the same place in every row
    that tells nothing: then chance is its share of the picture, and `fixed` says so. The first class is the ground that
    things stand before: nothing is named after it.
    """

    classes: Sequence[str]
    factors: int
    groups: int
    receptive_field: ReceptiveField | None = None
    """Where the cells look; None: they part the picture evenly."""

    def __post_init__(self) -> None:
        size = (self.groups, self.factors, len(self.classes))
        self.on, self.by_chance = np.zeros(size), np.zeros(size)
        self.there = np.zeros((self.groups, len(self.classes)))
        self.amount = np.zeros((self.groups, self.factors))
        self.common, self.either, self.area = (np.zeros(len(self.classes)) for _ in range(3))
        self.rows = 0

    def add(self, amounts: Tensor, masks: np.ndarray, others: np.ndarray, groups: np.ndarray) -> None:
        """Amounts [row, factor, height, width] of either sign, the rows' masks [row, H, W], and those of other rows."""
        import torch

        strength = amounts.square()
        cover, chance = (self._cover(m, strength) for m in (masks, others))
        on = torch.einsum("rfhw,rchw->rfc", strength, cover).cpu().numpy()
        random = torch.einsum("rfhw,rchw->rfc", strength, chance).cpu().numpy()
        np.add.at(self.on, groups, on)
        np.add.at(self.by_chance, groups, random)
        np.add.at(self.amount, groups, strength.sum(dim=(2, 3)).cpu().numpy())
        self.common += (cover * chance).sum(dim=(0, 2, 3)).cpu().numpy()
        self.either += cover.maximum(chance).sum(dim=(0, 2, 3)).cpu().numpy()
        self.area += cover.mean(dim=(2, 3)).sum(dim=0).cpu().numpy()
        self.rows += len(cover)
        np.add.at(self.there, groups, cover.flatten(2).amax(dim=2).cpu().numpy())

    def _cover(self, masks: np.ndarray, like: Tensor) -> Tensor:
        """Whether a class is in a cell or right beside it: [row, class, height, width], 0 or 1."""
        import torch
        from torch.nn.functional import adaptive_max_pool2d, max_pool2d

        if masks.ndim != 3 or masks.shape[0] != like.shape[0]:
            raise LensError(f"Masks are [rows, height, width], a class per pixel; got {list(masks.shape)}.")
        if masks.shape[1] < like.shape[2] or masks.shape[2] < like.shape[3]:
            raise LensError(
                f"Masks of {masks.shape[1]} × {masks.shape[2]} are coarser than the layer's {like.shape[2]} × "
                f"{like.shape[3]} cells. Record masks in the pixels of what is seen."
            )
        if int(masks.max(initial=0)) >= len(self.classes):
            raise LensError(f"Masks hold class {int(masks.max())}; there are {len(self.classes)}, counted from 0.")
        which = torch.as_tensor(masks, device=like.device)[:, None]
        numbers = torch.arange(len(self.classes), device=like.device, dtype=which.dtype)
        each = (which == numbers[:, None, None]).to(like.dtype)
        grid = int(like.shape[2]), int(like.shape[3])
        if self.receptive_field is None or self.receptive_field.is_even(grid):
            inside = adaptive_max_pool2d(each, grid)
        else:
            for axis, cells in enumerate(grid):
                each = _in_cells(
                    each, axis + 2, cells, self.receptive_field.first[axis], self.receptive_field.stride[axis]
                )
            inside = each
        return max_pool2d(inside, 3, stride=1, padding=1)

    def summary(self) -> list[dict[str, Any]]:
        """Per factor: every class with its figures, the one it responds to most, and a name where that is clear."""
        return [self._factor(f) for f in range(self.factors)]

    def _factor(self, f: int) -> dict[str, Any]:
        amount = self.amount[:, f].sum()
        if amount <= 0:
            return {"classes": [], "name": "", "means": "", "score": 0.0}
        lines = [self._line(f, c, amount) for c in range(len(self.classes))]
        things = sorted(lines[1:], key=lambda line: -float(line["excess"]))
        best, lines = (things or lines)[0], [*things, lines[0]]
        clear = best["excess"] >= CLEAR and best["consistency"] >= CONSISTENT
        named = {"name": _name(things), "means": best["class"]} if clear else {"name": "", "means": ""}
        return {"classes": lines, **named, "score": best["excess"]}

    def _line(self, f: int, c: int, amount: float) -> dict[str, Any]:
        fixed = bool(self.common[c] >= FIXED * max(self.either[c], 1))
        random = self.amount[:, f] * self.area[c] / max(self.rows, 1) if fixed else self.by_chance[:, f, c]
        share, chance = self.on[:, f, c].sum() / amount, random.sum() / amount
        counted = (self.there[:, c] > 0) & (self.amount[:, f] > 0)
        more = self.on[counted, f, c] > random[counted] * (1 + _ROUNDING)
        return {
            "class": self.classes[c],
            "share": float(share),
            "chance": float(chance),
            "excess": _excess(float(share), float(chance)),
            "consistency": float(more.mean()) if counted.any() else 0.0,
            "groups": int(counted.sum()),
            "fixed": fixed,
        }


def _name(things: Sequence[Mapping[str, Any]]) -> str:
    """The class with the largest excess and those that come near it, each with its share: "left? 35 %, right? 33 %"."""
    best = things[0]
    near = [t for t in things[1:] if t["share"] >= RIVAL * best["share"] and t["excess"] >= RIVAL * best["excess"]]
    return ", ".join(f"{thing['class']}? {thing['share']:.0%}".replace("%", " %") for thing in (best, *near[:2]))


def _in_cells(each: Tensor, axis: int, cells: int, first: float, stride: float) -> Tensor:
    """The most of what lies in the part of a side that each cell looks at the middle of."""
    import torch

    size = each.shape[axis]
    edges = (first + stride * (np.arange(cells + 1) - 0.5)) * size
    begin = np.clip(np.floor(edges[:-1] + 1e-6), 0, size - 1).astype(int)
    end = np.clip(np.ceil(edges[1:] - 1e-6), begin + 1, size).astype(int)
    return torch.stack([each.narrow(axis, a, b - a).amax(dim=axis) for a, b in zip(begin, end, strict=True)], dim=axis)


def _excess(share: float, chance: float) -> float:
    """0 where a factor is no oftener on a class than by chance, 1 where it is nowhere else."""
    return 0.0 if chance > EVERYWHERE else max(-1.0, (share - chance) / (1 - chance))
