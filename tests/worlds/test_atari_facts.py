"""What the console's memory says agrees with the pixels of the screen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

pytest.importorskip("ale_py")

from innerview.worlds.atari.facts import BREAKOUT, KNOWN, SEAQUEST, Thing, boxes, bricks
from innerview.worlds.atari.game import AtariGame, GameSettings

RED, YELLOW, GREEN, GREY, BLUE = (200, 72, 72), (187, 187, 53), (92, 186, 92), (170, 170, 170), (66, 72, 200)
SHAPES = {
    "player": YELLOW,
    "torpedo": YELLOW,
    "shark": GREEN,
    "submarine": GREY,
    "diver": BLUE,
    "missile": BLUE,
}


def is_colour(screen_hwc: np.ndarray, colour: tuple[int, int, int]) -> np.ndarray:
    return np.asarray((screen_hwc == colour).all(axis=2))


def box_of(mask_hw: np.ndarray) -> tuple[int, int, int, int]:
    """x, y, width and height of what is true."""
    xs, ys = np.flatnonzero(mask_hw.any(axis=0)), np.flatnonzero(mask_hw.any(axis=1))
    return int(xs[0]), int(ys[0]), int(xs[-1] - xs[0] + 1), int(ys[-1] - ys[0] + 1)


def watched(name: str, steps: int, *, every: int = 3) -> Iterator[tuple[np.ndarray, list[int]]]:
    """Screen and memory of a game: Breakout follows its ball, Seaquest comes up for air."""
    game = AtariGame(name, GameSettings(frame_skip=1, noop_max=0))
    game.reset(0)
    rng, action, aim = np.random.default_rng(name == "seaquest"), 0, 0
    for step in range(steps):
        ram = game.ram.tolist()
        if name == "breakout":
            aim = int(rng.integers(-5, 6)) if step % 60 == 0 else aim
            ahead = ram[99] - ram[72] - 9 - aim
            action = 2 if ahead > 2 else 3 if ahead < -2 else 0
        elif step % 12 == 0:
            up = ram[102] < 20 and ram[97] > 15
            action = game.actions.index("up fire") if up else int(rng.integers(len(game.actions)))
        if game.step(action).over:
            game.reset(step)
        if step % every == 0:
            yield game.colour(), game.ram.tolist()


def test_breakouts_ball_paddle_and_bricks_are_where_they_are_seen() -> None:
    balls, widths, left = 0, set(), set()
    for screen, ram in watched("breakout", 8000, every=10):
        facts = BREAKOUT.read(ram)
        things = {thing.name: thing for thing in BREAKOUT.things(ram)}
        red = is_colour(screen, RED)[:, :152]
        red[:, :8] = red[57:64] = False
        flying, resting = red.copy(), red[189:193, :]
        flying[:32] = flying[186:] = False
        if flying.sum() == 8:
            ball = things["ball"]
            assert box_of(flying) == (ball.x, ball.y, ball.width, ball.height)
            balls += 1
            paddle = things["paddle"].within((152, 210))
            assert paddle is not None
            if flying.nonzero()[0].max() < 180:
                assert box_of(resting)[::2] == (paddle.x, paddle.width)
                widths.add(things["paddle"].width)
        wall = screen[57:93, 8:152].any(axis=2).reshape(6, 6, 18, 8).all(axis=(1, 3))
        if "ball" not in things or things["ball"].y > 95:  # else it may hide a gap
            assert np.array_equal(wall[::-1].T, bricks(ram))
            assert facts["bricks_left"] == wall.sum()
            assert facts["tunnels"] == (~wall.any(axis=0)).sum()
            left.add(facts["bricks_left"])
    assert balls > 200 and widths == {16, 12}, "the paddle becomes smaller when the ball reaches the ceiling"
    assert max(left) == 108 and min(left) < 45


def test_seaquests_things_are_where_they_are_seen() -> None:
    told, seen = Counter[str](), Counter[str]()
    for screen, ram in watched("seaquest", 4000):
        for thing in SEAQUEST.things(ram):
            whole = thing.x >= 8 and thing.x + thing.width <= 160
            if not whole or (thing.name == "player" and (ram[105] or thing.y < 56)):
                continue  # an explosion and the waves at the surface have other colours
            x, y, width, height = int(thing.x), int(thing.y), int(thing.width), int(thing.height)
            colour = is_colour(screen[y : y + height, x : x + width], SHAPES[thing.name])
            told[thing.name] += 1
            seen[thing.name] += bool(colour.any(axis=0).mean() > 0.6 and colour.any(axis=1).mean() > 0.4)
    assert set(told) == set(SHAPES)
    assert all(seen[name] > 0.9 * count and count > 20 for name, count in told.items()), (seen, told)


def test_nothing_swims_in_seaquest_that_is_not_reported_of() -> None:
    for screen, ram in watched("seaquest", 4000, every=20):
        untold = np.zeros(screen.shape[:2], bool)
        for colour in (GREEN, GREY, BLUE):
            untold |= is_colour(screen, colour)
        untold[:56] = untold[165:] = False
        for thing in SEAQUEST.things(ram):
            part = thing.within((160, 210))
            if part is not None:
                untold[int(part.y) : int(part.y + part.height), int(part.x) : int(part.x + part.width)] = False
        assert untold.sum() == 0, (box_of(untold), SEAQUEST.things(ram))


def test_seaquests_gauges_agree_with_the_screen() -> None:
    oxygen, divers = set(), set()
    for screen, ram in watched("seaquest", 6000, every=20):
        facts = SEAQUEST.read(ram)
        assert is_colour(screen[172:173], (214, 214, 214)).sum() == min(facts["oxygen"], 63)
        assert is_colour(screen[178:190], (24, 26, 167)).any(axis=0).sum() == 8 * facts["divers_held"]
        oxygen.add(facts["oxygen"])
        divers.add(facts["divers_held"])
    assert {64, 0} <= oxygen and {0, 1} <= divers


def test_boxes_are_in_pixels_of_what_the_agent_sees() -> None:
    things = [Thing("player", 80, 100, 16, 10), Thing("shark", 152, 105, 16, 10), Thing("gone", -9, 5, 8, 8)]
    player, shark = boxes(things, screen_wh=(160, 210), seen_wh=(84, 84))
    assert (player["name"], player["x_px"], player["y_px"]) == ("player", 42.0, 40.0)
    assert (player["width_px"], player["height_px"], player["distance"]) == (8.4, 4.0, 0.0)
    assert shark["width_px"] == 4.2, "half of it is beyond the edge"
    assert shark["distance"] == pytest.approx(np.hypot(72, 5), abs=0.01)


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_every_fact_has_its_column(name: str) -> None:
    known = KNOWN[name]
    facts = known.read([0] * 128)
    assert {column.name for column in known.columns} == set(facts) | set(known.events)
