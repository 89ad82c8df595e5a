"""A floor: rooms, walls, doors, windows and things, each with an id; edits give new floors."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from innerview.errors import UnknownName, WorldError
from innerview_zoo.worlds.office.things.kinds import KINDS, default_size

FLOOR_ID, CEILING_ID = 1, 2
FIRST_THING_ID = 1000
Point = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Room:
    """A room with its outline, and how its floor and walls look."""

    name: str
    kind: str
    polygon: tuple[Point, ...]
    """Corners in metres, counter-clockwise, on the middle lines of the walls."""
    paint: str = "#e8e4da"
    wall: str = "plaster"
    ground: str = "carpet"
    ground_paint: str = "#8b8f96"
    light: float = 1.0
    """How bright its lamps are."""
    accent: str = ""
    """Paint of the walls that run north and south, where it differs."""

    @property
    def centre(self) -> Point:
        """The middle of its bounding box."""
        (x0, x1), (y0, y1) = ((min(a), max(a)) for a in zip(*self.polygon, strict=True))
        return (x0 + x1) / 2, (y0 + y1) / 2


@dataclass(frozen=True, kw_only=True)
class Wall:
    """An upright slab: a rectangle on the plan and a span of heights."""

    id: int
    x0: float
    y0: float
    x1: float
    y1: float
    z0: float = 0.0
    z1: float = 2.7

    @property
    def blocks(self) -> bool:
        """Whether a robot can bump into it: what hangs above a door does not count."""
        return self.z0 < 1.5


@dataclass(frozen=True, kw_only=True)
class Door:
    """A leaf in an opening; `along` is the wall's direction."""

    id: int
    x: float
    y: float
    along: str
    """"x" or "y"."""
    width: float = 0.95
    height: float = 2.08
    open: bool = True
    hinge: int = 1
    """Which end of the opening it hangs at, -1 or 1."""
    side: int = 1
    """To which side of the wall it opens, -1 or 1."""
    swing_deg: float = 82.0
    paint: str = "#b98a5a"


@dataclass(frozen=True, kw_only=True)
class Window:
    """A pane of glass in an outer wall."""

    id: int
    x: float
    y: float
    along: str
    width: float
    sill: float = 0.85
    head: float = 2.35


@dataclass(frozen=True, kw_only=True)
class Thing:
    """An object on the floor, on another one, or on a wall."""

    id: int
    kind: str
    x: float
    y: float
    angle: float = 0.0
    """Radians, counter-clockwise; at 0 its front looks towards -y."""
    z: float = 0.0
    size: tuple[float, float, float] = (1.0, 1.0, 1.0)
    """Width, depth and height in metres."""
    colour: str = ""
    variant: int = 0
    on: int = 0
    """The id of the thing it stands on; it goes where that goes."""


@dataclass(frozen=True, kw_only=True)
class Lights:
    """Where light comes from: lamps in every room, and the sun through the windows."""

    lamps: float = 1.0
    sky: float = 1.0
    sun: float = 1.0
    sun_azimuth: float = -1.95
    """Radians: where the sun stands, seen from the floor."""
    sun_height: float = 0.62
    tint: tuple[float, float, float] = (1.0, 1.0, 1.0)
    dark_rooms: tuple[str, ...] = ()
    """Names of rooms whose lamps are off."""


@dataclass(frozen=True, kw_only=True)
class Floor:
    """Everything about a floor; what it says never changes, edits give a new one."""

    size_m: Point
    height_m: float
    rooms: tuple[Room, ...]
    walls: tuple[Wall, ...]
    doors: tuple[Door, ...]
    windows: tuple[Window, ...]
    things: tuple[Thing, ...]
    lights: Lights = field(default_factory=Lights)
    seed: int = 0
    textures_seed: int = 0
    cache: dict[object, object] = field(default_factory=dict, compare=False, repr=False)
    """What was worked out for drawing it, per device."""

    @cached_property
    def _by_id(self) -> dict[int, Thing]:
        return {thing.id: thing for thing in self.things}

    @cached_property
    def kinds(self) -> dict[int, str]:
        """The kind of everything that has an id."""
        named = {FLOOR_ID: "floor", CEILING_ID: "ceiling"}
        named.update((wall.id, "wall") for wall in self.walls)
        named.update((door.id, "door") for door in self.doors)
        named.update((window.id, "window") for window in self.windows)
        named.update((thing.id, thing.kind) for thing in self.things)
        return named

    def thing(self, id: int) -> Thing:
        """The thing with an id."""
        found = self._by_id.get(id)
        if found is None:
            raise WorldError(self._unknown(id))
        return found

    def of_kind(self, kind: str) -> tuple[Thing, ...]:
        """All things of a kind."""
        check_kind(kind)
        return tuple(thing for thing in self.things if thing.kind == kind)

    def room(self, name: str) -> Room:
        """A room by its name."""
        for room in self.rooms:
            if room.name == name:
                return room
        raise UnknownName("room", name, [room.name for room in self.rooms])

    def with_object(
        self,
        kind: str,
        *,
        x: float,
        y: float,
        angle: float = 0.0,
        z: float = 0.0,
        size: tuple[float, float, float] | None = None,
        colour: str = "",
        variant: int = 0,
    ) -> Floor:
        """A floor with one more thing; `floor.things[-1].id` is its id. `size` is width, depth and height in metres."""
        check_kind(kind)
        self._check_place(x, y)
        new = Thing(
            id=max((t.id for t in self.things), default=FIRST_THING_ID - 1) + 1,
            kind=kind,
            x=x,
            y=y,
            angle=angle,
            z=z,
            size=_checked_size(size) if size is not None else default_size(kind),
            colour=_checked_colour(colour),
            variant=variant,
        )
        return self._with(things=(*self.things, new))

    def without(self, *ids: int) -> Floor:
        """A floor without these things, and without what stands on them."""
        gone = {self.thing(id).id for id in ids}
        grew = True
        while grew:
            more = {thing.id for thing in self.things if thing.on in gone} - gone
            grew = bool(more)
            gone |= more
        return self._with(things=tuple(thing for thing in self.things if thing.id not in gone))

    def moved(self, id: int, *, x: float | None = None, y: float | None = None, angle: float | None = None) -> Floor:
        """A floor with a thing, and what stands on it, elsewhere or turned."""
        old = self.thing(id)
        new = replace(
            old,
            x=old.x if x is None else x,
            y=old.y if y is None else y,
            angle=old.angle if angle is None else angle,
        )
        self._check_place(new.x, new.y)
        return self._with(things=tuple(_carried(thing, old, new) for thing in self.things))

    def door(self, id: int, *, open: bool) -> Floor:
        """A floor with a door open or closed."""
        if not any(door.id == id for door in self.doors):
            raise WorldError(f"There is no door {id}. Doors: {', '.join(str(door.id) for door in self.doors)}.")
        return self._with(doors=tuple(replace(door, open=open) if door.id == id else door for door in self.doors))

    def lit(self, lights: Lights) -> Floor:
        """A floor under other lights."""
        for name in lights.dark_rooms:
            self.room(name)
        return self._with(lights=lights)

    def textured(self, seed: int) -> Floor:
        """A floor whose textures were drawn with another seed."""
        return self._with(textures_seed=seed)

    def _with(self, **changes: object) -> Floor:
        return replace(self, cache={}, **changes)  # type: ignore[arg-type]

    def _check_place(self, x: float, y: float) -> None:
        width, depth = self.size_m
        if not (0 <= x <= width and 0 <= y <= depth):
            raise WorldError(
                f"({x:g}, {y:g}) is outside the floor, which goes from (0, 0) to ({width:g}, {depth:g}) m."
            )

    def _unknown(self, id: int) -> str:
        if id in self.kinds:
            return f"{id} is a {self.kinds[id]}: it is part of the building and cannot be moved or removed."
        first, last = (self.things[0].id, self.things[-1].id) if self.things else (0, 0)
        return f"There is no object with the id {id!r}. Ids go from {first} to {last}; floor.kinds names them all."


def check_kind(kind: str) -> None:
    """Refuse a kind of thing that there is not."""
    if kind not in KINDS:
        raise UnknownName("kind of object", str(kind), sorted(KINDS))


def _checked_size(size: tuple[float, float, float]) -> tuple[float, float, float]:
    if len(size) != 3 or not all(0 < side <= 20 for side in size):
        raise WorldError(f"size is width, depth and height in metres, each above 0 and at most 20, not {size!r}.")
    return size


def _checked_colour(colour: str) -> str:
    if colour and not re.fullmatch(r"#[0-9a-fA-F]{6}", colour):
        raise WorldError(f"A colour is written as #rrggbb, such as #c46a42, not {colour!r}.")
    return colour


def room_grid(floor: Floor, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """1 + index of the room that holds each point; 0 outside."""
    found = np.zeros(x.shape, dtype=np.int64)
    for index, room in enumerate(floor.rooms):
        inside = np.zeros(x.shape, dtype=bool)
        points = room.polygon
        for (x0, y0), (x1, y1) in zip(points, (*points[1:], points[0]), strict=True):
            if y0 != y1:
                crosses = (y0 > y) != (y1 > y)
                inside ^= crosses & (x < (x1 - x0) * (y - y0) / (y1 - y0) + x0)
        found[inside] = index + 1
    return found


def _carried(thing: Thing, old: Thing, new: Thing) -> Thing:
    if thing.id == old.id:
        return new
    if thing.on != old.id:
        return thing
    turn = new.angle - old.angle
    dx, dy = thing.x - old.x, thing.y - old.y
    return replace(
        thing,
        x=new.x + math.cos(turn) * dx - math.sin(turn) * dy,
        y=new.y + math.sin(turn) * dx + math.cos(turn) * dy,
        angle=thing.angle + turn,
    )


def blocking_boxes(floor: Floor) -> Iterator[tuple[int, tuple[float, float, float, float, float]]]:
    """What a robot bumps into: its id, and centre x, y, half width, half depth and angle of its outline on the plan."""
    for wall in floor.walls:
        if wall.blocks:
            x, y = (wall.x0 + wall.x1) / 2, (wall.y0 + wall.y1) / 2
            yield wall.id, (x, y, (wall.x1 - wall.x0) / 2, (wall.y1 - wall.y0) / 2, 0.0)
    for door in floor.doors:
        yield door.id, door_leaf(door)
    for thing in floor.things:
        if KINDS[thing.kind].blocks and thing.z < 1.2:
            yield thing.id, (thing.x, thing.y, thing.size[0] / 2, thing.size[1] / 2, thing.angle)


def door_leaf(door: Door) -> tuple[float, float, float, float, float]:
    """Where a door's leaf stands: centre x, y, half width, half thickness and angle."""
    along = 0.0 if door.along == "x" else math.pi / 2
    half = door.width / 2
    if not door.open:
        return door.x, door.y, half, 0.022, along
    hinge_x = door.x + door.hinge * half * math.cos(along)
    hinge_y = door.y + door.hinge * half * math.sin(along)
    closed = along + (math.pi if door.hinge > 0 else 0.0)  # from the hinge into the opening
    swing = math.radians(door.swing_deg) * door.side * (-door.hinge) * (1 if door.along == "x" else -1)
    angle = closed + swing
    return hinge_x + half * math.cos(angle), hinge_y + half * math.sin(angle), half, 0.022, angle
