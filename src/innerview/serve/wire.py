"""What goes over the wire, and nothing else: the page's types are generated from these models."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel, StringConstraints

from innerview.jobs.work import Product
from innerview.lenses.columns.predicted import PredictedPose
from innerview.memory.orders import OrderName
from innerview.schema import (
    Camera,
    Column,
    Edit,
    Head,
    MapImage,
    Ordering,
    Origin,
    Polygon,
    Pose,
    ResultArray,
    RowKind,
    SubjectInfo,
    WorldInfo,
)
from innerview.schema.data import ArrayKind, ArrayRole

Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class ErrorBody(BaseModel):
    """What went wrong, in words for a person."""

    kind: str
    message: str


class ErrorReply(BaseModel):
    """Every failure has this shape."""

    error: ErrorBody


class EnterRequest(BaseModel):
    """The one-time code of an address that was printed."""

    code: Annotated[str, StringConstraints(max_length=200)]


class EnterReply(BaseModel):
    """Before which path everything is asked for from now on."""

    path: str


class DamageReply(BaseModel):
    """One part that cannot be read; the rest can."""

    part: str
    problem: str


class Capabilities(BaseModel):
    """What a recording offers; a workspace of the page says what it needs of this."""

    row: RowKind
    ordered: bool
    """Whether its rows have time."""
    arrays: dict[str, list[str]]
    """Names of arrays by role."""
    images: list[str]
    """Names of arrays whose rows are pictures."""
    domains: list[str]
    posed: bool
    """Whether it is known where rows lie."""
    subject: bool
    """Whether a subject was recorded."""
    heads: list[str]
    """The kinds of the subject's heads."""
    targets: list[str]
    """What a gradient or an attribution of the recorded subject can be taken of, in words."""
    sites: list[str]
    """The kinds of places inside the subject: activation, memory, attention."""
    lenses: list[str]
    """Lenses that fit."""
    lacks: dict[str, str]
    """What is missing for each of the others, and what to do."""
    live: bool
    """Whether a model is loaded that can be run on its rows."""


class RecordingSummary(BaseModel):
    """A recording in the list of a study."""

    name: str
    rows: int
    row: RowKind
    groups: int
    complete: bool
    subject: str | None
    world: str | None
    origin: Origin
    created_at: str
    damage: list[DamageReply]
    of: str | None = None
    """The recording that this is a re-run of."""
    capabilities: Capabilities


class AgeReply(BaseModel):
    """A subject that can be asked for by name, and where in which training it stands."""

    name: str
    run: str
    step: int
    score: float | None
    """The mean return at that step, where it was kept."""
    saved: bool
    """Whether it is a snapshot of the study."""


class StudyReply(BaseModel):
    """What there is to look at."""

    name: str
    version: str
    recordings: list[RecordingSummary]
    damage: list[DamageReply]
    live_subjects: list[str]
    live_worlds: list[str]
    hidable: dict[str, list[str]]
    """Classes of things that a live world can leave undrawn, by the name of the world."""


class SubjectReply(BaseModel):
    """A live subject, and what a gradient or an attribution of it can be taken of, in words."""

    info: SubjectInfo
    targets: tuple[str, ...]


class ArrayReply(BaseModel):
    """One array per row, with whether a row of it is a picture."""

    name: str
    shape: tuple[int, ...]
    """As read: of a ragged array that of one entry, of an encoded one that of the decoded picture."""
    dtype: str
    kind: ArrayKind
    """dense; ragged: rows differ in length, `lengths` says in which; encoded: kept as JPEG or PNG."""
    key: str
    """The column whose words say which shared value a row has; empty: each row has its own."""
    role: ArrayRole
    axes: tuple[str, ...]
    elements: tuple[str, ...]
    domain: str
    pair: str
    """Arrays of the same pair show the same in each domain."""
    pixelated: bool
    unit: str
    label: str
    site: str
    """Address of the site of the subject whose values these are."""
    is_image: bool


class RecordingReply(BaseModel):
    """Everything about a recording but its values."""

    name: str
    rows: int
    complete: bool
    origin: Origin
    """Where the rows come from."""
    row: RowKind
    ordering: Ordering | None
    columns: tuple[Column, ...]
    pose: Pose
    """Names of the columns that say where the agent is and where it looks."""
    arrays: list[ArrayReply]
    group_columns: tuple[Column, ...]
    groups: int
    subject: SubjectInfo | None
    world: WorldInfo | None
    scene: str
    """Key of the scene that all rows share; empty where groups have one each."""
    note: str
    other: list[str] = []
    """How subject and world differ from those of the recording it is about, where somebody said to go on."""
    created_at: str
    damage: list[DamageReply]
    etag: str
    capabilities: Capabilities
    of: str | None = None
    """The recording that this is a re-run of."""
    edits: tuple[Edit, ...] = ()
    """Changes that were made at each step."""


class PredictionReply(BaseModel):
    """What one subject predicts for rows of a recording, without the values."""

    id: str
    subject: str
    binding: str
    """Which arrays fed which inputs, as text."""
    inputs: dict[str, str]
    """The same by input."""
    domain: str
    """Of the pictures that it saw; empty where they have none, or several."""
    filters: str
    """What those pictures went through: brightness 1.2 | blur 0.8."""
    heads: tuple[Head, ...]
    targets: tuple[str, ...]
    """What a gradient or an attribution of the subject can be taken of, in words."""
    sites: tuple[str, ...]
    """Addresses of the sites that were asked for."""
    edits: tuple[Edit, ...]
    columns: tuple[Column, ...]
    """What is predicted, then what is made of it."""
    poses: tuple[PredictedPose, ...]
    """Pose heads that can be compared with the recorded pose: names of columns."""
    arrays: list[ArrayReply]
    rows: int
    """How many rows of the recording are predicted."""
    complete: bool
    current: bool
    """Whether the recording still holds what was predicted."""
    created_at: str


class FirstDifference(BaseModel):
    """The first steps at which two runs differ; none where they never do."""

    decision: int | None
    """Action probabilities differ."""
    action: int | None
    """Another action, or one of the two has ended."""
    place: int | None


class DivergenceReply(FirstDifference):
    """An episode of a re-run, and the first steps at which it differs."""

    episode: int
    of: int
    seed: int
    alike: bool
    """Whether the world showed the same until something else was done."""


class SceneReply(BaseModel):
    """What can be drawn as a map."""

    walls: list[tuple[float, float, float, float]]
    unit: str
    objects: list[tuple[str, float, float]]
    image: MapImage | None = None
    polygons: list[Polygon] = []
    camera: Camera | None = None


class DocEntry(BaseModel):
    """A page of the docs."""

    slug: str
    title: str


class DocReply(DocEntry):
    """A page of the docs as safe HTML."""

    html: str


class JobReply(BaseModel):
    """How a job stands."""

    id: str
    kind: str
    title: str
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    done: int
    total: int | None
    unit: str
    message: str
    error: str
    result: Product | None
    """What it makes, known before it ends."""
    started_at: str
    eta_s: float | None
    changes: int
    """How often it changed: of two tellings, the one with more is the newer."""


class ResultSummary(BaseModel):
    """What a lens or a table found, without the finding itself."""

    id: str
    kind: str
    title: str
    recording: str
    arguments: dict[str, Any]
    created_at: str
    type: str
    """Which generic view shows it: heat, layout, per row, per element, table, chart, gallery, map; "" for none."""
    arrays: dict[str, ResultArray]
    """Shapes and types by name; values are asked for by name."""
    provisional: bool


class ResultReply(ResultSummary):
    """What a lens or a table found."""

    value: Any
    shown: dict[str, Any]
    """What the generic view of its type needs beside the arrays."""


class OrderReply(BaseModel):
    """The elements of a memory in an order, with what each was sorted by."""

    by: OrderName
    order: list[int]
    scores: list[float | None]
    explains: str


class SpreadReply(BaseModel):
    """A value around an event: its mean over the times it happened, and a band that holds the middle half of them."""

    mean: list[float | None]
    low: list[float | None]
    high: list[float | None]


class AlignedReply(BaseModel):
    """Averages around an event, before the means of each element, which follow as numbers."""

    total: int
    """How many times it happened."""
    used: int
    """How many of them were averaged."""
    paired: int
    """How many of those have rows both before and after."""
    first_after: int
    """The first offset that counts as after."""
    rows: list[int]
    offsets: list[int]
    counts: list[int]
    """How many times reached each offset."""
    elements: int
    before: list[float | None]
    after: list[float | None]
    effect: list[float | None]
    metrics: dict[str, SpreadReply]


class SavedSelection(BaseModel):
    """A set of rows that somebody named. The page writes and reads the expression; the server only keeps it."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    recording: Annotated[str, StringConstraints(pattern=r"^[^/]{1,80}$")]
    expression: Annotated[str, StringConstraints(max_length=200_000)]


class SavedSelections(RootModel[Annotated[list[SavedSelection], Field(max_length=500)]]):
    """Every named selection of a study."""
