"""The floor as a plan: an SVG that can be shown, printed and drawn upon."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import torch

from innerview_zoo.worlds.office.floors.floor import Door, Floor, Room, Thing, Wall, Window
from innerview_zoo.worlds.office.things.kinds import KINDS

PAPER, INK, WALL, GLASS = "#fbfaf7", "#3b3f45", "#4a4e55", "#9cc9e4"
MARGIN_M = 0.9
NOT_DRAWN = frozenset(("lamp", "exit sign", "door sign", "poster", "clock", "wall cupboard", "keyboard"))
ROUND = frozenset(("round table", "column", "bin", "beanbag", "mug", "bottle", "bowl", "coat stand", "water cooler"))
GREEN = frozenset(("plant", "tree", "little plant"))
WAYS = ("#d1495b", "#2f6db5", "#e09f3e", "#4f8a57")


def plan_svg(
    floor: Floor, *, ways: Sequence[torch.Tensor | np.ndarray] = (), width_px: int = 1100, labels: bool = True
) -> str:
    """The plan of a floor; `ways` are poses [n, 3] drawn as lines over it."""
    width, depth = floor.size_m
    box = f"{-MARGIN_M:g} {-MARGIN_M:g} {width + 2 * MARGIN_M:g} {depth + 2 * MARGIN_M + 0.6:g}"
    height_px = round(width_px * (depth + 2 * MARGIN_M + 0.6) / (width + 2 * MARGIN_M))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width_px}" height="{height_px}" viewBox="{box}" '
        'font-family="Inter, Helvetica, Arial, sans-serif" role="img" aria-label="Plan of the floor">',
        f'<rect x="{-MARGIN_M:g}" y="{-MARGIN_M:g}" width="100%" height="100%" fill="{PAPER}"/>',
        f'<g transform="matrix(1 0 0 -1 0 {depth:g})">',
        *(_room(room) for room in floor.rooms),
        *_things(floor),
        *(_wall(wall) for wall in floor.walls if wall.blocks),
        *(_lintel(wall) for wall in floor.walls if not wall.blocks),
        *(_window(window) for window in floor.windows),
        *(line for door in floor.doors for line in _door(door)),
        *(_way(way, WAYS[i % len(WAYS)]) for i, way in enumerate(ways)),
        "</g>",
        *((_label(room, depth) for room in floor.rooms) if labels else ()),
        *_scale(depth),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _pale(colour: str, share: float) -> str:
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(p + (255 - p) * share):02x}" for p in parts)


def _dark(colour: str) -> str:
    return "#" + "".join(f"{round(int(colour[i : i + 2], 16) * 0.72):02x}" for i in (1, 3, 5))


def _room(room: Room) -> str:
    points = " ".join(f"{x:g},{y:g}" for x, y in room.polygon)
    return f'<polygon points="{points}" fill="{_pale(room.ground_paint, 0.66)}"><title>{room.name}</title></polygon>'


def _wall(wall: Wall) -> str:
    return (
        f'<rect x="{wall.x0:.3f}" y="{wall.y0:.3f}" width="{wall.x1 - wall.x0:.3f}" height="{wall.y1 - wall.y0:.3f}" '
        f'fill="{WALL}"/>'
    )


def _lintel(wall: Wall) -> str:
    """What hangs above an opening, as a dashed outline."""
    return (
        f'<rect x="{wall.x0:.3f}" y="{wall.y0:.3f}" width="{wall.x1 - wall.x0:.3f}" height="{wall.y1 - wall.y0:.3f}" '
        f'fill="none" stroke="{WALL}" stroke-width="0.02" stroke-dasharray="0.08 0.06" opacity="0.45"/>'
    )


def _window(window: Window) -> str:
    w, h = (window.width, 0.14) if window.along == "x" else (0.14, window.width)
    return (
        f'<rect x="{window.x - w / 2:.3f}" y="{window.y - h / 2:.3f}" width="{w:.3f}" height="{h:.3f}" fill="{GLASS}" '
        f'stroke="#ffffff" stroke-width="0.03"/>'
    )


def _door(door: Door) -> Iterator[str]:
    along = 0.0 if door.along == "x" else math.pi / 2
    half = door.width / 2
    hx, hy = door.x + door.hinge * half * math.cos(along), door.y + door.hinge * half * math.sin(along)
    far_x, far_y = door.x - door.hinge * half * math.cos(along), door.y - door.hinge * half * math.sin(along)
    if not door.open:
        yield (
            f'<line x1="{hx:.3f}" y1="{hy:.3f}" x2="{far_x:.3f}" y2="{far_y:.3f}" stroke="{_dark(door.paint)}" '
            'stroke-width="0.09"><title>door, closed</title></line>'
        )
        return
    closed = math.atan2(far_y - hy, far_x - hx)
    swing = math.radians(door.swing_deg) * door.side * (-door.hinge) * (1 if door.along == "x" else -1)
    tip_x, tip_y = hx + door.width * math.cos(closed + swing), hy + door.width * math.sin(closed + swing)
    sweep = 1 if swing > 0 else 0
    yield (
        f'<path d="M{hx:.3f} {hy:.3f} L{far_x:.3f} {far_y:.3f} A{door.width:.3f} {door.width:.3f} 0 0 {sweep} '
        f'{tip_x:.3f} {tip_y:.3f} Z" fill="#ffffff" fill-opacity="0.55" stroke="{INK}" stroke-opacity="0.35" '
        'stroke-width="0.02"/>'
    )
    yield (
        f'<line x1="{hx:.3f}" y1="{hy:.3f}" x2="{tip_x:.3f}" y2="{tip_y:.3f}" stroke="{_dark(door.paint)}" '
        'stroke-width="0.06" stroke-linecap="round"><title>door, open</title></line>'
    )


def _things(floor: Floor) -> Iterator[str]:
    low_first = sorted(floor.things, key=lambda thing: (thing.kind != "rug", thing.z + thing.size[2]))
    for thing in low_first:
        if thing.kind not in NOT_DRAWN:
            yield _thing(thing)


def _thing(thing: Thing) -> str:
    colour = KINDS[thing.kind].plan
    look = f'fill="{colour}" stroke="{_dark(colour)}" stroke-width="0.025"'
    name = f"<title>{thing.kind}</title>"
    w, d, _ = thing.size
    place = f'transform="translate({thing.x:.3f} {thing.y:.3f}) rotate({math.degrees(thing.angle):.1f})"'
    if thing.kind in GREEN:
        leaves = "".join(
            f'<ellipse cx="{w / 4:.3f}" rx="{w / 4:.3f}" ry="{w / 8:.3f}" {look} transform="rotate({i * 60})"/>'
            for i in range(6)
        )
        return f"<g {place}>{name}{leaves}</g>"
    if thing.kind in ROUND:
        return f'<ellipse {place} rx="{w / 2:.3f}" ry="{d / 2:.3f}" {look}>{name}</ellipse>'
    corner = min(min(w, d) * 0.12, 0.06)
    if thing.kind == "bike":
        look = 'fill="none"'
    shape = f'x="{-w / 2:.3f}" y="{-d / 2:.3f}" width="{w:.3f}" height="{max(d, 0.05):.3f}" rx="{corner:.3f}"'
    body = f"<rect {shape} {look}/>"
    return f"<g {place}>{name}{body}{_detail(thing)}</g>"


def _detail(thing: Thing) -> str:
    """A line or two that make a thing known from above."""
    w, d, _ = thing.size
    colour = _dark(KINDS[thing.kind].plan)
    thin, thick = (f'fill="none" stroke="{colour}" stroke-width="{v}" stroke-linecap="round"' for v in (0.025, 0.06))
    if thing.kind in ("chair", "stool"):
        return f'<path d="M{-w * 0.36:.3f} {d * 0.3:.3f} H{w * 0.36:.3f}" {thick}/>'
    if thing.kind in ("sofa", "armchair"):
        seat = f'x="{-w / 2 + 0.14:.3f}" y="{-d / 2:.3f}" width="{w - 0.28:.3f}" height="{d - 0.18:.3f}"'
        return f'<rect {seat} rx="0.05" {thin}/>'
    if thing.kind in ("shelf", "cabinet", "locker", "counter", "rack"):
        return f'<path d="M{-w / 2:.3f} {-d / 2:.3f} L{w / 2:.3f} {d / 2:.3f}" {thin} opacity="0.6"/>'
    if thing.kind == "bike":
        return f'<path d="M{-w * 0.45:.3f} 0 H{w * 0.45:.3f} M{w * 0.22:.3f} -0.25 V0.25" {thick}/>'
    return ""


def _way(way: torch.Tensor | np.ndarray, colour: str) -> str:
    poses = np.asarray(way)
    points = " ".join(f"{x:.2f},{y:.2f}" for x, y in poses[:, :2])
    first = f'<circle cx="{poses[0, 0]:.2f}" cy="{poses[0, 1]:.2f}" r="0.14" fill="{colour}"/>'
    line = f'fill="none" stroke="{colour}" stroke-width="0.07" stroke-linejoin="round" stroke-linecap="round"'
    return f'<g opacity="0.85"><polyline points="{points}" {line}/>{first}</g>'


def _label(room: Room, depth: float) -> str:
    x, y = room.centre
    xs = [point[0] for point in room.polygon]
    tall = room.kind == "corridor"
    size = min(0.4, (max(xs) - min(xs)) * 0.13) if not tall else 0.4
    turn = f' transform="rotate(-90 {x:.2f} {depth - y:.2f})"' if tall else ""
    halo = 'paint-order="stroke" stroke="#ffffff" stroke-opacity="0.85" stroke-width="0.12" stroke-linejoin="round"'
    return (
        f'<text x="{x:.2f}" y="{depth - y:.2f}" font-size="{size:.2f}" font-weight="600" fill="{INK}" '
        f'text-anchor="middle" dominant-baseline="middle" {halo}{turn}>{room.name}</text>'
    )


def _scale(depth: float) -> Iterator[str]:
    y = depth + 0.85
    ends = f"M0 {y - 0.1:g} V{y + 0.1:g} M5 {y - 0.1:g} V{y + 0.1:g}"
    yield f'<path d="M0 {y:g} H5 {ends}" stroke="{INK}" stroke-width="0.04"/>'
    yield f'<text x="5.2" y="{y + 0.13:g}" font-size="0.38" fill="{INK}">5 m</text>'
