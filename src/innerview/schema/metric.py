"""Metrics that people make themselves, and the thresholds of those that come with innerview."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A column that somebody made from others with an expression."""

    name: str
    expression: str
    unit: str = ""
    description: str = ""


@dataclass(frozen=True, kw_only=True)
class Metrics:
    """What a study keeps about metrics: people's own ones, and thresholds that were set by hand."""

    own: tuple[Metric, ...] = ()
    thresholds: Mapping[str, float] = field(default_factory=dict)
    """By name; one that is not here has its usual value."""
