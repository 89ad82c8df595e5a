"""Which class of things covers which pixels: from masks, or from the boxes of things that the world names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from innerview.errors import LensError
from innerview.schema import Rows, Things

BACKGROUND = "background"
"""Where nothing that the world names stands."""


def classes_of(rows: Rows) -> tuple[str, ...]:
    """Every class that rows of this recording may show; the first is the ground that things stand before."""
    if rows.mask is not None:
        return rows.classes
    if rows.things is not None:
        names = tuple(name for name in rows.things.names() if name != BACKGROUND)
        if names:
            return (BACKGROUND, *names)
        raise LensError("Nothing was ever in view in this recording: there are no classes of things to look for.")
    raise LensError(
        "This recording does not say what is where in the picture: it has no masks and names no objects. Your own "
        "environment provides masks with iv.world(env, masks=…)."
    )


def cover(rows: Rows, places: np.ndarray, size_hw: tuple[int, int]) -> np.ndarray:
    """bool [place, class, height, width]: what covers each pixel of a map of that size. Boxes may overlap."""
    classes = classes_of(rows)
    if rows.mask is not None:
        masks = resized(rows.masks(places), size_hw)
        of_masks: np.ndarray = masks[:, None] == np.arange(len(classes))[None, :, None, None]
        return of_masks
    assert rows.things is not None
    numbers = {name: number for number, name in enumerate(classes)}
    found = np.zeros((len(places), len(classes), *size_hw), bool)
    for place, things in enumerate(rows.things.read(places)):
        for thing, area in boxes(things, rows.things, size_hw):
            if thing["name"] in numbers:
                found[(place, numbers[thing["name"]], *area)] = True
    found[:, 0] = ~found[:, 1:].any(axis=1)
    return found


def boxes(
    things: Sequence[Mapping[str, Any]], of: Things, size_hw: tuple[int, int]
) -> list[tuple[Mapping[str, Any], tuple[slice, slice]]]:
    """Things with the pixels of a map of that size that their boxes touch; those without a box are left out."""
    down, across = size_hw[0] / of.size_hw[0], size_hw[1] / of.size_hw[1]
    found = []
    for thing in things:
        x, y, width, height = (thing.get(name) for name in ("x_px", "y_px", "width_px", "height_px"))
        if x is None or y is None or width is None or height is None:
            continue
        area = _touched(y, height, down, size_hw[0]), _touched(x, width, across, size_hw[1])
        if all(side.stop > side.start for side in area):
            found.append((thing, area))
    return found


def resized(masks: np.ndarray, size_hw: tuple[int, int]) -> np.ndarray:
    """Masks [place, height, width] at another size: each pixel is of the class in its middle."""
    height, width = masks.shape[1:]
    if (height, width) == size_hw:
        return masks
    down, across = ((np.arange(n) + 0.5) * side / n for n, side in zip(size_hw, (height, width), strict=True))
    smaller: np.ndarray = masks[:, down.astype(int)[:, None], across.astype(int)[None]]
    return smaller


def _touched(begin: float, length: float, scale: float, count: int) -> slice:
    """Pixels that a part of a side touches; a thing thinner than a pixel still touches one."""
    first = int(np.floor(begin * scale + 1e-6))
    last = max(int(np.ceil((begin + length) * scale - 1e-6)), first + 1)
    return slice(min(max(first, 0), count), min(max(last, 0), count))
