"""What can be asked to be recorded or predicted; importable without torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from innerview.jobs.kinds import bounded, job_kind
from innerview.schema import MAX_LANES, Edit, EditSet, Move, Setting

MAX_EPISODES = 1_000_000
MAX_SEED = 2**62
BLOCK_ROWS = 256


@job_kind("record", work="innerview.rollouts.record:RecordWork", unit="episodes")
@dataclass(frozen=True, kw_only=True)
class RecordJob:
    """Record new episodes of a live subject in a live world."""

    like: str | None = None
    """The recording whose subject and world play, where they are not named."""
    subject: str | None = None
    world: str | None = None
    recording: str | None = None
    """Name of the new recording; made of the subject's and the world's where left out."""
    episodes: int | None = bounded(None, 1, MAX_EPISODES)
    """10 where neither episodes nor seeds are said."""
    seed: int | None = bounded(None, 0, MAX_SEED)
    """Of the first episode; the others follow. 0 where left out."""
    seeds: tuple[int, ...] | None = None
    """One for each episode; with `like` they are played as that was."""
    same_seeds: bool = False
    """The seeds of `like`, or the first `episodes` of them, played as it was."""
    other: bool = False
    """Go on where the world is another than `like` was recorded in, or changed since: its levels are others then."""
    greedy: bool = False
    """Take the most likely action instead of sampling."""
    lanes: int | None = bounded(None, 1, MAX_LANES)
    """Games side by side."""
    keep: tuple[str, ...] = ()
    """Sites whose activations are recorded."""
    max_steps: int | None = bounded(None, 1)
    edits: tuple[Edit, ...] = ()
    note: str = ""
    block_rows: int = BLOCK_ROWS
    """So many rows at a time become safe on disk."""
    overwrite: bool = False
    """Replace what there is under that name, once the new one is complete."""


@job_kind("rerun", work="innerview.rollouts.rerun:RerunWork", unit="episodes")
@dataclass(frozen=True, kw_only=True)
class RerunJob:
    """Play recorded episodes again with the memory changed."""

    recording: str
    reduction: EditSet | str
    """Edits, or the name of a set that the study keeps."""
    episodes: tuple[int, ...] | None = None
    """Numbers of episodes; all where left out."""
    name: str | None = None
    """Of the new recording."""
    subject: str | None = None
    world: str | None = None
    other: bool = False
    """Go on where subject or world are others than were recorded, or changed since."""


@job_kind("predict", work="innerview.rollouts.predict:PredictWork", unit="rows")
@dataclass(frozen=True, kw_only=True)
class PredictJob:
    """Run a live subject over rows that are there already, whoever made them."""

    recording: str
    subject: str | None = None
    rows: tuple[tuple[int, int], ...] | None = None
    """(start, stop) of each range; all where left out."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    """The array that feeds an input, with steps where needed: "real.rgb | resize 64x64"."""
    keep: tuple[str, ...] = ()
    """Sites whose values are recorded beside the heads."""
    edits: tuple[Edit, ...] = ()


@job_kind("what_if", work="innerview.rollouts.what_if.saved:WhatIfWork", unit="steps")
@dataclass(frozen=True, kw_only=True)
class WhatIfJob:
    """Save a what-if rollout as a recording: what was recorded up to a row, and what these moves lead to from there."""

    recording: str
    row: int
    moves: tuple[Move, ...] = ()
    name: str | None = None
    """Of the new recording."""
    subject: str | None = None
    """Who plays; the one that was recorded where left out."""
    world: str | None = None
    other: bool = False
    """Go on where subject or world are others than were recorded, or changed since."""


@job_kind("learning", work="innerview.rollouts.learning.signal:LearningWork", unit="snapshots", stored=True)
@dataclass(frozen=True, kw_only=True)
class LearningJob:
    """What maps of the same observations say at every snapshot of a training, beside the scores."""

    recording: str
    """Its observations are looked at by every snapshot."""
    run: str
    """The training run whose snapshots they are."""
    lens: str = "guided"
    """A lens over single rows that yields heat."""
    parameters: Mapping[str, Setting] = field(default_factory=dict)
    rows: tuple[tuple[int, int], ...] | None = None
    """(start, stop) of each range; `count` rows spread over all where left out."""
    count: int = bounded(64, 8, 4096)
    share: float = bounded(0.25, 0.01, 0.99)
    """Of its final rise, that a signal has to reach and to stay beyond."""
    curve: tuple[tuple[float, float], ...] = ()
    """(step, score); those that the snapshots keep, or earned in their own recordings, where left out."""
    subject: str | None = None
    """The live subject that the snapshots are built like; the one that recorded where left out."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    """The array that feeds an input, with steps where needed: "real.rgb | resize 64x64"."""
