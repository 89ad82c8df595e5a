"""How far off predictions are, in metres and degrees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from innerview.errors import RequestError
from innerview.lenses.columns.predicted import PredictedColumns
from innerview.schema import units_per
from innerview.store import Predictions, Recording


@dataclass(frozen=True, kw_only=True)
class PoseErrors:
    """A number per predicted row; NaN where the true or the predicted pose is not known."""

    place_m: np.ndarray
    heading_deg: np.ndarray | None


def pose_errors(predictions: Predictions, recording: Recording) -> PoseErrors:
    """Distance of the predicted from the recorded place, and angle between the headings, at most 180."""
    columns = PredictedColumns(predictions, recording)
    if not columns.poses:
        raise RequestError(
            f"What '{predictions.subject}' predicts cannot be compared with the pose of '{recording.name}': it needs a "
            "pose head with parts x and y, in units that are known (Head(kind='pose', names=('x', 'y', 'angle'), "
            "units=('m', 'm', 'rad')))."
        )
    pose = columns.poses[0]
    names = [pose.position_error, *([pose.heading_error] if pose.heading_error else [])]
    table = columns.columns(names, 0, predictions.rows)
    unit = next(column.unit for column in columns.specs if column.name == pose.position_error)
    metres = units_per(unit, "m")
    if metres is None:
        raise RequestError(f"The place of '{recording.name}' has the unit '{unit}', which is no length.")
    return PoseErrors(
        place_m=table[pose.position_error].to_numpy() * metres,
        heading_deg=table[pose.heading_error].to_numpy() if pose.heading_error else None,
    )
