"""Insertion and deletion: does the subject's own output follow what a map calls important?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from innerview.schema import Rows
from innerview.trust.interval import Interval, bootstrap
from innerview.trust.maps import moved

if TYPE_CHECKING:
    from torch import Tensor

    from innerview.subjects import Subject
    from innerview.trust.question import Question

FRACTIONS = (0.0, 0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Shares of the pixels that are replaced, or put in; closest together where maps differ most."""
_CHANCES = 2
_AT_ONCE = 128
"""Pictures in one run."""

Output = Callable[[np.ndarray, "Tensor"], np.ndarray]
"""What is said of pictures [n, …] that stand in the place of those of rows [n]: [n] numbers."""


@dataclass(frozen=True, kw_only=True)
class Curves:
    """Mean output as ever more pixels are put in or taken away, the strongest of the map first."""

    insertion: tuple[float, ...]
    deletion: tuple[float, ...]
    insertion_by_chance: tuple[float, ...]
    """By the same maps, shifted at random."""
    deletion_by_chance: tuple[float, ...]
    insertion_area: Interval
    """Area under the curve: the mean output over all shares."""
    deletion_area: Interval
    insertion_area_by_chance: float
    deletion_area_by_chance: float
    ahead: Interval
    """Area of insertion less that of deletion, less the same by chance, over how far output and baseline lie apart."""


def output_of(subject: Subject, rows: Rows, question: Question, image: str) -> Output:
    """What the maps are of, as the subject says it: of a policy the probability of the action that it chose."""
    import torch

    from innerview.subjects import scorer

    whole = rows.heads(np.arange(rows.count))
    probability = question.target == "action" and question.kind == "policy"

    def output(places: np.ndarray, pictures: Tensor) -> np.ndarray:
        given = dict(rows.inputs(places)) | {image: pictures}
        with torch.no_grad():
            said = subject.run(given, rows.memory_before(places)).heads
            some = torch.as_tensor(places)
            score = scorer(
                subject, {name: value[some.to(value.device)] for name, value in whole.items()}, question.target
            )
            values = score(said)
            return np.asarray((values.exp() if probability else values).cpu().double().numpy())

    return output


def curves(maps: np.ndarray, pictures: Tensor, baseline: Tensor, output: Output, *, seed: int = 0) -> Curves | None:
    """Curves of strengths [row, height, width] over pictures [row, channel, height, width] and what replaces them.

    All channels of a pixel go together. None where the output is the same of the pictures and of the baseline.
    """
    generator = np.random.default_rng(seed)
    own = _both(maps, pictures, baseline, output, generator)
    chance = [_both(moved(maps, generator), pictures, baseline, output, generator) for _ in range(_CHANCES)]
    other = np.mean(chance, axis=0)
    apart = float(np.abs(own[1][:, 0] - own[1][:, -1]).mean())
    if apart <= 1e-9:
        return None
    areas, areas_by_chance = (np.trapezoid(each, FRACTIONS, axis=2) for each in (own, other))
    ahead = ((areas[0] - areas[1]) - (areas_by_chance[0] - areas_by_chance[1])) / apart
    intervals = [bootstrap(values) for values in (*areas, ahead)]
    assert intervals[0] and intervals[1] and intervals[2]  # there are rows
    means = [tuple(line.mean(axis=0).tolist()) for line in (*own, *other)]
    return Curves(
        insertion=means[0],
        deletion=means[1],
        insertion_by_chance=means[2],
        deletion_by_chance=means[3],
        insertion_area=intervals[0],
        deletion_area=intervals[1],
        insertion_area_by_chance=float(areas_by_chance[0].mean()),
        deletion_area_by_chance=float(areas_by_chance[1].mean()),
        ahead=intervals[2],
    )


def _both(
    maps: np.ndarray, pictures: Tensor, baseline: Tensor, output: Output, generator: np.random.Generator
) -> np.ndarray:
    """[2, row, share]: the output by insertion and by deletion."""
    import torch

    flat = maps.reshape(len(maps), -1)
    order = np.lexsort((generator.random(flat.shape), -flat), axis=1)
    place = np.empty_like(order)
    np.put_along_axis(place, order, np.arange(flat.shape[1])[None].repeat(len(flat), 0), axis=1)
    said = np.empty((2, len(maps), len(FRACTIONS)))
    for number, share in enumerate(FRACTIONS):
        first = (place < round(share * flat.shape[1])).reshape(len(maps), 1, *maps.shape[1:])
        strongest = torch.as_tensor(first, device=pictures.device)
        for line, mixed in enumerate(
            (torch.where(strongest, pictures, baseline), torch.where(strongest, baseline, pictures))
        ):
            parts = [np.arange(at, min(at + _AT_ONCE, len(maps))) for at in range(0, len(maps), _AT_ONCE)]
            said[line, :, number] = np.concatenate([output(some, mixed[some]) for some in parts])
    return said
