"""What a robot on the floor observes: colour with depth as bytes, what is in view, and where it is."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import torch

from innerview.errors import UnknownName, WorldError
from innerview.schema import ArraySpec, Column, Scene
from innerview.schema import Camera as Intrinsics
from innerview_zoo.worlds.office.conditions import GAPS, Conditions
from innerview_zoo.worlds.office.floors.floor import CEILING_ID, FLOOR_ID, Floor, door_leaf, room_grid
from innerview_zoo.worlds.office.floors.standard import office_floor
from innerview_zoo.worlds.office.reality import as_real
from innerview_zoo.worlds.office.rendering.camera import Camera
from innerview_zoo.worlds.office.rendering.render import Frame, render
from innerview_zoo.worlds.office.things.kinds import KINDS

DEPTH_RANGE_M = 10.0
"""Depth of 255 in the fourth channel; what is farther is 255 too, and 0 is where nothing was measured."""
IMAGE = ("height", "width", "channel")
DOMAINS = ("sim", "real")
CLASSES: tuple[str, ...] = ("floor", "ceiling", "wall", "door", "window", *KINDS)
"""What the numbers of a mask stand for."""
SMALLEST_SHARE = 1e-4
"""Share of the picture that something must fill to be in view."""
S = TypeVar("S", bound="ViewSettings")


@dataclass(frozen=True, kw_only=True)
class ViewSettings:
    """The camera, the floor, and whether it is the simulator or its stand-in for reality."""

    size: int = 256
    height_m: float = Camera.height_m
    fov_deg: float = Camera.fov_deg
    pitch_deg: float = Camera.pitch_deg
    domain: str = "sim"
    """"sim" or "real"."""
    month: int = 1
    """Of the stand-in for reality, 1 or 2."""
    gaps: tuple[str, ...] = GAPS
    """Which of the gaps the stand-in has; all unless told."""
    floor_seed: int = 0
    floor: Floor | None = field(default=None, repr=False)
    """A floor of your own instead of the standard one."""
    picture: int = 0
    """Width of a picture for people that is kept with each step; 0 keeps none."""
    masks: bool = False
    """Keep which class each pixel shows."""
    device: str = "cpu"

    @classmethod
    def of(cls: type[S], **given: Any) -> S:
        """Settings by name; an unknown name gets an error with the nearest one."""
        known = [f.name for f in fields(cls)]
        for name in given:
            if name not in known:
                raise UnknownName("setting of the office world", name, known)
        return cls(**given)

    def __post_init__(self) -> None:
        if self.domain not in DOMAINS:
            raise UnknownName("domain", str(self.domain), DOMAINS)
        if self.picture and not 64 <= self.picture <= 2048:
            raise WorldError(f"picture is the width of a picture from 64 to 2048, or 0, not {self.picture!r}.")
        if self.floor is not None and not isinstance(self.floor, Floor):
            raise WorldError(f"floor is a Floor such as office_floor(0), not {self.floor!r}.")
        Conditions.real(self.month).only(*self.gaps)  # says what is possible
        self.camera(self.size)

    def camera(self, size: int, samples: int = 1) -> Camera:
        """The robot's camera at a size."""
        return Camera(
            size=size, height_m=self.height_m, fov_deg=self.fov_deg, pitch_deg=self.pitch_deg, samples=samples
        )

    @property
    def conditions(self) -> Conditions:
        """What differs from the simulator."""
        return Conditions.real(self.month).only(*self.gaps) if self.domain == "real" else Conditions.simulated()

    def summary(self) -> dict[str, Any]:
        """The settings as a recording keeps them."""
        names = ("size", "height_m", "fov_deg", "pitch_deg", "domain", "month", "floor_seed")
        told: dict[str, Any] = {name: getattr(self, name) for name in names}
        told["size"] = [self.size, self.size]
        return {**told, "gaps": list(self.conditions.on), "depth_range_m": DEPTH_RANGE_M}


def rgbd_of(frame: Frame) -> torch.Tensor:
    """Bytes [n, 4, height, width]: red, green, blue, and depth in steps of 10 m / 255."""
    depth = (frame.depth / DEPTH_RANGE_M).clamp(0, 1).mul(255).round().to(torch.uint8)
    return torch.cat((frame.rgb, depth.unsqueeze(1)), 1)


class View:
    """Looks at a floor from poses and tells what a robot there would know."""

    def __init__(self, settings: ViewSettings) -> None:
        self.settings = settings
        self.scan = settings.floor or office_floor(settings.floor_seed)
        """The floor as the simulator has it; `floor` is how it stands where the robot is."""
        self.floor = as_real(self.scan, settings.conditions)

    def specs(self) -> tuple[ArraySpec, ...]:
        """The arrays of an observation."""
        size, more = self.settings.size, []
        names = ("red", "green", "blue", "depth")
        seen = ArraySpec(
            name="rgbd", shape=(size, size, 4), dtype="uint8", role="observation", axes=IMAGE, elements=names,
            domain=self.settings.domain, pixelated=False,
        )  # fmt: skip
        if self.settings.picture:
            shape = (self.settings.picture, self.settings.picture, 3)
            more.append(
                ArraySpec(name="picture", shape=shape, dtype="uint8", role="image", axes=IMAGE, pixelated=False)
            )
        if self.settings.masks:
            more.append(
                ArraySpec(name="mask", shape=(size, size), dtype="uint8", role="mask", axes=IMAGE[:2], elements=CLASSES)
            )
        return (seen, *more)

    def look(self, poses: np.ndarray) -> tuple[list[dict[str, np.ndarray]], list[list[dict[str, Any]]]]:
        """Observations and things in view from poses [n, 3]."""
        chosen = self.settings
        frame = render(
            self.scan, poses, camera=chosen.camera(chosen.size), conditions=chosen.conditions, device=chosen.device
        )
        rgbd = rgbd_of(frame).permute(0, 2, 3, 1).contiguous().cpu().numpy()
        ids = frame.ids.cpu().numpy()
        arrays: list[dict[str, np.ndarray]] = [{"rgbd": image} for image in rgbd]
        if chosen.picture:
            fine = chosen.camera(chosen.picture, samples=2)
            shown = render(self.scan, poses, camera=fine, conditions=chosen.conditions, device=chosen.device).rgb
            for one, image in zip(arrays, shown.permute(0, 2, 3, 1).contiguous().cpu().numpy(), strict=True):
                one["picture"] = image
        if chosen.masks:
            for one, which in zip(arrays, ids, strict=True):
                one["mask"] = self._class_of[which]
        return arrays, [self.in_view(which, pose) for which, pose in zip(ids, poses, strict=True)]

    def render(self, poses: np.ndarray, camera: Intrinsics) -> tuple[np.ndarray, np.ndarray]:
        """Colours [pose, height, width, 3] and depth in metres [pose, height, width] of another camera than its own."""
        (across, down), (right, up) = camera.focal_px, camera.centre_px
        straight = abs(right - camera.width_px / 2) < 1 and abs(up - camera.height_px / 2) < 1
        if abs(across - down) > 0.01 * across or not straight or camera.height_m is None or camera.pitch_deg is None:
            raise WorldError(
                "The office renders for cameras with square pixels, their centre in the middle of the picture and a "
                f"known height and pitch, not for {camera}."
            )
        shot = Camera(
            size=(camera.width_px, camera.height_px),
            height_m=camera.height_m,
            fov_deg=math.degrees(2 * math.atan(camera.width_px / 2 / across)),
            pitch_deg=camera.pitch_deg,
        )
        frame = render(self.scan, poses, camera=shot, conditions=self.settings.conditions, device=self.settings.device)
        return frame.rgb.permute(0, 2, 3, 1).cpu().numpy(), frame.depth.cpu().numpy()

    def in_view(self, ids: np.ndarray, pose: np.ndarray) -> list[dict[str, Any]]:
        """Things, doors and windows in an image of ids: box in pixels, place and distance, nearest first."""
        seen: list[dict[str, Any]] = []
        for id, pixels in zip(*np.unique(ids, return_counts=True), strict=True):
            place = self._places.get(int(id))
            if place is None or pixels < SMALLEST_SHARE * ids.size:
                continue
            rows, columns = np.nonzero(ids == id)
            x, y = place
            seen.append(
                {
                    "name": self.floor.kinds[int(id)],
                    "id": int(id),
                    "x_px": int(columns.min()),
                    "y_px": int(rows.min()),
                    "width_px": int(columns.max() - columns.min() + 1),
                    "height_px": int(rows.max() - rows.min() + 1),
                    "distance": round(math.hypot(x - pose[0], y - pose[1]), 2),
                    "x": round(x, 2),
                    "y": round(y, 2),
                }
            )
        seen.sort(key=lambda thing: thing["distance"])
        return seen

    def room_at(self, x: float, y: float) -> str:
        """The name of the room at a place."""
        index = int(room_grid(self.floor, np.array([x]), np.array([y]))[0])
        return self.floor.rooms[index - 1].name if index else ""

    @cached_property
    def scene(self) -> Scene:
        """Walls and things for a map, in metres."""
        lines = []
        for wall in self.floor.walls:
            if wall.blocks:
                if wall.x1 - wall.x0 > wall.y1 - wall.y0:
                    middle = (wall.y0 + wall.y1) / 2
                    lines.append((wall.x0, middle, wall.x1, middle))
                else:
                    middle = (wall.x0 + wall.x1) / 2
                    lines.append((middle, wall.y0, middle, wall.y1))
        for door in self.floor.doors:
            x, y, half, _, angle = door_leaf(door)
            dx, dy = half * math.cos(angle), half * math.sin(angle)
            lines.append((x - dx, y - dy, x + dx, y + dy))
        walls = tuple(tuple(round(v, 3) for v in line) for line in lines)
        things = tuple((t.kind, round(t.x, 2), round(t.y, 2)) for t in self.floor.things if t.kind != "lamp")
        return Scene(walls=walls, unit="m", objects=things)  # type: ignore[arg-type]

    @cached_property
    def _places(self) -> dict[int, tuple[float, float]]:
        places = {thing.id: (thing.x, thing.y) for thing in self.floor.things if thing.kind != "lamp"}
        places.update((door.id, (door.x, door.y)) for door in self.floor.doors)
        places.update((window.id, (window.x, window.y)) for window in self.floor.windows)
        return places

    @cached_property
    def _class_of(self) -> np.ndarray:
        """Class by id."""
        table = np.zeros(max(self.floor.kinds) + 1, dtype=np.uint8)
        for id, kind in self.floor.kinds.items():
            table[id] = CLASSES.index(kind)
        table[FLOOR_ID], table[CEILING_ID] = 0, 1
        return table


def place_columns() -> tuple[Column, ...]:
    """Facts that every office world tells."""
    return (
        Column(name="x", type="float", unit="m", pose="x"),
        Column(name="y", type="float", unit="m", pose="y"),
        Column(name="angle", type="float", unit="deg", pose="angle", description="Counter-clockwise from the x axis."),
        Column(name="room", type="text", kind="category"),
        Column(
            name="objects",
            type="objects",
            kind="objects",
            label="in view",
            description="Box in pixels of the observation (x_px, y_px: upper left), place and distance in metres.",
        ),
    )


def place_facts(view: View, pose: np.ndarray, objects: list[dict[str, Any]]) -> dict[str, Any]:
    """What is true at a pose."""
    x, y, angle = (float(v) for v in pose)
    turned = math.degrees(angle) % 360
    seen = [{name: value for name, value in thing.items() if name != "id"} for thing in objects]
    return {
        "x": round(x, 4), "y": round(y, 4), "angle": round(turned, 3), "room": view.room_at(x, y), "objects": seen,
    }  # fmt: skip
