"""Describes recorded and computed data: frozen dataclasses, no torch, no I/O.

Everything here turns into plain JSON values with `to_json` and back with `from_json`.
"""

from innerview.schema.binding import Binding, InputBinding, Step, bind
from innerview.schema.data import ArrayKind, ArraySpec, Camera, Column, MapImage, Polygon, Scene
from innerview.schema.edit import (
    FILTERS,
    Edit,
    Edits,
    EditSet,
    InputEdit,
    NamedFactor,
    SiteEdit,
    SiteOperation,
    WeightEdit,
)
from innerview.schema.lens import Lens, Parameter
from innerview.schema.metric import Metric, Metrics
from innerview.schema.plain import from_json, to_json
from innerview.schema.playout import DOES, Does, Move
from innerview.schema.recording import Block, Ordering, Origin, RecordingInfo, RowKind
from innerview.schema.result import Result
from innerview.schema.rows import Found, Frames, Rows, States, Watch, unwatched
from innerview.schema.site import Site, SiteAddress, find_site, parse_site
from innerview.schema.subject import Head, InputSpec, MemorySite, SubjectInfo
from innerview.schema.world import ActionSpace, Moment, ThingInView, WorldInfo

__all__ = [
    "DOES",
    "FILTERS",
    "ActionSpace",
    "ArrayKind",
    "ArraySpec",
    "Binding",
    "Block",
    "Camera",
    "Column",
    "Does",
    "Edit",
    "EditSet",
    "Edits",
    "Found",
    "Frames",
    "Head",
    "InputBinding",
    "InputEdit",
    "InputSpec",
    "Lens",
    "MapImage",
    "MemorySite",
    "Metric",
    "Metrics",
    "Moment",
    "Move",
    "NamedFactor",
    "Ordering",
    "Origin",
    "Parameter",
    "Polygon",
    "RecordingInfo",
    "Result",
    "RowKind",
    "Rows",
    "Scene",
    "Site",
    "SiteAddress",
    "SiteEdit",
    "SiteOperation",
    "States",
    "Step",
    "SubjectInfo",
    "ThingInView",
    "Watch",
    "WeightEdit",
    "WorldInfo",
    "bind",
    "find_site",
    "from_json",
    "parse_site",
    "to_json",
    "unwatched",
]
