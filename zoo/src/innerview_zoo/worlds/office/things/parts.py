"""Parts: the boxes, balls, cylinders and rings that every thing on the floor is put together from."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

BOX, BALL, CYLINDER, RING = range(4)
Vec3 = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class Part:
    """One solid in the frame of its thing: x to the right, y to the back, z up, the front towards -y."""

    shape: int
    centre: Vec3
    half: Vec3
    """Half the size along each axis."""
    colour: str = "#ffffff"
    texture: str = "plain"
    top: str = ""
    """Texture of the upper side where it differs."""
    top_colour: str = ""
    fit: bool = False
    """Whether the texture is stretched over a face once, as for a poster, instead of being repeated by the metre."""
    glow: float = 0.0
    """How much of its light is its own: 1 for a lamp."""
    turn: Vec3 = (0.0, 0.0, 0.0)
    """Yaw, pitch and roll in degrees, about z, y and x."""
    inner: float = 0.0
    """For a ring: the radius of the hole as a share of the outer one."""


def box(x: float, y: float, z: float, w: float, d: float, h: float, colour: str = "#ffffff", **more: object) -> Part:
    """A box that stands at height z, centred on x and y."""
    made = Part(shape=BOX, centre=(x, y, z + h / 2), half=(w / 2, d / 2, h / 2), colour=colour)
    return replace(made, **more)  # type: ignore[arg-type]


def tube(x: float, y: float, z: float, r: float, h: float, colour: str = "#ffffff", **more: object) -> Part:
    """An upright cylinder that stands at height z."""
    made = Part(shape=CYLINDER, centre=(x, y, z + h / 2), half=(r, r, h / 2), colour=colour)
    return replace(made, **more)  # type: ignore[arg-type]


def ball(x: float, y: float, z: float, rx: float, ry: float, rz: float, colour: str, **more: object) -> Part:
    """An ellipsoid about a centre."""
    made = Part(shape=BALL, centre=(x, y, z), half=(rx, ry, rz), colour=colour)
    return replace(made, **more)  # type: ignore[arg-type]


def ring(x: float, y: float, z: float, r: float, colour: str, *, inner: float = 0.0, **more: object) -> Part:
    """A flat ring or disc that faces the front."""
    made = Part(shape=RING, centre=(x, y, z), half=(r, r, 0.004), colour=colour, inner=inner, turn=(0.0, 0.0, 90.0))
    return replace(made, **more)  # type: ignore[arg-type]


def rod(start: Vec3, stop: Vec3, r: float, colour: str, **more: object) -> Part:
    """A thin cylinder from one point to another."""
    dx, dy, dz = (b - a for a, b in zip(start, stop, strict=True))
    length = math.hypot(dx, dy, dz)
    yaw, pitch = math.degrees(math.atan2(dy, dx)), math.degrees(math.acos(dz / length))
    centre = tuple((a + b) / 2 for a, b in zip(start, stop, strict=True))
    made = Part(shape=CYLINDER, centre=centre, half=(r, r, length / 2), colour=colour, turn=(yaw, pitch, 0.0))  # type: ignore[arg-type]
    return replace(made, **more)  # type: ignore[arg-type]


def legs(w: float, d: float, h: float, colour: str, *, thick: float = 0.04, z: float = 0.0) -> Iterable[Part]:
    """Four legs under a rectangle."""
    for sx in (-1, 1):
        for sy in (-1, 1):
            yield box(sx * (w - thick) / 2, sy * (d - thick) / 2, z, thick, thick, h, colour)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of thing: how large it is, whether one bumps into it, and how it is put together."""

    size: Vec3
    make: Callable[[Look], Iterable[Part]]
    blocks: bool = True
    plan: str = "#c9c4ba"
    """Colour on the plan drawing."""
    loose: bool = False
    """Whether people move it about: the stand-in for reality moves and removes such things."""


@dataclass(frozen=True, kw_only=True)
class Look:
    """What a kind needs to know of a thing in order to put it together."""

    w: float
    d: float
    h: float
    colour: str
    variant: int

    def pick(self, *choices: str) -> str:
        """The thing's own colour, or one of these by its variant."""
        return self.colour or choices[self.variant % len(choices)]
