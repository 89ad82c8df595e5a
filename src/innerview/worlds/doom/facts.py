"""What a Doom game tells: where the player is, what is in view, what happened, and the map."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from innerview.schema import Column, PosePart, Scene

NEEDED_VARIABLES = ("POSITION_X", "POSITION_Y", "ANGLE", "HEALTH", "ITEMCOUNT", "HITS_TAKEN", "DAMAGE_TAKEN")
"""Game variables asked for whatever the config lists: facts and events come from them."""

NEVER_TAKEN = frozenset(
    [
        "Self",
        "Player",
        "Monster",
        "Dead",
        "Explosive",
        "SFX",
        "Gibs",
        "Gore",
        "Hazard",
        "ScriptThing",
        "Breakable",
        "Decoration",
        "DynamicLight",
        "InteractiveObject",
        "Internal",
        "LightSource",
        "Vegetation",
    ]
)
"""Categories of objects that vanish without having been picked up."""

NOT_ON_MAP = frozenset(("Self", "SFX", "Gibs", "Explosive", "ScriptThing", "Internal", "DynamicLight"))
REACH = 60.0
"""An item that vanished this near the player's way was picked up: radii of 16 and 20 map units, corner to corner."""
FLOOR_BEAT_TICS = 32
"""Doom hurts whoever stands on a damaging floor once in so many tics."""

Item = tuple[str, float, float]
"""Name, x, y."""

_SHORT_NAMES = {"POSITION_X": "x", "POSITION_Y": "y", "POSITION_Z": "z"}
_POSES: dict[str, PosePart] = {
    "POSITION_X": "x",
    "POSITION_Y": "y",
    "POSITION_Z": "z",
    "ANGLE": "angle",
    "PITCH": "pitch",
    "ROLL": "roll",
}
_UNITS = {"ANGLE": "deg", "PITCH": "deg", "ROLL": "deg", "FOV": "deg", "HEALTH": "points", "ARMOR": "points"}
_FLOATS = ("POSITION_", "VELOCITY_", "ANGLE", "PITCH", "ROLL", "VIEW_HEIGHT", "CAMERA_")
_BOOLS = frozenset(("DEAD", "ON_GROUND", "ATTACK_READY", "ALTATTACK_READY"))


def fact_columns(variables: Sequence[str]) -> tuple[Column, ...]:
    """The columns of the facts, units included."""
    return (
        *(_variable_column(name) for name in variables),
        Column(
            name="objects",
            type="objects",
            kind="objects",
            label="in view",
            description="Box in pixels of the observation (x_px, y_px: upper left), place and distance in map units.",
        ),
        Column(
            name="last_item",
            type="text",
            kind="category",
            label="last item",
            description="What was picked up last in this episode; empty before the first.",
        ),
        Column(
            name="picked_up",
            type="bool",
            kind="event",
            named_by="picked_up_item",
            label="picked up",
            description="An item within reach vanished, or the game counted one.",
        ),
        Column(
            name="picked_up_item",
            type="text",
            kind="event",
            label="item picked up",
            description="Which item it was; empty where none was picked up, or nobody knows which.",
        ),
        Column(
            name="hit",
            type="bool",
            kind="event",
            description="Lost health, not counting the steady decay of a damaging floor: a loss on Doom's beat of "
            "32 tics that is as large as the one on the beat before.",
        ),
        Column(name="died", type="bool", kind="event"),
    )


def fact_name(variable: str) -> str:
    """The column of a game variable: POSITION_X is x, HEALTH is health."""
    return _SHORT_NAMES.get(variable, variable.lower())


def _variable_column(variable: str) -> Column:
    kind: Any = "bool" if variable in _BOOLS else "float" if variable.startswith(_FLOATS) else "int"
    unit = _UNITS.get(variable.removeprefix("CAMERA_"), "")
    if "POSITION" in variable or variable == "VIEW_HEIGHT":
        unit = "map units"
    elif variable.startswith("VELOCITY"):
        unit = "map units/tic"
    name = fact_name(variable)
    return Column(name=name, type=kind, unit=unit, pose=_POSES.get(variable, ""), label=name.replace("_", " "))


@dataclass(frozen=True)
class Glimpse:
    """What the engine says at one tic; items and objects are None when the episode is over."""

    tic: int
    variables: Mapping[str, float]
    items: Mapping[int, Item] | None
    objects: Sequence[Mapping[str, Any]] = ()
    dead: bool = False
    finished: bool = False


@dataclass
class FactTracker:
    """Follows one episode and tells its facts."""

    variables: Sequence[str]
    before: Glimpse | None = None
    floor_damage: float = 0.0
    last_item: str = ""
    _types: dict[str, type] = field(default_factory=dict)

    def __post_init__(self) -> None:
        kinds = {"int": int, "float": float, "bool": bool}
        self._types = {name: kinds[_variable_column(name).type] for name in self.variables}

    def begin(self, now: Glimpse) -> dict[str, Any]:
        """Facts at the start; damage before the first action can only be the floor's."""
        self.before, self.last_item = now, ""
        self.floor_damage = now.variables["DAMAGE_TAKEN"]
        return self._facts(now, picked_up=False, hit=False)

    def go_on(self, now: Glimpse) -> dict[str, Any]:
        """Facts after a step."""
        if self.before is None:
            return self.begin(now)
        taken = self._taken(self.before, now)
        counted = now.variables["ITEMCOUNT"] > self.before.variables["ITEMCOUNT"]
        hit = self._was_hit(self.before, now)
        self.last_item = taken[-1] if taken else self.last_item
        facts = self._facts(now, picked_up=bool(taken) or counted, hit=hit)
        facts["picked_up_item"] = taken[-1] if taken else ""
        self.before = now
        return facts

    def _facts(self, now: Glimpse, *, picked_up: bool, hit: bool) -> dict[str, Any]:
        facts: dict[str, Any] = {fact_name(n): kind(now.variables[n]) for n, kind in self._types.items()}
        facts["objects"] = list(now.objects)
        facts["last_item"] = self.last_item
        facts["picked_up_item"] = ""
        facts["picked_up"], facts["hit"], facts["died"] = picked_up, hit, now.dead
        return facts

    def _taken(self, before: Glimpse, now: Glimpse) -> list[str]:
        way = (_place(before), _place(now))
        if before.items is None:
            return []
        near = sorted(
            (far, name)
            for key, (name, x, y) in before.items.items()
            if (now.items is None or key not in now.items) and (far := _distance_to_way(x, y, *way)) <= REACH
        )
        if now.items is not None or now.finished:
            return [name for _, name in reversed(near)]
        # There is no look at the end: what lies on the way was picked up only where the game counted something.
        gained = any(now.variables.get(n, 0) > before.variables.get(n, 0) for n in ("ITEMCOUNT", "HEALTH"))
        return [near[0][1]] if near and gained else []

    def _was_hit(self, before: Glimpse, now: Glimpse) -> bool:
        damage = now.variables["DAMAGE_TAKEN"] - before.variables["DAMAGE_TAKEN"]
        hits = now.variables["HITS_TAKEN"] - before.variables["HITS_TAKEN"]
        if (now.tic - 1) // FLOOR_BEAT_TICS == (before.tic - 1) // FLOOR_BEAT_TICS:
            return damage > 0
        expected = self.floor_damage if hits else 0.0
        if hits <= 1:
            self.floor_damage = damage
        return damage > 0 and damage != expected


def look_at_items(objects: Iterable[Any], known: dict[int, Item | None]) -> dict[int, Item]:
    """By id, what could be picked up. `known` keeps what was read before: reading an object's parts is slow."""
    items = {}
    for thing in objects:
        key = thing.id
        if key not in known:
            takeable = thing.category not in NEVER_TAKEN
            known[key] = (thing.name, thing.position_x, thing.position_y) if takeable else None
        if (item := known[key]) is not None:
            items[key] = item
    return items


def look_at_labels(
    labels: Iterable[Any], *, x: float, y: float, scale: tuple[float, float]
) -> list[dict[str, str | float]]:
    """What is in view, in pixels of the observation, nearest first."""
    across, down = scale
    seen: list[dict[str, str | float]] = []
    for label in labels:
        if label.object_category == "Self":
            continue
        its_x, its_y = label.object_position_x, label.object_position_y
        seen.append(
            {
                "name": label.object_name,
                "x_px": round(label.x * across, 2),
                "y_px": round(label.y * down, 2),
                "width_px": round(label.width * across, 2),
                "height_px": round(label.height * down, 2),
                "distance": round(math.hypot(its_x - x, its_y - y), 2),
                "x": round(its_x, 2),
                "y": round(its_y, 2),
            }
        )
    seen.sort(key=lambda thing: thing["distance"])
    return seen


def look_at_map(sectors: Iterable[Any], objects: Iterable[Any]) -> Scene:
    """Walls that block the way, each once, and what stood there at the start."""
    walls: dict[tuple[float, float, float, float], None] = {}
    for sector in sectors:
        for line in sector.lines:
            if line.is_blocking:
                start, stop = sorted(((line.x1, line.y1), (line.x2, line.y2)))
                walls[(*start, *stop)] = None
    things = tuple(
        (o.name, round(o.position_x, 2), round(o.position_y, 2)) for o in objects if o.category not in NOT_ON_MAP
    )
    return Scene(walls=tuple(walls), objects=things)


def _place(glimpse: Glimpse) -> tuple[float, float]:
    return glimpse.variables["POSITION_X"], glimpse.variables["POSITION_Y"]


def _distance_to_way(x: float, y: float, start: tuple[float, float], stop: tuple[float, float]) -> float:
    """From a point to the segment that was walked."""
    dx, dy = stop[0] - start[0], stop[1] - start[1]
    length = dx * dx + dy * dy
    share = 0.0 if length == 0 else min(max(((x - start[0]) * dx + (y - start[1]) * dy) / length, 0.0), 1.0)
    return math.hypot(x - start[0] - share * dx, y - start[1] - share * dy)
