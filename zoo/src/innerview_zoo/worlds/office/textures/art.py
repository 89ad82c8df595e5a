"""Eight posters, all drawn by rule."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from innerview_zoo.worlds.office.textures.canvas import Canvas
from innerview_zoo.worlds.office.textures.patterns import hex_rgb

Random = np.random.Generator


def planes(random: Random, side: int) -> np.ndarray:
    """Planes of bright colour between black bars."""
    canvas = Canvas(side, "#f4f1e6")
    for box, paint in (
        ((0.0, 0.62, 0.4, 1.0), "#d0312d"), ((0.7, 0.0, 1.0, 0.3), "#2456a6"), ((0.4, 0.3, 0.7, 0.45), "#f2c531"),
        ((0.0, 0.0, 0.2, 0.22), "#f2c531"), ((0.84, 0.72, 1.0, 1.0), "#2456a6"),
    ):  # fmt: skip
        canvas.box(*box, paint)
    for at in (0.2, 0.4, 0.7, 0.84):
        canvas.box(at - 0.012, 0, at + 0.012, 1, "#1b1b1b")
    for at in (0.22, 0.3, 0.45, 0.62, 0.72):
        canvas.box(0, at - 0.012, 1, at + 0.012, "#1b1b1b")
    return canvas.pixels


def mountains(random: Random, side: int) -> np.ndarray:
    """Ridges before a low sun."""
    canvas = Canvas(side, "#f7d9a8")
    warm = canvas.v[..., None]
    canvas.pixels = hex_rgb("#f6b07a") * (1 - warm) + hex_rgb("#8fb7d6") * warm
    canvas.disc(0.68, 0.66, 0.13, "#fff3cf")
    for base, paint in ((0.55, "#8a93b8"), (0.4, "#5f6f9a"), (0.26, "#3c4f73"), (0.13, "#24334f")):
        peaks = [
            (0.0, base),
            *((0.1 + 0.16 * i, base + float(random.uniform(-0.04, 0.16))) for i in range(6)),
            (1.0, base),
        ]
        canvas.polygon([(0.0, 0.0), *peaks, (1.0, 0.0)], paint)
    return canvas.pixels


def circles(random: Random, side: int) -> np.ndarray:
    """Rings within rings."""
    canvas = Canvas(side, "#20323c")
    for (u, v), paints in (
        ((0.35, 0.62), ("#e8a33d", "#f3e3c3", "#c9503a")),
        ((0.68, 0.34), ("#4fa3a0", "#f3e3c3", "#2f6f86")),
    ):
        for i in range(6):
            canvas.disc(u, v, 0.32 - 0.05 * i, paints[i % 3])
    return canvas.pixels


def waves(random: Random, side: int) -> np.ndarray:
    """Bands that swing."""
    canvas = Canvas(side, "#f4ead5")
    swing = canvas.v + 0.07 * np.sin(canvas.u * 9) + 0.03 * np.sin(canvas.u * 23)
    for i, paint in enumerate(("#123f5c", "#1f6f8b", "#5fb0b7", "#f2b872", "#e0683c")):
        canvas.fill((swing > 0.1 + 0.15 * i) & (swing < 0.2 + 0.15 * i), paint)
    return canvas.pixels


def research(random: Random, side: int) -> np.ndarray:
    """A poster from a conference."""
    canvas = Canvas(side, "#ffffff")
    canvas.box(0, 0.84, 1, 1, "#14507a")
    canvas.writing(random, 0.08, 0.87, 0.92, 0.97, 2, "#ffffff")
    for u in (0.05, 0.37, 0.69):
        canvas.writing(random, u, 0.5, u + 0.26, 0.8, 8, "#777777")
        canvas.box(u, 0.08, u + 0.26, 0.44, "#e8eef3")
        for i in range(4):
            canvas.box(
                u + 0.03 + 0.055 * i, 0.1, u + 0.07 + 0.055 * i, 0.14 + float(random.uniform(0.05, 0.25)), "#d9663b"
            )
    return canvas.pixels


def leaves(random: Random, side: int) -> np.ndarray:
    """A branch with leaves on a pale ground."""
    canvas = Canvas(side, "#f1ede2")
    canvas.line(0.5, 0.05, 0.52, 0.92, "#4a5a3c", 0.01)
    for i in range(7):
        for way in (-1, 1):
            v = 0.16 + 0.11 * i
            tip = (0.5 + way * (0.34 - 0.03 * i), v + 0.14)
            canvas.polygon(
                [(0.51, v), (0.5 + way * 0.16, v + 0.02), tip, (0.5 + way * 0.12, v + 0.11)],
                ("#3f7d4a", "#6a9a5b")[i % 2],
            )
    return canvas.pixels


def city(random: Random, side: int) -> np.ndarray:
    """Towers at night."""
    canvas = Canvas(side, "#1b2440")
    canvas.disc(0.76, 0.8, 0.09, "#f6e7b0")
    at = 0.0
    while at < 1:
        wide, high = float(random.uniform(0.09, 0.17)), float(random.uniform(0.3, 0.72))
        canvas.box(at, 0, at + wide - 0.012, high, ("#33415f", "#27344f", "#3f4f73")[int(random.integers(3))])
        for row in range(int(high / 0.07)):
            for column in range(int(wide / 0.04)):
                if random.random() < 0.5:
                    u, v = at + 0.012 + 0.04 * column, 0.03 + 0.07 * row
                    canvas.box(u, v, u + 0.02, v + 0.03, "#f2cf73")
        at += wide
    return canvas.pixels


def shapes(random: Random, side: int) -> np.ndarray:
    """A square, a disc and a triangle in primary colours."""
    canvas = Canvas(side, "#efe6d2")
    canvas.box(0.1, 0.1, 0.52, 0.44, "#1f4e8c")
    canvas.disc(0.64, 0.66, 0.24, "#c8372d")
    canvas.polygon([(0.1, 0.52), (0.5, 0.52), (0.3, 0.9)], "#efb82d")
    canvas.line(0.58, 0.08, 0.94, 0.34, "#1b1b1b", 0.016)
    return canvas.pixels


ART: dict[str, Callable[[Random, int], np.ndarray]] = {
    "art_a": planes, "art_b": mountains, "art_c": circles, "art_d": waves, "art_e": research, "art_f": leaves,
    "art_g": city, "art_h": shapes,
}  # fmt: skip
