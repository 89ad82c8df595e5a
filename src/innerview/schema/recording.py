"""What a recording holds and how far it got."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from innerview.errors import UnknownName
from innerview.schema.data import ArraySpec, Column
from innerview.schema.edit import Edit, EditSet
from innerview.schema.plain import from_json
from innerview.schema.subject import SubjectInfo
from innerview.schema.world import WorldInfo

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
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """What it was recorded with; the same arguments continue it."""
    created_at: str = ""
    note: str = ""

    @property
    def edits(self) -> tuple[Edit, ...]:
        """Changes that were made at each step."""
        return from_json(EditSet, {"name": "", "edits": self.arguments.get("edits", ())}).edits
