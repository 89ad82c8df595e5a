"""The floor as tensors: every part of everything as a unit solid that was stretched, turned and moved."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch

from innerview_zoo.worlds.office.floors.floor import (
    CEILING_ID,
    FLOOR_ID,
    Door,
    Floor,
    Thing,
    Window,
    door_leaf,
    room_grid,
)
from innerview_zoo.worlds.office.textures.table import LAYERS, METRES, SIDE, linear
from innerview_zoo.worlds.office.things.kinds import KINDS
from innerview_zoo.worlds.office.things.parts import BOX, Look, Part, box

OWN, WALL, GROUND, CEILING, GLASS = range(5)
"""Where a solid takes its looks from: itself, the room it faces, or the world outside."""


@dataclass(frozen=True, kw_only=True)
class Solids:
    """One row per part; the first two are the ground and the ceiling."""

    shape: torch.Tensor
    id: torch.Tensor
    centre: torch.Tensor
    """[solids, 3]."""
    axes: torch.Tensor
    """[solids, 3, 3]: its own axes as columns, in the frame of the floor."""
    half: torch.Tensor
    skin: torch.Tensor
    """OWN, WALL, GROUND, CEILING or GLASS."""
    layer: torch.Tensor
    """[solids, 2]: texture of the sides and of the top."""
    paint: torch.Tensor
    """[solids, 6]: linear colour of the sides and of the top."""
    uv: torch.Tensor
    """[solids, 6]: scale and offset of the texture along its own axes."""
    density: torch.Tensor
    """Texels a metre of its texture."""
    glow: torch.Tensor
    inner: torch.Tensor

    def to(self, device: torch.device) -> Solids:
        """The same on a device."""
        return Solids(**{name: value.to(device) for name, value in vars(self).items()})


@dataclass(frozen=True)
class _Row:
    part: Part
    id: int
    x: float
    y: float
    z: float
    angle: float
    skin: int = OWN
    anchored: bool = False


def solids_of(floor: Floor) -> Solids:
    """All parts of a floor, on the CPU."""
    rows = list(_rows(floor))
    centres, axes = [], []
    for row in rows:
        turn = _spin(row.angle)
        centres.append(turn @ np.array(row.part.centre) + np.array([row.x, row.y, row.z]))
        axes.append(turn @ _turned(row.part))
    parts = [row.part for row in rows]
    half = np.maximum(np.array([part.half for part in parts]), 5e-4)  # a solid without depth has no inside
    return Solids(
        shape=torch.tensor([part.shape for part in parts], dtype=torch.int64),
        id=torch.tensor([row.id for row in rows], dtype=torch.int32),
        centre=torch.tensor(np.array(centres), dtype=torch.float32),
        axes=torch.tensor(np.array(axes), dtype=torch.float32),
        half=torch.tensor(half, dtype=torch.float32),
        skin=torch.tensor([row.skin for row in rows], dtype=torch.int64),
        layer=torch.tensor([[LAYERS[p.texture], LAYERS[p.top or _plain_top(p)]] for p in parts], dtype=torch.int64),
        paint=torch.tensor(
            [[*linear(p.colour), *linear(p.top_colour or p.colour)] for p in parts], dtype=torch.float32
        ),
        uv=torch.tensor([_uv(row, centre) for row, centre in zip(rows, centres, strict=True)], dtype=torch.float32),
        density=torch.tensor([_density(part) for part in parts], dtype=torch.float32),
        glow=torch.tensor([part.glow for part in parts], dtype=torch.float32),
        inner=torch.tensor([part.inner for part in parts], dtype=torch.float32),
    )


def _rows(floor: Floor) -> Iterator[_Row]:
    width, depth = floor.size_m
    slab = box(0, 0, -0.1, width + 40, depth + 40, 0.1)
    yield _Row(slab, FLOOR_ID, width / 2, depth / 2, 0.0, 0.0, GROUND, True)
    yield _Row(slab, CEILING_ID, width / 2, depth / 2, floor.height_m + 0.1, 0.0, CEILING, True)
    for wall in floor.walls:
        part = box(0, 0, 0, wall.x1 - wall.x0, wall.y1 - wall.y0, wall.z1 - wall.z0)
        yield _Row(part, wall.id, (wall.x0 + wall.x1) / 2, (wall.y0 + wall.y1) / 2, wall.z0, 0.0, WALL, True)
    for door in floor.doors:
        yield from _door_rows(door)
    for window in floor.windows:
        yield from _window_rows(window)
    dark = _dark_lamps(floor)
    for thing in floor.things:
        for part in thing_parts(thing):
            shown = replace(part, glow=0.12) if thing.id in dark else part
            yield _Row(shown, thing.id, thing.x, thing.y, thing.z, thing.angle)


def _dark_lamps(floor: Floor) -> set[int]:
    """Ids of lamps in rooms where they are off."""
    lamps = [thing for thing in floor.things if thing.kind == "lamp"]
    if not (lamps and floor.lights.dark_rooms):
        return set()
    rooms = room_grid(floor, np.array([lamp.x for lamp in lamps]), np.array([lamp.y for lamp in lamps]))
    names = ["", *(room.name for room in floor.rooms)]
    return {lamp.id for lamp, at in zip(lamps, rooms, strict=True) if names[at] in floor.lights.dark_rooms}


def thing_parts(thing: Thing) -> Iterator[Part]:
    """What a thing is put together from, in its own frame."""
    w, d, h = thing.size
    yield from KINDS[thing.kind].make(Look(w=w, d=d, h=h, colour=thing.colour, variant=thing.variant))


def _door_rows(door: Door) -> Iterator[_Row]:
    x, y, half, thick, angle = door_leaf(door)
    leaf = box(0, 0, 0.005, 2 * half - 0.05, 2 * thick, door.height - 0.02, door.paint, texture="door", fit=True)
    yield _Row(leaf, door.id, x, y, 0.0, angle)
    end = 1 if door.open else -door.hinge
    for side in (-1, 1):
        grip = box(end * (half - 0.12), side * (thick + 0.025), 1.02, 0.13, 0.022, 0.022, "#c3c6c9")
        yield _Row(grip, door.id, x, y, 0.0, angle)
    along = 0.0 if door.along == "x" else math.pi / 2
    depth = 0.17 if min(door.x, door.y) > 0.3 and max(door.x, door.y) < 21.7 else 0.26
    for side in (-1, 1):
        jamb = box(side * (door.width / 2 - 0.015), 0, 0, 0.06, depth, door.height + 0.03, "#e9e5dc")
        yield _Row(jamb, door.id, door.x, door.y, 0.0, along)
    head = box(0, 0, door.height - 0.03, door.width + 0.03, depth, 0.06, "#e9e5dc")
    yield _Row(head, door.id, door.x, door.y, 0.0, along)


def _window_rows(window: Window) -> Iterator[_Row]:
    along = 0.0 if window.along == "x" else math.pi / 2
    tall, wide = window.head - window.sill, window.width
    pane = box(0, 0, window.sill, wide, 0.02, tall, glow=1.0)
    yield _Row(pane, window.id, window.x, window.y, 0.0, along, GLASS)
    frame = [box(side * (wide / 2 - 0.025), 0, window.sill, 0.05, 0.12, tall, "#f2f1ec") for side in (-1, 1)]
    frame += [box(0, 0, z, wide, 0.12, 0.05, "#f2f1ec") for z in (window.sill, window.head - 0.05)]
    frame += [box(x, 0, window.sill, 0.05, 0.09, tall, "#f2f1ec") for x in _bars(wide)]
    inward = 1 if min(window.x, window.y) < 0.5 else -1
    if window.along == "y":
        inward = -inward
    frame.append(box(0, inward * 0.12, window.sill - 0.03, wide + 0.08, 0.2, 0.03, "#ded9ce"))
    for part in frame:
        yield _Row(part, window.id, window.x, window.y, 0.0, along)


def _bars(wide: float) -> list[float]:
    count = max(1, round(wide / 0.9)) - 1
    return [wide * ((i + 1) / (count + 1) - 0.5) for i in range(count)]


def _spin(angle: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _turned(part: Part) -> np.ndarray:
    if part.turn == (0.0, 0.0, 0.0):
        return np.eye(3)
    yaw, pitch, roll = (math.radians(a) for a in part.turn)
    cp, sp, cr, sr = math.cos(pitch), math.sin(pitch), math.cos(roll), math.sin(roll)
    about_y = np.array([[cp, 0.0, sp], [0.0, 1.0, 0.0], [-sp, 0.0, cp]])
    about_x = np.array([[1.0, 0.0, 0.0], [0.0, cr, -sr], [0.0, sr, cr]])
    return np.asarray(_spin(yaw) @ about_y @ about_x)


def _plain_top(part: Part) -> str:
    """A stretched front does not belong on the upper side of a box."""
    return "plain" if part.fit and part.shape == BOX and part.half[2] > 0.02 else part.texture


def _uv(row: _Row, centre: np.ndarray) -> list[float]:
    part = row.part
    if part.fit:
        return [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]
    metres = 1.0 if row.skin != OWN else METRES[LAYERS[part.texture]]
    half = [float(h) / metres for h in part.half]
    offset = [float(c) for c in centre] if row.anchored else half
    return [*half, *offset]


def _density(part: Part) -> float:
    return SIDE / (2 * max(part.half) if part.fit else METRES[LAYERS[part.texture]])
