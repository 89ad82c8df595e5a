"""Light worked out beforehand on a grid: lamps room by room, sun through windows, shade under things and in corners."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import torch

from innerview_zoo.worlds.office.floors.floor import Floor, room_grid
from innerview_zoo.worlds.office.rendering.solids import OWN, WALL, Solids

CELL_M = 0.05


@dataclass(frozen=True, kw_only=True)
class LightMap:
    """Tables over the cells of a grid, row by row from the floor's corner."""

    across: int
    down: int
    table: tuple[torch.Tensor, ...]
    """[cells] each: lamps on the ground, closeness of walls, shade of things, lamps in the air."""
    room: torch.Tensor
    """[cells]: 1 + index of the room; 0 outside."""
    sunny: torch.Tensor
    """[cells]: 1 + index of the room in which the sun would shine on the ground here; 0 for none."""
    sunshine: torch.Tensor
    """[cells]: how much of the sun shines on the ground, soft at the edges."""
    sun: tuple[float, float, float]
    """Unit vector towards the sun."""
    tint: tuple[float, float, float]
    sun_strength: float
    sky: float
    """How bright the view through the windows is."""

    def to(self, device: torch.device) -> LightMap:
        """The same on a device."""
        return replace(
            self,
            table=tuple(column.to(device) for column in self.table),
            room=self.room.to(device),
            sunny=self.sunny.to(device),
            sunshine=self.sunshine.to(device),
        )


def bake(floor: Floor, solids: Solids) -> LightMap:
    """Work out the light of a floor, on the CPU."""
    down, across = (round(side / CELL_M) for side in reversed(floor.size_m))
    x, y = np.meshgrid((np.arange(across) + 0.5) * CELL_M, (np.arange(down) + 0.5) * CELL_M)
    room = room_grid(floor, x, y)
    walls = _raster(solids, (solids.skin == WALL) & (solids.centre[:, 2] - solids.half[:, 2] < 0.5), x.shape)
    lamps = _lamp_light(floor, x, y, room)
    shade = _shade_of_things(solids, x.shape)
    air = _blurred(lamps, 8)
    columns = (_blurred(lamps, 2), _blurred(walls, 4), shade, air)
    lights = floor.lights
    level = math.cos(lights.sun_height)
    sun = (level * math.cos(lights.sun_azimuth), level * math.sin(lights.sun_azimuth), math.sin(lights.sun_height))
    sunny = _sunny(floor, x, y, room, sun)
    lit, sunny = sunny > 0, _spread(sunny)
    return LightMap(
        across=across,
        down=down,
        table=tuple(torch.from_numpy(column.reshape(-1)).float() for column in columns),
        room=torch.from_numpy(room.reshape(-1)).int(),
        sunny=torch.from_numpy(sunny.reshape(-1)).int(),
        sunshine=torch.from_numpy(_blurred(lit.astype(float), 1).reshape(-1)).float(),
        sun=sun,
        tint=lights.tint,
        sun_strength=lights.sun,
        sky=min(max(lights.sky, 0.02), 1.2),
    )


def _lamp_light(floor: Floor, x: np.ndarray, y: np.ndarray, room: np.ndarray) -> np.ndarray:
    """Light of the lamps and of the sky through the windows on the ground, 1 where it is well lit."""
    total = np.zeros(x.shape)
    for lamp in floor.things:
        if lamp.kind != "lamp":
            continue
        at = _room_at(lamp.x, lamp.y, room)
        chosen = floor.rooms[at - 1] if at else None
        if chosen is None or chosen.name in floor.lights.dark_rooms:
            continue
        away = (x - lamp.x) ** 2 + (y - lamp.y) ** 2
        size = lamp.size[0] * lamp.size[1] / 0.36
        total += np.where(room == at, 0.62 * size * chosen.light / (1 + away / 2.2) ** 2, 0.0)
    total *= floor.lights.lamps
    for window in floor.windows:
        out_x, out_y = _outward(floor, window.x, window.y, window.along)
        at = _room_at(window.x - 0.6 * out_x, window.y - 0.6 * out_y, room)
        deep = (window.x - x) * out_x + (window.y - y) * out_y
        aside = np.abs((x - window.x) * out_y - (y - window.y) * out_x)
        area = window.width * (window.head - window.sill) / 3
        fall = area / (1 + (deep - 0.6).clip(0) ** 2 / 2.5 + (aside - window.width / 2).clip(0) ** 2 / 1.5)
        total += floor.lights.sky * np.where((room == at) & (deep > 0), 0.42 * fall, 0.0)
    return 0.16 + total


def _room_at(x: float, y: float, room: np.ndarray) -> int:
    row, column = min(max(int(y / CELL_M), 0), room.shape[0] - 1), min(max(int(x / CELL_M), 0), room.shape[1] - 1)
    return int(room[row, column])


def _outward(floor: Floor, x: float, y: float, along: str) -> tuple[float, float]:
    width, depth = floor.size_m
    if along == "x":
        return 0.0, -1.0 if y < depth / 2 else 1.0
    return (-1.0 if x < width / 2 else 1.0), 0.0


def _sunny(floor: Floor, x: np.ndarray, y: np.ndarray, room: np.ndarray, sun: tuple[float, float, float]) -> np.ndarray:
    """Where rays towards the sun leave through a window: the room of that window, also behind its walls."""
    found = np.zeros(x.shape, dtype=np.int64)
    for window in floor.windows:
        out_x, out_y = _outward(floor, window.x, window.y, window.along)
        facing = sun[0] * out_x + sun[1] * out_y
        if facing < 0.05:
            continue
        way = ((window.x - x) * out_x + (window.y - y) * out_y) / facing
        height = way * sun[2]
        along = (x + way * sun[0] - window.x) * out_y - (y + way * sun[1] - window.y) * out_x
        bars = np.abs((along + window.width / 2) % 0.9 - 0.45) < 0.41
        through = (
            (way > 0) & (height > window.sill) & (height < window.head) & (np.abs(along) < window.width / 2) & bars
        )
        at = _room_at(window.x - 0.6 * out_x, window.y - 0.6 * out_y, room)
        found[through] = at
    return found


def _spread(rooms: np.ndarray) -> np.ndarray:
    """Rooms of sunny patches a few cells further out, where the soft edge of a patch lies."""
    for _ in range(4):
        for axis, way in ((0, 1), (0, -1), (1, 1), (1, -1)):
            rooms = np.where(rooms == 0, np.roll(rooms, way, axis), rooms)
    return rooms


def _shade_of_things(solids: Solids, shape: tuple[int, ...]) -> np.ndarray:
    """How much of the light from above things take from the ground: sharp for low ones, soft for high ones."""
    low_z = solids.centre[:, 2] - solids.half[:, 2]
    high_z = solids.centre[:, 2] + solids.half[:, 2]
    solid = (solids.skin == OWN) & (high_z > 0.03)
    total = 1 - 0.6 * _blurred(_raster(solids, solid & (low_z < 0.15), shape), 2)
    total *= 1 - 0.55 * _blurred(_raster(solids, solid & (low_z >= 0.15) & (low_z < 0.95), shape), 5)
    return total


def _raster(solids: Solids, chosen: torch.Tensor, shape: tuple[int, ...]) -> np.ndarray:
    """1 where the outline of a chosen solid covers a cell."""
    grid = np.zeros(shape)
    axes, centre, half = (v[chosen].double().numpy() for v in (solids.axes, solids.centre, solids.half))
    reach = np.abs(axes * half[:, None, :]).sum(2)
    flat = np.abs(axes[:, 2, 2]) > 0.99
    for i in range(len(centre)):
        (cx, cy, _), (rx, ry, _) = centre[i], reach[i]
        x0, x1 = (int(np.clip(math.floor(v / CELL_M), 0, shape[1])) for v in (cx - rx, cx + rx + CELL_M))
        y0, y1 = (int(np.clip(math.floor(v / CELL_M), 0, shape[0])) for v in (cy - ry, cy + ry + CELL_M))
        if not flat[i]:
            grid[y0:y1, x0:x1] = np.maximum(grid[y0:y1, x0:x1], 0.5)
            continue
        dx = (np.arange(x0, x1) + 0.5)[None, :] * CELL_M - cx
        dy = (np.arange(y0, y1) + 0.5)[:, None] * CELL_M - cy
        u, v = np.abs(dx * axes[i, 0, 0] + dy * axes[i, 1, 0]), np.abs(dx * axes[i, 0, 1] + dy * axes[i, 1, 1])
        cover = np.clip((half[i, 0] - u) / CELL_M + 0.5, 0, 1) * np.clip((half[i, 1] - v) / CELL_M + 0.5, 0, 1)
        grid[y0:y1, x0:x1] = np.maximum(grid[y0:y1, x0:x1], cover)
    return grid


def _blurred(grid: np.ndarray, cells: int) -> np.ndarray:
    """Three passes of a moving mean: near enough to a bell."""
    wide = 2 * cells + 1
    for axis in (0, 1):
        for _ in range(3):
            padded = np.pad(grid, [(cells + 1, cells) if a == axis else (0, 0) for a in (0, 1)], mode="edge")
            summed = padded.cumsum(axis)
            grid = (
                np.take(summed, range(wide, summed.shape[axis]), axis)
                - np.take(summed, range(summed.shape[axis] - wide), axis)
            ) / wide
    return grid
