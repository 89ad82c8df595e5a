"""What the paper measured of its agents, by the number of levels they were trained on (footnotes 7 and 10)."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Published:
    """Two agents of one number of levels; all numbers in per cent."""

    levels: int
    own: tuple[float, float]
    """Training levels completed, by each agent."""
    unseen: tuple[float, float]
    """Levels completed that neither was trained on."""
    interpretable: tuple[float, float, float, float]
    """Features that people found interpretable: two researchers for each agent."""

    @property
    def interpretable_mean(self) -> float:
        """Over agents and researchers."""
        return sum(self.interpretable) / len(self.interpretable)

    @property
    def interpretable_spread(self) -> float:
        """One population standard deviation over agents and researchers, as the paper draws it."""
        mean = self.interpretable_mean
        return math.sqrt(sum((value - mean) ** 2 for value in self.interpretable) / len(self.interpretable))


PUBLISHED = (
    Published(levels=100, own=(99.96, 99.97), unseen=(61.81, 64.13), interpretable=(52.5, 8.75, 15.0, 3.75)),
    Published(levels=300, own=(99.82, 99.86), unseen=(66.95, 67.64), interpretable=(22.5, 8.75, 13.75, 6.25)),
    Published(levels=1_000, own=(99.67, 99.70), unseen=(74.93, 73.46), interpretable=(11.25, 10.0, 15.0, 21.25)),
    Published(levels=3_000, own=(99.65, 99.46), unseen=(89.87, 90.36), interpretable=(45.0, 26.25, 23.75, 45.0)),
    Published(levels=10_000, own=(99.47, 99.39), unseen=(97.53, 97.44), interpretable=(90.0, 56.25, 53.75, 72.5)),
    Published(levels=30_000, own=(99.55, 99.50), unseen=(98.66, 98.89), interpretable=(75.0, 90.0, 90.0, 83.75)),
    Published(levels=100_000, own=(99.57, 99.37), unseen=(99.25, 99.35), interpretable=(91.25, 70.0, 96.25, 77.5)),
)
UNLIMITED_UNSEEN = 99.27
"""What the paper's agent without a limit did not fail at (footnote 7)."""


def published(levels: int | None) -> Published | None:
    """The agents of that number of levels, where there were such."""
    return next((each for each in PUBLISHED if each.levels == levels), None)
