"""Describes recorded and computed data: frozen dataclasses, no torch, no I/O.

Everything here turns into plain JSON values with `to_json` and back with `from_json`.
"""

from innerview.schema.binding import Binding, InputBinding, Step, bind
from innerview.schema.data import (
    ArrayKind,
    ArraySpec,
    Column,
    PosePart,
    entropy,
    entropy_column,
    of_kind,
    only_number,
)
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
from innerview.schema.episode import EpisodeSummary
from innerview.schema.lens import TARGET, Lens, Need, Parameter, Setting
from innerview.schema.metric import Metric, Metrics
from innerview.schema.move import DOES, Does, Move
from innerview.schema.output import (
    OUTPUTS,
    Axis,
    Chart,
    Gallery,
    Heat,
    Layout,
    Output,
    OutputType,
    PerElement,
    PerRow,
    Series,
    Table,
    join_rows,
    restored_rows,
)
from innerview.schema.place.pose import Pose, is_pose, pose_of, pose_part, with_foreign_poses
from innerview.schema.place.scene import Camera, MapImage, Polygon, Scene
from innerview.schema.place.thing import ObjectInView
from innerview.schema.place.units import units_per
from innerview.schema.plain import from_json, to_json
from innerview.schema.recording import Block, Ordering, Origin, RecordingInfo, RowKind
from innerview.schema.result import Result, ResultArray, ResultInfo
from innerview.schema.rows import Feed, Rows, States, Watch, unwatched
from innerview.schema.site import Site, SiteAddress, find_site, parse_site
from innerview.schema.subject import POSE, Head, InputSpec, MemorySite, SubjectInfo, acting_head, targets_of
from innerview.schema.world import BESIDE, ActionSpace, Moment, ThingInView, WorldInfo

__all__ = [
    "BESIDE",
    "DOES",
    "FILTERS",
    "OUTPUTS",
    "POSE",
    "TARGET",
    "ActionSpace",
    "ArrayKind",
    "ArraySpec",
    "Axis",
    "Binding",
    "Block",
    "Camera",
    "Chart",
    "Column",
    "Does",
    "Edit",
    "EditSet",
    "Edits",
    "EpisodeSummary",
    "Feed",
    "Gallery",
    "Head",
    "Heat",
    "InputBinding",
    "InputEdit",
    "InputSpec",
    "Layout",
    "Lens",
    "MapImage",
    "MemorySite",
    "Metric",
    "Metrics",
    "Moment",
    "Move",
    "NamedFactor",
    "Need",
    "ObjectInView",
    "Ordering",
    "Origin",
    "Output",
    "OutputType",
    "Parameter",
    "PerElement",
    "PerRow",
    "Polygon",
    "Pose",
    "PosePart",
    "RecordingInfo",
    "Result",
    "ResultArray",
    "ResultInfo",
    "RowKind",
    "Rows",
    "Scene",
    "Series",
    "Setting",
    "Site",
    "SiteAddress",
    "SiteEdit",
    "SiteOperation",
    "States",
    "Step",
    "SubjectInfo",
    "Table",
    "ThingInView",
    "Watch",
    "WeightEdit",
    "WorldInfo",
    "acting_head",
    "bind",
    "entropy",
    "entropy_column",
    "find_site",
    "from_json",
    "is_pose",
    "join_rows",
    "of_kind",
    "only_number",
    "parse_site",
    "pose_of",
    "pose_part",
    "restored_rows",
    "targets_of",
    "to_json",
    "units_per",
    "unwatched",
    "with_foreign_poses",
]
