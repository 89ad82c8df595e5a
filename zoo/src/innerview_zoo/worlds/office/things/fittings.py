"""What belongs to the building or its rooms: lamps, boards, signs, plants, bikes and machines."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from innerview_zoo.worlds.office.things.parts import Kind, Look, Part, ball, box, legs, ring, rod, tube

DARK, WHITE = "#2e3238", "#f4f4f1"


def lamp(look: Look) -> Iterator[Part]:
    """A panel of light in the ceiling."""
    yield box(0, 0, 0, look.w, look.d, look.h, "#fffdf2", texture="lamp", fit=True, glow=1.0)


def whiteboard(look: Look) -> Iterator[Part]:
    """A board on a wall, with writing."""
    yield box(0, 0, 0, look.w, look.d, look.h, "#b8bcc0")
    texture = ("board_a", "board_b", "board_c")[look.variant % 3]
    yield box(0, -look.d / 2, 0.03, look.w - 0.06, 0.012, look.h - 0.06, WHITE, texture=texture, fit=True)
    yield box(0, -look.d, -0.02, look.w * 0.5, 0.07, 0.02, "#b8bcc0")


def poster(look: Look) -> Iterator[Part]:
    """A picture in a frame."""
    texture = f"art_{'abcdefgh'[look.variant % 8]}"
    yield box(0, 0, 0, look.w, look.d, look.h, look.pick("#2b2b2b", "#c8a165", "#f1efe9"))
    yield box(0, -look.d / 2, 0.04, look.w - 0.08, 0.012, look.h - 0.08, texture=texture, fit=True)


def screen(look: Look) -> Iterator[Part]:
    """A large screen on a wall."""
    yield box(0, 0, 0, look.w, look.d, look.h, "#15171a")
    yield box(0, -look.d / 2, 0.03, look.w - 0.06, 0.01, look.h - 0.06, texture="screen_b", fit=True, glow=0.55)


def clock(look: Look) -> Iterator[Part]:
    """A round clock on a wall."""
    yield ring(0, -0.02, look.h / 2, look.w / 2, DARK)
    yield ring(0, -0.03, look.h / 2, look.w / 2 - 0.02, WHITE)
    yield box(0.0, -0.036, look.h / 2, 0.015, 0.004, look.w * 0.33, DARK)
    yield box(look.w * 0.1, -0.036, look.h / 2 - 0.008, look.w * 0.22, 0.004, 0.015, DARK)


def exit_sign(look: Look) -> Iterator[Part]:
    """A green sign that shines and points the way out."""
    yield box(0, 0, 0, look.w, look.d, look.h, "#ffffff", texture="exit", fit=True, glow=0.7)


def door_sign(look: Look) -> Iterator[Part]:
    """A coloured plate beside a door, with a number."""
    texture = f"number_{look.variant % 20}"
    yield box(0, 0, 0, look.w, look.d, look.h, texture=texture, fit=True)


def extinguisher(look: Look) -> Iterator[Part]:
    """A red bottle on a wall."""
    yield tube(0, 0, 0, 0.075, 0.4, "#c8201f")
    yield ball(0, 0, 0.4, 0.075, 0.075, 0.06, "#c8201f")
    yield tube(0, 0, 0.44, 0.022, 0.07, DARK)
    yield box(0, -0.03, 0.49, 0.03, 0.13, 0.025, DARK)
    yield rod((0.02, -0.06, 0.48), (0.09, -0.03, 0.12), 0.012, DARK)
    yield box(0, -0.002, 0.15, 0.151, 0.151, 0.1, "#f4e7b8")
    yield box(0, 0.07, 0.55, 0.2, 0.012, 0.2, texture="fire_sign", fit=True)


def plant(look: Look) -> Iterator[Part]:
    """A pot with leaves that lean outwards."""
    pot = look.pick("#c46a42", "#e8e5dd", "#4a5a63", "#d9b56c")
    r = look.w * 0.3
    yield tube(0, 0, 0, r, 0.3, pot)
    yield tube(0, 0, 0.3, r * 1.1, 0.04, pot)
    yield tube(0, 0, 0.335, r * 0.95, 0.01, "#3a2b20")
    green = ("#3f7d3a", "#5b9a4b", "#2f6a45", "#7aa64f")
    count = 9 + look.variant % 4
    tall = look.h - 0.35
    for i in range(count):
        turn = 360.0 * i * 0.382 + 40 * look.variant
        lean = 12 + 34 * ((i * 7 + look.variant) % count) / count
        length = tall * (1.0 - 0.45 * lean / 46)
        reach = math.sin(math.radians(lean)) * length / 2
        a = math.radians(turn)
        centre = (reach * math.cos(a), reach * math.sin(a), 0.34 + math.cos(math.radians(lean)) * length / 2)
        leaf = ball(*centre, 0.02, look.w * 0.13, length / 2, green[(i + look.variant) % 4], texture="leaf")
        yield replace(leaf, turn=(turn, lean, 0.0))


def tree(look: Look) -> Iterator[Part]:
    """A slim stem with round bunches of leaves."""
    pot = look.pick("#e8e5dd", "#4a5a63", "#c46a42")
    yield box(0, 0, 0, look.w * 0.55, look.w * 0.55, 0.36, pot)
    yield box(0, 0, 0.355, look.w * 0.5, look.w * 0.5, 0.01, "#3a2b20")
    yield rod((0, 0, 0.35), (0.03, 0.02, look.h * 0.75), 0.022, "#6b4a31")
    green = ("#3f7d3a", "#4f8a44", "#2f6a45")
    for i in range(6):
        a, up = 2.4 * i, look.h * (0.55 + 0.075 * i)
        wide = look.w * (0.3 - 0.028 * i)
        x, y = wide * 0.75 * math.cos(a), wide * 0.75 * math.sin(a)
        yield ball(x, y, up, wide, wide, wide * 0.8, green[i % 3], texture="leaf")


def bike(look: Look) -> Iterator[Part]:
    """A bicycle that leans on nothing: two wheels, a frame, saddle and bars."""
    paint = look.pick("#d23f31", "#2a7ab8", "#3f3f46", "#e0a526")
    r = 0.34
    back, front, crank, seat, head = (-0.52, 0, r), (0.52, 0, r), (-0.06, 0, 0.28), (-0.2, 0, 0.78), (0.36, 0, 0.82)
    for x in (-0.52, 0.52):
        yield ring(x, 0, r, r, "#1c1c1e", inner=0.86)
        yield ring(x, 0, r, 0.05, "#8a8d91")
        for i in range(4):
            a = math.pi * i / 4 + 0.3
            dx, dz = 0.3 * math.cos(a), 0.3 * math.sin(a)
            yield rod((x - dx, 0, r - dz), (x + dx, 0, r + dz), 0.005, "#b9bcc0")
    for start, stop in ((crank, seat), (crank, head), (seat, head), (back, crank), (back, seat), (head, front)):
        yield rod(start, stop, 0.02, paint)
    yield rod(seat, (-0.23, 0, 0.9), 0.014, "#b9bcc0")
    yield ball(-0.24, 0, 0.92, 0.14, 0.08, 0.035, "#2a211c")
    yield rod(head, (0.33, 0, 0.96), 0.014, "#b9bcc0")
    yield rod((0.36, -0.27, 0.98), (0.36, 0.27, 0.98), 0.016, DARK)
    yield ring(-0.06, -0.03, 0.28, 0.1, "#8a8d91", inner=0.6)


def copier(look: Look) -> Iterator[Part]:
    """An office copier with trays."""
    yield box(0, 0, 0, look.w, look.d, 0.72, "#dfe1e2", texture="drawers", fit=True, top="plain")
    yield box(0, 0, 0.72, look.w, look.d, 0.2, "#4a4f57")
    yield box(0, 0.02, 0.92, look.w, look.d - 0.06, look.h - 0.92, "#dfe1e2")
    yield box(
        -0.12, -look.d / 2 + 0.02, 0.94, 0.26, 0.12, 0.03, texture="screen_a", fit=True, glow=0.5, turn=(0, 0, 30)
    )
    yield box(look.w / 2 + 0.1, 0, 0.6, 0.24, 0.4, 0.03, "#4a4f57")


def fridge(look: Look) -> Iterator[Part]:
    """A tall fridge with magnets."""
    yield box(
        0,
        0,
        0.04,
        look.w,
        look.d,
        look.h - 0.04,
        look.pick("#e3e6e8", "#b84a3a"),
        texture="fridge",
        fit=True,
        top="plain",
    )


def sink(look: Look) -> Iterator[Part]:
    """A basin let into a counter, with a tap."""
    yield box(0, 0, 0, look.w, look.d, 0.012, "#9fa5aa")
    yield box(0, -0.02, 0.004, look.w - 0.08, look.d - 0.1, 0.012, "#5c6166")
    yield rod((0, look.d / 2 - 0.05, 0), (0, look.d / 2 - 0.05, 0.26), 0.014, "#c9cdd0")
    yield rod((0, look.d / 2 - 0.05, 0.26), (0, -0.04, 0.24), 0.012, "#c9cdd0")


def toilet(look: Look) -> Iterator[Part]:
    """A bowl with a cistern."""
    yield ball(0, -0.12, 0.3, 0.19, 0.26, 0.13, WHITE)
    yield tube(0, -0.1, 0, 0.12, 0.28, WHITE)
    yield box(0, -0.1, 0.39, 0.36, 0.44, 0.03, "#e3e3df")
    yield box(0, look.d / 2 - 0.09, 0.3, 0.4, 0.18, 0.48, WHITE)


def basin(look: Look) -> Iterator[Part]:
    """A wash basin on a wall with a mirror over it."""
    yield box(0, 0, 0.78, look.w, look.d, 0.1, WHITE)
    yield ball(0, -0.02, 0.88, look.w * 0.36, look.d * 0.34, 0.012, "#c8ccce")
    yield rod((0, look.d / 2 - 0.06, 0.88), (0, look.d / 2 - 0.06, 1.02), 0.015, "#b9bcc0")
    yield tube(0, look.d / 2 - 0.1, 0.1, 0.04, 0.68, "#b9bcc0")
    yield box(0, look.d / 2 - 0.015, 1.15, look.w, 0.02, 0.8, "#b9d2d8", texture="mirror", fit=True, glow=0.25)


def radiator(look: Look) -> Iterator[Part]:
    """A heater under a window."""
    yield box(0, 0, 0.12, look.w, look.d, look.h - 0.12, "#f0efe9", texture="ribs")


def coat_stand(look: Look) -> Iterator[Part]:
    """A pole with coats."""
    yield tube(0, 0, 0, 0.2, 0.03, DARK)
    yield tube(0, 0, 0.03, 0.018, look.h - 0.03, "#6b4a31")
    for i, cloth in enumerate(("#37465c", "#a3703f", "#7b2f3c")[: 2 + look.variant % 2]):
        a = 2.1 * i + 0.5
        x, y, turn = 0.1 * math.cos(a), 0.1 * math.sin(a), (math.degrees(a) + 90.0, 0.0, 0.0)
        yield ball(x, y, 1.42, 0.17, 0.075, 0.14, cloth, texture="cloth", turn=turn)
        yield box(x, y, 0.78, 0.27, 0.1, 0.64, cloth, texture="cloth", turn=turn)
    yield ball(0, 0, look.h - 0.08, 0.13, 0.13, 0.06, "#8a6a45")


def water_cooler(look: Look) -> Iterator[Part]:
    """A water dispenser with a blue bottle."""
    yield box(0, 0, 0, look.w, look.d, 0.95, WHITE)
    yield box(0, -look.d / 2, 0.55, look.w * 0.6, 0.02, 0.24, "#565b61")
    yield tube(0, 0, 0.97, look.w * 0.4, 0.3, "#7fb6df")


def rack(look: Look) -> Iterator[Part]:
    """A rack of servers with small lights."""
    yield box(0, 0, 0, look.w, look.d, look.h, "#2b2e33", texture="rack", fit=True, top="plain", glow=0.25)


def column(look: Look) -> Iterator[Part]:
    """A round pillar of concrete."""
    yield tube(0, 0, 0, look.w / 2, look.h, "#b9b6b0", texture="concrete")


def vending(look: Look) -> Iterator[Part]:
    """A machine that sells snacks."""
    yield box(0, 0, 0, look.w, look.d, look.h, "#b4302c")
    yield box(-0.08, -look.d / 2, 0.5, look.w * 0.66, 0.012, look.h - 0.65, texture="snacks", fit=True, glow=0.6)


def rug(look: Look) -> Iterator[Part]:
    """A rug on the ground."""
    texture = ("rug_a", "rug_b")[look.variant % 2]
    yield box(0, 0, 0, look.w, look.d, look.h, look.pick("#ffffff"), texture=texture, fit=True)


def notice_board(look: Look) -> Iterator[Part]:
    """A board of cork with notes."""
    yield box(0, 0, 0, look.w, look.d, look.h, "#8a623d")
    yield box(0, -look.d / 2, 0.03, look.w - 0.06, 0.01, look.h - 0.06, texture="notes", fit=True)


def locker(look: Look) -> Iterator[Part]:
    """A row of lockers."""
    yield box(0, 0, 0, look.w, look.d, look.h, look.pick("#e0b13c", "#4a87a8"), texture="cabinet_row")


def trolley(look: Look) -> Iterator[Part]:
    """A small robot's trolley: two boards on wheels."""
    yield from legs(look.w, look.d, look.h, "#8d9298", thick=0.03)
    for z in (0.12, look.h - 0.03):
        yield box(0, 0, z, look.w, look.d, 0.03, "#d8d3c8", texture="wood")


FITTINGS: dict[str, Kind] = {
    "lamp": Kind(size=(1.2, 0.3, 0.03), make=lamp, blocks=False, plan="#fff3c4"),
    "whiteboard": Kind(size=(1.8, 0.03, 1.1), make=whiteboard, blocks=False, plan="#9fb6c4"),
    "poster": Kind(size=(0.7, 0.025, 0.95), make=poster, blocks=False, plan="#c77f5b"),
    "screen": Kind(size=(1.5, 0.06, 0.88), make=screen, blocks=False, plan="#3d4650"),
    "clock": Kind(size=(0.32, 0.04, 0.32), make=clock, blocks=False, plan="#444444"),
    "exit sign": Kind(size=(0.36, 0.05, 0.18), make=exit_sign, blocks=False, plan="#1f9d57"),
    "door sign": Kind(size=(0.2, 0.015, 0.2), make=door_sign, blocks=False, plan="#2f6db5"),
    "extinguisher": Kind(size=(0.16, 0.16, 0.75), make=extinguisher, blocks=False, plan="#d0312d", loose=True),
    "plant": Kind(size=(0.5, 0.5, 1.1), make=plant, plan="#6da55f", loose=True),
    "tree": Kind(size=(0.7, 0.7, 1.9), make=tree, plan="#4f8a4a", loose=True),
    "bike": Kind(size=(1.7, 0.5, 1.0), make=bike, plan="#c7574b", loose=True),
    "copier": Kind(size=(0.7, 0.65, 1.1), make=copier, plan="#8f979e"),
    "fridge": Kind(size=(0.6, 0.65, 1.75), make=fridge, plan="#cfd6da"),
    "sink": Kind(size=(0.6, 0.45, 0.3), make=sink, blocks=False, plan="#8ea2ad"),
    "toilet": Kind(size=(0.42, 0.68, 0.8), make=toilet, plan="#e6e6e2"),
    "basin": Kind(size=(0.6, 0.45, 1.95), make=basin, plan="#dfe6e8"),
    "radiator": Kind(size=(1.2, 0.1, 0.62), make=radiator, plan="#e3e0d8"),
    "coat stand": Kind(size=(0.5, 0.5, 1.75), make=coat_stand, plan="#7a6655", loose=True),
    "water cooler": Kind(size=(0.34, 0.34, 1.3), make=water_cooler, plan="#8fbfe0", loose=True),
    "rack": Kind(size=(0.65, 0.9, 2.0), make=rack, plan="#3b4149"),
    "column": Kind(size=(0.45, 0.45, 2.7), make=column, plan="#8f8c86"),
    "vending machine": Kind(size=(0.9, 0.75, 1.85), make=vending, plan="#b4302c"),
    "rug": Kind(size=(2.2, 1.5, 0.012), make=rug, blocks=False, plan="#d8a98f"),
    "notice board": Kind(size=(1.2, 0.03, 0.9), make=notice_board, blocks=False, plan="#a57c4f"),
    "locker": Kind(size=(1.6, 0.45, 1.8), make=locker, plan="#cda955"),
    "trolley": Kind(size=(0.7, 0.45, 0.8), make=trolley, plan="#a9aeb3", loose=True),
}
