"""The k-items task as a world: what it shows, what it tells, and that a seed is all an episode depends on."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from innerview_zoo.worlds.kitems.game import ACTIONS, ALL_ITEMS, TIME_LIMIT, TIME_UP, WRONG_ITEM, KItemsGame
from innerview_zoo.worlds.kitems.mazes import CELL, FIRST_TEST_SEED, ITEMS, centre, make_maze
from innerview_zoo.worlds.kitems.world import KItemsLane, KItemsWorld

from innerview.errors import UnknownName, WorldError
from innerview.schema import Moment
from innerview.worlds import Lanes, resize_frame, world

pytest.importorskip("vizdoom")
LEFT, RIGHT, FORWARD, FORWARD_LEFT, FORWARD_RIGHT = range(len(ACTIONS))
GATHERED = tuple(f"gathered_{item}".replace(" ", "_") for item in ITEMS)
LAYOUT = {
    "exterior": [[-480.0, -480.0], [-480.0, 0.0], [0.0, 0.0], [0.0, -480.0]],
    "walls": [[-320.0, -320.0, -320.0, -160.0]],
    "items": [[-80.0, -400.0, "r"], [-400.0, -400.0, "g"]],
    "spawn": [-240.0, -400.0],
}


def walk(lane: KItemsLane, seed: int, item: int | None = None) -> list[Moment]:
    """An episode of walking to the next item, or to one and the same."""
    moments = [lane.reset(seed)]
    game = lane._game
    while not moments[-1].ended:
        _, turn = game.way(game.gathered if item is None else item)
        hard = LEFT if turn > 0 else RIGHT
        soft = FORWARD_LEFT if turn > 0 else FORWARD_RIGHT
        moments.append(lane.step(hard if abs(turn) > 0.3 else soft if abs(turn) > 0.1 else FORWARD))
    return moments


def play(lanes: Lanes, lane: int, seed: int, actions: list[int]) -> list[Moment]:
    return [lanes.reset(lane, seed), *(lanes.step({lane: action})[lane] for action in actions)]


@pytest.fixture(scope="module")
def lane() -> Iterator[KItemsLane]:
    made = world("doom:kitems")
    assert isinstance(made, KItemsWorld)
    lane = KItemsLane(made._setup)
    yield lane
    lane.close()


@pytest.fixture(scope="module")
def solved(lane: KItemsLane) -> list[Moment]:
    return walk(lane, 0)


def test_it_describes_itself_without_starting_an_engine() -> None:
    info = world("doom:kitems").info
    assert (info.name, info.family) == ("kitems", "doom")
    assert info.observations[0].shape == (64, 112, 3)
    assert info.actions.names == tuple(ACTIONS)
    assert {c.name for c in info.facts if c.kind == "event"} == {"picked_up", "wrong_item", *GATHERED}
    assert {c.label for c in info.facts} >= {"gathered green armour", "next item", "way to next item"}


def test_every_moment_has_a_picture_and_every_fact(solved: list[Moment]) -> None:
    columns = {column.name: column for column in world("doom:kitems").info.facts}
    kinds = {"int": int, "float": float, "bool": bool, "text": str, "objects": list}
    for moment in solved:
        picture = moment.observation["observation"]
        assert (picture.shape, picture.dtype) == ((64, 112, 3), np.uint8)
        assert set(moment.facts) == set(columns)
        for name, value in moment.facts.items():
            assert value is None or type(value) is kinds[columns[name].type], name


def test_each_item_is_reported_once_when_it_is_gathered(solved: list[Moment]) -> None:
    assert [m.ended for m in solved[-2:]] == ["", ALL_ITEMS]
    for before, after in pairwise(solved):
        taken = [name for name in GATHERED if after.facts[name]]
        assert taken == list(GATHERED[before.facts["gathered"] : after.facts["gathered"]])
        assert after.facts["picked_up"] == bool(taken)
        assert after.reward == pytest.approx(0.5 * len(taken) - 0.0001)
    assert not any(m.facts["wrong_item"] for m in solved)
    assert [sum(m.facts[name] for m in solved) for name in GATHERED] == [1, 1, 1, 1]


def test_the_next_item_and_the_way_to_it(solved: list[Moment]) -> None:
    *under_way, end = solved
    assert all(m.facts["next_item"] == ITEMS[m.facts["gathered"]] for m in under_way)
    assert (end.facts["next_item"], end.facts["way_to_next_item"]) == ("", None)
    maze = make_maze(0)
    assert solved[0].facts["way_to_next_item"] == pytest.approx(maze.walking_distance(maze.spawn, maze.items[0]))
    reached = [b.facts["way_to_next_item"] for b, a in pairwise(solved) if a.facts["picked_up"]]
    assert all(way < 1 for way in reached)
    assert [m.facts["steps_left"] for m in solved] == list(range(TIME_LIMIT, TIME_LIMIT - len(solved), -1))


def test_what_is_in_view_lies_in_the_picture_and_where_the_maze_has_it(solved: list[Moment]) -> None:
    maze = make_maze(0)
    seen = [(moment, thing) for moment in solved for thing in moment.facts["objects"]]
    assert {thing["name"] for _, thing in seen} == set(ITEMS)
    for moment, thing in seen:
        x, y = centre(maze.items[ITEMS.index(thing["name"])])
        assert (thing["x"], thing["y"]) == pytest.approx((x, y))
        assert thing["distance"] == pytest.approx(math.hypot(moment.facts["x"] - x, moment.facts["y"] - y), abs=0.1)
        assert thing["x_px"] >= 0 and thing["x_px"] + thing["width_px"] <= 113
        assert thing["y_px"] >= 0 and thing["y_px"] + thing["height_px"] <= 65
    assert not any(thing["name"] == ITEMS[i] for m, thing in seen for i in range(m.facts["gathered"])), (
        "what was gathered is gone"
    )


def test_a_wrong_item_ends_the_episode_and_says_so(lane: KItemsLane) -> None:
    *before, end = walk(lane, 3, item=3)
    assert end.ended == WRONG_ITEM
    assert end.facts["wrong_item"] and end.facts["picked_up"] and end.facts["gathered"] == 0
    assert not any(end.facts[name] for name in GATHERED)
    assert not any(m.facts["wrong_item"] for m in before)


def test_time_is_up_after_525_steps(lane: KItemsLane) -> None:
    lane.reset(FIRST_TEST_SEED)
    ends = [lane.step(LEFT).ended for _ in range(TIME_LIMIT)]
    assert ends == [""] * (TIME_LIMIT - 1) + [TIME_UP]


def test_the_map_shows_walls_and_items(solved: list[Moment]) -> None:
    scene, maze = solved[0].scene, make_maze(0)
    assert scene is not None and all(moment.scene is None for moment in solved[1:])
    assert scene.objects == tuple((ITEMS[i], *centre(cell)) for i, cell in enumerate(maze.items))
    xs = [x for x1, _, x2, _ in scene.walls for x in (x1, x2)]
    assert (min(xs), max(xs)) == (0.0, 5 * CELL)
    assert all(0 <= m.facts["x"] <= 5 * CELL for m in solved)


def test_an_episode_depends_on_its_seed_only() -> None:
    actions = [2, 2, 3, 2, 4, 2, 0, 2] * 3
    lanes = world("doom:kitems").open(2)
    first = play(lanes, 0, FIRST_TEST_SEED + 7, actions)
    play(lanes, 1, 12, actions[:5])
    again = play(lanes, 1, FIRST_TEST_SEED + 7, actions)
    other = lanes.reset(0, FIRST_TEST_SEED + 8)
    lanes.close()
    for a, b in zip(first, again, strict=True):
        assert np.array_equal(a.observation["observation"], b.observation["observation"])
        assert a.facts == b.facts
    assert not np.array_equal(first[0].observation["observation"], other.observation["observation"])


def test_it_shows_what_training_showed(lane: KItemsLane) -> None:
    torch = pytest.importorskip("torch")
    from innerview_zoo.models.doom.kitems.agent import shrink

    game = KItemsGame()
    frames = [game.reset(5).copy(), *(game.step(action).frame_hwc.copy() for action in (2, 3, 2, 0, 4) * 4)]
    shown = [lane.reset(5), *(lane.step(action) for action in (2, 3, 2, 0, 4) * 4)]
    game.close()
    trained = shrink(torch.from_numpy(np.stack(frames))).permute(0, 2, 3, 1).numpy()
    for frame, expected, moment in zip(frames, trained, shown, strict=True):
        picture = moment.observation["observation"]
        assert np.array_equal(picture, resize_frame(frame, (112, 64))), "labels do not change what is drawn"
        assert np.abs(picture.astype(int) - expected).max() <= 1


def test_smaller_mazes_and_other_pictures() -> None:
    small = world("doom:kitems", cells=3, items=2, size=(160, 90), resolution="320x180", resize="bilinear")
    lanes = small.open(1)
    moment = lanes.reset(0, 4)
    lanes.close()
    assert moment.observation["observation"].shape == (90, 160, 3)
    assert moment.scene is not None and len(moment.scene.objects) == 2
    assert [c.name for c in small.info.facts if c.name.startswith("gathered_")] == list(GATHERED[:2])
    assert small.info.settings["cells"] == 3


def test_layouts_take_turns_by_seed(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    other = {**LAYOUT, "spawn": [-400.0, -80.0]}
    for name, layout in {"a": LAYOUT, "b": other}.items():
        (folder / f"{name}.json").write_text(json.dumps(layout))
    made = world("doom:kitems", layouts=folder)
    assert made.info.name == "kitems mine" and list(made.info.files) == ["layout a", "layout b"]
    turned = world("doom:kitems", layouts=[folder / "b.json", folder / "a.json"])
    assert turned.info.identity != made.info.identity, "another seed plays each"
    lanes = made.open(1)
    moments = [lanes.reset(0, seed) for seed in (0, 1, 2)]
    lanes.close()
    assert [m.facts["layout"] for m in moments] == ["a", "b", "a"]
    assert [(m.facts["x"], m.facts["y"]) for m in moments] == [(240, 80), (80, 400), (240, 80)]
    assert moments[0].scene is not None
    assert moments[0].scene.objects == (("green armour", 80, 80), ("red armour", 400, 80))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is no JSON"),
        ("[]", "lacks walls, items, spawn, exterior"),
        (json.dumps({**LAYOUT, "items": [[-80.0, -400.0, "x"]]}), "has an item 'x'; there are g \\(green armour\\)"),
        (json.dumps({**LAYOUT, "items": [[-80.0, -400.0, "b"]]}), "must be the first of g, r, b, c"),
        (json.dumps({**LAYOUT, "items": []}), "no items"),
        (json.dumps({**LAYOUT, "walls": [["a", 1, 2, 3]]}), "is no layout"),
        (json.dumps({**LAYOUT, "exterior": [[0, 0], [10, 10]]}), "0 cells wide"),
    ],
)
def test_a_bad_layout_is_named_with_what_is_wrong(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(WorldError, match=said) as failed:
        world("doom:kitems", layouts=tmp_path)
    assert "bad.json" in str(failed.value)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"cell": 3}, "Did you mean 'cells'"),
        ({"items": 9}, "1 to 4, not 9"),
        ({"size": (0, 3)}, "width, height"),
        ({"resize": "soft"}, "resize method"),
        ({"resolution": "320x181"}, "screen resolution"),
        ({"layouts": "nowhere"}, "no layout at nowhere"),
        ({"layouts": []}, "is empty"),
    ],
)
def test_bad_settings_say_what_would_be_good(settings: dict[str, Any], said: str) -> None:
    with pytest.raises((WorldError, UnknownName), match=said):
        world("doom:kitems", **settings)


def test_a_name_nearly_right_gets_the_right_one() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'kitems'"):
        world("doom:kitem")
