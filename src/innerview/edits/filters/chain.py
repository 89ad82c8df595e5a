"""Several filters in their order, on colours, on depth, or on both."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from innerview.edits.filters.colours import changed_colours
from innerview.edits.filters.view import Seen, raised, turned
from innerview.errors import RequestError
from innerview.schema import PICTURE_FILTERS, Step


def filtered(seen: Seen, steps: Iterable[Step]) -> Seen:
    """Pictures through filters; colours and depth keep their types."""
    for step in steps:
        seen = _one(seen, step)
    return seen


def _one(seen: Seen, step: Step) -> Seen:
    chosen = PICTURE_FILTERS[step.kind]
    if step.values == chosen.neutral:
        return seen
    if chosen.part == "colour":
        if seen.colours is None:
            raise RequestError(f"'{step}' changes colours, and is asked of an array of depth.")
        return replace(seen, colours=changed_colours(step.kind, step.values[0], seen.colours))
    if chosen.part == "depth":
        if seen.depth_m is None:
            raise RequestError(f"'{step}' changes depth, and is asked of an array of colours.")
        near, far = step.values
        kept = (seen.depth_m >= near) & (seen.depth_m <= far)
        return replace(seen, depth_m=np.where(kept, seen.depth_m, 0).astype(seen.depth_m.dtype))
    return _as_before(_moved(seen, step), seen)


def _moved(seen: Seen, step: Step) -> Seen:
    if step.kind == "height":
        return raised(seen, step.values[0])
    return turned(seen, step.values[0], 1.0) if step.kind == "pitch" else turned(seen, 0.0, step.values[0])


def _as_before(made: Seen, before: Seen) -> Seen:
    """In the types they came in."""
    colours, depth_m = made.colours, made.depth_m
    if colours is not None and before.colours is not None and colours.dtype != before.colours.dtype:
        rounded = np.rint(colours) if before.colours.dtype.kind != "f" else colours
        colours = rounded.astype(before.colours.dtype)
    if depth_m is not None and before.depth_m is not None:
        depth_m = depth_m.astype(before.depth_m.dtype)
    return replace(made, colours=colours, depth_m=depth_m)
