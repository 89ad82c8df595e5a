"""Desks, chairs, tables, sofas, shelves and cabinets."""

from __future__ import annotations

import math
from collections.abc import Iterator

from innerview_zoo.worlds.office.things.parts import Kind, Look, Part, ball, box, legs, rod, tube

STEEL, DARK = "#9aa0a6", "#2e3238"


def desk(look: Look) -> Iterator[Part]:
    """A top on two frames, with drawers on one side."""
    wood = look.pick("#c79a63", "#e4ddd0", "#8a6242")
    yield box(0, 0, look.h - 0.03, look.w, look.d, 0.03, wood, texture="wood")
    for side in (-1, 1):
        yield box(side * (look.w / 2 - 0.04), 0, 0, 0.04, look.d * 0.9, look.h - 0.03, STEEL)
    yield box(0, look.d / 2 - 0.03, look.h - 0.4, look.w - 0.12, 0.02, 0.37, wood, texture="wood")
    yield box(look.w / 2 - 0.28, 0.02, 0.06, 0.4, look.d * 0.75, 0.54, "#d8d5ce", texture="drawers", fit=True)


def chair(look: Look) -> Iterator[Part]:
    """An office chair on a star of five feet."""
    cloth = look.pick("#35507a", "#2f3136", "#a8442f", "#4d6b4a")
    yield box(0, -0.02, 0.43, 0.48, 0.46, 0.08, cloth, texture="cloth")
    yield box(0, 0.22, 0.56, 0.44, 0.06, 0.44, cloth, texture="cloth", turn=(0, 0, -8))
    yield box(0, 0.21, 0.44, 0.06, 0.03, 0.2, DARK)
    yield tube(0, 0, 0.08, 0.025, 0.36, DARK)
    for i in range(5):
        a = 2 * math.pi * i / 5 + 0.3
        yield rod((0, 0, 0.09), (0.27 * math.cos(a), 0.27 * math.sin(a), 0.05), 0.018, DARK)
    for side in (-1, 1):
        yield box(side * 0.26, 0.02, 0.64, 0.05, 0.26, 0.03, DARK)
        yield box(side * 0.26, 0.06, 0.46, 0.03, 0.04, 0.18, DARK)


def stool(look: Look) -> Iterator[Part]:
    """A chair of wood with four legs, for meetings and meals."""
    paint = look.pick("#e9e6df", "#d9a441", "#7fa3a1", "#c65b45")
    yield box(0, -0.01, 0.43, 0.42, 0.42, 0.03, paint)
    yield box(0, 0.2, 0.52, 0.42, 0.03, 0.34, paint, turn=(0, 0, -6))
    yield from legs(0.4, 0.4, 0.43, "#a77b4c", thick=0.03)


def table(look: Look) -> Iterator[Part]:
    """A rectangular table."""
    wood = look.pick("#b98a58", "#d9d3c7", "#6f4e37")
    yield box(0, 0, look.h - 0.04, look.w, look.d, 0.04, wood, texture="wood")
    yield from legs(look.w - 0.1, look.d - 0.1, look.h - 0.04, DARK, thick=0.05)


def round_table(look: Look) -> Iterator[Part]:
    """A round table on one foot."""
    yield tube(0, 0, look.h - 0.03, look.w / 2, 0.03, look.pick("#f0ece2", "#b98a58"), texture="wood")
    yield tube(0, 0, 0.02, 0.035, look.h - 0.05, STEEL)
    yield tube(0, 0, 0, look.w / 4, 0.02, STEEL)


def coffee_table(look: Look) -> Iterator[Part]:
    """A low table with a board underneath."""
    wood = look.pick("#8a5f3c", "#d6b183")
    yield box(0, 0, look.h - 0.04, look.w, look.d, 0.04, wood, texture="wood")
    yield box(0, 0, 0.12, look.w - 0.1, look.d - 0.1, 0.02, wood, texture="wood")
    yield from legs(look.w - 0.04, look.d - 0.04, look.h - 0.04, "#3b2b20")


def sofa(look: Look) -> Iterator[Part]:
    """Seat, back, arms and cushions."""
    cloth = look.pick("#5f7f8f", "#b5563f", "#6d7553", "#c9973f")
    yield box(0, 0, 0.1, look.w, look.d, 0.18, cloth, texture="cloth")
    seats = max(1, round((look.w - 0.3) / 0.65))
    each = (look.w - 0.3) / seats
    for i in range(seats):
        x = -(look.w - 0.3) / 2 + each * (i + 0.5)
        yield box(x, -0.07, 0.28, each - 0.02, look.d - 0.2, 0.14, cloth, texture="cloth")
        yield box(x, look.d / 2 - 0.2, 0.42, each - 0.03, 0.14, 0.34, cloth, texture="cloth", turn=(0, 0, -10))
    yield box(0, look.d / 2 - 0.07, 0.1, look.w, 0.14, look.h - 0.1, cloth, texture="cloth")
    for side in (-1, 1):
        yield box(side * (look.w / 2 - 0.07), 0, 0.1, 0.14, look.d, 0.48, cloth, texture="cloth")
    pillow = ("#e8c468", "#f2ede0", "#9c3d2e")[look.variant % 3]
    yield box(-look.w / 2 + 0.34, 0.12, 0.44, 0.38, 0.12, 0.36, pillow, texture="cloth", turn=(12, 0, -22))


def shelf(look: Look) -> Iterator[Part]:
    """An open shelf full of books."""
    wood = look.pick("#caa173", "#e6e2d8", "#5b4332")
    t = 0.025
    yield box(0, look.d / 2 - 0.01, 0, look.w, 0.02, look.h, wood, texture="wood")
    for side in (-1, 1):
        yield box(side * (look.w - t) / 2, 0, 0, t, look.d, look.h, wood, texture="wood")
    boards = max(2, round(look.h / 0.36))
    step = (look.h - t) / boards
    for i in range(boards + 1):
        yield box(0, 0, i * step, look.w - t, look.d, t, wood, texture="wood")
    for i in range(boards):
        share = (0.92, 0.6, 0.8, 0.45)[(i + look.variant) % 4]
        width = (look.w - 2 * t) * share
        x = -(look.w / 2 - t) + width / 2 if i % 2 else (look.w / 2 - t) - width / 2
        yield box(x, 0.01, i * step + t, width, look.d * 0.7, step * (0.62 + 0.06 * (i % 3)), texture="books")


def cabinet(look: Look) -> Iterator[Part]:
    """A closed cabinet with doors."""
    paint = look.pick("#c7cbd0", "#8f9aa3", "#d7c3a0", "#6f8a83")
    yield box(0, 0, 0.05, look.w, look.d, look.h - 0.05, paint, texture="cabinet", fit=True, top="plain")
    yield box(0, 0, 0, look.w * 0.96, look.d * 0.92, 0.05, DARK)


def drawers(look: Look) -> Iterator[Part]:
    """Drawers on castors."""
    yield box(
        0,
        0,
        0.05,
        look.w,
        look.d,
        look.h - 0.05,
        look.pick("#cfd2d4", "#d08b4c"),
        texture="drawers",
        fit=True,
        top="plain",
    )
    yield box(0, 0, 0, look.w - 0.08, look.d - 0.08, 0.05, DARK)


def counter(look: Look) -> Iterator[Part]:
    """A kitchen counter with doors below and a stone top."""
    yield box(
        0, 0.02, 0.1, look.w, look.d - 0.04, look.h - 0.14, look.pick("#e9ece8", "#6f8f86"), texture="cabinet_row"
    )
    yield box(0, 0.05, 0, look.w, look.d - 0.14, 0.1, DARK)
    yield box(0, 0, look.h - 0.04, look.w, look.d, 0.04, "#8f8b84", texture="stone")


def wall_cupboard(look: Look) -> Iterator[Part]:
    """Cupboards that hang above a counter."""
    yield box(0, 0, 0, look.w, look.d, look.h, look.pick("#e9ece8", "#6f8f86"), texture="cabinet_row")


def workbench(look: Look) -> Iterator[Part]:
    """A heavy bench with a board of tools behind it."""
    yield box(0, 0, look.h - 0.06, look.w, look.d, 0.06, "#a97d4f", texture="wood")
    yield from legs(look.w - 0.06, look.d - 0.06, look.h - 0.06, "#3a5f8a", thick=0.07)
    yield box(0, 0, 0.2, look.w - 0.16, look.d - 0.12, 0.03, "#3a5f8a")
    yield box(0, look.d / 2 - 0.02, look.h, look.w, 0.03, 0.6, "#d9d6cd", texture="pegboard")


def beanbag(look: Look) -> Iterator[Part]:
    """A soft seat without a shape of its own."""
    cloth = look.pick("#e0873b", "#4b8f8c", "#8b4a6b")
    yield ball(0, 0, 0.24, look.w / 2, look.d / 2, 0.26, cloth, texture="cloth")
    yield ball(0, 0.16, 0.45, look.w / 3, look.d / 4, 0.24, cloth, texture="cloth")


SEATS_AND_TABLES: dict[str, Kind] = {
    "desk": Kind(size=(1.5, 0.75, 0.74), make=desk, plan="#d9b98c"),
    "chair": Kind(size=(0.58, 0.58, 1.0), make=chair, plan="#6c86ad", loose=True),
    "stool": Kind(size=(0.44, 0.46, 0.86), make=stool, plan="#d9a441", loose=True),
    "table": Kind(size=(1.6, 0.8, 0.74), make=table, plan="#c9a275"),
    "round table": Kind(size=(0.9, 0.9, 0.74), make=round_table, plan="#e2d6c0"),
    "coffee table": Kind(size=(1.0, 0.6, 0.42), make=coffee_table, plan="#b08b66"),
    "sofa": Kind(size=(1.9, 0.85, 0.8), make=sofa, plan="#7d98a5"),
    "armchair": Kind(size=(0.85, 0.85, 0.8), make=sofa, plan="#c98a78", loose=True),
    "shelf": Kind(size=(0.9, 0.32, 1.9), make=shelf, plan="#a9825a"),
    "cabinet": Kind(size=(0.9, 0.45, 1.8), make=cabinet, plan="#a7b0b8"),
    "drawers": Kind(size=(0.42, 0.55, 0.6), make=drawers, plan="#bcc1c6", loose=True),
    "counter": Kind(size=(2.4, 0.62, 0.9), make=counter, plan="#b9b4ab"),
    "wall cupboard": Kind(size=(2.4, 0.36, 0.7), make=wall_cupboard, blocks=False, plan="#d5d8d3"),
    "workbench": Kind(size=(1.8, 0.75, 0.88), make=workbench, plan="#b98f63"),
    "beanbag": Kind(size=(0.8, 0.8, 0.6), make=beanbag, plan="#dd9a5e", loose=True),
}
