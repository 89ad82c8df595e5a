"""How one episode went."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class EpisodeSummary:
    """How one episode went, whoever played it: recorded, evaluated, or played for a table."""

    seed: int
    outcome: str
    """Why it ended, in the world's words."""
    length: int
    """Steps."""
    total_reward: float
    counts: Mapping[str, float] = field(default_factory=dict)
    """How often each event happened, and means of facts that have a unit, where rows were gathered."""
    begins: str = ""
    """A digest of what was true at its first step, where rows were gathered: whether two episodes began alike."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What was true at its end, where the world says."""

    @property
    def measures(self) -> dict[str, float]:
        """Everything about it that is a number, by name."""
        return {"length": self.length, "return": self.total_reward, **self.counts}
