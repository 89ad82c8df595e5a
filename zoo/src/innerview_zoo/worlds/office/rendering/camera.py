"""A pinhole camera on a robot: where it looks, and the ray through every pixel."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from innerview.errors import WorldError

TILE = 16
"""Pixels along the side of a tile; the caster works tile by tile."""


@dataclass(frozen=True, kw_only=True)
class Camera:
    """What is fixed about the camera; where it stands is a pose (x, y, angle)."""

    size: int | tuple[int, int] = 256
    """Pixels: one number for a square, or width and height."""
    height_m: float = 1.2
    fov_deg: float = 75.0
    """Field of view from left to right."""
    pitch_deg: float = -5.0
    """Positive looks up."""
    samples: int = 1
    """Rays along the side of a pixel: 2 gives smooth edges for people, at four times the cost."""

    def __post_init__(self) -> None:
        width, height = self.width_height
        if not (1 <= width <= 4096 and 1 <= height <= 4096):
            raise WorldError(f"A camera's size is 1 to 4096 pixels, or (width, height), not {self.size!r}.")
        if not 5 <= self.fov_deg <= 150:
            raise WorldError(f"fov_deg goes from 5 to 150 degrees, not {self.fov_deg!r}.")
        if not -80 <= self.pitch_deg <= 80:
            raise WorldError(f"pitch_deg goes from -80 (down) to 80 (up) degrees, not {self.pitch_deg!r}.")
        if self.height_m <= 0:
            raise WorldError(f"height_m is metres above the ground and positive, not {self.height_m!r}.")
        if self.samples not in (1, 2, 3, 4):
            raise WorldError(f"samples is 1, 2, 3 or 4 rays along the side of a pixel, not {self.samples!r}.")

    @property
    def width_height(self) -> tuple[int, int]:
        """Pixels across and down."""
        if isinstance(self.size, int):
            return self.size, self.size
        width, height = self.size
        return int(width), int(height)

    @property
    def focal_px(self) -> float:
        """Distance of the image plane in pixels."""
        return self.width_height[0] / 2 / math.tan(math.radians(self.fov_deg) / 2)


@dataclass(frozen=True, kw_only=True)
class Raster:
    """The rays of a camera in tiles, for images of `width` x `height` rays."""

    width: int
    height: int
    focal: float
    across: int
    """Tiles from left to right."""
    down: int
    pitch: float
    rays: torch.Tensor
    """[tiles, 3, TILE * TILE]: forward, left and up in the robot's frame, one metre deep."""

    def untile(self, values: torch.Tensor) -> torch.Tensor:
        """[n, tiles, TILE * TILE, ...] to [n, height, width, ...]."""
        n, rest = values.shape[0], values.shape[3:]
        grid = values.view(n, self.down, self.across, TILE, TILE, *rest).transpose(2, 3)
        return grid.reshape(n, self.down * TILE, self.across * TILE, *rest)[:, : self.height, : self.width]


def places_of(depth: torch.Tensor, poses: torch.Tensor, camera: Camera) -> torch.Tensor:
    """Where each pixel lies on the floor: depth [n, height, width] and poses [n, 3] to metres [n, height, width, 3].

    A pixel without a reading (depth 0) lies in the camera itself.
    """
    width, height = camera.width_height
    where, focal = depth.device, camera.focal_px
    u = (torch.arange(width, device=where) + 0.5 - width / 2) / focal
    v = (-(torch.arange(height, device=where) + 0.5 - height / 2) / focal).unsqueeze(1)
    pitch = math.radians(camera.pitch_deg)
    ahead, up = math.cos(pitch) - v * math.sin(pitch), math.sin(pitch) + v * math.cos(pitch)
    x, y, angle = (poses.to(where)[:, i].view(-1, 1, 1) for i in range(3))
    c, s = torch.cos(angle), torch.sin(angle)
    return torch.stack(
        [
            x + depth * (ahead * c + u * s),
            y + depth * (ahead * s - u * c),
            camera.height_m + depth * up.expand_as(depth),
        ],
        -1,
    )


def raster_of(camera: Camera, device: torch.device) -> Raster:
    """Rays for a camera, `samples` along the side of a pixel."""
    width, height = (side * camera.samples for side in camera.width_height)
    focal = camera.focal_px * camera.samples
    across, down = -(-width // TILE), -(-height // TILE)
    u = (torch.arange(across * TILE, dtype=torch.float64) + 0.5 - width / 2) / focal
    v = -(torch.arange(down * TILE, dtype=torch.float64) + 0.5 - height / 2) / focal
    pitch = math.radians(camera.pitch_deg)
    right, up = torch.meshgrid(u, v, indexing="xy")
    c, s = math.cos(pitch), math.sin(pitch)
    ray = torch.stack([c - up * s, -right, s + up * c])  # [3, rows, columns]
    tiles = ray.view(3, down, TILE, across, TILE).permute(1, 3, 0, 2, 4).reshape(down * across, 3, TILE * TILE)
    rays = tiles.to(torch.float32).contiguous().to(device)
    return Raster(width=width, height=height, focal=focal, across=across, down=down, pitch=pitch, rays=rays)
