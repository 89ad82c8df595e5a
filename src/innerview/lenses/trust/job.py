"""What is asked about how far maps can be believed; importable without torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from innerview.jobs.kinds import bounded, job_kind


@job_kind("trust", work="innerview.lenses.trust.work:TrustWork", unit="methods", stored=True)
@dataclass(frozen=True, kw_only=True)
class TrustJob:
    """Examine every method of attribution that fits a subject, and edge detectors beside them."""

    recording: str
    rows: tuple[tuple[int, int], ...] | None = None
    """(start, stop) of each range that rows are taken from; all where left out."""
    target: str = "action"
    """What the maps are of."""
    count: int = bounded(16, 2, 512)
    """Rows that are taken, spread over those chosen."""
    draws: int = bounded(3, 1, 20)
    """Sets of random weights; methods that take seconds are given one."""
    methods: tuple[str, ...] = ()
    """Their names; all that fit where left out."""
    seed: int = bounded(0, 0)
    subject: str | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)
    """The array that feeds an input, with steps where needed: "real.rgb | resize 64x64"."""
    other: bool = False
    """Go on where the subject is another than the one that recorded, or its weights changed since."""
