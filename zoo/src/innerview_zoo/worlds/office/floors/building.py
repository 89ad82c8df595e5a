"""The standard building: walls cut up by doors, passages and windows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from innerview_zoo.worlds.office.floors.floor import Door, Wall, Window

SIZE_M = 22.0
HEIGHT_M = 2.7
FIRST_WALL_ID, FIRST_DOOR_ID, FIRST_WINDOW_ID = 10, 400, 500
OUTER, INNER = 0.2, 0.12
"""How thick walls are, in metres."""


@dataclass(frozen=True, kw_only=True)
class Opening:
    """A hole in a wall: a door, a passage without one, or a window."""

    kind: str
    at: float
    width: float = 0.95
    top: float = 2.08
    sill: float = 0.85
    hinge: int = 1
    side: int = 1
    open: bool = True
    swing_deg: float = 82.0
    paint: str = "#b98a5a"


@dataclass(frozen=True, kw_only=True)
class Line:
    """A straight wall from `start` to `stop` along an axis, at a place on the other axis."""

    along: str
    at: float
    start: float
    stop: float
    openings: tuple[Opening, ...] = ()
    outer: bool = False


def _door(
    at: float, *, hinge: int = 1, side: int = 1, open: bool = True, swing: float = 82.0, paint: str = "#b98a5a"
) -> Opening:
    return Opening(kind="door", at=at, hinge=hinge, side=side, open=open, swing_deg=swing, paint=paint)


def _gap(at: float, width: float, top: float = 2.3) -> Opening:
    return Opening(kind="gap", at=at, width=width, top=top)


def _window(at: float, width: float, sill: float = 0.85) -> Opening:
    return Opening(kind="window", at=at, width=width, sill=sill, top=2.35)


LINES: tuple[Line, ...] = (
    Line(
        along="y",
        at=0,
        start=0,
        stop=22,
        outer=True,
        openings=(
            _window(2.2, 2.2),
            _window(6.4, 1.8),
            _window(9.7, 1.5),
            _window(11.9, 1.5),
            _window(15.2, 2.0),
            _window(19.6, 1.2, 1.2),
        ),
    ),
    Line(
        along="y",
        at=22,
        start=0,
        stop=22,
        outer=True,
        openings=(
            _window(2.1, 2.4),
            _window(6.3, 2.0),
            _window(10.0, 1.8),
            _window(12.3, 1.2),
            _window(15.6, 2.6),
            _window(19.8, 2.8, 0.5),
        ),
    ),
    Line(
        along="x",
        at=0,
        start=0,
        stop=22,
        outer=True,
        openings=(
            _window(2.6, 1.8),
            _door(6.2, open=False, paint="#7f8f86"),
            _window(9.2, 2.0),
            _window(12.6, 2.6),
            _window(16, 1.3),
            _window(19.5, 2.4),
        ),
    ),
    Line(
        along="x",
        at=22,
        start=0,
        stop=22,
        outer=True,
        openings=(
            _window(2.6, 2.0, 1.2),
            _window(6.2, 1.4, 0.4),
            _window(9.4, 2.4, 0.5),
            _window(13, 1.6),
            _door(16, open=False, paint="#7f8f86"),
            _window(19.5, 2.6, 0.5),
        ),
    ),
    Line(
        along="y",
        at=5.2,
        start=0,
        stop=22,
        openings=(
            _door(3.5, side=-1, hinge=1),
            _door(5.2, side=-1, hinge=-1, swing=70),
            _door(9.2, side=-1, hinge=-1, swing=95, paint="#8c5a3c"),
            _door(12.5, side=-1, open=False, paint="#8c5a3c"),
            _door(16.3, side=-1, hinge=1, swing=60),
            _gap(19.4, 1.6),
        ),
    ),
    Line(
        along="y",
        at=7.2,
        start=0,
        stop=22,
        openings=(
            _door(2.4, side=1, hinge=-1, paint="#d7d2c6"),
            _door(7.2, side=1, hinge=1, swing=88, paint="#7f9aa0"),
            _gap(11, 3.2),
            _gap(15.2, 1.4, 2.2),
            _door(18.6, side=1, hinge=-1, swing=85, paint="#6b4630"),
        ),
    ),
    Line(
        along="y",
        at=15,
        start=0,
        stop=22,
        openings=(
            _door(3.8, side=-1, hinge=1, swing=84, paint="#d7d2c6"),
            _gap(11, 3.6),
            _door(14.6, side=-1, open=False, paint="#5f666c"),
            _door(20.6, side=-1, hinge=1, swing=80, paint="#6b4630"),
        ),
    ),
    Line(
        along="y",
        at=17,
        start=0,
        stop=22,
        openings=(
            _door(3.2, side=1, hinge=1, swing=75),
            _door(5.2, side=1, hinge=-1, swing=88),
            _door(9.4, side=1, hinge=-1, swing=90, paint="#cfd8da"),
            _door(14.6, side=1, hinge=-1, swing=65),
            _door(18.5, side=1, hinge=-1, swing=85, paint="#6f5f80"),
        ),
    ),
    *(Line(along="x", at=y, start=0, stop=5.2) for y in (4.4, 8.4, 13.2, 17.2)),
    Line(along="x", at=5.6, start=7.2, stop=15),
    Line(
        along="x",
        at=8.6,
        start=7.2,
        stop=15,
        openings=(
            _door(11.3, side=-1, hinge=-1, swing=50, paint="#5f9aa0"),
            _door(13.5, side=-1, open=False, paint="#b0705f"),
        ),
    ),
    Line(along="x", at=13.4, start=7.2, stop=15, openings=(_gap(10.2, 1.5, 2.2),)),
    Line(along="x", at=17.4, start=7.2, stop=15),
    *(Line(along="x", at=y, start=17, stop=22) for y in (4.2, 8.4, 13.6, 17.6)),
    Line(along="y", at=10.6, start=5.6, stop=8.6),
    Line(along="y", at=12.8, start=5.6, stop=8.6),
    Line(along="y", at=12, start=13.4, stop=17.4),
)


def build(lines: Iterable[Line]) -> tuple[tuple[Wall, ...], tuple[Door, ...], tuple[Window, ...]]:
    """Cut lines into slabs, doors and windows, each with an id of its own."""
    walls: list[Wall] = []
    doors: list[Door] = []
    windows: list[Window] = []
    for line in lines:
        for start, stop, low, high in _pieces(line):
            walls.append(_slab(line, FIRST_WALL_ID + len(walls), start, stop, low, high))
        middle = _middle(line)
        for hole in line.openings:
            x, y = (hole.at, middle) if line.along == "x" else (middle, hole.at)
            if hole.kind == "door":
                doors.append(
                    Door(
                        id=FIRST_DOOR_ID + len(doors), x=x, y=y, along=line.along, width=hole.width, height=hole.top,
                        open=hole.open, hinge=hole.hinge, side=hole.side, swing_deg=hole.swing_deg, paint=hole.paint,
                    )
                )  # fmt: skip
            elif hole.kind == "window":
                made = Window(
                    id=FIRST_WINDOW_ID + len(windows),
                    x=x,
                    y=y,
                    along=line.along,
                    width=hole.width,
                    sill=hole.sill,
                    head=hole.top,
                )
                windows.append(made)
    return tuple(walls), tuple(doors), tuple(windows)


def _pieces(line: Line) -> Iterator[tuple[float, float, float, float]]:
    """Spans along the wall and of heights that are solid."""
    reached = line.start
    for hole in sorted(line.openings, key=lambda hole: hole.at):
        a, b = hole.at - hole.width / 2, hole.at + hole.width / 2
        yield reached, a, 0.0, HEIGHT_M
        if hole.kind == "window":
            yield a, b, 0.0, hole.sill
        yield a, b, hole.top, HEIGHT_M
        reached = b
    yield reached, line.stop, 0.0, HEIGHT_M


def _middle(line: Line) -> float:
    if not line.outer:
        return line.at
    return line.at + OUTER / 2 if line.at == 0 else line.at - OUTER / 2


def _slab(line: Line, id: int, start: float, stop: float, low: float, high: float) -> Wall:
    half = (OUTER if line.outer else INNER) / 2
    middle = _middle(line)
    if line.along == "x":
        return Wall(id=id, x0=start, x1=stop, y0=middle - half, y1=middle + half, z0=low, z1=high)
    return Wall(id=id, x0=middle - half, x1=middle + half, y0=start, y1=stop, z0=low, z1=high)
