"""The teacher of the k-items agent knows what was in view and nothing else, and walks accordingly."""

from __future__ import annotations

import math

import pytest
from innerview_zoo.models.doom.kitems.teacher import (
    FORWARD,
    FORWARD_LEFT,
    FORWARD_RIGHT,
    KNOWN,
    LEFT,
    RIGHT,
    SECTORS,
    Plan,
    Teacher,
)
from innerview_zoo.worlds.kitems.mazes import CELL, Cell, Maze, make_maze

OPEN: list[tuple[Cell, Cell]] = [((x, y), (x + 1, y)) for x in range(2) for y in range(3)]
OPEN += [((x, y), (x, y + 1)) for x in range(3) for y in range(2)]


def maze(items: tuple[Cell, ...], walls: tuple[tuple[Cell, Cell], ...] = (), spawn: Cell = (0, 0)) -> Maze:
    """Three by three cells, all open but for some walls."""
    passages = frozenset(frozenset(pair) for pair in OPEN) - {frozenset(pair) for pair in walls}
    return Maze(size=3, passages=passages, items=items, spawn=spawn, angle_deg=0)


def standing(drawn: Maze, angle_deg: float, *, gathered: int = 0) -> Teacher:
    """A teacher that has just looked from the middle of the spawn cell."""
    teacher = Teacher(Plan(drawn))
    x, y = drawn.spawn
    teacher.watch((x + 0.5) * CELL, (y + 0.5) * CELL, angle_deg, gathered)
    return teacher


def walk(drawn: Maze, steps: int = 400) -> tuple[list[int], list[Cell]]:
    """Items in the order in which a teacher gathers them, and the cells on its way; a walker with no inertia."""
    teacher = Teacher(Plan(drawn))
    x, y, angle = (drawn.spawn[0] + 0.5) * CELL, (drawn.spawn[1] + 0.5) * CELL, math.radians(drawn.angle_deg)
    gathered: list[int] = []
    way: list[Cell] = []
    for _ in range(steps):
        teacher.watch(x, y, math.degrees(angle), len(gathered))
        action = teacher.advise()
        angle += {LEFT: 0.2, FORWARD_LEFT: 0.2, RIGHT: -0.2, FORWARD_RIGHT: -0.2}.get(action, 0.0)
        if action >= FORWARD:
            x, y = x + 16 * math.cos(angle), y + 16 * math.sin(angle)
        way.append((int(x // CELL), int(y // CELL)))
        for i, (column, row) in enumerate(drawn.items):
            if i not in gathered and max(abs(x - (column + 0.5) * CELL), abs(y - (row + 0.5) * CELL)) < 36:
                gathered.append(i)
        if len(gathered) == len(drawn.items):
            break
    return gathered, way


def test_an_item_behind_its_back_is_unknown_until_it_looks() -> None:
    teacher = standing(maze(((2, 0),)), 180.0)
    assert teacher.known()[:3] == [0.0, 0.0, 0.0]
    teacher.watch(CELL / 2, CELL / 2, 0.0, 0)
    assert teacher.known()[:3] == pytest.approx([1.0, 1.0, 0.0])


def test_an_item_behind_a_wall_is_unknown() -> None:
    behind = maze(((1, 0),), walls=(((0, 0), (1, 0)),))
    assert standing(behind, 0.0).known()[0] == 0.0
    assert standing(maze(((1, 0),)), 0.0).known()[0] == 1.0


def test_what_it_does_and_reports_does_not_depend_on_where_unseen_items_are() -> None:
    one, other = maze(((2, 2),), spawn=(1, 1)), maze(((0, 2),), spawn=(1, 1))
    for angle_deg in (200.0, 270.0, 340.0):
        assert standing(one, angle_deg).known() == standing(other, angle_deg).known()
        assert standing(one, angle_deg).advise() == standing(other, angle_deg).advise()


def test_it_remembers_where_an_item_is_after_turning_away() -> None:
    teacher = standing(maze(((2, 0),)), 0.0)
    teacher.watch(CELL / 2, CELL / 2, 90.0, 0)
    assert teacher.known()[:3] == pytest.approx([1.0, 0.0, -1.0]), "two cells to its right"
    assert teacher.advise() == RIGHT


def test_it_walks_to_an_item_in_view() -> None:
    item_ahead = maze(((2, 0),))
    assert standing(item_ahead, 0.0).advise() == FORWARD
    assert standing(item_ahead, 20.0).advise() == FORWARD_RIGHT
    assert standing(item_ahead, -20.0).advise() == FORWARD_LEFT


def test_a_gathered_item_is_no_longer_a_fact() -> None:
    teacher = standing(maze(((2, 0), (2, 2))), 0.0, gathered=1)
    assert teacher.known()[0] == 0.0
    assert teacher.known()[12:16] == [0.0, 1.0, 0.0, 0.0]


def test_it_goes_round_an_item_whose_turn_has_not_come() -> None:
    gathered, way = walk(maze(((2, 0), (1, 0))))
    assert gathered == [0, 1]
    assert (1, 0) not in way[: way.index((2, 0))]


@pytest.mark.parametrize("seed", range(12))
def test_it_gathers_all_items_in_order_in_any_maze(seed: int) -> None:
    drawn = make_maze(seed, size=4, items=4)
    assert walk(drawn)[0] == [0, 1, 2, 3]


def test_the_unseen_lies_where_it_has_not_looked() -> None:
    told = standing(maze(((2, 2),), spawn=(1, 1)), 0.0).known()
    assert len(told) == KNOWN
    unseen = told[-SECTORS:]
    assert unseen[0] == 0.0 and unseen[4] > 0.0
