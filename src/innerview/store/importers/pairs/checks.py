"""Whether numbers can be what they are said to be: angles in degrees or radians, depth in millimetres, poses at all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from innerview.schema import ArraySpec, Column, units_per
from innerview.store.importers.images import WholeRows
from innerview.store.recordings.arrays.encoded import decode_picture

_TURN = 2 * math.pi
_FEW = 4
"""Pictures of depth that are looked at, and angles below which nothing is concluded."""
_NEAREST_M, _FARTHEST_M = 0.02, 100.0


def rows_without_pose(table: pl.DataFrame, columns: Sequence[Column]) -> dict[int, str]:
    """Why a row is left out, by row: a part of its pose is no number. An empty one is not known, and stays."""
    wrong: dict[int, str] = {}
    for column in columns:
        series = table[column.name]
        if column.pose and series.dtype.is_float():
            for row in np.flatnonzero(~np.isfinite(series.fill_null(0.0).to_numpy())).tolist():
                wrong.setdefault(row, f"its {column.name} is {series[row]}")
    return wrong


def with_angles_checked(table: pl.DataFrame, columns: Sequence[Column]) -> tuple[tuple[Column, ...], tuple[str, ...]]:
    """The columns, of which angles that look like another unit carry a warning; and the same in words."""
    found, remarks = [], []
    for column in columns:
        warning = _about_angle(table[column.name], column) if column.pose == "angle" else ""
        remarks += [warning] if warning else []
        found.append(replace(column, warning=column.warning or warning))
    return tuple(found), tuple(remarks)


def _about_angle(series: pl.Series, column: Column) -> str:
    if not series.dtype.is_numeric():
        return ""
    values = series.drop_nulls().to_numpy().astype(np.float64)
    values = values[np.isfinite(values)]
    if not len(values):
        return ""
    low, high = float(values.min()), float(values.max())
    largest = max(abs(low), abs(high))
    goes = f"'{column.name}' goes from {low:g} to {high:g}"
    if not column.unit:
        likely = "deg" if largest > _TURN else "rad"
        return (
            f"{goes} and has no unit: no heading is drawn or compared. It looks like {likely}; say it in the head "
            f"of the column, '{column.name} [{likely}]', or with --unit {column.name}={likely}."
        )
    if column.unit == "rad" and largest > 2 * _TURN:
        return f"{goes}, but is said to be in rad. It looks like degrees: --unit {column.name}=deg."
    whole = bool((values == np.round(values)).all())
    if column.unit == "deg" and len(values) > _FEW and high - low > 1 and largest <= _TURN and not whole:
        return f"{goes}, but is said to be in deg. It looks like radians: --unit {column.name}=rad."
    return ""


def about_depth(spec: ArraySpec, whole: WholeRows) -> str:
    """What is odd about pictures of depth: no unit, or distances that no room has. Empty where nothing is."""
    if spec.dtype not in ("uint8", "uint16") or len(spec.shape) != 2:
        return ""
    metres = units_per(spec.unit, "m")
    if metres is None:
        kind = spec.name.rpartition(".")[2]
        deep = spec.dtype == "uint16" or kind == "depth"
        told = f"'{spec.name}' has no unit of length: nothing can be measured in it. Say it: --unit {kind}=mm"
        bytes_of_10_m = f' (bytes of which 255 is 10 m: --unit "{kind}=39.2157 mm")' if spec.dtype == "uint8" else ""
        return f"{told}{bytes_of_10_m}." if deep and not spec.unit else ""
    files = whole.read(0, min(_FEW, len(whole.rows)))[spec.name]
    values = np.concatenate([decode_picture(file, spec).reshape(-1) for file in files])
    measured = values[values > 0] * metres
    middle = float(np.median(measured)) if len(measured) else _NEAREST_M
    if _NEAREST_M <= middle <= _FARTHEST_M:
        return ""
    return f"The median depth of '{spec.name}' is {middle:g} m. Is its unit really {spec.unit}? --unit says another."
