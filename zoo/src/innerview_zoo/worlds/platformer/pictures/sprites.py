"""The pictures of the platformer: tiles, the agent, enemies and what lies behind them. All our own."""

from __future__ import annotations

from collections.abc import Sequence

from innerview_zoo.worlds.platformer import names as n
from innerview_zoo.worlds.platformer.pictures.painting import Paint, bar, ellipse, polygon, star, wave

# Ground: (turf, turf's edge, earth, earth's dark, earth's light)
GROUNDS = (
    (0x6CBF4A, 0x4E9A35, 0x9A6B43, 0x815634, 0xB07D52),  # meadow
    (0xF0D48A, 0xD9B566, 0xC79A58, 0xAF8347, 0xD8AF6D),  # sand
    (0xE6F1F7, 0xBBD4E4, 0x7C9BB5, 0x68869F, 0x93B0C7),  # snow
    (0x9AA0A6, 0x7C838A, 0x6B7178, 0x5A6067, 0x7D848B),  # stone
    (0xE28FB0, 0xC56C92, 0x8C5A7A, 0x774A67, 0xA26F90),  # candy
    (0x58C2B0, 0x3D9E8E, 0x50607E, 0x424F69, 0x637596),  # planet
)
WOOD, WOOD_DARK, WOOD_LIGHT = 0xC58A4A, 0x8A5A2B, 0xE0AC6C
AGENTS = ((0xF2D3A0, 0xC79B62), (0x6FA8F5, 0x3B6FC4), (0x86D66B, 0x4C9B3A), (0xF59AC0, 0xC25C8C))
"""Body and shade: beige, blue, green, pink."""
AGENT_WIDTH, AGENT_HEIGHT = 4 / 3, 5 / 3
POSES = ("stand", "walk", "stride", "jump", "crouch")
ENEMY_WIDTH, ENEMY_HEIGHT = 8 / 3, 4 / 3


def tile(kind: int, ground: int, beat: int) -> Sequence[Paint]:
    """What stands in a cell of a kind; the beat turns saws and moves lava."""
    if kind >= n.WALL:
        return _wall(kind, GROUNDS[ground])
    if kind in (n.BOX, n.CRATE):
        return _box(cross=kind == n.BOX)
    if kind in (n.LAVA, n.LAVA_TOP):
        return _lava(top=kind == n.LAVA_TOP, shift=beat / 2)
    return _saw(beat / 2) if kind == n.SAW else _coin() if kind == n.COIN else ()


def _coin() -> Sequence[Paint]:
    return (
        ellipse(0xC98A0A, 0.5, 0.5, 0.5),
        ellipse(0xFFD21F, 0.5, 0.5, 0.43),
        ellipse(0xF5BC0C, 0.5, 0.5, 0.3),
        bar(0xFFF3B0, 2.4 / 6, 1.6 / 6, 3.2 / 6, 4.4 / 6),
    )


def _saw(turn: float) -> Sequence[Paint]:
    return (
        star(0x3C4249, 0.5, 0.44, 0.54, 0.40, points=10, turn=turn),
        ellipse(0xB9C2CB, 0.5, 0.44, 0.37),
        ellipse(0x8C96A0, 0.5, 0.44, 0.26),
        ellipse(0xD63B3B, 0.5, 0.44, 0.14),
    )


def _box(*, cross: bool) -> Sequence[Paint]:
    inner = (
        (polygon(WOOD_DARK, (0.12, 0.2), (0.2, 0.12), (0.88, 0.8), (0.8, 0.88)),)
        if cross
        else (bar(WOOD_DARK, 0.1, 0.46, 0.9, 0.54),)
    )
    frame = (
        bar(WOOD_LIGHT, 0, 0.83, 1, 1),
        bar(WOOD_DARK, 0, 0, 1, 0.17),
        bar(WOOD_LIGHT, 0, 0.1, 0.17, 0.95),
        bar(WOOD_DARK, 0.83, 0.05, 1, 0.9),
    )
    return (bar(WOOD, 0, 0, 1, 1), *inner, *frame)


def _lava(*, top: bool, shift: float) -> Sequence[Paint]:
    if not top:
        return (bar(0xD8400F, 0, 0, 1, 1), ellipse(0xEE6A1A, 0.3, 0.62, 0.2, 0.12), ellipse(0xB8300A, 0.72, 0.25, 0.2))
    return (
        wave(0xFFD34D, 0.74, 0.08, shift=shift),
        wave(0xF2791E, 0.56, 0.08, shift=shift),
        wave(0xD8400F, 0.3, 0.06, shift=shift),
    )


def _wall(kind: int, colours: tuple[int, int, int, int, int]) -> Sequence[Paint]:
    turf, edge, earth, dark, light = colours
    plain = (bar(earth, 0, 0, 1, 1), bar(dark, 0, 0, 1, 0.06), bar(dark, 0.94, 0, 1, 1))
    if kind == n.WALL:
        return plain
    if kind == n.BRICK:
        return (*plain, ellipse(dark, 0.35, 0.6, 0.2, 0.16), ellipse(light, 0.7, 0.3, 0.14, 0.12))
    tufts = (ellipse(light, 0.7, 0.25, 0.14, 0.1),) if kind == n.TURF else ()
    return (*plain, *tufts, wave(edge, 1.0, 0.0), wave(earth, 0.56, 0.05, period=0.5), *tufts, bar(turf, 0, 0.72, 1, 1))


def agent(pose: str, colour: int) -> Sequence[Paint]:
    """The agent looking right; its feet at the bottom, its middle in the middle."""
    body, shade = AGENTS[colour]
    low = -1 / 3 if pose == "crouch" else 0.0
    head = (
        ellipse(shade, 0.667, 1.0 + low, 0.42, 0.4),
        ellipse(body, 0.667, 1.02 + low, 0.37, 0.36),
        ellipse(0xFFFFFF, 5 / 6, 1.08 + low, 0.18, 0.19),
        ellipse(0x20242A, 5.5 / 6, 1.08 + low, 0.09, 0.1),
    )
    trunk = (
        bar(shade, 0.36, 0.2 + min(low, 0) / 2, 0.97, 0.75 + low),
        bar(body, 0.42, 0.24 + min(low, 0) / 2, 0.91, 0.75 + low),
    )
    return (*_legs(pose, shade), *trunk, *head)


def _legs(pose: str, shade: int) -> Sequence[Paint]:
    boots = 0x4A3B32
    spread = {"stand": (0.36, 0.74), "walk": (0.2, 0.86), "stride": (0.48, 0.62), "jump": (0.14, 0.92)}
    left, right = spread.get(pose, (0.3, 0.8))
    lift = 0.14 if pose == "jump" else 0.0
    arms = (bar(shade, 0.1, 0.75, 0.4, 0.92), bar(shade, 0.93, 0.75, 1.23, 0.92)) if pose == "jump" else ()
    return (bar(boots, left, lift, left + 0.26, 0.34), bar(boots, right, 0, right + 0.26, 0.34 - lift), *arms)


def enemy(look: int, step: int) -> Sequence[Paint]:
    """An enemy that walks to the right, its trail behind it."""
    trail = (
        bar(0xFFFFFF, 0.0, 2 / 6, 4.6 / 6, 3 / 6),
        bar(0xFFFFFF, 2 / 6, 4 / 6, 4.6 / 6, 5 / 6),
        bar(0xFFFFFF, 3 / 6, 0, 4.6 / 6, 1 / 6),
    )
    return (*trail, *(_slug, _beetle, _mushroom, _robot)[look](step))


def _eye(x: float, y: float) -> Sequence[Paint]:
    return (ellipse(0xFFFFFF, x, y, 0.15), ellipse(0x16181C, x + 0.05, y, 0.08))


def _feet(step: int, colour: int = 0x33261F) -> Sequence[Paint]:
    shift = 0.1 if step else -0.06
    return (bar(colour, 0.95 + shift, 0, 1.2 + shift, 0.18), bar(colour, 1.5 - shift, 0, 1.75 - shift, 0.18))


def _slug(step: int) -> Sequence[Paint]:
    long = 0.06 * step
    return (
        ellipse(0x5B2A86, 1.3 - long, 0.3, 0.56 + long, 0.32),
        ellipse(0x8E4EC6, 1.3 - long, 0.34, 0.48 + long, 0.26),
        ellipse(0x8E4EC6, 1.62, 0.62, 0.26, 0.34),
        *_eye(1.7, 0.74),
    )


def _beetle(step: int) -> Sequence[Paint]:
    return (
        *_feet(step),
        ellipse(0x1F2226, 1.72, 0.38, 0.22, 0.24),
        ellipse(0xB3201E, 1.28, 0.42, 0.5, 0.42),
        ellipse(0xE5413A, 1.26, 0.47, 0.42, 0.34),
        ellipse(0x1F2226, 1.1, 0.55, 0.1),
        ellipse(0x1F2226, 1.4, 0.6, 0.1),
        *_eye(1.76, 0.44),
    )


def _mushroom(step: int) -> Sequence[Paint]:
    return (
        *_feet(step),
        bar(0xF3DFC1, 1.06, 0.12, 1.62, 0.55),
        ellipse(0xC4551A, 1.34, 0.62, 0.56, 0.38),
        ellipse(0xF08A2C, 1.34, 0.68, 0.46, 0.28),
        bar(0xF3DFC1, 1.06, 0.12, 1.62, 0.5),
        *_eye(1.52, 0.4),
    )


def _robot(step: int) -> Sequence[Paint]:
    return (
        *_feet(step, 0x1F3B44),
        bar(0x1D6E78, 0.9, 0.14, 1.8, 0.86),
        bar(0x35B2BE, 0.97, 0.2, 1.73, 0.8),
        bar(0x1F3B44, 8.1 / 6, 0.8, 8.9 / 6, 6.1 / 6),
        ellipse(0xFF5A5A, 8.5 / 6, 6.6 / 6, 0.12),
        *_eye(1.56, 0.56),
    )
