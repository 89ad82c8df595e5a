"""Pixels back on the ground: where each lies by its depth, the camera and the pose, gathered in the cells of a map."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, cos, radians, sin
from typing import Literal

import numpy as np

from innerview.errors import LensError
from innerview.schema import Camera, Scene

Combine = Literal["sum", "mean", "maximum"]
COMBINES: tuple[Combine, ...] = ("mean", "sum", "maximum")
MAX_CELLS = 1 << 22
ODD = 0.02
"""How far the proportion of a picture's sides may be from the camera's: whole pixels are rounded."""
AT_ONCE = 1 << 18
"""Pixels that are worked on together: few enough for the cache."""


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Square cells over the ground, the uppermost line first."""

    origin: tuple[float, float]
    """The lower left corner, in the unit of places."""
    cell: float
    width: int
    height: int

    @classmethod
    def over(cls, low: tuple[float, float], high: tuple[float, float], cell: float) -> Grid:
        """Cells that cover a rectangle."""
        width, height = (max(1, ceil(round((b - a) / cell, 6))) for a, b in zip(low, high, strict=True))
        if width * height > MAX_CELLS:
            raise LensError(f"{width} × {height} cells of {cell:g} are too many: choose larger cells.")
        return cls(origin=low, cell=cell, width=width, height=height)


@dataclass(frozen=True)
class Gathered:
    """What lies in each cell of a grid, [height, width]."""

    values: np.ndarray
    counts: np.ndarray
    outside: int
    """Pixels that lie beyond the map."""
    unmeasured: int
    """Pixels without depth."""


def grid_of(scene: Scene, cell: float) -> Grid:
    """Cells over the picture of the ground, else over its areas and walls."""
    if scene.image is not None:
        image = scene.image
        high = (image.origin[0] + image.width_px * image.scale, image.origin[1] + image.height_px * image.scale)
        return Grid.over(image.origin, high, cell)
    points = [point for polygon in scene.polygons for point in polygon.points]
    points += [end for x1, y1, x2, y2 in scene.walls for end in ((x1, y1), (x2, y2))]
    if not points:
        raise LensError("The map has no picture, areas or walls: how far it reaches is not known. Import one of them.")
    xs, ys = zip(*points, strict=True)
    return Grid.over((min(xs), min(ys)), (max(xs), max(ys)), cell)


def rays_of(camera: Camera, size_hw: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """How far ahead of the robot [height] and to its right [width] a pixel lies at a depth of 1.

    Depth is measured along the camera's axis. Pictures of another size than the camera's are scaled ones.
    """
    height, width = size_hw
    if abs(width * camera.height_px / (height * camera.width_px) - 1) > ODD:
        raise LensError(
            f"Depth of {width} × {height} pixels does not fit a camera of {camera.width_px} × {camera.height_px}: its "
            "sides are of another proportion."
        )
    scale_x, scale_y = width / camera.width_px, height / camera.height_px
    across = (np.arange(width) + 0.5 - camera.centre_px[0] * scale_x) / (camera.focal_px[0] * scale_x)
    up = -(np.arange(height) + 0.5 - camera.centre_px[1] * scale_y) / (camera.focal_px[1] * scale_y)
    pitch = radians(camera.pitch_deg or 0.0)
    return (cos(pitch) - up * sin(pitch)).astype(np.float32), across.astype(np.float32)


class Gathering:
    """Adds frames to a map, some at a time."""

    def __init__(self, grid: Grid, camera: Camera, *, combine: Combine = "sum") -> None:
        self.grid, self.camera, self.combine = grid, camera, combine
        # A border of one cell takes what lies beyond, and one more what has no depth.
        self._cells = (grid.width + 2) * (grid.height + 2)
        self._counts = np.zeros(self._cells + 1, np.int64)
        self._total = np.zeros(self._cells + 1, np.float64)
        self._high = np.zeros(self._cells + 1, np.float32)
        self._low = np.zeros(self._cells + 1, np.float32)

    def add(self, depth: np.ndarray, poses: np.ndarray, heat: np.ndarray | None = None) -> None:
        """Depth [n, height, width] and poses [n, 3] in the unit of places and radians; heat as depth, or 1 each."""
        ahead, across = rays_of(self.camera, (depth.shape[1], depth.shape[2]))
        for some in _pieces(len(depth), depth[0].size if len(depth) else 1):
            index = self._places(depth[some], poses[some], ahead, across)
            self._counts += np.bincount(index, minlength=self._cells + 1)
            if heat is None:
                continue
            given = heat[some].reshape(-1)
            if self.combine != "maximum":
                self._total += np.bincount(index, given, minlength=self._cells + 1)
                continue
            np.maximum.at(self._high, index, given)
            np.minimum.at(self._low, index, given)

    def _places(self, depth: np.ndarray, poses: np.ndarray, ahead: np.ndarray, across: np.ndarray) -> np.ndarray:
        """The cell of each pixel, [n · height · width], in the bordered grid."""
        grid, cell = self.grid, np.float32(self.grid.cell)
        x, y, angle = (poses[:, part].astype(np.float64) for part in range(3))
        c, s = (np.asarray(turn(angle), np.float32)[:, None] / cell for turn in (np.cos, np.sin))
        known = depth > 0
        measured = np.where(known, depth, np.float32(0))
        along: list[np.ndarray] = []
        for start, first, second, side, low in (
            (x, ahead * c, across * s, grid.width, grid.origin[0]),
            (y, ahead * s, -across * c, grid.height, grid.origin[1]),
        ):
            rays = first[:, :, None] + second[:, None, :]
            rays *= measured
            rays += ((start - low) / grid.cell + 1).astype(np.float32)[:, None, None]
            along.append(np.clip(rays, 0, side + 1.5, out=rays).astype(np.int32))
        index: np.ndarray = along[1]
        index *= grid.width + 2
        index += along[0]
        index[~known] = self._cells
        return index.reshape(-1)

    @property
    def gathered(self) -> Gathered:
        """What was added so far."""
        counts = self._counts.copy()
        if self.combine == "maximum":
            values = np.where(-self._low > self._high, self._low, self._high).astype(np.float64)
        else:
            values = self._total / np.maximum(counts, 1) if self.combine == "mean" else self._total
        seen = self._inside(counts)
        outside = int(counts[:-1].sum() - seen.sum())
        return Gathered(self._inside(values), seen, outside, int(counts[-1]))

    def _inside(self, values: np.ndarray) -> np.ndarray:
        bordered = values[:-1].reshape(self.grid.height + 2, self.grid.width + 2)
        return np.ascontiguousarray(bordered[1:-1, 1:-1][::-1])


def _pieces(frames: int, pixels: int) -> Iterator[slice]:
    each = max(1, AT_ONCE // max(1, pixels))
    return (slice(first, min(first + each, frames)) for first in range(0, frames, each))
