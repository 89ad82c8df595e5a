"""How far a predicted pose is from the recorded one, for any picture that takes the place of a row's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import pi
from typing import TYPE_CHECKING, Literal

import numpy as np

from innerview.errors import LensError
from innerview.schema import Head, Parameter, PosePart, Rows, pose_part, units_per

if TYPE_CHECKING:
    from torch import Tensor

    from innerview.subjects import Subject

Measure = Literal["pose", "place", "x", "y", "angle"]
MEASURES: tuple[Measure, ...] = ("pose", "place", "x", "y", "angle")
MEASURE = Parameter(
    name="measure",
    type="choice",
    default="pose",
    choices=MEASURES,
    description="Error of the whole pose (place, and heading at so many metres a radian), the place, or one number.",
)
METRES_PER_RADIAN = Parameter(
    name="metres_per_radian",
    type="float",
    default=1.0,
    low=0.0,
    high=100.0,
    description="Of the whole pose: how many metres of place an error of one radian counts as.",
)
PARTS: Mapping[Measure, tuple[PosePart, ...]] = {
    "pose": ("x", "y", "angle"),
    "place": ("x", "y"),
    "x": ("x",),
    "y": ("y",),
    "angle": ("angle",),
}


@dataclass(frozen=True)
class Truth:
    """The recorded pose of some rows: places in the unit they are recorded in, headings in radians."""

    head: Head
    values: Mapping[PosePart, np.ndarray]
    """[row] by part of the pose."""
    factors: Mapping[PosePart, float]
    """By what the head's numbers are multiplied to be in the same units."""
    unit: str
    """Of places."""

    def errors(
        self, heads: Mapping[str, Tensor], measure: Measure, places: np.ndarray, metres_per_radian: float = 1.0
    ) -> Tensor:
        """Errors [n] of n predictions, of which each is about the row at its place."""
        import torch

        said = heads[self.head.name].double()

        def off(part: PosePart) -> Tensor:
            number = said[:, self.head.pose_parts.index(part)] * self.factors[part]
            return number - torch.as_tensor(self.values[part][places], dtype=torch.float64, device=said.device)

        if measure in ("x", "y"):
            return off(measure).abs()
        if measure == "angle":
            return wrapped(off("angle")).abs()
        place = torch.hypot(off("x"), off("y"))
        return place if measure == "place" else place + metres_per_radian * wrapped(off("angle")).abs()

    def unit_of(self, measure: Measure) -> str:
        """What an error of 1 means."""
        return "rad" if measure == "angle" else self.unit


def wrapped(angle_rad: Tensor) -> Tensor:
    """The same angle from −π to π."""
    import torch

    return torch.remainder(angle_rad + pi, 2 * pi) - pi


def pose_head(subject: Subject) -> Head:
    """The head that says a pose."""
    found = [head for head in subject.info.heads if head.kind == "pose"]
    if not found:
        raise LensError(f"'{subject.info.name}' has no pose head. Declare it: iv.subject(…, heads={{'pose': 'pose'}}).")
    return found[0]


def truth_of(rows: Rows, subject: Subject, measure: Measure, domain: str = "") -> Truth:
    """The recorded pose that predictions are compared with; an error names rows where a part of it is missing."""
    head, unit = pose_head(subject), ""
    values: dict[PosePart, np.ndarray] = {}
    factors: dict[PosePart, float] = {}
    for part in PARTS[measure]:
        if part not in head.pose_parts:
            raise LensError(f"Head '{head.name}' does not say the pose's {part}: it has {', '.join(head.parts)}.")
        column = pose_part(rows.specs.values(), part, (domain,) if domain else ())
        if column is None:
            raise LensError(
                f"The rows do not say the true {part} of the pose. Say which column does: Column(…, pose='{part}'), or "
                "'columns' in pairs.json."
            )
        said_in = (head.units[head.pose_parts.index(part)] if head.units else "") or column.unit
        wanted = "rad" if part == "angle" else column.unit
        own, true = units_per(said_in, wanted), units_per(column.unit, wanted)
        if own is None or true is None:
            raise LensError(
                f"'{column.name}' is in '{column.unit or 'no unit'}', and head '{head.name}' says {part} in "
                f"'{said_in or 'no unit'}': they cannot be compared. Declare both units."
            )
        values[part], factors[part] = np.asarray(rows.columns[column.name], np.float64) * true, own
        unit = column.unit if part != "angle" else unit
        missing = np.flatnonzero(~np.isfinite(values[part]))
        if len(missing):
            raise LensError(
                f"The true {part} ('{column.name}') is unknown in {len(missing)} of {rows.count} rows, the first is "
                f"row {rows.numbers[missing[0]]}. Choose rows that have a pose."
            )
    return Truth(head=head, values=values, factors=factors, unit=unit)
