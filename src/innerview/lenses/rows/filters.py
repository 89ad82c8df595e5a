"""Filters on the way from a recording to a subject: with the depth and the camera that some of them need."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from innerview.edits.filters.chain import filtered
from innerview.edits.filters.colours import RGB
from innerview.edits.filters.view import Seen
from innerview.errors import RequestError
from innerview.schema import PICTURE_FILTERS, ArraySpec, Camera, Step, units_per
from innerview.schema.binding import is_depth
from innerview.store import Recording


class RowFilters:
    """Filters for pictures of one recording."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    def apply(self, steps: Sequence[Step], spec: ArraySpec, rows: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Rows of an array through the filters among its steps, in their order."""
        chosen = [step for step in steps if step.kind in PICTURE_FILTERS]
        if not chosen or not len(values):
            return values
        camera = self._camera if any(PICTURE_FILTERS[step.kind].part == "view" for step in chosen) else None
        if is_depth(spec):
            metres = _metres(spec)
            plane = values[..., 0] if values.ndim == 4 else values
            seen = filtered(Seen(depth_m=plane.astype(np.float64) * metres, camera=camera), chosen)
            assert seen.depth_m is not None
            made = seen.depth_m / metres
            made = (np.rint(made) if values.dtype.kind in "iu" else made).astype(values.dtype)
            return made[..., None] if values.ndim == 4 else made
        depth_m = self._depth_m(spec, rows) if any(step.kind == "height" for step in chosen) else None
        colours = values[..., None] if values.ndim == 3 else values[..., :RGB]
        beside = values[..., RGB:] if values.ndim == 4 else values[..., :0]
        if beside.shape[-1] and any(PICTURE_FILTERS[step.kind].part == "view" for step in chosen):
            raise RequestError(
                f"'{spec.name}' has {values.shape[-1]} channels in one array. For pitch, height and field of view, "
                "record colours and depth as arrays of their own, depth with its unit."
            )
        seen = filtered(Seen(colours=colours, depth_m=depth_m, camera=camera), chosen)
        assert seen.colours is not None
        return seen.colours[..., 0] if values.ndim == 3 else np.concatenate([seen.colours, beside], axis=-1)

    def _depth_m(self, spec: ArraySpec, rows: np.ndarray) -> np.ndarray:
        """What was measured beside these colours."""
        found = [each for each in self._recording.info.arrays if is_depth(each) and each.domain == spec.domain]
        if len(found) != 1:
            raise RequestError(
                f"'height' moves each pixel of '{spec.name}' by its distance, and '{self._recording.name}' has "
                f"{len(found)} arrays of depth with a unit of that domain."
            )
        depth = self._recording.array_rows(found[0].name, rows)
        return np.asarray((depth[..., 0] if depth.ndim == 4 else depth).astype(np.float64) * _metres(found[0]))

    @cached_property
    def _camera(self) -> Camera | None:
        scene = self._recording.info.scene
        return self._recording.scene(scene).camera if scene else None


def _metres(spec: ArraySpec) -> float:
    metres = units_per(spec.unit, "m")
    assert metres is not None, "an array of depth has a unit of length"
    return metres
