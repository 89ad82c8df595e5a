"""The office as a world: tours for networks that localise themselves, and a task of finding the way."""

import math
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import check_env
from innerview_zoo.worlds.office import Camera, Conditions, bare_room, office_floor, render, rgbd_of, trajectory
from innerview_zoo.worlds.office.floors.freespace import is_free
from innerview_zoo.worlds.office.gymnasium_env import OfficeEnv
from innerview_zoo.worlds.office.navigation import Ground
from innerview_zoo.worlds.office.view import CLASSES, View, ViewSettings

import innerview as iv
from innerview.errors import UnknownName, WorldError
from innerview.schema import Moment
from innerview.worlds import World, world


def test_a_tour_shows_the_trajectory_pose_by_pose() -> None:
    tour = world("office:tour", which=2, count=4, size=64)
    assert isinstance(tour, World)
    assert tour.info.actions.names == ("go on",)
    lanes = tour.open(1)
    moments = [lanes.reset(0, 0)]
    while not moments[-1].ended:
        moments.append(lanes.step({0: 0})[0])
    assert moments.pop().ended == "end of the tour"  # everything was seen: as many rows as poses
    assert len(moments) == 4
    way = trajectory(office_floor(0), 2, count=4)
    for moment, (x, y, angle) in zip(moments, way.tolist(), strict=True):
        assert (moment.facts["x"], moment.facts["y"]) == pytest.approx((x, y), abs=1e-3)
        assert math.cos(math.radians(moment.facts["angle"]) - angle) == pytest.approx(1, abs=1e-4)
        assert moment.facts["heading"] == pytest.approx(angle, abs=1e-4)
    pictures = rgbd_of(render(office_floor(0), way, camera=Camera(size=64))).permute(0, 2, 3, 1).numpy()
    assert np.array_equal(np.stack([moment.observation["rgbd"] for moment in moments]), pictures)


def test_the_real_domain_is_that_months_stand_in() -> None:
    sim, real = (world("office:tour", which=2, domain=domain, count=3, size=64) for domain in ("sim", "real"))
    one, other = (tour.open(1).reset(0, 0) for tour in (sim, real))
    assert one.facts["x"] == other.facts["x"]
    assert not np.array_equal(one.observation["rgbd"], other.observation["rgbd"])
    way = trajectory(office_floor(0), 2, count=3)[:1]
    expected = rgbd_of(render(office_floor(0), way, camera=Camera(size=64), conditions=Conditions.real(2)))
    assert np.array_equal(other.observation["rgbd"], expected[0].permute(1, 2, 0).numpy())
    assert real.info.observations[0].domain == "real"


def test_a_single_gap_can_be_chosen() -> None:
    usual = world("office:tour", count=2, size=48).open(1).reset(0, 0).observation["rgbd"]
    noisy = world("office:tour", count=2, size=48, domain="real", gaps=("depth_noise",)).open(1).reset(0, 0)
    assert np.array_equal(noisy.observation["rgbd"][..., :3], usual[..., :3])
    assert not np.array_equal(noisy.observation["rgbd"][..., 3], usual[..., 3])


def test_random_poses_follow_the_seed() -> None:
    lanes = world("office:tour", poses="random", count=2, size=32).open(2)
    first, again, other = lanes.reset(0, 5), lanes.reset(1, 5), lanes.reset(1, 6)
    assert first.facts["x"] == again.facts["x"] != other.facts["x"]


def test_depth_is_a_byte_of_ten_metres() -> None:
    room = bare_room(30, 4)
    view = View(ViewSettings(size=33, floor=room, pitch_deg=0.0))
    arrays, _ = view.look(np.array([[2.0, 2.0, 0.0], [24.9, 2.0, 0.0]], dtype=np.float32))
    assert arrays[0]["rgbd"][16, 16, 3] == 255
    assert arrays[1]["rgbd"][16, 16, 3] == round(5.1 / 10 * 255)


def test_things_in_view_are_reported_with_box_and_place() -> None:
    room = bare_room(8, 6).with_object("column", x=5.0, y=3.0)
    lanes = world("office", goal="column", floor=room, size=64).open(1)
    view = View(ViewSettings(size=64, floor=room, pitch_deg=0.0))
    arrays, things = view.look(np.array([[2.0, 3.0, 0.0], [2.0, 3.0, math.pi]], dtype=np.float32))
    (column,) = things[0]
    assert column["name"] == "column"
    assert column["distance"] == pytest.approx(3.0)
    assert column["x_px"] + column["width_px"] / 2 == pytest.approx(32, abs=1)
    assert things[1] == []
    assert arrays[0]["rgbd"].shape == (64, 64, 4)
    assert lanes.reset(0, 0).facts["goal"] == "column"


def test_masks_and_pictures_come_when_asked_for() -> None:
    asked = world("office", size=32, masks=True, picture=96)
    moment = asked.open(1).reset(0, 3)
    roles = {spec.name: spec.role for spec in asked.info.observations}
    assert roles == {"rgbd": "observation", "picture": "image", "mask": "mask"}
    assert moment.observation["picture"].shape == (96, 96, 3)
    assert moment.observation["mask"].shape == (32, 32)
    assert moment.observation["mask"].max() < len(CLASSES)
    assert {CLASSES[i] for i in np.unique(moment.observation["mask"])} & {"wall", "floor", "ceiling"}
    for spec in asked.info.observations:
        assert moment.observation[spec.name].shape == spec.shape
        assert str(moment.observation[spec.name].dtype) == spec.dtype


def test_every_fact_is_announced() -> None:
    for name in ("office", "office:tour"):
        made = world(name, size=32)
        moment = made.open(1).reset(0, 1)
        assert set(moment.facts) == {column.name for column in made.info.facts}


def test_turning_and_going_forward() -> None:
    room = bare_room(10, 10).with_object("column", x=9.0, y=9.0)
    lanes = world("office", floor=room, goal="column", size=16).open(1)
    start = lanes.reset(0, 2)
    left = lanes.step({0: 0})[0]
    assert (left.facts["angle"] - start.facts["angle"]) % 360 == pytest.approx(15, abs=1e-2)
    back = lanes.step({0: 1})[0]
    assert back.facts["angle"] == pytest.approx(start.facts["angle"], abs=1e-2)
    ahead = lanes.step({0: 2})[0]
    angle = math.radians(start.facts["angle"])
    assert not ahead.facts["hit"]
    assert ahead.facts["x"] - start.facts["x"] == pytest.approx(0.25 * math.cos(angle), abs=1e-3)
    assert ahead.facts["y"] - start.facts["y"] == pytest.approx(0.25 * math.sin(angle), abs=1e-3)


def test_a_robot_never_drives_into_anything() -> None:
    floor = office_floor(0)
    lanes = world("office", size=16, goal="kitchen").open(3)
    chance = np.random.default_rng(0)
    hits = 0
    running = {lane: lanes.reset(lane, lane) for lane in range(3)}
    for _ in range(40):
        actions = {lane: int(chance.choice([0, 1, 2, 2, 2, 2])) for lane, moment in running.items() if not moment.ended}
        for lane, moment in lanes.step(actions).items():
            running[lane] = moment
            hits += moment.facts["hit"]
            assert is_free(floor, moment.facts["x"], moment.facts["y"], clearance_m=0.199)
    assert hits


def drive(lanes: object, moment: Moment, ground: Ground, limit: int) -> list[Moment]:
    """Follow the way to the goal downhill."""
    moments = [moment]
    while not moments[-1].ended and len(moments) < limit:
        facts = moments[-1].facts
        x, y, angle = facts["x"], facts["y"], math.radians(facts["angle"])
        turns = [math.radians(15) * i for i in range(-12, 12)]

        def worth(turn: float, x: float = x, y: float = y, angle: float = angle) -> float:
            at_x, at_y, hit = ground.moved(x, y, angle + turn, 0.25)
            return ground.way_m(at_x, at_y) + 0.02 * abs(turn) + (5 if hit else 0)

        turn = min(turns, key=worth)
        action = 2 if abs(turn) < 0.1 else 0 if turn > 0 else 1
        moments.append(lanes.step({0: action})[0])  # type: ignore[attr-defined]
    return moments


@pytest.mark.parametrize(("goal", "ended_in"), [("kitchen", "kitchen"), ("sofa", None)])
def test_the_goal_can_be_reached_and_pays(goal: str, ended_in: str | None) -> None:
    lanes = world("office", goal=goal, size=48).open(1)
    moments = drive(lanes, lanes.reset(0, 4), Ground(office_floor(0), goal), 400)
    last = moments[-1]
    assert last.ended == "goal"
    assert last.facts["reached"]
    assert last.reward > 9
    assert ended_in is None or last.facts["room"] == ended_in
    total = sum(moment.reward for moment in moments)
    assert total == pytest.approx(10 + moments[0].facts["way_to_goal"] - last.facts["way_to_goal"], abs=0.01)
    assert not any(moment.facts["reached"] for moment in moments[:-1])


def test_time_runs_out() -> None:
    lanes = world("office", size=16, time_limit=3).open(1)
    lanes.reset(0, 0)
    ended = [lanes.step({0: 0})[0].ended for _ in range(3)]
    assert ended == ["", "", "time limit"]
    with pytest.raises(WorldError, match="no running episode"):
        lanes.step({0: 0})


def test_lanes_do_not_touch_each_other() -> None:
    alone, both = world("office", size=32).open(1), world("office", size=32).open(2)
    alone.reset(0, 7)
    both.reset(0, 9)
    both.reset(1, 7)
    for action in (2, 0, 2):
        one = alone.step({0: action})[0]
        other = both.step({0: 1, 1: action})[1]
        assert np.array_equal(one.observation["rgbd"], other.observation["rgbd"])
        assert one.facts == other.facts


def test_the_map_has_walls_and_things() -> None:
    scene = world("office", size=16).open(1).reset(0, 0).scene
    assert scene is not None
    assert scene.unit == "m"
    assert len(scene.walls) > 50
    assert all(-0.3 <= value <= 22.3 for wall in scene.walls for value in wall)
    assert ("lamp" not in {name for name, _, _ in scene.objects}) and "desk" in {name for name, _, _ in scene.objects}


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("office", {"gaol": "kitchen"}, "Did you mean 'goal'"),
        ("office", {"goal": "kichen"}, "Did you mean 'kitchen'"),
        ("office", {"domain": "dream"}, "Unknown domain"),
        ("office", {"gaps": ("lights",)}, "Did you mean 'light'"),
        ("office", {"turn_deg": 0}, "turn_deg"),
        ("office", {"time_limit": 0}, "time_limit"),
        ("office", {"picture": 7}, "picture"),
        ("office", {"floor": 3}, "floor is a Floor"),
        ("office:tour", {"which": 3}, "trajectories 1 and 2"),
        ("office:tour", {"poses": "randon"}, "Did you mean 'random'"),
        ("office:tour", {"count": 1}, "at least 2"),
    ],
)
def test_settings_that_cannot_be_are_refused(name: str, settings: dict[str, object], said: str) -> None:
    with pytest.raises((UnknownName, WorldError), match=said):
        world(name, **settings)


def test_wrong_seeds_actions_and_lanes_are_refused() -> None:
    lanes = world("office", size=16).open(1)
    with pytest.raises(WorldError, match="whole number"):
        lanes.reset(0, "seven")  # type: ignore[arg-type]
    lanes.reset(0, 1)
    with pytest.raises(WorldError, match="turn left"):
        lanes.step({0: 3})
    with pytest.raises(WorldError, match="no lane 4"):
        lanes.reset(4, 0)
    lanes.close()
    with pytest.raises(WorldError, match="closed"):
        lanes.reset(0, 0)
    with pytest.raises(WorldError, match="at least one lane"):
        world("office", size=16).open(0)


def test_the_gymnasium_environment_keeps_its_promises() -> None:
    env = gymnasium.make("innerview/Office-v0", goal="kitchen", size=32, render_mode="rgb_array", picture=64).unwrapped
    assert isinstance(env, OfficeEnv)
    check_env(env, skip_render_check=True)
    env.reset(seed=3)
    assert env.render().shape == (64, 64, 3)
    assert env.get_action_meanings() == ["turn left", "turn right", "forward"]
    first = [env.step(2)[0] for _ in range(3)]
    env.reset(seed=3)
    assert all(np.array_equal(a, env.step(2)[0]) for a in first)


def test_the_floor_needs_neither_gymnasium_nor_polars() -> None:
    code = (
        "import sys; sys.modules['gymnasium'] = sys.modules['polars'] = sys.modules['PIL'] = None\n"
        "from innerview.worlds import world\n"
        "from innerview_zoo.worlds.office import Camera, office_floor, render, sample_poses\n"
        "floor = office_floor(0)\n"
        "render(floor, sample_poses(floor, 1), camera=Camera(size=16))\n"
        "world('office:tour', size=16, count=2).open(1).reset(0, 0)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_rgbd_keeps_colours_and_clips_far_depth() -> None:
    frame = render(bare_room(40, 3), torch.tensor([[2.0, 1.5, 0.0]]), camera=Camera(size=33, pitch_deg=0.0))
    made = rgbd_of(frame)
    assert torch.equal(made[:, :3], frame.rgb)
    assert int(made[0, 3, 16, 16]) == 255


def test_a_tour_is_recorded_with_facts_and_estimates(tmp_path: Path) -> None:
    class Blind(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.head = torch.nn.Linear(4, 3)

        def forward(self, rgbd: torch.Tensor) -> torch.Tensor:
            return self.head(rgbd.mean((2, 3)))

    agent = iv.subject(Blind(), example={"rgbd": torch.zeros(1, 4, 32, 32)}, heads="pose")
    tour = world("office:tour", count=3, size=32, masks=True, picture=64)
    recording = iv.record(tmp_path / "office.study", agent, tour, episodes=1)
    assert recording.columns(["x"])["x"].to_list() == pytest.approx(
        trajectory(office_floor(0), 1, count=3)[:, 0].tolist(), abs=1e-3
    )
