"""What a change of the pictures gains: errors before and after, over the same rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from innerview.transfer.interval import Estimate, estimate, resampled


@dataclass(frozen=True, kw_only=True)
class Gain:
    """Mean errors with their intervals; every draw takes the same rows of all."""

    before: Estimate
    after: Estimate
    difference: Estimate
    """After less before: below zero it helps."""
    reference: Estimate
    """In the reference domain, where nothing was changed."""
    closed: Estimate | None
    """Share of the gap to the reference that is not there any more; None where there was no gap."""
    left_out: int
    """Rows where a pose is no number."""


def gain(before: np.ndarray, after: np.ndarray, reference: np.ndarray) -> Gain:
    """Of errors of the same rows without the change, with it, and in the reference domain."""
    whole = np.stack([before, after, reference])
    known = np.isfinite(whole).all(axis=0)
    values = whole[:, known]
    means, drawn = values.mean(axis=1), resampled(values, np.mean)
    gap = estimate(means[0] - means[2], drawn[:, 0] - drawn[:, 2])
    closed = None
    if gap.sign > 0:
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = (drawn[:, 0] - drawn[:, 1]) / (drawn[:, 0] - drawn[:, 2])
            closed = estimate((means[0] - means[1]) / gap.value, shares)
    return Gain(
        before=estimate(means[0], drawn[:, 0]),
        after=estimate(means[1], drawn[:, 1]),
        difference=estimate(means[1] - means[0], drawn[:, 1] - drawn[:, 0]),
        reference=estimate(means[2], drawn[:, 2]),
        closed=closed,
        left_out=int((~known).sum()),
    )
