"""Mazes are the same for the same seed, always solvable, and Doom plays the k-items task in them."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from innerview_zoo.worlds.kitems.game import ACTIONS, ALL_ITEMS, TIME_LIMIT, TIME_UP, WRONG_ITEM, KItemsGame, Played
from innerview_zoo.worlds.kitems.mazes import (
    CELL,
    FIRST_TEST_SEED,
    WALL,
    Maze,
    cell_at,
    centre,
    make_maze,
    map_name,
    maze_from_layout,
    walls,
    write_wad,
)

from innerview.errors import UnknownName, WorldError

SEEDS = [0, 1, 17, 999_999, FIRST_TEST_SEED, FIRST_TEST_SEED + 5]
LEFT, RIGHT, FORWARD, FORWARD_LEFT, FORWARD_RIGHT = range(len(ACTIONS))


@pytest.fixture(scope="module")
def game() -> Iterator[KItemsGame]:
    game = KItemsGame()
    yield game
    game.close()


def test_a_seed_makes_the_same_maze_again_and_another_seed_another() -> None:
    assert [make_maze(seed) for seed in SEEDS] == [make_maze(seed) for seed in SEEDS]
    assert len({make_maze(seed).passages for seed in SEEDS}) == len(SEEDS)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("size", "items"), [(2, 1), (3, 4), (5, 4), (9, 2)])
def test_every_cell_can_be_reached_and_items_lie_apart(seed: int, size: int, items: int) -> None:
    maze = make_maze(seed, size=size, items=items)
    cells = [(x, y) for x in range(size) for y in range(size)]
    assert all(maze.walking_distance(cell, maze.spawn) < size * size for cell in cells)
    assert len({maze.spawn, *maze.items}) == items + 1
    assert maze.is_fair()


def test_mazes_have_loops() -> None:
    for seed in SEEDS:
        assert len(make_maze(seed).passages) > 5 * 5 - 1


def test_walking_distance_counts_cells_along_the_passages() -> None:
    row = frozenset(frozenset(pair) for pair in pairwise([(0, 0), (0, 1), (1, 1), (1, 0)]))
    maze = Maze(size=2, passages=row, items=((1, 0),), spawn=(0, 0), angle_deg=0)
    assert maze.walking_distance((0, 0), (1, 0)) == 3
    assert maze.distances(0).tolist() == [[3, 2], [0, 1]]


@pytest.mark.parametrize("seed", SEEDS)
def test_wall_faces_close_around_the_open_space(seed: int) -> None:
    maze = make_maze(seed)
    faces = walls(maze)
    starts, ends = sorted(f[:2] for f in faces), sorted(f[2:] for f in faces)
    assert starts == ends
    # Open space lies to the right, so that the outline turns clockwise and its area counts negative.
    area = sum(x1 * y2 - x2 * y1 for x1, y1, x2, y2 in faces) / 2
    assert (maze.size * CELL) ** 2 * 0.8 < -area < (maze.size * CELL) ** 2
    assert min(math.dist(f[:2], f[2:]) for f in faces) >= WALL / 2


def test_a_layout_in_map_units_becomes_the_same_maze() -> None:
    layout = {
        "exterior": [[-480.0, -480.0], [-480.0, 320.0], [320.0, 320.0], [320.0, -480.0]],
        "walls": [[-320.0, -320.0, -320.0, -160.0], [0.0, -320.0, 160.0, -320.0]],
        "items": [[240.0, -400.0, "r"], [240.0, -80.0, "g"], [-400.0, 80.0, "b"], [-80.0, -240.0, "c"]],
        "spawn": [-240.0, -240.0],
    }
    maze = maze_from_layout(layout)
    assert (maze.size, maze.spawn) == (5, (1, 1))
    assert maze.items == ((4, 2), (4, 0), (0, 3), (2, 1))
    assert (0, 1) not in maze.neighbours((1, 1))
    assert (3, 1) not in maze.neighbours((3, 0))
    assert len(maze.passages) == 40 - 2


def test_wrong_sizes_and_counts_are_refused_with_what_is_possible() -> None:
    with pytest.raises(WorldError, match="2 to 32 cells"):
        make_maze(0, size=1)
    with pytest.raises(WorldError, match="1 to 4, not 5"):
        make_maze(0, items=5)


def test_a_wad_holds_a_map_for_each_maze() -> None:
    wad = write_wad(make_maze(seed) for seed in range(120))
    assert wad.startswith(b"PWAD")
    assert all(map_name(index).encode() in wad and len(map_name(index)) <= 8 for index in range(120))


def test_mazes_need_numpy_only() -> None:
    code = "import sys, innerview_zoo.worlds.kitems.mazes; print(sorted({'torch', 'vizdoom'} & set(sys.modules)))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


def test_gathering_in_order_pays_and_ends_with_all_items(game: KItemsGame) -> None:
    frame = game.reset(0)
    assert frame.shape == (125, 200, 3)
    assert frame.dtype == np.uint8
    picked, total, last = [], 0.0, None
    while last is None or not last.done:
        last = walk_to(game, game.gathered)
        total += last.reward
        if last.picked_up is not None:
            picked.append(last.picked_up)
    assert last.outcome == ALL_ITEMS
    assert picked == [0, 1, 2, 3]
    assert total == pytest.approx(4 * 0.5 - game.steps * 0.0001)


def test_a_wrong_item_ends_the_episode(game: KItemsGame) -> None:
    game.reset(3)
    last = walk_to(game, 3)
    while not last.done:
        last = walk_to(game, 3)
    assert last.outcome == WRONG_ITEM
    assert last.reward == pytest.approx(-0.25 - 0.0001)
    assert game.gathered == 0


def test_time_is_up_after_525_steps(game: KItemsGame) -> None:
    game.reset(FIRST_TEST_SEED)
    played = [game.step(LEFT) for _ in range(TIME_LIMIT)]
    assert [p.done for p in played[:-1]] == [False] * (TIME_LIMIT - 1)
    assert played[-1].outcome == TIME_UP


def test_the_agent_begins_where_the_maze_says(game: KItemsGame) -> None:
    game.reset(9)
    assert cell_at(game.x, game.y, 5) == game.maze.spawn
    assert (game.x, game.y) == pytest.approx(centre(game.maze.spawn))
    assert game.angle_deg == pytest.approx(game.maze.angle_deg, abs=0.01)


def test_same_seed_and_actions_give_the_same_frames(game: KItemsGame) -> None:
    def frames() -> list[np.ndarray]:
        return [game.reset(5).copy(), *(game.step(a).frame_hwc.copy() for a in (2, 2, 3, 0, 4))]

    first = frames()
    game.reset(6)
    assert all(np.array_equal(a, b) for a, b in zip(first, frames(), strict=True))


def test_an_unknown_action_is_named(game: KItemsGame) -> None:
    game.reset(5)
    with pytest.raises(UnknownName, match="7"):
        game.step(7)


def test_no_file_is_left_where_one_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    game = KItemsGame(size=3, items=1)
    game.reset(1)
    game.close()
    assert list(tmp_path.iterdir()) == []


def walk_to(game: KItemsGame, item: int) -> Played:
    """One step along the way to an item."""
    _, turn = game.way(item)
    if abs(turn) > 0.3:
        return game.step(LEFT if turn > 0 else RIGHT)
    if abs(turn) > 0.1:
        return game.step(FORWARD_LEFT if turn > 0 else FORWARD_RIGHT)
    return game.step(FORWARD)
