"""How far off predicted poses are, in metres and degrees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from innerview.errors import RequestError
from innerview.metrics.pose import heading_errors, position_errors
from innerview.schema import Head, pose_of, units_per
from innerview.store import Predictions, Recording


@dataclass(frozen=True, kw_only=True)
class PoseErrors:
    """A number per row; NaN where the true or the predicted pose is not known."""

    place_m: np.ndarray
    heading_deg: np.ndarray | None


class TruePoses:
    """Where the pictures of one domain were taken, beside what a pose head says of it."""

    def __init__(self, recording: Recording, domain: str, head: Head) -> None:
        self._recording = recording
        pose = pose_of(recording.info.columns, (domain,))
        parts = dict(zip(head.pose_parts, range(head.size), strict=False))
        if not {"x", "y"} <= parts.keys():
            raise RequestError(
                f"Head '{head.name}' does not say which of its {head.size} numbers are x and y: Head(kind='pose', "
                "names=('x', 'y', 'angle'), units=('m', 'm', 'rad'))."
            )
        metres = units_per(pose.unit, "m")
        assert metres is not None and pose.placed, "sides are checked before"
        self._places = [(pose.x, metres, parts["x"]), (pose.y, metres, parts["y"])]
        self._said_m = [_factor(head, parts[part], pose.unit, "m") for part in ("x", "y")]
        self._angle = pose.angle if pose.directed and "angle" in parts else ""
        self._angle_deg, self._said_deg, self._angle_at = pose.angle_deg, 1.0, parts.get("angle", 0)
        if self._angle:
            unit = next(column.unit for column in recording.info.columns if column.name == self._angle)
            self._said_deg = _factor(head, self._angle_at, unit, "deg")

    def errors(self, said: np.ndarray, rows: np.ndarray) -> PoseErrors:
        """Of what a head said [row, part] of rows."""
        names = [name for name, _, _ in self._places] + ([self._angle] if self._angle else [])
        first = int(rows.min()) if len(rows) else 0
        table = self._recording.columns(names, first, int(rows.max()) + 1 if len(rows) else 0)
        true = {name: table[name].cast(float).to_numpy()[rows - first] for name in names}
        x, y = (
            (said[:, place] * factor, true[name] * metres)
            for (name, metres, place), factor in zip(self._places, self._said_m, strict=True)
        )
        heading = None
        if self._angle and self._angle_deg is not None:
            heading = heading_errors(said[:, self._angle_at] * self._said_deg, true[self._angle] * self._angle_deg)
        return PoseErrors(place_m=position_errors(x[0], y[0], x[1], y[1]), heading_deg=heading)


def pose_head(heads: tuple[Head, ...], name: str) -> Head:
    """The pose head of a subject."""
    found = next((head for head in heads if head.kind == "pose"), None)
    if found is None:
        raise RequestError(f"'{name}' has no pose head: there is no error of a pose.")
    return found


def pose_errors(predictions: Predictions, recording: Recording, domain: str) -> PoseErrors:
    """Distance of the predicted from the recorded place, and angle between the headings, at most 180."""
    made = predictions.info.subject
    head = pose_head(made.heads if made else (), predictions.subject)
    table = predictions.columns([*head.columns], 0, predictions.rows)
    said = np.stack([table[name].to_numpy() for name in head.columns], axis=1).astype(np.float64)
    return TruePoses(recording, domain, head).errors(said, predictions.source_rows)


def _factor(head: Head, place: int, recorded: str, wanted: str) -> float:
    """By what a number of the head is multiplied; where it has no unit, it is in the recorded one."""
    unit = (head.units[place] if head.units else "") or recorded
    factor = units_per(unit, wanted)
    if factor is None:
        raise RequestError(
            f"Head '{head.name}' says its number {place} in '{unit}', which cannot be compared with '{wanted}'. Give "
            f"the head units=('m', 'm', 'rad')."
        )
    return factor
