"""Where the camera looks: pictures as a camera would have taken them that looks further up, stands higher or sees more.

Turning the camera and another field of view move pixels by geometry alone. A camera that stands higher sees each thing
shifted by its distance, so that one needs depth. What the recorded camera did not see is black, with depth 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from innerview.errors import RequestError
from innerview.schema import Camera


@dataclass(frozen=True, kw_only=True)
class Seen:
    """Pictures of one camera: colours, depth, or both."""

    colours: np.ndarray | None = None
    """[rows, height, width, channel]."""
    depth_m: np.ndarray | None = None
    """[rows, height, width], along the camera's axis; 0 where nothing was measured."""
    camera: Camera | None = None


def turned(seen: Seen, up_deg: float, tangent: float) -> Seen:
    """As a camera sees it that is turned up by so much, with the tangent of half its field of view times `tangent`."""
    camera = _camera(seen)
    right, up = (rays * tangent for rays in _rays(camera))
    angle = math.radians(up_deg)
    ahead = math.cos(angle) - up * math.sin(angle)
    height = math.sin(angle) + up * math.cos(angle)
    with np.errstate(divide="ignore", invalid="ignore"):
        there_right, there_up = right / ahead, height / ahead
    column = there_right * camera.focal_px[0] + camera.centre_px[0] - 0.5
    line = -there_up * camera.focal_px[1] + camera.centre_px[1] - 0.5
    known = (ahead > 0) & (column >= -0.5) & (column < camera.width_px - 0.5)
    known &= (line >= -0.5) & (line < camera.height_px - 0.5)
    column, line = (np.where(known, places, 0) for places in (column, line))
    colours = depth_m = None
    if seen.colours is not None:
        colours = _between(seen.colours, line, column) * known[None, :, :, None]
        colours = colours.astype(np.float32)
    if seen.depth_m is not None:
        nearest = seen.depth_m[:, np.rint(line).astype(int), np.rint(column).astype(int)]
        # Along the new axis: that of the recorded camera, turned.
        depth_m = nearest * (math.cos(angle) + math.sin(angle) * np.where(known, there_up, 0)) * known
    return replace(seen, colours=colours, depth_m=depth_m)


def raised(seen: Seen, up_m: float) -> Seen:
    """As a camera sees it that stands so much higher, along its own upward axis."""
    if seen.depth_m is None:
        raise RequestError("'height' moves each pixel by its distance and needs depth beside the colours.")
    camera = _camera(seen)
    colours = None if seen.colours is None else np.zeros_like(seen.colours)
    depth_m = np.zeros_like(seen.depth_m)
    for row, depth in enumerate(seen.depth_m):
        picture = None if seen.colours is None else seen.colours[row]
        made, shown = _raised(depth, picture, up_m * camera.focal_px[1])
        depth_m[row] = made
        if colours is not None and shown is not None:
            colours[row] = shown
    return replace(seen, colours=colours, depth_m=depth_m)


def _raised(depth: np.ndarray, picture: np.ndarray | None, shift: float) -> tuple[np.ndarray, np.ndarray | None]:
    """One picture; `shift` is by how many pixels what is one metre away goes down."""
    height, width = depth.shape
    line, column = np.nonzero(depth > 0)
    away = depth[line, column]
    goal = np.rint(line + shift / away).astype(int)
    inside = (goal >= 0) & (goal < height)
    order = np.argsort(-away[inside], kind="stable")  # the nearest is written last
    line, column, goal = (places[inside][order] for places in (line, column, goal))
    source = np.full((height, width), -1)
    source[goal, column] = line * width + column
    source = _without_cracks(source, depth.ravel())
    filled = source >= 0
    made = np.where(filled, depth.ravel()[source], 0)
    if picture is None:
        return made, None
    return made, np.where(filled[..., None], picture.reshape(height * width, -1)[source], 0).astype(picture.dtype)


def _without_cracks(source: np.ndarray, depth: np.ndarray) -> np.ndarray:
    """Single empty pixels between two full ones, where near things were spread: they show the farther of the two."""
    above, below = source[:-2], source[2:]
    crack = (source[1:-1] < 0) & (above >= 0) & (below >= 0)
    farther = np.where(depth[above] > depth[below], above, below)
    done = source.copy()
    done[1:-1] = np.where(crack, farther, source[1:-1])
    return done


def _camera(seen: Seen) -> Camera:
    shown = seen.colours if seen.colours is not None else seen.depth_m
    if seen.camera is None:
        raise RequestError(
            "'pitch', 'height' and 'field of view' need the camera's focal length, and the recording's scene has no "
            'camera. Say it in pairs.json: "camera": {"focal_px": …}; see docs/imports.md.'
        )
    if shown is not None and shown.shape[1:3] != (seen.camera.height_px, seen.camera.width_px):
        raise RequestError(
            f"The scene's camera takes pictures of {seen.camera.width_px} × {seen.camera.height_px} pixels; these have "
            f"{shown.shape[2]} × {shown.shape[1]}."
        )
    return seen.camera


def _rays(camera: Camera) -> tuple[np.ndarray, np.ndarray]:
    """How far right and up [height, width] a pixel's ray goes for one step ahead."""
    right = (np.arange(camera.width_px) + 0.5 - camera.centre_px[0]) / camera.focal_px[0]
    up = -(np.arange(camera.height_px) + 0.5 - camera.centre_px[1]) / camera.focal_px[1]
    return np.broadcast_to(right, (camera.height_px, camera.width_px)), np.broadcast_to(
        up[:, None], (camera.height_px, camera.width_px)
    )


def _between(pictures: np.ndarray, line: np.ndarray, column: np.ndarray) -> np.ndarray:
    """[rows, height, width, channel] at places between pixels; at the border, the border."""
    height, width = pictures.shape[1:3]
    line, column = np.clip(line, 0, height - 1), np.clip(column, 0, width - 1)
    top, left = np.floor(line).astype(int), np.floor(column).astype(int)
    bottom, right = np.minimum(top + 1, height - 1), np.minimum(left + 1, width - 1)
    down, across = (line - top)[None, :, :, None], (column - left)[None, :, :, None]
    upper = pictures[:, top, left] * (1 - across) + pictures[:, top, right] * across
    lower = pictures[:, bottom, left] * (1 - across) + pictures[:, bottom, right] * across
    return np.asarray(upper * (1 - down) + lower * down)
