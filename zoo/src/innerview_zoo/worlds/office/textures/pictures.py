"""Textures that show something once: boards, screens, signs, fronts. Each draws [side, side, 3], bottom row first."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from innerview_zoo.worlds.office.textures.art import ART
from innerview_zoo.worlds.office.textures.canvas import Canvas
from innerview_zoo.worlds.office.textures.patterns import hex_rgb, noise

Random = np.random.Generator
Draw = Callable[[Random, int], np.ndarray]


def lamp(random: Random, side: int) -> np.ndarray:
    """A panel with a frame."""
    canvas = Canvas(side, "#d9d9d6")
    canvas.box(0.03, 0.08, 0.97, 0.92, "#fffef8")
    return canvas.pixels


def board_plan(random: Random, side: int) -> np.ndarray:
    """A board with boxes and arrows."""
    canvas = Canvas(side, "#f7f8f8")
    for u, v, paint in ((0.12, 0.6, "#2f6db5"), (0.44, 0.6, "#c0392b"), (0.76, 0.6, "#2e8b57"), (0.44, 0.2, "#2f6db5")):
        canvas.box(u, v, u + 0.17, v + 0.2, paint)
        canvas.box(u + 0.015, v + 0.02, u + 0.155, v + 0.18, "#f7f8f8")
        canvas.writing(random, u + 0.03, v + 0.05, u + 0.14, v + 0.16, 2, paint)
    for start, stop in (((0.3, 0.7), (0.43, 0.7)), ((0.62, 0.7), (0.75, 0.7)), ((0.52, 0.59), (0.52, 0.41))):
        canvas.line(*start, *stop, "#333333", 0.008)
    canvas.writing(random, 0.08, 0.86, 0.6, 0.95, 1, "#333333")
    return canvas.pixels


def board_curve(random: Random, side: int) -> np.ndarray:
    """A board with a graph and a formula."""
    canvas = Canvas(side, "#f7f8f8")
    canvas.line(0.1, 0.12, 0.1, 0.85, "#333333", 0.008)
    canvas.line(0.1, 0.12, 0.6, 0.12, "#333333", 0.008)
    at = np.linspace(0.0, 1.0, 24)
    for paint, height in (("#c0392b", 0.62), ("#2f6db5", 0.45)):
        level = 0.15 + height * (1 - np.exp(-3 * at))
        for i in range(23):
            canvas.line(0.1 + at[i] / 2, level[i], 0.1 + at[i + 1] / 2, level[i + 1], paint, 0.01)
    canvas.writing(random, 0.68, 0.3, 0.95, 0.85, 6, "#2e8b57")
    return canvas.pixels


def board_notes(random: Random, side: int) -> np.ndarray:
    """A board with sticky notes."""
    canvas = Canvas(side, "#f5f6f6")
    paints = ("#f6d55c", "#ed8a8a", "#7cc6b3", "#9fb8e8")
    for column in range(4):
        canvas.writing(random, 0.05 + 0.24 * column, 0.87, 0.22 + 0.24 * column, 0.95, 1, "#333333")
        for row in range(int(random.integers(1, 4))):
            u, v = 0.06 + 0.24 * column, 0.64 - 0.25 * row
            canvas.box(u, v, u + 0.16, v + 0.19, paints[(column + row) % 4])
            canvas.writing(random, u + 0.02, v + 0.05, u + 0.14, v + 0.16, 3, "#555555")
    return canvas.pixels


def screen_code(random: Random, side: int) -> np.ndarray:
    """An editor."""
    canvas = Canvas(side, "#1e2430")
    canvas.box(0, 0.93, 1, 1, "#39445a")
    canvas.box(0, 0, 0.18, 0.93, "#262d3b")
    paints = ("#8fc7ff", "#f2b872", "#9ddb9a", "#d7a0e8", "#d8dee9")
    for i in range(15):
        u = 0.22 + 0.05 * int(random.integers(0, 4))
        canvas.box(
            u,
            0.86 - 0.056 * i,
            u + float(random.uniform(0.12, 0.5)),
            0.885 - 0.056 * i,
            paints[int(random.integers(5))],
        )
    return canvas.pixels


def screen_slide(random: Random, side: int) -> np.ndarray:
    """A slide with bars."""
    canvas = Canvas(side, "#f3f6fa")
    canvas.box(0, 0.86, 1, 1, "#2b5f9e")
    canvas.writing(random, 0.06, 0.89, 0.6, 0.97, 1, "#ffffff")
    for i, high in enumerate((0.3, 0.45, 0.38, 0.6, 0.55)):
        canvas.box(0.1 + 0.1 * i, 0.1, 0.17 + 0.1 * i, 0.1 + high, ("#4f8fd0", "#e08a3c")[i % 2])
    canvas.writing(random, 0.68, 0.3, 0.95, 0.75, 6, "#6b7785")
    return canvas.pixels


def screen_page(random: Random, side: int) -> np.ndarray:
    """A page with pictures."""
    canvas = Canvas(side, "#ffffff")
    canvas.box(0, 0.92, 1, 1, "#e4e7eb")
    canvas.box(0.06, 0.5, 0.5, 0.86, "#7fb3a6")
    canvas.polygon([(0.06, 0.5), (0.25, 0.76), (0.38, 0.6), (0.5, 0.7), (0.5, 0.5)], "#3f7d6a")
    canvas.writing(random, 0.55, 0.5, 0.94, 0.86, 7, "#69727d")
    canvas.writing(random, 0.06, 0.08, 0.94, 0.44, 6, "#9aa2ab")
    return canvas.pixels


def exit_sign(random: Random, side: int) -> np.ndarray:
    """A door and an arrow on green."""
    canvas = Canvas(side, "#e9fff2")
    canvas.box(0.02, 0.04, 0.98, 0.96, "#ffffff")
    canvas.box(0.05, 0.08, 0.95, 0.92, "#3fbf78")
    canvas.box(0.1, 0.2, 0.3, 0.8, "#ffffff")
    canvas.line(0.42, 0.5, 0.78, 0.5, "#ffffff", 0.06)
    canvas.polygon([(0.7, 0.24), (0.9, 0.5), (0.7, 0.76)], "#ffffff")
    return canvas.pixels


def fire_sign(random: Random, side: int) -> np.ndarray:
    """A flame on red."""
    canvas = Canvas(side, "#c8201f")
    canvas.polygon([(0.5, 0.9), (0.75, 0.5), (0.7, 0.22), (0.5, 0.12), (0.3, 0.22), (0.25, 0.5)], "#ffffff")
    canvas.polygon([(0.5, 0.62), (0.62, 0.38), (0.5, 0.18), (0.38, 0.38)], "#c8201f")
    return canvas.pixels


def number(which: int) -> Draw:
    """A plate with a room's number, warm in the west and cool in the east."""

    def draw(random: Random, side: int) -> np.ndarray:
        canvas = Canvas(side, "#b9532f" if which <= 7 else "#2b66a8")
        canvas.box(
            0.06,
            0.06,
            0.94,
            0.94,
            ("#d9734a", "#c98a2e", "#b5534f")[which % 3]
            if which <= 7
            else ("#3f7fc0", "#3d8f97", "#5a67b8")[which % 3],
        )
        canvas.number(f"{which:02d}", 0.14, 0.24, 0.5, "#ffffff")
        return canvas.pixels

    return draw


def drawers(random: Random, side: int) -> np.ndarray:
    """Three drawers with grips."""
    canvas = Canvas(side, "#f2f2f0")
    for i in range(3):
        canvas.box(0.0, 0.33 * i, 1.0, 0.33 * i + 0.015, "#8f9194")
        canvas.box(0.34, 0.33 * i + 0.22, 0.66, 0.33 * i + 0.25, "#7d8186")
    return canvas.pixels


def cabinet(random: Random, side: int) -> np.ndarray:
    """Two doors with grips."""
    canvas = Canvas(side, "#f2f2f0")
    canvas.box(0.49, 0, 0.51, 1, "#8f9194")
    for u in (0.43, 0.55):
        canvas.box(u, 0.44, u + 0.02, 0.58, "#6d7176")
    for v in (0.0, 0.985):
        canvas.box(0, v, 1, v + 0.015, "#a5a8ab")
    return canvas.pixels


def fridge(random: Random, side: int) -> np.ndarray:
    """Two doors, with magnets and a note."""
    canvas = Canvas(side, "#f4f5f5")
    canvas.box(0, 0.36, 1, 0.375, "#8f9498")
    canvas.box(0.08, 0.42, 0.12, 0.7, "#9a9fa4")
    canvas.box(0.08, 0.18, 0.12, 0.33, "#9a9fa4")
    canvas.box(0.5, 0.66, 0.75, 0.84, "#fff3b0")
    canvas.writing(random, 0.53, 0.68, 0.72, 0.82, 4, "#777777")
    for u, v, paint in ((0.35, 0.8, "#d8422f"), (0.4, 0.6, "#2f6db5"), (0.82, 0.72, "#e0b13c"), (0.6, 0.55, "#4f8a57")):
        canvas.disc(u, v, 0.03, paint)
    return canvas.pixels


def mirror(random: Random, side: int) -> np.ndarray:
    """A pale sheen."""
    canvas = Canvas(side, "#e8f2f4")
    shine = 0.75 + 0.25 * ((canvas.u + canvas.v) % 1.0)
    return canvas.pixels * shine[..., None]


def rack(random: Random, side: int) -> np.ndarray:
    """Drawers of servers with lights."""
    canvas = Canvas(side, "#9aa0a8")
    for i in range(14):
        v = 0.04 + 0.066 * i
        canvas.box(0.08, v, 0.92, v + 0.05, "#4a5058" if i % 3 else "#6b727b")
        for j in range(5):
            canvas.disc(
                0.14 + 0.05 * j, v + 0.025, 0.012, ("#5dff9b", "#5dff9b", "#ffc44d", "#58b7ff")[int(random.integers(4))]
            )
    return canvas.pixels


def snacks(random: Random, side: int) -> np.ndarray:
    """Rows of packets behind glass."""
    canvas = Canvas(side, "#2a2d33")
    paints = ("#e04f39", "#f0b93b", "#3f8fd0", "#5fae57", "#e88fb0", "#f4efe2", "#8a5fb0")
    for row in range(6):
        canvas.box(0, 0.16 * row, 1, 0.16 * row + 0.02, "#8d9298")
        for column in range(5):
            u, v = 0.05 + 0.19 * column, 0.16 * row + 0.03
            canvas.box(u, v, u + 0.14, v + 0.1, paints[int(random.integers(len(paints)))])
    return canvas.pixels


def rug_diamonds(random: Random, side: int) -> np.ndarray:
    """A border and diamonds."""
    canvas = Canvas(side, "#8f3b2e")
    canvas.box(0.05, 0.06, 0.95, 0.94, "#e9d8b8")
    canvas.box(0.08, 0.1, 0.92, 0.9, "#a8503c")
    shape = np.abs((canvas.u * 6) % 1 - 0.5) + np.abs((canvas.v * 4) % 1 - 0.5)
    inner = (canvas.u > 0.08) & (canvas.u < 0.92) & (canvas.v > 0.1) & (canvas.v < 0.9)
    canvas.fill(inner & (shape < 0.36), "#e9d8b8")
    canvas.fill(inner & (shape < 0.22), "#2f5d6b")
    return canvas.pixels * (0.92 + 0.1 * random.random((side, side, 1)))


def rug_stripes(random: Random, side: int) -> np.ndarray:
    """Broad stripes."""
    canvas = Canvas(side, "#e6dcc8")
    for i, paint in enumerate(("#3f6b6f", "#d9a441", "#3f6b6f", "#b5563f", "#3f6b6f")):
        canvas.box(0, 0.08 + 0.18 * i, 1, 0.18 + 0.18 * i, paint)
    return canvas.pixels * (0.92 + 0.1 * random.random((side, side, 1)))


def notes(random: Random, side: int) -> np.ndarray:
    """Cork with papers and pins."""
    canvas = Canvas(side, "#c49a66")
    canvas.pixels = canvas.pixels * (0.85 + 0.25 * random.random((side, side, 1)))
    paints = ("#ffffff", "#f6e7a8", "#cfe3f5", "#f5cfcf", "#dcefd2")
    for i in range(9):
        u, v = (
            0.05 + 0.31 * (i % 3) + float(random.uniform(0, 0.06)),
            0.06 + 0.31 * (i // 3) + float(random.uniform(0, 0.05)),
        )
        w, h = float(random.uniform(0.14, 0.24)), float(random.uniform(0.16, 0.25))
        canvas.box(u, v, u + w, v + h, paints[int(random.integers(5))])
        canvas.writing(random, u + 0.02, v + 0.04, u + w - 0.02, v + h - 0.04, 3, "#777777")
        canvas.disc(u + w / 2, v + h - 0.015, 0.014, "#c0392b")
    return canvas.pixels


def keys_top(random: Random, side: int) -> np.ndarray:
    """Keys in rows, and a pad."""
    canvas = Canvas(side, "#8f949a")
    for row in range(5):
        for column in range(13):
            u, v = 0.04 + 0.071 * column, 0.42 + 0.105 * row
            canvas.box(u, v, u + 0.056, v + 0.08, "#2b2e33")
    canvas.box(0.36, 0.06, 0.64, 0.34, "#a5aab0")
    return canvas.pixels


def printed(random: Random, side: int) -> np.ndarray:
    """A printed page."""
    canvas = Canvas(side, "#ffffff")
    canvas.writing(random, 0.12, 0.1, 0.88, 0.9, 14, "#9a9a9a")
    return canvas.pixels


def carton(random: Random, side: int) -> np.ndarray:
    """Cardboard with tape and a label."""
    canvas = Canvas(side, "#ffffff")
    canvas.pixels = canvas.pixels * (0.9 + 0.1 * noise(random, side, 8)[..., None])
    canvas.box(0.44, 0, 0.56, 1, "#e8d9b8")
    canvas.box(0.1, 0.15, 0.36, 0.4, "#fffdf5")
    canvas.writing(random, 0.12, 0.17, 0.34, 0.38, 3, "#777777")
    return canvas.pixels


def door(random: Random, side: int) -> np.ndarray:
    """Grain, two panels and a kick plate."""
    canvas = Canvas(side, "#ffffff")
    grain = noise(random, side, 24, octaves=2).T
    canvas.pixels = canvas.pixels * (0.9 + 0.12 * grain[..., None])
    for v0, v1 in ((0.14, 0.47), (0.54, 0.92)):
        frame = (canvas.u > 0.16) & (canvas.u < 0.84) & (canvas.v > v0) & (canvas.v < v1)
        inner = (canvas.u > 0.18) & (canvas.u < 0.82) & (canvas.v > v0 + 0.012) & (canvas.v < v1 - 0.012)
        canvas.pixels[frame & ~inner] *= 0.78
    canvas.box(0.02, 0.01, 0.98, 0.07, "#c9ccce")
    return canvas.pixels


def outside(random: Random, side: int) -> np.ndarray:
    """Sky with clouds over houses and trees; it repeats sideways."""
    canvas = Canvas(side, "#bcd9f2")
    up = ((canvas.v - 0.36) / 0.64).clip(0, 1)[..., None]
    canvas.pixels = hex_rgb("#e9f2f7") * (1 - up) + hex_rgb("#86b9e6") * up
    cloud = noise(random, side, 4, octaves=4)
    veil = ((cloud - 0.5) * 4).clip(0, 0.85)[..., None] * (up > 0.08)
    canvas.pixels = canvas.pixels * (1 - veil) + veil
    for i, (u, w, h) in enumerate(
        ((0.05, 0.1, 0.12), (0.2, 0.08, 0.07), (0.42, 0.12, 0.16), (0.62, 0.07, 0.1), (0.8, 0.12, 0.08))
    ):
        canvas.box(u, 0.3, u + w, 0.36 + h, ("#b9b3ab", "#a8706a", "#9fa9b3", "#c9b79b", "#8f8a9a")[i])
        for k in range(3):
            canvas.box(
                u + 0.015, 0.37 + 0.035 * k, u + w - 0.015, 0.385 + 0.035 * k, "#6f7f8f"
            ) if h > 0.035 * k + 0.03 else None
    crowns = 0.36 + 0.06 * noise(random, side, 12, octaves=3)[side // 2]
    canvas.fill(canvas.v < crowns[None, :], "#5f8f55")
    canvas.fill(canvas.v < 0.32, "#86a86b")
    return canvas.pixels


PICTURES: dict[str, Draw] = {
    "lamp": lamp,
    "board_a": board_plan,
    "board_b": board_curve,
    "board_c": board_notes,
    **ART,
    "screen_a": screen_code,
    "screen_b": screen_slide,
    "screen_c": screen_page,
    "exit": exit_sign,
    "fire_sign": fire_sign,
    **{f"number_{i}": number(i) for i in range(20)},
    "drawers": drawers,
    "cabinet": cabinet,
    "fridge": fridge,
    "mirror": mirror,
    "rack": rack,
    "snacks": snacks,
    "rug_a": rug_diamonds,
    "rug_b": rug_stripes,
    "notes": notes,
    "keys_top": keys_top,
    "print": printed,
    "carton": carton,
    "door": door,
    "outside": outside,
}
