"""What a recording holds and how far it got."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from innerview.errors import StoreError, UnknownName
from innerview.schema.binding import Binding
from innerview.schema.data import ArraySpec, Column
from innerview.schema.edit import Edit
from innerview.schema.move import Move
from innerview.schema.subject import SubjectInfo
from innerview.schema.world import WorldInfo

MAX_LANES = 1 << 16
_SEEDS = 1 << 63
OriginKind = Literal[
    "played",  # by a subject, in a world
    "logged",  # elsewhere: by a robot, an experiment
    "imported",  # from files
    "generated",  # made up: states, pictures
    "predicted",  # by a subject, of rows that were there
]


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where rows come from."""

    kind: OriginKind = "logged"
    by: str = ""
    """Who made them: a subject, a tool, a person."""
    source: str = ""
    """What they were made from: a world, a file, another recording."""

    def __post_init__(self) -> None:
        if self.kind not in get_args(OriginKind):
            raise UnknownName("origin", str(self.kind), get_args(OriginKind))

    def __str__(self) -> str:
        by = f" by {self.by}" if self.by else ""
        return f"{self.kind}{by}" + (f", from {self.source}" if self.source else "")


@dataclass(frozen=True, kw_only=True)
class RowKind:
    """What one row is, in words people read."""

    one: str = "step"
    many: str = "steps"


@dataclass(frozen=True, kw_only=True)
class Ordering:
    """Rows that belong together and follow each other; absent where rows have no time."""

    group: str = "episode"
    """The column that names the group; rows of a group stand next to each other."""
    time: str = "step"
    """The column that counts within a group, from 0."""
    seconds_per_step: float | None = None


@dataclass(frozen=True, kw_only=True)
class Block:
    """Rows that were committed together."""

    start: int
    stop: int
    groups: int
    """How many groups ended in this block."""
    digests: Mapping[str, str]
    """SHA-256 of each file of the block, by path inside the recording."""


@dataclass(frozen=True, kw_only=True)
class RerunOf:
    """Episodes of another recording that were played again with edits."""

    kind: Literal["rerun"] = "rerun"
    of: str
    episodes: tuple[int, ...]
    """Which of them, in the order in which they stand here."""
    reduction: str
    """Name of the edits."""


@dataclass(frozen=True, kw_only=True)
class ChangeAt:
    """A move that took no time, and the step of the episode before which it was made."""

    step: int
    move: Move


@dataclass(frozen=True, kw_only=True)
class RolledOutFrom:
    """An episode of another recording up to a step; from there on, what these moves led to."""

    kind: Literal["what_if"] = "what_if"
    of: str
    episodes: tuple[int]
    step: int
    moves: tuple[Move, ...]
    changes: tuple[ChangeAt, ...] = ()
    """Everything that was changed by hand from the start of the episode on."""

    def check(self) -> None:
        """An error that names what nobody can have changed."""
        for each in self.changes:
            if each.step < 0:
                raise StoreError(f"arguments.source.changes names step {each.step}; steps count from 0.")
            if each.move.takes_time or (each.move.do == "move" and len(each.move.by) != 2):
                raise StoreError(f"arguments.source.changes has a move that changes nothing: {each.move!r:.200}.")


@dataclass(frozen=True, kw_only=True)
class PlayedWith:
    """What episodes were played with, beside subject and world; more seeds add episodes."""

    kind: Literal["played"] = "played"
    seeds: tuple[int, ...]
    """One for each episode."""
    lanes: int
    """Environments side by side: to the last bit, what a network says depends on the size of its batch."""
    places: tuple[int, ...] = ()
    """The lane of each episode; in turn where nothing is said."""
    greedy: bool = False
    max_steps: int | None = None
    keep: tuple[str, ...] = ()
    """Sites whose activations were recorded."""
    edits: tuple[Edit, ...] = ()
    """Changes that were made at each step."""
    source: RerunOf | RolledOutFrom | None = None
    """What it was made from, where that is another recording."""
    other: tuple[str, ...] = ()
    """How subject and world differ from those of that recording, where somebody said to go on."""

    def lane_of(self, episode: int) -> int:
        """Where an episode was played."""
        return self.places[episode] if self.places else episode % self.lanes

    def check(self) -> None:
        """An error that names what no episode can have been played with."""
        if not 1 <= self.lanes <= MAX_LANES:
            raise StoreError(f"arguments.lanes is a number from 1 to {MAX_LANES:,}, not {self.lanes}.")
        if self.max_steps is not None and self.max_steps < 1:
            raise StoreError(f"arguments.max_steps is a number from 1 on, not {self.max_steps}.")
        odd = next((seed for seed in self.seeds if not 0 <= seed < _SEEDS), None)
        if odd is not None:
            raise StoreError(f"arguments.seeds are numbers from 0 to {_SEEDS - 1:,}, not {odd}.")
        if self.places and len(self.places) != len(self.seeds):
            raise StoreError(f"arguments.places names {len(self.places)} lanes for {len(self.seeds)} seeds.")
        wrong = next((place for place in self.places if not 0 <= place < self.lanes), None)
        if wrong is not None:
            raise StoreError(f"arguments.places names lane {wrong}; there are {self.lanes}, counted from 0.")
        if self.source is not None and len(self.source.episodes) != len(self.seeds):
            raise StoreError(
                f"arguments.source.episodes names {len(self.source.episodes)} episodes for {len(self.seeds)} seeds."
            )
        if isinstance(self.source, RolledOutFrom):
            self.source.check()


@dataclass(frozen=True, kw_only=True)
class LoggedWith:
    """What the steps of somebody's own loop were recorded with."""

    kind: Literal["logged"] = "logged"
    keep: tuple[str, ...] = ()
    """Sites whose activations were recorded."""


@dataclass(frozen=True, kw_only=True)
class ImportedFrom:
    """Rows that were there already."""

    kind: Literal["imported"] = "imported"
    content: str
    """SHA-256 of all of it."""
    files: tuple[str, ...] = ()
    """Names of the files."""
    format: str = ""
    """What wrote them."""


@dataclass(frozen=True, kw_only=True)
class PredictedFrom:
    """What rows of a recording a subject was run on, and how it was fed."""

    kind: Literal["predicted"] = "predicted"
    recording: str
    digest: str
    """Of the recording as it was."""
    binding: Binding
    rows: str = "all"
    """SHA-256 of their numbers, where it is not all of them."""
    keep: tuple[str, ...] = ()
    """Sites whose values were recorded."""
    edits: tuple[Edit, ...] = ()
    """Changes that were made at each row."""


Arguments = PlayedWith | LoggedWith | ImportedFrom | PredictedFrom


@dataclass(frozen=True, kw_only=True)
class RecordingInfo:
    """Everything about a recording but its values."""

    name: str
    origin: Origin = field(default_factory=Origin)
    row: RowKind = field(default_factory=RowKind)
    ordering: Ordering | None = None
    columns: tuple[Column, ...] = ()
    arrays: tuple[ArraySpec, ...] = ()
    group_columns: tuple[Column, ...] = ()
    """Columns of the table with one line per group (outcome, return, seed…)."""
    subject: SubjectInfo | None = None
    world: WorldInfo | None = None
    scene: str = ""
    """Key of the scene that all rows share, where groups have none of their own."""
    arguments: Arguments | None = None
    """What it was made with; the same continue it. None where nothing is known but its rows."""
    created_at: str = ""
    note: str = ""

    @property
    def played(self) -> PlayedWith | None:
        """What its episodes were played with; None where innerview did not play them."""
        return self.arguments if isinstance(self.arguments, PlayedWith) else None

    @property
    def seeds(self) -> tuple[int, ...]:
        """Of the episodes that were played."""
        return self.played.seeds if self.played else ()

    @property
    def edits(self) -> tuple[Edit, ...]:
        """Changes that were made at each step."""
        return self.arguments.edits if isinstance(self.arguments, PlayedWith | PredictedFrom) else ()

    @property
    def of(self) -> str | None:
        """The recording that its episodes were made from, if any."""
        return self.played.source.of if self.played and self.played.source else None

    @property
    def other(self) -> tuple[str, ...]:
        """How subject and world differ from those of the recording it was made from."""
        return self.played.other if self.played else ()

    def check(self) -> None:
        """An error where it contradicts itself about how it was made."""
        made = self.arguments
        if isinstance(made, PlayedWith | PredictedFrom):
            if made.kind != self.origin.kind:
                raise StoreError(f"origin.kind is '{self.origin.kind}', and arguments.kind is '{made.kind}'.")
            if self.subject is None:
                raise StoreError(f"It was {made.kind} by a subject, and subject is empty.")
        if isinstance(made, PlayedWith):
            if self.world is None:
                raise StoreError("It was played in a world, and world is empty.")
            made.check()
