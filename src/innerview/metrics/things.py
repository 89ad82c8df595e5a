"""What can be said about the things in view: whether one of a kind is there, how far it is and in which direction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from innerview.metrics.functions import wrapped

FIELDS = ("distance", "x", "y", "width_px")


@dataclass(frozen=True)
class Nearest:
    """The nearest thing of a kind in each row; NaN where none is in view or nothing is told."""

    in_view: np.ndarray
    distance: np.ndarray
    x: np.ndarray
    y: np.ndarray


def kinds(objects: pl.Series) -> dict[str, int]:
    """Every kind of thing in a column of lists, and in how many places it stands."""
    names = objects.explode(empty_as_null=True, keep_nulls=True).struct.field("name").drop_nulls()
    counted = names.value_counts()
    return {str(name): int(count) for name, count in counted.iter_rows()}


def nearest(
    objects: pl.Series, kind: str, *, place_xy: Sequence[np.ndarray] | None, max_distance: float, min_px: float
) -> Nearest:
    """The nearest thing of a kind that is near and wide enough to count as in view."""
    rows = len(objects)
    table = _of_kind(objects, kind)
    row = table["row"].to_numpy()
    distance, x, y, width = (table[name].to_numpy() for name in FIELDS)
    if place_xy is not None:
        here_x, here_y = (values[row] for values in place_xy)
        distance = np.where(np.isnan(distance), np.hypot(x - here_x, y - here_y), distance)
    # What is not told cannot be too far or too small.
    counts = ~(distance > max_distance) & ~(width < min_px)
    row, distance, x, y = row[counts], distance[counts], x[counts], y[counts]
    order = np.lexsort((distance, row))
    row, first = np.unique(row[order], return_index=True)
    found = [np.full(rows, np.nan) for _ in range(3)]
    for out, values in zip(found, (distance, x, y), strict=True):
        out[row] = values[order][first]
    in_view = np.zeros(rows, bool)
    in_view[row] = True
    return Nearest(in_view, *found)


def _of_kind(objects: pl.Series, kind: str) -> pl.DataFrame:
    """One line per thing of that kind: its row and what is told about it, unknown numbers as NaN."""
    every = pl.DataFrame({"row": np.arange(len(objects)), "thing": objects})
    things = every.explode("thing", empty_as_null=True, keep_nulls=True).filter(
        pl.col("thing").struct.field("name") == kind
    )
    told = [pl.col("thing").struct.field(name).cast(pl.Float64).fill_null(float("nan")) for name in FIELDS]
    return things.select("row", *told)


def direction(near: Nearest, *, x: np.ndarray, y: np.ndarray, angle_deg: np.ndarray) -> np.ndarray:
    """Degrees from where it looks to the thing: left is negative, right is positive."""
    bearing = np.degrees(np.arctan2(near.y - y, near.x - x))
    # Angles grow anticlockwise, as in mathematics and in Doom.
    found = -wrapped(bearing - angle_deg)
    found[found == 180.0] = -180.0
    return found
