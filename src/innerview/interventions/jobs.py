"""What can be asked about changed memories and edited subjects; importable without torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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


@job_kind("best_filter", work="innerview.interventions.best_filter:BestFilterWork", unit="filters", stored=True)
@dataclass(frozen=True, kw_only=True)
class BestFilterJob:
    """Look for the numbers of filters that bring a subject closest to the truth on some pairs; tested on the rest."""

    recording: str
    subject: str | None = None
    filters: tuple[str, ...] = ("brightness", "contrast", "temperature")
    """Their names, in the order they are made in."""
    measure: Literal["place", "heading"] = "place"
    """Whose mean error is made small."""
    share: float = bounded(0.5, 0.05, 0.95)
    """Of the rows, in their order: the first ones are searched on, the others only tested."""
    count: int = bounded(64, 2, 4096)
    """At most so many of the first ones, spread."""
    budget: int = bounded(60, 8, 2000)
    """How many filters are tried at most."""
    domains: tuple[str, ...] = ()
    """The reference, then the other, whose pictures are filtered; the recording's two where left out."""
    rows: tuple[tuple[int, int], ...] | None = None
    """(start, stop) of each range; all where left out."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    """The array that feeds an input, of either domain; the other domain's are its counterparts."""
    save: str = ""
    """A name to save the filter under, where it helps on the rest."""


@job_kind("fit_camera", work="innerview.interventions.fit_camera:FitCameraWork", unit="cameras", stored=True)
@dataclass(frozen=True, kw_only=True)
class FitCameraJob:
    """Look for the camera's height, pitch and field of view with which a world renders what the real pictures show."""

    recording: str
    world: str | None = None
    """The live world that renders; the only one where left out."""
    domain: str = ""
    """Whose pictures are explained; the second of two where left out."""
    count: int = bounded(8, 2, 256)
    """So many rows are searched on, and as many others tested, spread."""
    budget: int = bounded(400, 30, 5000)
    """How many cameras are tried at most."""
    width: int = bounded(64, 16, 512)
    """Pictures are compared at about so many pixels."""
    height_m: tuple[float, float] = (0.3, 2.2)
    """Where the height is looked for."""
    pitch_deg: tuple[float, float] = (-25.0, 15.0)
    fov_deg: tuple[float, float] = (40.0, 110.0)
    rows: tuple[tuple[int, int], ...] | None = None
    """(start, stop) of each range that rows are taken from; all where left out."""
