"""Attention per class: how much of a map lies on each class of things, beside how much of the picture it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from innerview.saliency.shares.cover import classes_of, cover
from innerview.saliency.shares.maps import MAP, MapOf
from innerview.schema import Axis, Lens, PerRow, Rows, Watch, unwatched

if TYPE_CHECKING:
    from innerview.subjects import Subject

LENS = Lens(
    name="classes",
    question="Which classes of things does it look at?",
    needs=("image input", "subject", "classes"),
    parameters=MAP,
    yields="per row",
    over="row",
    paper="Mass of a map on masks, as in Zhang and others 2016 (pointing game), over time and beside chance",
)
SHARE, CHANCE = "of the map", "of the picture"


def look(
    rows: Rows,
    subject: Subject,
    *,
    method: str = "gradient",
    target: str = "action",
    layer: str = "",
    frame: int = -1,
    watch: Watch = unwatched,
) -> PerRow:
    """For each class the share of the map's sizes on its pixels, and its share of the picture: what chance would give.

    Unknown where the map is 0 everywhere. Where the boxes of things overlap, a pixel counts for both.
    """
    classes = classes_of(rows)
    sizes = MapOf(method=method, target=target, layer=layer, frame=frame).sizes(rows, subject)
    share, chance = shares_of(sizes, cover(rows, np.arange(rows.count), sizes.shape[1:]))
    return PerRow(
        values=np.concatenate([share, chance], axis=1),
        rows=rows.numbers,
        columns=tuple(Axis(name=name, unit=unit) for unit in (SHARE, CHANCE) for name in classes),
        value={"classes": list(classes), "by": "masks" if rows.mask is not None else "boxes"},
    )


def shares_of(sizes: np.ndarray, covered: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Share of each map [row, height, width] on each class, and of the picture, both [row, class]."""
    whole = sizes.sum((1, 2), dtype=np.float64)
    on = np.einsum("rhw,rchw->rc", sizes, covered, dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(whole[:, None] > 0, on / whole[:, None], np.nan)
    return share, covered.mean((2, 3))
