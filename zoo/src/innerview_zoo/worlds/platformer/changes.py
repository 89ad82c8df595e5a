"""Things of a running game by their ids: moved by so many tiles, or taken away."""

from __future__ import annotations

import math

from innerview.errors import UnknownName, WorldError
from innerview.schema import ThingInView
from innerview_zoo.worlds.platformer import names as n
from innerview_zoo.worlds.platformer.physics import HALF_WIDTH, HEIGHT
from innerview_zoo.worlds.platformer.pictures.atlas import PER_TILE
from innerview_zoo.worlds.platformer.state import State
from innerview_zoo.worlds.platformer.things import CELLS, WAYS, Thing, box_px, edited, things

AGENT = "agent"


def changeable(state: State, game: int) -> list[ThingInView]:
    """What the frame shows and can be changed, from left to right, the agent last."""
    seen = []
    for id_, thing in _by_id(state, game).items():
        box = box_px(state, game, thing)
        if box is None:
            continue
        x, y, width, height = box
        seen.append(
            ThingInView(
                id=id_,
                name=thing.name,
                x_px=x,
                y_px=y,
                width_px=width,
                height_px=height,
                unit_px=PER_TILE,
                grid=1.0 if thing.name in CELLS else 0.0,
                movable=thing.name != "lava",
                removable=thing.name != AGENT,
            )
        )
    return seen


def moved(state: State, game: int, id_: str, by: tuple[float, float]) -> tuple[State, str]:
    """The state with a thing so many tiles further right and up, and the id it has there."""
    thing = _found(state, game, id_)
    across, up = _way(by)
    if thing.name in CELLS:
        across, up = round(across), round(up)
        to = (thing.left + across + 0.5, thing.bottom + up + 0.5)
        new = _id(thing, int(to[0]), int(to[1]))
    else:
        to, new = (thing.x + across, thing.y + up), id_
    return _edited(state, game, thing, to), new


def removed(state: State, game: int, id_: str) -> State:
    """The state without a thing."""
    return _edited(state, game, _found(state, game, id_), None)


def _edited(state: State, game: int, thing: Thing, to: tuple[float, float] | None) -> State:
    alike = [other for other in things(state, game) if other.name == thing.name]
    number = 0 if thing.name == AGENT else alike.index(thing)
    return edited(state, thing.name, game=game, number=number, to=to)


def _by_id(state: State, game: int) -> dict[str, Thing]:
    found = {_id(thing, int(thing.left), int(thing.bottom)): thing for thing in things(state, game)}
    x, y, half = int(state.x[game]) / n.UNIT, int(state.y[game]) / n.UNIT, HALF_WIDTH / n.UNIT
    return found | {AGENT: Thing(AGENT, x - half, y, x + half, y + HEIGHT / n.UNIT)}


def _id(thing: Thing, column: int, row: int) -> str:
    """An enemy keeps its number wherever it goes; what stands in a cell is called by its cell."""
    return f"enemy {thing.slot}" if thing.name in WAYS else f"{thing.name} {column}.{row}"


def _found(state: State, game: int, id_: str) -> Thing:
    known = _by_id(state, game)
    if id_ not in known:
        raise UnknownName("thing in this level", str(id_), known)
    return known[id_]


def _way(by: tuple[float, float]) -> tuple[float, float]:
    try:
        across, up = (float(part) for part in by)
    except (TypeError, ValueError):
        across = up = math.nan
    if not (math.isfinite(across) and math.isfinite(up)):
        raise WorldError(f"A way is (right, up) in tiles, two numbers, not {by!r}.")
    return across, up
