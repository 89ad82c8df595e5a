"""What is asked about the gap of models; importable without torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from innerview.jobs.kinds import job_kind


@job_kind("gap", work="innerview.rollouts.gap.work:GapWork", unit="predictions", stored=True)
@dataclass(frozen=True, kw_only=True)
class GapJob:
    """The errors of models in two domains of a paired recording, and the gap between; missing predictions are made."""

    recording: str
    subjects: tuple[str, ...] = ()
    """Live subjects; all that have a pose head where left out."""
    baseline: str = ""
    """The subject whose gap the others close; the first where left out."""
    filters: tuple[str, ...] = ()
    """Filters of the second domain's pictures, as steps or by the name they are saved under: each makes one more model
    of every subject."""
    domains: tuple[str, ...] = ()
    """The reference, then the other; the recording's two where left out, "sim" first."""
    rows: tuple[tuple[int, int], ...] | None = None
    """(start, stop) of each range; all where left out."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    """The array that feeds an input, of either domain; the other domain's are its counterparts."""
