"""Scenes: what can be drawn as a map."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class MapImage:
    """A picture of the ground, kept beside the scene under the digest of its bytes."""

    file: str
    """SHA-256 of its bytes and its ending."""
    width_px: int
    height_px: int
    origin: tuple[float, float]
    """Where its lower left corner lies, in the scene's unit."""
    scale: float
    """Units per pixel."""


@dataclass(frozen=True, kw_only=True)
class Polygon:
    """A named area of the map: a room, a lane."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, kw_only=True)
class Camera:
    """A pinhole camera: intrinsics in pixels, and where they are known its height and pitch."""

    width_px: int
    height_px: int
    focal_px: tuple[float, float]
    centre_px: tuple[float, float]
    height_m: float | None = None
    """Above the ground."""
    pitch_deg: float | None = None
    """Positive looks up."""


@dataclass(frozen=True, kw_only=True)
class Scene:
    """What stays the same through an episode and can be drawn as a map."""

    walls: tuple[tuple[float, float, float, float], ...] = ()
    """Segments x1, y1, x2, y2 in `unit`, y up."""
    unit: str = "map units"
    objects: tuple[tuple[str, float, float], ...] = ()
    """Things that were there at the start: name, x, y."""
    image: MapImage | None = None
    polygons: tuple[Polygon, ...] = ()
    camera: Camera | None = None
