"""Poses: which columns say where an agent is and where it looks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from innerview.schema.data import Column, PosePart
from innerview.schema.place.units import units_per

FOREIGN_NAMES: dict[PosePart, tuple[str, ...]] = {
    "x": ("x", "position_x", "pos_x"),
    "y": ("y", "position_y", "pos_y"),
    "z": ("z", "position_z", "pos_z"),
    "angle": ("angle", "heading", "orientation", "yaw"),
    "pitch": ("pitch",),
    "roll": ("roll",),
}
"""What columns of other people's data are called that say a part of a pose, the first that is there."""


@dataclass(frozen=True, kw_only=True)
class Pose:
    """Names of the columns that say where an agent is and where it looks; empty where none does."""

    x: str = ""
    y: str = ""
    z: str = ""
    angle: str = ""
    unit: str = ""
    """Of the place; empty where it is not known, or where x and y are in different ones."""
    angle_deg: float | None = None
    """Degrees in one unit of the angle; None where its unit is not known."""

    @property
    def placed(self) -> tuple[str, ...]:
        """The columns of x and y, where both are there."""
        return (self.x, self.y) if self.x and self.y else ()

    @property
    def directed(self) -> bool:
        """Whether it is known where it looks, in degrees."""
        return bool(self.angle) and self.angle_deg is not None


def is_pose(column: Column) -> bool:
    """Whether a column says a part of the agent's pose as the world provides it."""
    return bool(column.pose) and column.kind == "fact" and column.type in ("int", "float")


def pose_part(columns: Iterable[Column], part: PosePart, domains: Collection[str] = ()) -> Column | None:
    """The column that says a part of a pose: of the domains that are asked for, else of none.

    Nothing is guessed: where several domains say it and none is asked for, there is no such column.
    """
    these = [column for column in columns if is_pose(column) and column.pose == part]
    asked = [column for column in these if column.domain in domains]
    of_all = [column for column in these if not column.domain]
    found = asked or of_all or ([] if domains else these)
    return found[0] if len(found) == 1 else None


def pose_of(columns: Sequence[Column], domains: Collection[str] = ()) -> Pose:
    """The columns that say an agent's pose."""
    x, y, z, angle = (pose_part(columns, part, domains) for part in ("x", "y", "z", "angle"))
    return Pose(
        x=x.name if x else "",
        y=y.name if y else "",
        z=z.name if z else "",
        angle=angle.name if angle else "",
        unit=x.unit if x and y and x.unit == y.unit else "",
        angle_deg=units_per(angle.unit, "deg") if angle else None,
    )


def with_foreign_poses(columns: Sequence[Column]) -> tuple[Column, ...]:
    """Columns of other people's data, of which only the names say what they are: those of a pose say so from here on.

    What is described already stays as it is. Columns of a pair say the same, so the name of the pair will do.
    """
    found: dict[tuple[str, PosePart], Column] = {(each.domain, each.pose): each for each in columns if each.pose}
    for part, names in FOREIGN_NAMES.items():
        for name in names:
            for column in columns:
                told = not column.pose and name in (column.name, column.pair)
                if told and is_pose(replace(column, pose=part)):
                    found.setdefault((column.domain, part), replace(column, pose=part))
    named = {column.name: column for column in found.values()}
    return tuple(named.get(column.name, column) for column in columns)
