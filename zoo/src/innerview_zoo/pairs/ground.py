"""The floor from above as a picture of pixels, for maps that show one."""

from __future__ import annotations

import io
import math

from PIL import Image, ImageColor, ImageDraw

from innerview_zoo.worlds.office import KINDS, Floor, Thing
from innerview_zoo.worlds.office.floors.drawing import GLASS, NOT_DRAWN, PAPER, ROUND, WALL

PIXELS_PER_M = 20
_FINER = 3
"""Drawn so much larger first, for smooth edges."""
Points = list[tuple[float, float]]


def ground_png(floor: Floor) -> bytes:
    """The floor as a PNG file, 20 pixels a metre; its lower left corner is (0, 0)."""
    width, depth = (round(side * PIXELS_PER_M) for side in floor.size_m)
    picture = Image.new("RGB", (width * _FINER, depth * _FINER), PAPER)
    draw = _Drawing(picture, floor.size_m[1])
    for room in floor.rooms:
        draw.area(list(room.polygon), _pale(room.ground_paint))
    for thing in sorted(floor.things, key=lambda each: (each.kind != "rug", each.z + each.size[2])):
        if thing.kind not in NOT_DRAWN:
            draw.thing(thing)
    for wall in floor.walls:
        if wall.blocks:
            draw.area([(wall.x0, wall.y0), (wall.x1, wall.y0), (wall.x1, wall.y1), (wall.x0, wall.y1)], WALL)
    for window in floor.windows:
        w, h = (window.width / 2, 0.07) if window.along == "x" else (0.07, window.width / 2)
        x, y = window.x, window.y
        draw.area([(x - w, y - h), (x + w, y - h), (x + w, y + h), (x - w, y + h)], GLASS)
    out = io.BytesIO()
    picture.resize((width, depth), Image.Resampling.BOX).save(out, "PNG", optimize=True)
    return out.getvalue()


class _Drawing:
    """Areas in metres, y up, on a picture."""

    def __init__(self, picture: Image.Image, depth_m: float) -> None:
        self._draw, self._depth = ImageDraw.Draw(picture), depth_m

    def area(self, points: Points, colour: str) -> None:
        scale = PIXELS_PER_M * _FINER
        self._draw.polygon([(x * scale, (self._depth - y) * scale) for x, y in points], fill=colour)

    def thing(self, thing: Thing) -> None:
        w, d = thing.size[0] / 2, max(thing.size[1], 0.05) / 2
        round_ = [(w * math.cos(a * math.pi / 12), d * math.sin(a * math.pi / 12)) for a in range(24)]
        corners = round_ if thing.kind in ROUND else [(-w, -d), (w, -d), (w, d), (-w, d)]
        c, s = math.cos(thing.angle), math.sin(thing.angle)
        self.area([(thing.x + x * c - y * s, thing.y + x * s + y * c) for x, y in corners], KINDS[thing.kind].plan)


def _pale(colour: str) -> str:
    red, green, blue = (round(part + (255 - part) * 0.66) for part in ImageColor.getrgb(colour)[:3])
    return f"#{red:02x}{green:02x}{blue:02x}"
