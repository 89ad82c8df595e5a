"""The gap of each model: how much larger its error is in one domain than in the other, over the same pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from innerview.transfer.interval import Estimate, Statistic, estimate, resampled

STATISTICS: dict[str, Statistic] = {"median": np.median, "mean": np.mean}


@dataclass(frozen=True, kw_only=True)
class Gap:
    """What a model's error is in both domains, and what lies between."""

    reference: Estimate
    """Error in the domain that it was made for: SIM."""
    other: Estimate
    """Error in the other one: REAL."""
    gap: Estimate
    """The other less the reference, pair by pair."""
    closed: Estimate | None = None
    """Share of the baseline's gap that is not there any more; None for the baseline, and where that has no gap."""


def gaps(errors: Mapping[str, np.ndarray], *, baseline: str, statistic: str, seed: int = 0) -> dict[str, Gap]:
    """The gap of each model, of errors [domain, pair] by its name; every draw takes the same pairs of all models.

    A mean's gap is the mean of the differences. A median's gap is the difference of the medians, as tables give it.
    """
    taken = STATISTICS[statistic]
    whole = np.stack([*errors.values()])
    values = taken(whole, axis=-1)
    drawn = resampled(whole, taken, seed=seed)  # [draw, model, domain]
    names = [*errors]
    at = names.index(baseline)
    between, between_drawn = values[:, 1] - values[:, 0], drawn[..., 1] - drawn[..., 0]
    of_baseline = estimate(between[at], between_drawn[:, at])
    found = {}
    for place, name in enumerate(names):
        closed = None
        if place != at and of_baseline.sign > 0:
            with np.errstate(divide="ignore", invalid="ignore"):
                closed = estimate(1 - between[place] / between[at], 1 - between_drawn[:, place] / between_drawn[:, at])
        found[name] = Gap(
            reference=estimate(values[place, 0], drawn[:, place, 0]),
            other=estimate(values[place, 1], drawn[:, place, 1]),
            gap=estimate(between[place], between_drawn[:, place]),
            closed=closed,
        )
    return found
