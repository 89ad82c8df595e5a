"""The office floor: rooms, ids, edits, free space, ways and the plan."""

import math
from collections.abc import Sequence
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from innerview_zoo.worlds.office import (
    KINDS,
    Camera,
    Floor,
    as_real,
    bare_room,
    conditions_of,
    free_space,
    is_free,
    office_floor,
    plan_svg,
    render,
    sample_poses,
    trajectory,
)

from innerview.errors import UnknownName, WorldError

WANTED = (
    "desk", "chair", "shelf", "table", "sofa", "cabinet", "whiteboard", "plant", "bike", "extinguisher", "exit sign",
    "keys", "mug", "laptop",
)  # fmt: skip


@pytest.fixture(scope="module")
def floor() -> Floor:
    return office_floor(0)


def area_m2(polygon: Sequence[tuple[float, float]]) -> float:
    around = zip(polygon, (*polygon[1:], polygon[0]), strict=True)
    return abs(sum(x0 * y1 - x1 * y0 for (x0, y0), (x1, y1) in around)) / 2


def test_rooms_cover_the_floor_and_have_names_of_their_own(floor: Floor) -> None:
    assert floor.size_m == (22.0, 22.0)
    assert sum(area_m2(room.polygon) for room in floor.rooms) == pytest.approx(22 * 22)
    assert len({room.name for room in floor.rooms}) == len(floor.rooms)
    assert sum(room.kind == "corridor" for room in floor.rooms) == 2
    assert {"office", "meeting room", "kitchen", "lab", "copy room", "toilets", "lounge"} <= {
        r.kind for r in floor.rooms
    }


def test_every_thing_has_an_id_of_its_own_and_stands_on_the_floor(floor: Floor) -> None:
    ids = [item.id for group in (floor.walls, floor.doors, floor.windows, floor.things) for item in group]
    assert len(set(ids)) == len(ids)
    assert all(0 <= thing.x <= 22 and 0 <= thing.y <= 22 for thing in floor.things)
    assert {thing.kind for thing in floor.things} >= set(WANTED)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_can_be_put_down_and_seen(kind: str) -> None:
    room = bare_room(8, 6).with_object(kind, x=4.0, y=3.0, angle=math.pi, z=0.5)
    poses = torch.tensor([[4.0, 4.6, -math.pi / 2], [4.0, 1.4, math.pi / 2]])
    frame = render(room, poses, camera=Camera(size=96, height_m=1.5, pitch_deg=-20, fov_deg=60))
    assert (frame.ids == room.things[-1].id).any()
    assert frame.depth.isfinite().all()


def test_a_seed_varies_small_things_and_never_the_walls() -> None:
    one, again, other = office_floor(1), office_floor(1), office_floor(2)
    assert one == again
    assert one.walls == other.walls
    assert one.things != other.things


@pytest.mark.parametrize("seed", [1.5, "a", None, True, -1])
def test_a_seed_of_the_wrong_type_is_refused(seed: object) -> None:
    with pytest.raises(WorldError, match="whole number"):
        office_floor(seed)  # type: ignore[arg-type]
    with pytest.raises(WorldError, match="whole number"):
        sample_poses(bare_room(), 3, seed=seed)  # type: ignore[arg-type]


def test_what_stands_on_a_desk_goes_with_it(floor: Floor) -> None:
    desk = floor.of_kind("desk")[0]
    upon = [thing for thing in floor.things if thing.on == desk.id]
    assert upon
    moved = floor.moved(desk.id, x=desk.x + 0.5, angle=desk.angle + math.pi / 2)
    for thing in upon:
        after = moved.thing(thing.id)
        was = math.hypot(thing.x - desk.x, thing.y - desk.y)
        assert math.hypot(after.x - desk.x - 0.5, after.y - desk.y) == pytest.approx(was)
        assert (thing.x - desk.x) * (after.x - desk.x - 0.5) + (thing.y - desk.y) * (after.y - desk.y) == pytest.approx(
            0
        )
    left = floor.without(desk.id)
    assert not {thing.id for thing in upon} & {thing.id for thing in left.things}
    assert len(floor.things) - len(left.things) == 1 + len(upon)


def test_an_edit_leaves_the_floor_it_was_made_from_alone(floor: Floor) -> None:
    before = floor.things
    added = floor.with_object("bike", x=10.0, y=10.0)
    assert floor.things is before
    assert added.things[-1].id > max(thing.id for thing in before)
    assert added.kinds[added.things[-1].id] == "bike"


def test_what_there_is_not_is_refused_with_a_hint(floor: Floor) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'sofa'"):
        floor.with_object("soffa", x=3.0, y=3.0)
    with pytest.raises(UnknownName, match="Did you mean 'kitchen'"):
        floor.room("kitchn")
    with pytest.raises(WorldError, match="no object with the id 99999"):
        floor.without(99999)
    with pytest.raises(WorldError, match="part of the building"):
        floor.moved(floor.walls[0].id, x=3.0)
    with pytest.raises(WorldError, match="no door 7"):
        floor.door(7, open=True)
    with pytest.raises(WorldError, match="outside the floor"):
        floor.with_object("bike", x=30.0, y=3.0)
    with pytest.raises(WorldError, match="size is width, depth and height"):
        floor.with_object("bike", x=3.0, y=3.0, size=(1.0, 0.0, 1.0))
    with pytest.raises(WorldError, match="#rrggbb"):
        floor.with_object("bike", x=3.0, y=3.0, colour="red")


def test_free_space_ends_where_a_robot_would_touch() -> None:
    room = bare_room(6, 4).with_object("column", x=3.0, y=2.0)
    assert is_free(room, 1.0, 2.0, clearance_m=0.9)
    assert not is_free(room, 0.15, 2.0, clearance_m=0.2)
    assert not is_free(room, 3.3, 2.0, clearance_m=0.2)
    assert not is_free(room, 7.0, 2.0)
    grid = free_space(room)
    assert grid.distance[40, 20] == pytest.approx(1.0, abs=0.03)
    assert grid.distance[40, 60] == 0


def test_a_closed_door_is_in_the_way(floor: Floor) -> None:
    door = next(door for door in floor.doors if door.open)
    assert is_free(floor, door.x, door.y, clearance_m=0.2)
    assert not is_free(floor.door(door.id, open=False), door.x, door.y, clearance_m=0.2)


def test_poses_are_drawn_in_free_space_that_can_be_reached(floor: Floor) -> None:
    poses = sample_poses(floor, 300, seed=3, clearance_m=0.25)
    assert torch.equal(poses, sample_poses(floor, 300, seed=3, clearance_m=0.25))
    assert not torch.equal(poses, sample_poses(floor, 300, seed=4, clearance_m=0.25))
    assert all(is_free(floor, float(x), float(y), clearance_m=0.25 - 0.036) for x, y, _ in poses)  # half a cell
    closed = floor.room("server room").polygon
    inside = (poses[:, 0] > closed[0][0]) & (poses[:, 0] < closed[1][0])
    inside &= (poses[:, 1] > closed[0][1]) & (poses[:, 1] < closed[2][1])
    assert not inside.any()
    angles = poses[:, 2]
    assert float(angles.min()) < -2.5
    assert float(angles.max()) > 2.5


def test_nowhere_to_stand_is_said() -> None:
    with pytest.raises(WorldError, match="Ask for less clearance_m"):
        sample_poses(bare_room(1.5, 1.5), 3, clearance_m=0.9)


@pytest.mark.parametrize("which", [1, 2])
def test_a_trajectory_is_driven_smoothly_through_many_rooms(floor: Floor, which: int) -> None:
    way = trajectory(floor, which, count=400)
    assert way.shape == (400, 3)
    assert torch.equal(way, trajectory(floor, which, count=400))
    steps = (way[1:, :2] - way[:-1, :2]).norm(dim=1)
    assert float(steps.max()) < 0.6
    real = as_real(floor, conditions_of(which))
    for x, y, _ in way[::7].tolist():
        assert is_free(floor, x, y, clearance_m=0.1)
        assert is_free(real, x, y, clearance_m=0.1)
    rooms = free_space(floor).room[(way[:, 1] / 0.05).long().numpy(), (way[:, 0] / 0.05).long().numpy()]
    assert len(np.unique(rooms)) >= 14


def test_a_robot_looks_where_it_goes(floor: Floor) -> None:
    way = trajectory(floor, 1, count=400).double()
    step = way[1:, :2] - way[:-1, :2]
    heading = torch.stack([way[:-1, 2].cos(), way[:-1, 2].sin()], 1)
    along = (step * heading).sum(1) / step.norm(dim=1).clamp(min=1e-6)
    assert float(along.median()) > 0.97


def test_the_two_trajectories_are_not_the_same_way(floor: Floor) -> None:
    assert not torch.equal(trajectory(floor, 1, count=50), trajectory(floor, 2, count=50))
    with pytest.raises(WorldError, match="trajectories 1 and 2"):
        trajectory(floor, 3)


def test_the_plan_names_every_room_and_shows_the_way(floor: Floor) -> None:
    drawn = ElementTree.fromstring(plan_svg(floor, ways=[trajectory(floor, 1, count=20)]))
    svg = "{http://www.w3.org/2000/svg}"
    labels = {text.text for text in drawn.iter(f"{svg}text")}
    assert {room.name for room in floor.rooms} <= labels
    assert len(list(drawn.iter(f"{svg}polyline"))) == 1
    assert not any(
        text.text == "kitchen" for text in ElementTree.fromstring(plan_svg(floor, labels=False)).iter(f"{svg}text")
    )
