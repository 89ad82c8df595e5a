"""What stands where on the standard floor; the seed varies colours, angles and the small things."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from innerview_zoo.worlds.office.floors.floor import FIRST_THING_ID, Thing
from innerview_zoo.worlds.office.things.kinds import default_size

ON_DESKS = ("mug", "paper", "book", "bottle", "little plant", "desk lamp", "keys", "phone")


@dataclass
class Furnisher:
    """Puts things down one after the other and numbers them."""

    random: np.random.Generator
    things: list[Thing] = field(default_factory=list)

    def put(
        self, kind: str, x: float, y: float, deg: float = 0.0, *, z: float = 0.0, jitter: float = 0.0, on: int = 0,
        size: tuple[float, float, float] | None = None, colour: str = "", variant: int | None = None,
    ) -> Thing:  # fmt: skip
        """One thing; `jitter` in degrees turns it a little by chance."""
        drawn = int(self.random.integers(1000))
        turn = math.radians(deg + float(self.random.uniform(-jitter, jitter)))
        thing = Thing(
            id=FIRST_THING_ID + len(self.things), kind=kind, x=x, y=y, angle=turn, z=z,
            size=size or default_size(kind), colour=colour, variant=drawn if variant is None else variant, on=on,
        )  # fmt: skip
        self.things.append(thing)
        return thing

    def upon(self, base: Thing, kind: str, dx: float, dy: float, deg: float = 0.0, **more: object) -> Thing:
        """Something on top of a thing, at a place in that thing's frame."""
        c, s = math.cos(base.angle), math.sin(base.angle)
        x, y = base.x + c * dx - s * dy, base.y + s * dx + c * dy
        whole = math.degrees(base.angle) + deg
        return self.put(kind, x, y, whole, z=base.z + base.size[2], on=base.id, **more)  # type: ignore[arg-type]

    def place(self, x: float, y: float, deg: float, *, wood: int = 0, cloth: int = 0, wide: float = 1.5) -> None:
        """A desk with its chair, a screen or a laptop, and a few small things."""
        desk = self.put("desk", x, y, deg, size=(wide, 0.75, 0.74), variant=wood)
        a = math.radians(deg)
        away = 0.62 + float(self.random.uniform(-0.05, 0.12))
        self.put("chair", x + math.sin(a) * away, y - math.cos(a) * away, deg + 180, jitter=35, variant=cloth)
        if self.random.random() < 0.7:
            self.upon(desk, "monitor", float(self.random.uniform(-0.15, 0.15)), 0.14, jitter=8)
            self.upon(desk, "keyboard", 0.0, -0.16, jitter=4)
        else:
            self.upon(desk, "laptop", float(self.random.uniform(-0.15, 0.15)), -0.02, jitter=12)
        spots = [(-0.58, 0.2), (0.55, 0.18), (-0.5, -0.18), (0.48, -0.16)]
        chosen = self.random.permutation(len(ON_DESKS))[: int(self.random.integers(2, 5))]
        for (dx, dy), which in zip(spots, chosen, strict=False):
            self.upon(desk, ON_DESKS[which], dx * wide / 1.5, dy, jitter=20)

    def round(self, x: float, y: float, radius: float, count: int, *, kind: str = "stool", variant: int = 0) -> None:
        """Chairs around a point, each looking at it."""
        for i in range(count):
            a = 2 * math.pi * i / count + 0.4
            deg = math.degrees(a) - 90
            self.put(kind, x + radius * math.cos(a), y + radius * math.sin(a), deg, jitter=10, variant=variant)


def furnish(seed: int) -> tuple[Thing, ...]:
    """All things of the standard floor."""
    here = Furnisher(np.random.default_rng(seed))
    for room in FURNISHED:
        room(here)
    _lamps(here)
    return tuple(here.things)


def _offices_west(f: Furnisher) -> None:
    f.place(1.2, 3.2, 90, wood=0, cloth=0)
    f.place(1.2, 1.3, 90, wood=0, cloth=0)
    f.put("shelf", 3.2, 4.16, 0, variant=0)
    f.put("plant", 4.6, 0.6)
    f.put("poster", 5.12, 1.6, -90, z=1.2, variant=0)
    f.put("cabinet", 3.9, 0.46, 180, variant=0, size=(0.9, 0.45, 1.2))
    f.put("bin", 2.0, 0.5)
    f.put("whiteboard", 1.6, 4.31, 0, z=0.95, variant=0)
    f.place(1.6, 7.75, 0, wood=1, cloth=3)
    f.place(3.6, 7.75, 0, wood=1, cloth=3)
    f.put("shelf", 0.42, 5.2, 90, variant=1)
    f.put("tree", 4.7, 7.2)
    f.put("whiteboard", 2.6, 4.49, 180, z=0.95, variant=1)
    f.put("poster", 5.12, 6.9, -90, z=1.25, variant=1)
    f.put("drawers", 1.0, 4.8, 180)
    f.put("radiator", 0.27, 6.5, 90)
    f.place(1.1, 15.9, 90, wood=2, cloth=1, wide=1.7)
    f.place(3.2, 13.78, 180, wood=2, cloth=1)
    f.put("sofa", 3.0, 16.65, 0, variant=0)
    f.put("plant", 0.6, 13.7)
    f.put("poster", 3.0, 17.11, 0, z=1.15, variant=2, size=(1.1, 0.025, 0.8))
    f.put("shelf", 4.98, 14.6, -90, variant=2)


def _meeting_room(f: Furnisher) -> None:
    table = f.put("table", 2.5, 10.8, 90, size=(3.0, 1.2, 0.74), variant=2)
    for i in range(4):
        y = 9.65 + 0.77 * i
        f.put("chair", 1.55, y, 90, jitter=14, variant=2)
        f.put("chair", 3.45, y, -90, jitter=14, variant=2)
    f.put("screen", 2.5, 13.09, 0, z=1.05)
    f.put("whiteboard", 2.6, 8.49, 180, z=0.95, variant=2, size=(2.4, 0.03, 1.1))
    f.put("plant", 4.7, 8.85, variant=3)
    f.put("cabinet", 0.5, 12.85, 0, size=(0.6, 0.45, 0.8), variant=2)
    f.upon(table, "bottle", 0.4, 0.1)
    f.upon(table, "laptop", -0.9, -0.3, 0)
    f.upon(table, "mug", 0.9, -0.35)
    f.upon(table, "paper", -0.3, 0.3, 30)


def _workshop(f: Furnisher) -> None:
    bench = f.put("workbench", 1.3, 21.35, 0, size=(2.2, 0.75, 0.88))
    other = f.put("workbench", 0.62, 18.4, 90)
    f.upon(bench, "3D printer", -0.6, 0.0)
    f.upon(bench, "carton", 0.7, 0.0, 10)
    f.upon(other, "robot", 0.2, 0.0)
    f.upon(other, "keys", -0.5, -0.2)
    f.put("bike", 3.8, 17.75, 0, variant=0)
    f.put("cabinet", 3.2, 21.5, 0, variant=1, size=(1.0, 0.5, 1.9))
    f.put("carton", 4.6, 21.4, 15)
    f.put("carton", 4.6, 21.4, -8, z=0.34)
    f.put("trolley", 2.6, 19.4, 30)
    f.put("extinguisher", 5.05, 21.2, -90, z=0.6)
    f.put("column", 4.75, 18.1)


def _open_office(f: Furnisher) -> None:
    for i, x in enumerate((9.1, 11.1, 13.1)):
        f.place(x, 3.18, 180, wood=1, cloth=i)
        f.place(x, 2.42, 0, wood=1, cloth=i)
        f.put("cabinet", x + 1.0, 2.8, 90, size=(0.9, 0.06, 1.15), variant=1, colour="#7f9aa8")
    f.put("shelf", 8.6, 5.36, 0, variant=3)
    f.put("shelf", 9.5, 5.36, 0, variant=1)
    f.put("whiteboard", 11.6, 5.51, 0, z=0.95, variant=0, size=(2.2, 0.03, 1.1))
    f.put("tree", 14.45, 5.1)
    f.put("tree", 7.75, 0.7)
    f.put("copier", 13.3, 5.2, 0, size=(0.6, 0.55, 1.05))
    f.put("notice board", 14.91, 1.8, -90, z=1.1)
    f.put("poster", 7.29, 4.6, 90, z=1.2, variant=4)
    f.put("bin", 14.5, 0.6)
    f.put("radiator", 9.2, 0.27, 180)
    f.put("backpack", 10.1, 1.6, 30)


def _copy_room_and_toilets(f: Furnisher) -> None:
    f.put("copier", 8.2, 6.0, 180)
    f.put("copier", 9.3, 6.0, 180, size=(0.9, 0.65, 1.15))
    f.put("cabinet", 10.28, 7.6, -90, variant=3, size=(1.4, 0.42, 1.9))
    f.put("carton", 7.6, 8.2, 5)
    f.put("carton", 8.15, 8.25, -12)
    f.put("carton", 7.65, 8.2, 20, z=0.34)
    f.put("notice board", 9.0, 8.51, 0, z=1.1)
    f.put("bin", 10.2, 6.2, colour="#3f6f8f")
    for x, paint in ((11.7, "#7fb0b5"), (13.9, "#c79a8a")):
        f.put("toilet", x + 0.55, 6.05, 180)
        f.put("basin", x - 0.55, 5.9, 180)
        f.put("cabinet", x + 0.05, 6.3, 90, size=(1.2, 0.04, 1.9), colour=paint)
        f.put("bin", x - 0.85, 6.5, size=(0.22, 0.22, 0.3))


def _lounge(f: Furnisher) -> None:
    f.put("rug", 10.6, 10.9, 0, size=(3.2, 2.4, 0.012), variant=0)
    f.put("sofa", 10.6, 12.35, 0, variant=1, size=(2.3, 0.9, 0.82))
    f.put("sofa", 9.0, 10.9, 90, variant=3, size=(1.8, 0.85, 0.8))
    f.put("armchair", 12.3, 11.6, -90, jitter=15, variant=0)
    low = f.put("coffee table", 10.6, 10.95, 0, variant=0, size=(1.2, 0.7, 0.42))
    f.upon(low, "book", -0.3, 0.1, variant=2)
    f.upon(low, "mug", 0.25, -0.1)
    f.upon(low, "keys", 0.4, 0.2)
    f.put("beanbag", 13.4, 9.6, variant=0)
    f.put("beanbag", 14.3, 9.9, variant=1)
    f.put("round table", 13.6, 12.3, variant=0)
    f.round(13.6, 12.3, 0.72, 3, variant=1)
    f.put("tree", 14.6, 9.0, size=(0.6, 0.6, 1.9))
    f.put("plant", 7.6, 8.95, variant=2, size=(0.4, 0.4, 1.0))
    f.put("shelf", 9.4, 8.85, 180, variant=2, size=(1.3, 0.32, 1.5))
    f.put("vending machine", 12.3, 13.0, 0)
    f.put("poster", 8.6, 13.31, 0, z=1.1, variant=5, size=(0.9, 0.025, 1.2))
    f.put("poster", 12.4, 8.69, 180, z=1.25, variant=6, size=(1.2, 0.025, 0.8))
    f.put("clock", 13.4, 13.32, 0, z=1.95)
    f.put("column", 7.8, 13.0)
    f.put("column", 14.6, 13.0)


def _kitchen(f: Furnisher) -> None:
    bench = f.put("counter", 10.1, 17.0, 0, size=(2.6, 0.62, 0.9), variant=1)
    f.put("wall cupboard", 10.1, 17.15, 0, z=1.5, size=(2.6, 0.36, 0.7), variant=1)
    f.put("fridge", 8.4, 16.98, 0, variant=0)
    f.put("water cooler", 7.75, 17.05, 0)
    f.upon(bench, "sink", -0.7, 0.0)
    f.upon(bench, "coffee machine", 0.2, 0.05)
    f.upon(bench, "microwave", 0.95, 0.08)
    for i in range(3):
        f.upon(bench, "mug", -0.15 - 0.13 * i, 0.1)
    table = f.put("table", 9.9, 15.0, 0, variant=0, size=(1.8, 0.85, 0.74))
    for x in (9.4, 10.4):
        f.put("stool", x, 15.62, 0, jitter=15, variant=1)
        f.put("stool", x, 14.38, 180, jitter=15, variant=1)
    f.upon(table, "bowl", 0.0, 0.0)
    f.upon(table, "mug", 0.6, 0.2)
    f.put("poster", 11.91, 15.4, -90, z=1.15, variant=7)
    f.put("bin", 7.6, 14.1, colour="#4f8a57")
    f.put("plant", 11.5, 13.9)


def _server_room_and_library(f: Furnisher) -> None:
    for i in range(3):
        f.put("rack", 12.8 + 0.72 * i, 16.8, 0)
    f.put("carton", 12.5, 13.9, 10)
    f.put("extinguisher", 14.85, 16.0, -90, z=0.6)
    for x in (8.6, 9.5, 10.4, 11.7, 12.6, 13.5):
        f.put("shelf", x, 21.64, 0, size=(0.9, 0.32, 2.1), variant=int(x * 10) % 4, colour="#6b4630")
    for x in (9.3, 10.2, 11.1):
        f.put("shelf", x, 17.64, 180, size=(0.9, 0.32, 1.9), variant=int(x * 10) % 4, colour="#6b4630")
    f.put("rug", 11.2, 19.6, 0, size=(3.4, 2.0, 0.012), variant=1)
    table = f.put("table", 11.2, 19.6, 0, size=(2.2, 1.0, 0.74), variant=2)
    for x in (10.6, 11.8):
        f.put("stool", x, 20.35, 0, jitter=12, variant=0, colour="#7a5236")
        f.put("stool", x, 18.85, 180, jitter=12, variant=0, colour="#7a5236")
    f.upon(table, "desk lamp", -0.8, 0.2)
    f.upon(table, "desk lamp", 0.8, 0.2, 180)
    f.upon(table, "book", 0.1, -0.2, variant=2)
    f.upon(table, "laptop", -0.4, -0.2)
    f.put("armchair", 14.2, 18.4, -60, variant=2)
    f.put("armchair", 8.2, 20.9, 60, variant=2)
    f.put("tree", 14.4, 21.4)
    f.put("plant", 14.5, 17.85)
    f.put("poster", 12.9, 17.49, 180, z=1.2, variant=3)


def _offices_east(f: Furnisher) -> None:
    f.place(20.9, 1.2, -90, wood=1, cloth=2)
    f.place(20.9, 3.0, -90, wood=1, cloth=2)
    f.put("cabinet", 18.0, 0.46, 180, variant=3)
    f.put("shelf", 19.0, 0.38, 180, variant=0)
    f.put("poster", 18.8, 4.11, 0, z=1.15, variant=6)
    f.put("plant", 17.5, 1.7, variant=1)
    f.put("coat stand", 20.0, 3.8)
    f.place(19.6, 4.85, 180, wood=0, cloth=0, wide=1.7)
    f.place(20.8, 7.2, -90, wood=0, cloth=0)
    f.put("shelf", 18.2, 8.16, 0, variant=3)
    f.put("cabinet", 19.2, 8.1, 0, variant=1, size=(0.9, 0.45, 1.1))
    f.put("whiteboard", 17.09, 7.0, 90, z=0.95, variant=1)
    f.put("tree", 21.3, 5.0)
    f.put("bin", 20.4, 5.0)
    f.place(20.9, 14.5, -90, wood=2, cloth=1)
    f.place(20.9, 16.5, -90, wood=2, cloth=1)
    f.put("sofa", 18.6, 17.1, 0, variant=2)
    f.put("rug", 19.0, 15.4, 90, size=(2.0, 1.4, 0.012), variant=0)
    f.put("poster", 18.6, 17.51, 0, z=1.2, variant=1, size=(1.2, 0.025, 0.8))
    f.put("shelf", 18.9, 13.84, 180, variant=1)
    f.put("plant", 17.5, 16.2)
    f.put("extinguisher", 17.15, 13.8, 90, z=0.6)


def _lab(f: Furnisher) -> None:
    long = f.put("counter", 21.45, 11.0, -90, size=(3.6, 0.65, 0.9), variant=0)
    f.upon(long, "microscope", -1.2, 0.0)
    f.upon(long, "microscope", -0.6, 0.0)
    f.upon(long, "monitor", 0.4, 0.1, variant=2)
    f.upon(long, "bottle", 1.1, 0.0)
    f.upon(long, "bottle", 1.3, 0.08)
    bench = f.put("table", 19.0, 11.4, 90, size=(2.0, 0.9, 0.88), variant=1)
    f.upon(bench, "robot", 0.3, 0.0)
    f.upon(bench, "laptop", -0.6, 0.0)
    f.put("stool", 18.2, 11.0, 90, jitter=20, variant=2)
    f.put("stool", 19.8, 11.9, -90, jitter=20, variant=2)
    f.put("cabinet", 19.0, 8.72, 180, variant=3, size=(1.8, 0.48, 1.9))
    f.put("rack", 20.6, 13.05, 0)
    f.put("locker", 18.6, 13.3, 0, variant=1)
    f.put("whiteboard", 17.09, 12.0, 90, z=0.95, variant=2)


def _conference_room(f: Furnisher) -> None:
    table = f.put("round table", 19.6, 19.9, 0, size=(1.9, 1.9, 0.74), variant=1)
    f.round(19.6, 19.9, 1.25, 6, kind="chair", variant=1)
    f.put("screen", 19.6, 17.69, 180, z=1.05, size=(1.7, 0.06, 1.0))
    f.put("whiteboard", 17.09, 20.6, 90, z=0.95, variant=0)
    f.put("plant", 21.3, 18.1)
    f.put("tree", 17.6, 21.4)
    f.upon(table, "laptop", 0.2, -0.6)
    f.upon(table, "phone", 0.0, 0.0)
    f.upon(table, "mug", -0.6, 0.1)


def _corridors(f: Furnisher) -> None:
    f.put("bike", 5.75, 7.1, 90, variant=1, jitter=4)
    f.put("bike", 16.68, 7.4, 90, variant=3, jitter=4)
    for x, y, deg in ((5.33, 6.3, 90), (5.33, 17.9, 90), (7.07, 13.0, -90), (15.13, 6.2, 90), (16.87, 16.6, -90)):
        f.put("extinguisher", x + 0.04 * math.copysign(1, 90 - deg - 1), y, deg, z=0.55)
    f.put("exit sign", 6.2, 0.9, 180, z=2.38)
    f.put("exit sign", 16.0, 0.9, 180, z=2.38)
    f.put("exit sign", 16.0, 21.2, 0, z=2.38)
    f.put("exit sign", 6.2, 11.0, 0, z=2.38)
    f.put("exit sign", 16.0, 11.0, 180, z=2.38)
    for i, (x, y, deg) in enumerate(
        ((5.29, 2.75, 90), (5.29, 5.95, 90), (5.29, 10.0, 90), (5.29, 15.5, 90), (7.11, 3.2, -90), (7.11, 6.4, -90),
         (7.11, 19.4, -90), (15.09, 4.6, 90), (15.09, 15.4, 90), (15.09, 19.8, 90), (16.91, 2.45, -90),
         (16.91, 5.95, -90), (16.91, 10.2, -90), (16.91, 15.4, -90), (16.91, 19.3, -90))
    ):  # fmt: skip
        f.put("door sign", x, y, deg, z=1.5, variant=i + 1)
    f.put("notice board", 7.11, 9.0, -90, z=1.1)
    f.put("poster", 5.29, 14.2, 90, z=1.2, variant=2)
    f.put("poster", 5.29, 7.9, 90, z=1.2, variant=5)
    f.put("poster", 7.11, 17.2, -90, z=1.2, variant=7)
    f.put("poster", 7.11, 4.9, -90, z=1.2, variant=3)
    f.put("plant", 6.8, 21.4, variant=1)
    f.put("plant", 5.6, 21.4, variant=3)
    f.put("cabinet", 15.3, 1.6, 90, variant=0, size=(1.2, 0.4, 1.1))
    f.put("locker", 15.3, 17.0, 90, variant=0, size=(2.2, 0.42, 1.8))
    f.put("poster", 16.91, 7.4, -90, z=1.3, variant=4)
    f.put("poster", 16.91, 11.6, -90, z=1.2, variant=0)
    f.put("poster", 15.09, 8.6, 90, z=1.2, variant=1)
    f.put("water cooler", 15.3, 13.2, 90)
    f.put("coat stand", 5.55, 11.5)
    f.put("bin", 16.7, 21.3)
    f.put("carton", 15.4, 21.2, 12)


def _lamps(f: Furnisher) -> None:
    for x, y, deg in LAMPS:
        f.put("lamp", x, y, deg, z=2.67, variant=0)


FURNISHED: tuple[Callable[[Furnisher], None], ...] = (
    _offices_west, _meeting_room, _workshop, _open_office, _copy_room_and_toilets, _lounge, _kitchen,
    _server_room_and_library, _offices_east, _lab, _conference_room, _corridors,
)  # fmt: skip

LAMPS: tuple[tuple[float, float, float], ...] = (
    *((6.2, 1.6 + 3.1 * i, 90.0) for i in range(7)),
    *((16.0, 1.6 + 3.1 * i, 90.0) for i in range(7)),
    *((x, y, 0.0) for x in (1.7, 3.6) for y in (2.2, 6.4, 15.2)),
    *((x, y, 90.0) for x in (1.6, 3.5) for y in (10.0, 11.7)),
    *((2.6, y, 0.0) for y in (18.6, 20.7)),
    *((x, y, 0.0) for x in (8.8, 11.1, 13.4) for y in (1.6, 4.0)),
    (8.9, 7.1, 0.0), (11.7, 7.1, 0.0), (13.9, 7.1, 0.0),
    *((x, y, 90.0) for x in (9.0, 11.1, 13.2) for y in (10.0, 12.0)),
    *((x, y, 0.0) for x in (8.6, 10.6) for y in (14.5, 16.2)),
    (13.5, 15.2, 0.0),
    *((x, y, 0.0) for x in (9.0, 11.2, 13.4) for y in (18.8, 20.6)),
    *((x, y, 0.0) for x in (18.4, 20.4) for y in (2.1, 6.3, 15.6)),
    *((x, y, 90.0) for x in (18.4, 20.4) for y in (9.9, 12.1)),
    *((x, y, 0.0) for x in (18.6, 20.6) for y in (18.9, 20.8)),
)  # fmt: skip
