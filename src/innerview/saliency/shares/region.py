"""How much of a map falls into a region of the picture, row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from innerview.errors import LensError
from innerview.saliency.shares.maps import MAP, MapOf
from innerview.schema import Axis, Lens, Parameter, PerRow, Rows, Watch, unwatched

if TYPE_CHECKING:
    from innerview.subjects import Subject


def _edge(name: str, default: float, description: str) -> Parameter:
    return Parameter(name=name, type="float", default=default, low=0.0, high=1.0, description=description)


LENS = Lens(
    name="region",
    question="How much of the map falls into a region?",
    needs=("image input", "subject"),
    parameters=(
        *MAP,
        _edge("left", 0.0, "Where the region begins, from 0 at the left edge of the picture to 1 at the right."),
        _edge("top", 0.0, "From 0 at the upper edge to 1 at the lower."),
        _edge("right", 1.0, "Where it ends."),
        _edge("bottom", 1.0, "Where it ends."),
    ),
    yields="per row",
    over="row",
    paper="A figure for what Rosynski, Kirchner, Valdenegro-Toro 2020 read off videos of maps",
)


def look(
    rows: Rows,
    subject: Subject,
    *,
    method: str = "gradient",
    target: str = "action",
    layer: str = "",
    frame: int = -1,
    left: float = 0.0,
    top: float = 0.0,
    right: float = 1.0,
    bottom: float = 1.0,
    watch: Watch = unwatched,
) -> PerRow:
    """The share of all sizes that lies on the region's pixels, unknown where the map is 0 everywhere."""
    sizes = MapOf(method=method, target=target, layer=layer, frame=frame).sizes(rows, subject)
    down, across = pixels(sizes.shape[1], top, bottom), pixels(sizes.shape[2], left, right)
    inside = sizes[:, down, across]
    if not inside.size:
        raise LensError(
            f"The region from {left:g}, {top:g} to {right:g}, {bottom:g} holds no pixel's middle. Choose a larger one."
        )
    whole = sizes.sum((1, 2), dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(whole > 0, inside.sum((1, 2), dtype=np.float64) / whole, np.nan)
    return PerRow(
        values=np.stack([share, sizes.max((1, 2)), whole], 1),
        rows=rows.numbers,
        columns=(Axis(name="share of the map"), Axis(name="strongest pixel"), Axis(name="whole map")),
        value={"share of the picture": inside[0].size / sizes[0].size, "size": list(sizes.shape[1:])},
    )


def pixels(count: int, begin: float, end: float) -> slice:
    """The pixels along one side whose middles lie between two shares of it."""
    first, last = (int(np.ceil(share * count - 0.5 - 1e-9)) for share in (begin, end))
    return slice(max(first, 0), max(last, 0))
