"""What can be asked about changed memories and edited subjects; importable without torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from innerview.jobs.kinds import bounded, job_kind
from innerview.rollouts.jobs import MAX_EPISODES, MAX_SEED
from innerview.schema import EditSet, SiteOperation

MAX_CONTROLS = 20


@job_kind("table", work="innerview.interventions.reductions:TableWork", unit="episodes", stored=True)
@dataclass(frozen=True, kw_only=True)
class TableJob:
    """How a subject fares with its full memory and under reductions of it, over the same new seeds."""

    recording: str
    """Episodes are played as in this recording, of seeds beyond its own."""
    reductions: tuple[EditSet | str, ...]
    """Edits, or names of sets that the study keeps."""
    episodes: int = bounded(20, 1, MAX_EPISODES)
    seed: int | None = bounded(None, 0, MAX_SEED)
    greedy: bool | None = None
    """As in the recording where left out."""
    lanes: int | None = bounded(None, 1)
    subject: str | None = None
    world: str | None = None
    other: bool = False
    """Go on where subject or world are others than were recorded, or changed since."""


@job_kind("sweep", work="innerview.interventions.sweep:SweepWork", unit="edits", stored=True)
@dataclass(frozen=True, kw_only=True)
class SweepJob:
    """Drop each element of a memory alone, or pairs of them, and rank them by effect."""

    recording: str
    over: Literal["single", "pairs"] = "single"
    by: Literal["decisions", "episodes"] = "decisions"
    """Measured on recorded decisions, or on newly played episodes."""
    op: SiteOperation = "zero"
    value: float = 0.0
    measure: str = "return"
    """By episodes: what a loss is counted in."""
    elements: tuple[int, ...] = ()
    """Elements to look at; all where none are said, for pairs those with the largest effect alone."""
    site: str = ""
    """Address of the memory; the only one where left out."""
    episodes: int = bounded(5, 1, MAX_EPISODES)
    seed: int | None = bounded(None, 0, MAX_SEED)
    rows: int = bounded(2_000, 1)
    """By decisions: at most so many recorded rows."""
    subject: str | None = None
    world: str | None = None
    other: bool = False
    """Go on where subject or world are others than were recorded, or changed since."""


@job_kind(
    "smallest_memory", work="innerview.interventions.smallest_memory:SmallestMemoryWork", unit="tries", stored=True
)
@dataclass(frozen=True, kw_only=True)
class SmallestMemoryJob:
    """Search for the fewest elements of a memory that keep the performance."""

    recording: str
    keep: float = bounded(0.95, 0.001, 1)
    """Share of the full memory's performance that must be left."""
    measure: str = "length"
    outcome: str = ""
    """With measure "outcome": which one; the most frequent with full memory where nothing is said."""
    site: str = ""
    episodes: int = bounded(20, 1, MAX_EPISODES)
    seed: int | None = bounded(None, 0, MAX_SEED)
    rows: int = bounded(600, 1)
    subject: str | None = None
    world: str | None = None
    other: bool = False
    """Go on where subject or world are others than were recorded, or changed since."""


@job_kind("ablation_test", work="innerview.interventions.ablation_test:AblationTestWork", unit="episodes", stored=True)
@dataclass(frozen=True, kw_only=True)
class AblationTestJob:
    """Play the same levels with a subject, its edited form and random controls."""

    edited: str
    """Name of the edited subject."""
    recording: str | None = None
    """The one that the edit's factors were found in where left out."""
    levels: int = bounded(1_000, 1, MAX_EPISODES)
    seed: int | None = bounded(None, 0, MAX_SEED)
    controls: int = bounded(1, 0, MAX_CONTROLS)
    """Random edits of the same size that play too."""
    invisible: str = ""
    """A class of things that nobody sees in one more run; nothing where left out."""
    lanes: int | None = bounded(None, 1)
    world: str | None = None
    other: bool = False
    """Go on where subject or world are others than were recorded, or changed since."""
