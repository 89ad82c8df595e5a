"""What the console's memory tells of a game: where things are, in pixels of the screen.

The addresses are common knowledge among people who study these games; the offsets to pixels were measured on frames
(`tests/worlds/test_atari_facts.py` measures them again).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from innerview.schema import Column

PIXELS = "px"
LIFE_LOST_EVENT = "life_lost"


@dataclass(frozen=True)
class Thing:
    """Something on the screen: its name and its box, from the upper left corner."""

    name: str
    x: float
    y: float
    width: float
    height: float

    @property
    def centre(self) -> tuple[float, float]:
        """Its middle."""
        return self.x + self.width / 2, self.y + self.height / 2

    def within(self, screen_wh: tuple[int, int]) -> Thing | None:
        """The part of it that is on the screen."""
        left, top = max(self.x, 0.0), max(self.y, 0.0)
        right, bottom = min(self.x + self.width, screen_wh[0]), min(self.y + self.height, screen_wh[1])
        return Thing(self.name, left, top, right - left, bottom - top) if right > left and bottom > top else None


@dataclass(frozen=True, kw_only=True)
class RamFacts:
    """How one game's memory is read."""

    columns: tuple[Column, ...]
    read: Callable[[Sequence[int]], dict[str, Any]]
    things: Callable[[Sequence[int]], list[Thing]]
    """What is on the screen; the first is what the player steers, where it is there."""
    events: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Any]], bool]] = field(default_factory=dict)
    """By name, whether it happened, from the facts before and after."""


def boxes(things: Sequence[Thing], *, screen_wh: tuple[int, int], seen_wh: tuple[int, int]) -> list[dict[str, Any]]:
    """Things as a recording keeps them: box in pixels of what the agent sees, place and distance in screen pixels."""
    across, down = seen_wh[0] / screen_wh[0], seen_wh[1] / screen_wh[1]
    found = []
    for thing in things:
        seen = thing.within(screen_wh)
        if seen is None:
            continue
        x, y = thing.centre
        found.append(
            {
                "name": thing.name,
                "x_px": round(seen.x * across, 2),
                "y_px": round(seen.y * down, 2),
                "width_px": round(seen.width * across, 2),
                "height_px": round(seen.height * down, 2),
                "distance": round(math.dist(things[0].centre, (x, y)), 2),
                "x": x,
                "y": y,
            }
        )
    return sorted(found, key=lambda box: float(str(box["distance"])))


# Breakout. A brick is two equal bits: for each column a byte per row, the lowest row first, and the pair's lower bit.
_BALL_X, _BALL_Y, _PADDLE_X, _PADDLE_HALF_WIDTH = 99, 101, 72, 108
_PADDLE_TOP = 189
BRICK_ROWS = 6
_BRICK_COLUMNS = (
    (30, 6),
    *((24, bit) for bit in (6, 4, 2, 0)),
    *((18, bit) for bit in (0, 2, 4, 6)),
    *((12, bit) for bit in (4, 6)),
    *((6, bit) for bit in (6, 4, 2, 0)),
    *((0, bit) for bit in (0, 2, 4)),
)


def bricks(ram: Sequence[int]) -> list[list[bool]]:
    """[18 columns, 6 rows from the lowest]: whether a brick is there."""
    return [[bool(ram[first + row] >> bit & 1) for row in range(BRICK_ROWS)] for first, bit in _BRICK_COLUMNS]


def _breakout_things(ram: Sequence[int]) -> list[Thing]:
    paddle = Thing("paddle", ram[_PADDLE_X] - 47, _PADDLE_TOP, 2 * ram[_PADDLE_HALF_WIDTH], 4)
    return [paddle, Thing("ball", ram[_BALL_X] - 49, ram[_BALL_Y] + 9, 2, 4)] if ram[_BALL_Y] else [paddle]


def _breakout_facts(ram: Sequence[int]) -> dict[str, Any]:
    paddle, *ball = _breakout_things(ram)
    wall = bricks(ram)
    return {
        "paddle_x": paddle.centre[0],
        "paddle_width": int(paddle.width),
        "ball_x": ball[0].centre[0] if ball else None,
        "ball_y": ball[0].centre[1] if ball else None,
        "bricks_left": sum(map(sum, wall)),
        "tunnels": sum(not any(column) for column in wall),
    }


BREAKOUT = RamFacts(
    columns=(
        Column(name="paddle_x", type="float", unit=PIXELS, label="paddle x", description="Its middle."),
        Column(name="paddle_width", type="int", unit=PIXELS, label="paddle width", description="Less at the ceiling."),
        Column(name="ball_x", type="float", unit=PIXELS, label="ball x", description="Unknown before it is served."),
        Column(name="ball_y", type="float", unit=PIXELS, label="ball y", description="From the top of the screen."),
        Column(name="bricks_left", type="int", unit="bricks", label="bricks left"),
        Column(name="tunnels", type="int", unit="columns", description="Columns without any brick: ways to the top."),
        Column(name="brick_hit", type="bool", kind="event", label="brick hit"),
    ),
    read=_breakout_facts,
    things=_breakout_things,
    events={"brick_hit": lambda before, after: bool(after["bricks_left"] < before["bricks_left"])},
)

# Seaquest. Four lanes, the lowest first, 24 pixels apart; in each up to three enemies of one kind, 16 pixels apart.
_PLAYER_X, _PLAYER_Y, _FACING, _EXPLODING = 70, 97, 86, 105
_OXYGEN, _DIVERS, _TORPEDO_X = 102, 62, 103
_ENEMY_X, _FORMATION, _BLUE_X, _KIND, _SWAY = 30, 36, 71, 89, 93
_LANES, _LANE_HEIGHT = 4, 24
_SUBMARINES = (4, 5, 6)
_SCREEN_WIDTH = 160


def _lane_things(ram: Sequence[int], lane: int) -> list[Thing]:
    up = lane * _LANE_HEIGHT
    submarine = ram[_KIND + lane] % 8 in _SUBMARINES
    found = []
    for slot in range(3):
        if ram[_FORMATION + lane] >> (2 - slot) & 1:
            x = _signed(ram[_ENEMY_X + lane] + 16 * slot)
            enemy = ("submarine", 140 - up, 11) if submarine else ("shark", 137 - up + ram[_SWAY], 7)
            found.append(Thing(enemy[0], x, enemy[1], 8, enemy[2]))
    x = ram[_BLUE_X + lane]
    if 0 < x < _SCREEN_WIDTH:  # a lane has either divers or, from submarines, missiles
        found.append(Thing("missile", x + 2, 145 - up, 6, 4) if submarine else Thing("diver", x, 137 - up, 8, 14))
    return found


def _signed(x: int) -> int:
    """Enemies come in from the left with positions that count down from 256."""
    return x % 256 - 256 if x % 256 > 256 - 64 else x % 256


def _seaquest_things(ram: Sequence[int]) -> list[Thing]:
    player = Thing("player", ram[_PLAYER_X], ram[_PLAYER_Y] + 33, 16, 11)
    torpedo = Thing("torpedo", ram[_TORPEDO_X], ram[_PLAYER_Y] + 40, 8, 1)
    fired = [torpedo] if 0 < ram[_TORPEDO_X] < _SCREEN_WIDTH else []
    return [player, *fired, *(thing for lane in range(_LANES) for thing in _lane_things(ram, lane))]


def _seaquest_facts(ram: Sequence[int]) -> dict[str, Any]:
    player, *others = _seaquest_things(ram)
    names = [thing.name for thing in others if thing.within((_SCREEN_WIDTH, 210))]
    return {
        "player_x": player.centre[0],
        "player_y": player.centre[1],
        "facing": "left" if ram[_FACING] else "right",
        "exploding": ram[_EXPLODING] > 0,
        "oxygen": int(ram[_OXYGEN]),
        "divers_held": int(ram[_DIVERS]),
        "divers_in_view": names.count("diver"),
        "enemies_in_view": names.count("shark") + names.count("submarine"),
        "missiles_in_view": names.count("missile"),
    }


SEAQUEST = RamFacts(
    columns=(
        Column(name="player_x", type="float", unit=PIXELS, label="player x", description="The submarine's middle."),
        Column(name="player_y", type="float", unit=PIXELS, label="player y", description="From the top of the screen."),
        Column(name="facing", type="text", kind="category"),
        Column(name="exploding", type="bool", description="A life was just lost."),
        Column(name="oxygen", type="int", unit="of 64"),
        Column(name="divers_held", type="int", unit="divers", label="divers held", description="Six fill the boat."),
        Column(name="divers_in_view", type="int", unit="divers", label="divers in view"),
        Column(name="enemies_in_view", type="int", unit="enemies", label="enemies in view"),
        Column(name="missiles_in_view", type="int", unit="missiles", label="missiles in view"),
        Column(name="diver_picked_up", type="bool", kind="event", label="diver picked up"),
    ),
    read=_seaquest_facts,
    things=_seaquest_things,
    events={"diver_picked_up": lambda before, after: bool(after["divers_held"] > before["divers_held"])},
)

KNOWN: Mapping[str, RamFacts] = {"breakout": BREAKOUT, "seaquest": SEAQUEST}
"""Games whose memory is understood; of the others score and lives are told."""


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What the console says after a step."""

    ram: Sequence[int]
    lives: int
    reward: float = 0.0
    life_lost: bool = False


def facts_of(
    game: str, before: Mapping[str, Any], now: Seen, *, screen_wh: tuple[int, int], seen_wh: tuple[int, int]
) -> dict[str, Any]:
    """What is true now; `before` is what was true a step ago, nothing at the start of an episode."""
    known = KNOWN.get(game)
    facts = {"score": before.get("score", 0.0) + now.reward, "lives": now.lives, LIFE_LOST_EVENT: now.life_lost}
    if known is None:
        return facts
    facts.update(known.read(now.ram))
    facts["objects"] = boxes(known.things(now.ram), screen_wh=screen_wh, seen_wh=seen_wh)
    facts.update((name, bool(before) and happened(before, facts)) for name, happened in known.events.items())
    return facts


def columns_of(game: str) -> tuple[Column, ...]:
    """Columns of the facts of a game."""
    known = KNOWN.get(game)
    box = (
        "Box in pixels of the observation (x_px, y_px: upper left), place and distance to the player in screen pixels."
    )
    things = [Column(name="objects", type="objects", kind="objects", label="in view", description=box)]
    return (
        Column(name="score", type="float", unit="points", description="The rewards of this episode so far."),
        Column(name="lives", type="int", unit="lives"),
        *((*known.columns, *things) if known else ()),
        Column(name=LIFE_LOST_EVENT, type="bool", kind="event", label="life lost"),
    )
