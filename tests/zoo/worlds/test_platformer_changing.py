"""Lanes of the platformer can go back, skip ahead, and have their things moved and taken away."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from innerview_zoo.worlds.platformer import ACTIONS, CLASSES
from innerview_zoo.worlds.platformer.lanes import PlatformerLanes, PlatformerWorld
from innerview_zoo.worlds.platformer.pictures.atlas import PER_TILE

from innerview.errors import UnknownName, WorldError
from innerview.schema import Moment
from innerview.worlds import Changeable, Rewindable, world

RIGHT, JUMP = ACTIONS.index("right"), ACTIONS.index("up-right")
WAY = [JUMP if i % 3 else RIGHT for i in range(12)]


def lanes(count: int = 1, **settings: object) -> PlatformerLanes:
    place = world("platformer", masks=True, **settings)
    assert isinstance(place, PlatformerWorld)
    opened = place.open(count)
    assert isinstance(opened, PlatformerLanes) and isinstance(opened, Rewindable) and isinstance(opened, Changeable)
    return opened


def same(one: Moment, other: Moment) -> bool:
    return one.facts == other.facts and all(
        np.array_equal(one.observation[name], other.observation[name]) for name in one.observation
    )


def shown(moment: Moment, name: str) -> np.ndarray:
    """Where the mask shows a class."""
    return np.asarray(moment.observation["mask"] == CLASSES.index(name))


def showing(playing: PlatformerLanes, name: str) -> str:
    """Begin a level in which the first frame shows a thing of that name; its id."""
    for seed in range(200):
        playing.reset(0, seed)
        whole = [t for t in playing.things(0) if t.name == name and t.width_px >= 4 and t.height_px >= 4]
        if whole:
            return whole[0].id
    raise AssertionError(f"no level begins with a {name}")


def test_a_lane_goes_back_and_the_others_stand_still() -> None:
    playing = lanes(2)
    playing.reset(0, 1)
    other = playing.reset(1, 2)
    playing.skip(0, WAY[:4])
    state = playing.state(0)
    then = [playing.step({0: action})[0] for action in WAY[4:]]
    back = playing.restore(0, state)
    assert back.facts["steps_left"] == then[0].facts["steps_left"] + 1
    again = [playing.step({0: action})[0] for action in WAY[4:]]
    assert all(same(one, two) for one, two in zip(then, again, strict=True))
    assert same(replace(playing.restore(1, playing.state(1)), scene=other.scene), other)


def test_skipping_leads_where_stepping_does() -> None:
    one, two = lanes(), lanes()
    one.reset(0, 3)
    two.reset(0, 3)
    for action in WAY:
        last = one.step({0: action})[0]
    skipped = two.skip(0, WAY)
    # Whether the last action was a jump is told by stepping alone: it is about two moments.
    assert same(replace(skipped, facts={**skipped.facts, "jumped": last.facts["jumped"]}), last)
    with pytest.raises(WorldError, match="ended"):
        one.skip(0, [RIGHT] * 600)


@pytest.mark.parametrize("name", ["saw", "box", "enemy moving left"])
def test_what_is_removed_is_not_seen_any_more(name: str) -> None:
    playing = lanes(difficulty=1)
    id_ = showing(playing, name)
    thing = next(t for t in playing.things(0) if t.id == id_)
    y, x = round(thing.y_px + thing.height_px / 2), round(thing.x_px + thing.width_px / 2)
    before = playing.restore(0, playing.state(0))
    assert shown(before, name)[y, x]
    assert not shown(playing.remove(0, id_), name)[y, x]
    assert id_ not in [t.id for t in playing.things(0)]


def test_what_is_moved_is_seen_so_many_tiles_further() -> None:
    playing = lanes()
    id_ = showing(playing, "box")
    thing = next(t for t in playing.things(0) if t.id == id_)
    moment, new = playing.move(0, id_, (-1.2, 2.9))
    there = next(t for t in playing.things(0) if t.id == new)
    assert (there.x_px - thing.x_px, there.y_px - thing.y_px) == (-PER_TILE, -3 * PER_TILE)
    assert shown(moment, "box")[round(there.y_px) + 3, round(there.x_px) + 3]


def test_the_agent_is_moved_and_the_view_goes_with_it() -> None:
    playing = lanes()
    start = playing.reset(0, 5).facts
    moment, new = playing.move(0, "agent", (0.5, 3.25))
    assert new == "agent"
    assert (moment.facts["x"], moment.facts["y"]) == (start["x"] + 0.5, start["y"] + 3.25)
    agent = next(t for t in playing.things(0) if t.name == "agent")
    assert not agent.removable and shown(moment, "agent")[round(agent.y_px) + 4, round(agent.x_px) + 2]


def test_an_enemy_on_the_agent_is_the_end_of_it() -> None:
    playing = lanes()
    id_ = showing(playing, "enemy moving left")
    enemy = next(t for t in playing.things(0) if t.id == id_)
    agent = next(t for t in playing.things(0) if t.name == "agent")
    way = (agent.x_px - enemy.x_px) / PER_TILE, (enemy.y_px - agent.y_px) / PER_TILE
    _, new = playing.move(0, id_, way)
    assert new == id_
    assert playing.step({0: ACTIONS.index("A")})[0].ended.startswith("enemy moving")
    with pytest.raises(WorldError, match="is over"):
        playing.remove(0, id_)


def test_what_changing_refuses() -> None:
    playing = lanes()
    id_ = showing(playing, "saw")
    with pytest.raises(UnknownName, match=f"Did you mean '{id_}'"):
        playing.remove(0, id_ + "1")
    with pytest.raises(WorldError, match="Choose a free cell"):
        playing.move(0, id_, (0, -1))
    with pytest.raises(WorldError, match="cannot be taken away"):
        playing.remove(0, "agent")
    with pytest.raises(WorldError, match="two numbers"):
        playing.move(0, id_, (float("nan"), 0))
    with pytest.raises(WorldError, match="what state"):
        playing.restore(0, None)
    lava = showing(playing, "lava")
    assert not next(t for t in playing.things(0) if t.id == lava).movable
    with pytest.raises(WorldError, match="removed, not moved"):
        playing.move(0, lava, (1, 0))
