"""The floor as it really stood in a month: what the scan of it, which is the simulator, gets wrong or no longer has."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from innerview_zoo.worlds.office.conditions import Conditions
from innerview_zoo.worlds.office.floors.floor import Door, Floor, Lights, Thing
from innerview_zoo.worlds.office.floors.freespace import free_space, gap_at, largest_part
from innerview_zoo.worlds.office.things.kinds import KINDS

KEPT_CLEAR_M = 0.25


def as_real(floor: Floor, conditions: Conditions) -> Floor:
    """The floor under conditions; the floor itself where none of them touches it. Ids stay the same."""
    gaps = ("light", "scan_errors", "moved_objects", "vanished_objects")
    if not any(getattr(conditions, gap) for gap in gaps):
        return floor
    key = ("real", conditions.month, conditions.seed, *(getattr(conditions, gap) for gap in gaps))
    kept = floor.cache.get(key)
    if isinstance(kept, Floor):
        return kept
    made = floor
    if conditions.vanished_objects:
        made = _without_some(made, conditions)
    if conditions.moved_objects:
        made = _with_some_moved(made, conditions)
    if conditions.scan_errors:
        made = _shifted(made, conditions)
    if conditions.light:
        made = made.lit(_lights(made.lights, conditions))
    floor.cache[key] = made
    return made


def _chance(conditions: Conditions, salt: int, id: int) -> np.random.Generator:
    """Chance of a thing's own, so that removing one thing does not change what happens to others."""
    return np.random.default_rng((conditions.seed, conditions.month, salt, id))


def _without_some(floor: Floor, conditions: Conditions) -> Floor:
    share = conditions.of_month.vanished * conditions.vanished_objects
    gone = [t.id for t in floor.things if KINDS[t.kind].loose and _chance(conditions, 1, t.id).random() < share]
    return floor.without(*gone) if gone else floor


def _with_some_moved(floor: Floor, conditions: Conditions) -> Floor:
    """Move loose things about; what would shut off part of the floor is drawn anew, and at last left in place."""
    before = largest_part(free_space(floor).free(KEPT_CLEAR_M)).sum()
    doors = tuple(_other_door(door, conditions) for door in floor.doors)
    for attempt in range(6):
        made = replace(_pushed(floor, conditions, attempt), doors=doors, cache={})
        if largest_part(free_space(made).free(KEPT_CLEAR_M)).sum() > 0.85 * before:
            return made
    return replace(_pushed(floor, conditions, 0, small_only=True), doors=doors, cache={})


def _pushed(floor: Floor, conditions: Conditions, attempt: int, *, small_only: bool = False) -> Floor:
    share = conditions.of_month.moved * conditions.moved_objects
    for thing in [t for t in floor.things if KINDS[t.kind].loose]:
        chance = _chance(conditions, 2 + 100 * attempt * KINDS[thing.kind].blocks, thing.id)
        if chance.random() < share and not (small_only and KINDS[thing.kind].blocks):
            floor = _moved(floor, thing, chance)
    return floor


def _moved(floor: Floor, thing: Thing, chance: np.random.Generator) -> Floor:
    """Push a thing to the first place nearby where there is room for it."""
    reach = 0.15 if thing.on else 0.9
    for _ in range(8):
        x, y = thing.x + float(chance.uniform(-reach, reach)), thing.y + float(chance.uniform(-reach, reach))
        turned = thing.angle + float(chance.uniform(-1.2, 1.2))
        if thing.z > 0 and not thing.on:
            x, y, turned = thing.x, thing.y + float(chance.uniform(-0.6, 0.6)), thing.angle  # slides along its wall
        elif not thing.on and not _fits(floor, thing, x, y):
            continue
        if 0.3 < x < floor.size_m[0] - 0.3 and 0.3 < y < floor.size_m[1] - 0.3:
            return floor.moved(thing.id, x=x, y=y, angle=turned)
    return floor


def _fits(floor: Floor, thing: Thing, x: float, y: float) -> bool:
    """Whether there is room, and no door close by."""
    if any(math.hypot(x - door.x, y - door.y) < 1.1 for door in floor.doors):
        return False
    return gap_at(floor, x, y, but=thing.id) >= max(thing.size[:2]) / 2 + 0.02


def _other_door(door: Door, conditions: Conditions) -> Door:
    if door.id in conditions.of_month.closed_doors and conditions.moved_objects >= 1:
        return replace(door, open=False)
    swing = door.swing_deg + float(_chance(conditions, 3, door.id).uniform(-30, 15)) * conditions.moved_objects
    return replace(door, swing_deg=min(max(swing, 45.0), 110.0))


def _shifted(floor: Floor, conditions: Conditions) -> Floor:
    """Move whole lines of walls with their doors and windows, and every thing, by a little."""
    reach = conditions.of_month.scan_m * conditions.scan_errors

    def line(along: str, at: float) -> float:
        salt = round(at * 100) * 2 + (along == "x")
        return float(_chance(conditions, 4, salt + 100_000).normal(0, 0.5 * reach))

    walls = []
    for wall in floor.walls:
        if wall.x1 - wall.x0 > wall.y1 - wall.y0:
            by = line("x", (wall.y0 + wall.y1) / 2)
            walls.append(replace(wall, y0=wall.y0 + by, y1=wall.y1 + by))
        else:
            by = line("y", (wall.x0 + wall.x1) / 2)
            walls.append(replace(wall, x0=wall.x0 + by, x1=wall.x1 + by))
    doors = tuple(
        replace(d, y=d.y + line("x", d.y)) if d.along == "x" else replace(d, x=d.x + line("y", d.x))
        for d in floor.doors
    )
    windows = tuple(
        replace(w, y=w.y + line("x", w.y)) if w.along == "x" else replace(w, x=w.x + line("y", w.x))
        for w in floor.windows
    )
    things = floor.things
    for thing in things:
        if not thing.on:
            chance = _chance(conditions, 5, thing.id)
            dx, dy = (float(np.clip(chance.normal(0, reach), -2 * reach, 2 * reach)) for _ in range(2))
            turn = float(chance.normal(0, math.radians(40 * reach)))
            x, y = (min(max(v, 0.0), side) for v, side in zip((thing.x + dx, thing.y + dy), floor.size_m, strict=True))
            floor = floor.moved(thing.id, x=x, y=y, angle=thing.angle + turn)
    return replace(floor, walls=tuple(walls), doors=doors, windows=windows, cache={})


def _lights(now: Lights, conditions: Conditions) -> Lights:
    month, share = conditions.of_month, conditions.light

    def between(a: float, b: float) -> float:
        return a + (b - a) * share

    return Lights(
        lamps=between(now.lamps, month.lamps),
        sky=max(0.0, between(now.sky, month.sky)),
        sun=max(0.0, between(now.sun, month.sun)),
        sun_azimuth=month.sun_azimuth,
        sun_height=month.sun_height,
        tint=tuple(between(a, b) for a, b in zip(now.tint, month.tint, strict=True)),  # type: ignore[arg-type]
        dark_rooms=(*now.dark_rooms, *month.dark_rooms) if share >= 0.5 else now.dark_rooms,
    )
