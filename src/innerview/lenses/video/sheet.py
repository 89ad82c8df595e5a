"""Lays panels out on a sheet, with titles, scales and a line for what changes, and draws it frame by frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from innerview.errors import LensError
from innerview.lenses.video.colours import heat_colours

PANEL_PIXELS = 320
"""A small picture is enlarged to about so many pixels."""
MIN_WIDTH, MAX_SIDE = 208, 8192
ABOVE, BELOW, GAP = 40, 42, 12
"""Pixels for the title above a picture, for its scale below it, and between panels."""
BAR = (72, 9)
INK, MUTED, WARN, PAPER = (32, 34, 38), (104, 109, 117), (176, 64, 20), (255, 255, 255)
_SPELT = str.maketrans({"−": "-", "×": "x", "→": ">", "←": "<"})
_WIDE = 1.6


@dataclass(frozen=True)
class Box:
    """Where a picture stands on the sheet, in pixels."""

    left: int
    top: int
    width: int
    height: int


@dataclass(frozen=True)
class Layout:
    """Panels of one size, in lines."""

    size: tuple[int, int]
    """Width and height of the sheet, both even: players want that."""
    boxes: tuple[Box, ...]
    cell: int
    """Width of a panel with its text."""


def laid_out(count: int, picture: tuple[int, int], *, columns: int = 0, scale: int = 0) -> Layout:
    """Room for so many panels, each for a picture of [height, width] pixels."""
    scale = scale or max(1, round(PANEL_PIXELS / max(picture)))
    height, width = picture[0] * scale, picture[1] * scale
    cell, line = max(width, MIN_WIDTH), ABOVE + height + BELOW
    columns = min(columns, count) or _best_columns(count, (cell + GAP) / (line + GAP))
    lines = -(-count // columns)
    size = GAP + columns * (cell + GAP), GAP + lines * (line + GAP)
    if max(size) > MAX_SIDE:
        raise LensError(
            f"The video would be {size[0]} × {size[1]} pixels; {MAX_SIDE} is the most. Choose fewer maps, other "
            "columns or a smaller scale."
        )
    corners = [(GAP + n % columns * (cell + GAP), GAP + n // columns * (line + GAP)) for n in range(count)]
    boxes = [Box(left + (cell - width) // 2, top + ABOVE, width, height) for left, top in corners]
    return Layout((size[0] + size[0] % 2, size[1] + size[1] % 2), tuple(boxes), cell)


def _best_columns(count: int, shape: float) -> int:
    """How many make a wide sheet with few empty places, of panels that are `shape` times as wide as high."""

    def awkward(columns: int) -> float:
        lines = -(-count // columns)
        empty = lines * columns - count
        return abs(float(np.log(columns / lines * shape / _WIDE))) + 1.5 * empty / (lines * columns)

    return min(range(1, count + 1), key=awkward)


@dataclass(frozen=True)
class Sheet:
    """A sheet with the text that stays."""

    layout: Layout
    blank: Image.Image

    @staticmethod
    def of(layout: Layout, titles: Sequence[tuple[str, str]]) -> Sheet:
        """With a title and a second line above each panel."""
        blank = Image.new("RGB", layout.size, PAPER)
        pen = ImageDraw.Draw(blank)
        for box, (title, about) in zip(layout.boxes, titles, strict=True):
            left = box.left - (layout.cell - box.width) // 2
            _write(pen, (left, box.top - ABOVE), title, 15, INK, layout.cell)
            _write(pen, (left, box.top - ABOVE + 20), about, 12, MUTED, layout.cell)
        return Sheet(layout, blank)

    def scales(self, scales: Sequence[Scale | None]) -> Sheet:
        """With a scale below each panel that has one."""
        made = self.blank.copy()
        for box, scale in zip(self.layout.boxes, scales, strict=True):
            if scale is not None:
                self._scale(made, box, scale)
        return Sheet(self.layout, made)

    def drawn(self, pictures: Sequence[np.ndarray], below: str, warnings: Sequence[str]) -> np.ndarray:
        """uint8 [height, width, 3] with pictures [height, width, 3] in their boxes, and words that change.

        `below` stands under the first picture, a warning above the upper right corner of each.
        """
        made = self.blank.copy()
        pen = ImageDraw.Draw(made)
        for box, picture, warning in zip(self.layout.boxes, pictures, warnings, strict=True):
            fitted = fitted_into(picture, (box.height, box.width))
            top, left = (box.height - fitted.shape[0]) // 2, (box.width - fitted.shape[1]) // 2
            made.paste(Image.fromarray(fitted), (box.left + left, box.top + top))
            if warning:
                right = self._left(box) + self.layout.cell
                pen.text((right, box.top - ABOVE + 2), warning, WARN, _font(12), anchor="ra")
        first = self.layout.boxes[0]
        _write(pen, (self._left(first), first.top + first.height + 3), below, 12, INK, self.layout.cell)
        return np.asarray(made)

    def _left(self, box: Box) -> int:
        """Where the text of a panel begins."""
        return box.left - (self.layout.cell - box.width) // 2

    def _scale(self, sheet: Image.Image, box: Box, scale: Scale) -> None:
        pen, font = ImageDraw.Draw(sheet), _font(12)
        left, top = self._left(box), box.top + box.height + 3
        low, high = scale.ends
        pen.text((left, top), low, MUTED, font)
        start = left + int(font.getlength(low)) + 5
        sheet.paste(Image.fromarray(scale.bar()), (start, top + 4))
        pen.text((start + BAR[0] + 5, top), high, INK, font)
        _write(pen, (left, top + 19), scale.unit, 12, MUTED, self.layout.cell)


@dataclass(frozen=True)
class Scale:
    """What full colour stands for."""

    full: float
    signs: str | None
    unit: str

    @property
    def ends(self) -> tuple[str, str]:
        """What stands at both ends of the bar."""
        if not self.full:
            return "0", "0 everywhere"
        return (f"-{self.full:.3g}" if self.signs else "0"), f"{'+' if self.signs else ''}{self.full:.3g}"

    def bar(self) -> np.ndarray:
        """uint8 [height, width, 3]: heat from one end to the other, over black."""
        values = np.linspace(-1 if self.signs else 0, 1, BAR[0])
        colours, strength = heat_colours(values, 1.0, self.signs)
        line = np.rint(colours * strength[:, None]).astype(np.uint8)
        return np.repeat(line[None], BAR[1], axis=0)


def fitted_into(picture: np.ndarray, room: tuple[int, int]) -> np.ndarray:
    """A picture [height, width, 3] as large as fits, with the nearest pixel: whatever it is, it keeps its shape."""
    factor = min(room[0] / picture.shape[0], room[1] / picture.shape[1])
    height, width = (max(1, round(side * factor)) for side in picture.shape[:2])
    return stretched(picture, (height, width))


def stretched(values: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """[height, width, …] at another size, with the nearest pixel."""
    down, across = ((np.arange(n) + 0.5) * own // n for n, own in zip(size, values.shape[:2], strict=True))
    return np.ascontiguousarray(values[down.astype(int)][:, across.astype(int)])


def _write(pen: ImageDraw.ImageDraw, at: tuple[int, int], text: str, size: int, ink: Any, width: int) -> None:
    pen.text(at, shortened(text, size, width), ink, _font(size))


def shortened(text: str, size: int, width: int) -> str:
    """As much of a text as has room, in letters that the font has."""
    text, font = text.translate(_SPELT), _font(size)
    if font.getlength(text) <= width:
        return text
    while text and font.getlength(text + "…") > width:
        text = text[:-1]
    return text.rstrip() + "…"


@cache
def _font(size: int) -> ImageFont.FreeTypeFont:
    font = ImageFont.load_default(size)
    if not isinstance(font, ImageFont.FreeTypeFont):
        raise LensError("Pillow has no FreeType here, which text in videos needs: pip install --upgrade pillow.")
    return font
