import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from innerview.errors import UnknownName, WorldError
from innerview.worlds import ThreadedLanes, world
from innerview.worlds.doom.engines import PREFIX, sweep
from innerview.worlds.doom.facts import FactTracker, Glimpse, look_at_labels
from innerview.worlds.doom.world import DoomGame, DoomWorld

vizdoom = pytest.importorskip("vizdoom")
HEALTH = "doom:health_gathering_supreme"
FORWARD = 2


def play(lanes, seed, actions):
    moments = [lanes.reset(0, seed)]
    for action in actions:
        if moments[-1].ended:
            break
        moments.append(lanes.step({0: action})[0])
    return moments


def is_running(pid):
    asked = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return bool(asked.stdout.strip()) and not asked.stdout.startswith("Z")


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    """Where this test's engines have their folders: who sweeps must not meet those of others, just being made."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


@pytest.fixture(scope="module")
def doomed():
    """A whole episode of walking: it ends with death."""
    lanes = world(HEALTH).open(1)
    rng = np.random.default_rng(5)
    actions = np.where(rng.random(600) < 0.3, rng.integers(0, 5, 600), FORWARD).tolist()
    moments = play(lanes, 5, actions)
    lanes.close()
    return moments


def test_it_describes_itself_without_starting_an_engine():
    info = world(HEALTH).info
    assert (info.name, info.family) == ("health_gathering_supreme", "doom")
    assert info.observations[0].shape == (64, 112, 3)
    assert info.actions.names == ("left", "right", "forward", "forward+left", "forward+right")
    units = {column.name: column.unit for column in info.facts}
    assert (units["x"], units["y"], units["angle"]) == ("map units", "map units", "deg")
    assert {c.name for c in info.facts if c.kind == "event"} == {"picked_up", "picked_up_item", "hit", "died"}


def test_every_moment_has_a_frame_and_every_fact(doomed):
    columns = {column.name: column for column in world(HEALTH).info.facts}
    kinds = {"int": int, "float": float, "bool": bool, "text": str, "objects": list}
    for moment in doomed:
        assert moment.observation["observation"].shape == (64, 112, 3)
        assert moment.observation["observation"].dtype == np.uint8
        assert set(moment.facts) == set(columns)
        for name, value in moment.facts.items():
            assert type(value) is kinds[columns[name].type], name


def test_death_has_a_reason_an_event_and_the_last_frame(doomed):
    *before, end = doomed
    assert end.ended == "died"
    assert end.facts["died"]
    assert end.facts["health"] <= 0
    assert end.reward < -50
    assert np.array_equal(end.observation["observation"], before[-1].observation["observation"])
    assert not any(m.facts["died"] or m.ended for m in before)


def test_a_medikit_is_picked_up_and_floor_decay_is_no_hit(doomed):
    healed = [b for a, b in pairwise(doomed) if b.facts["health"] > a.facts["health"]]
    assert healed
    assert all(m.facts["picked_up"] and m.facts["last_item"] == "CustomMedikit" for m in healed)
    hurt = [b for a, b in pairwise(doomed) if b.facts["health"] < a.facts["health"]]
    assert len(hurt) > 5
    assert not any(m.facts["hit"] for m in hurt)


def test_objects_in_view_lie_in_the_observation(doomed):
    seen = [thing for moment in doomed for thing in moment.facts["objects"]]
    assert {"CustomMedikit"} <= {thing["name"] for thing in seen}
    for thing in seen:
        assert thing["x_px"] >= 0 and thing["x_px"] + thing["width_px"] <= 113
        assert thing["y_px"] >= 0 and thing["y_px"] + thing["height_px"] <= 65
        assert 0 < thing["distance"] < 3000


def test_the_map_holds_the_player(doomed):
    scene = doomed[0].scene
    assert len(scene.walls) == len(set(scene.walls)) > 50
    xs = [x for x1, _, x2, _ in scene.walls for x in (x1, x2)]
    assert all(min(xs) <= m.facts["x"] <= max(xs) for m in doomed)
    assert ("CustomMedikit" in {name for name, _, _ in scene.objects}) and scene.unit == "map units"
    assert all(moment.scene is None for moment in doomed[1:])


def test_same_seed_and_actions_give_the_same_frames_in_any_lane_at_any_time():
    lanes = world(HEALTH).open(2)
    actions = [2, 2, 3, 2, 4, 2, 0, 2] * 4
    first = play(lanes, 11, actions)
    play(lanes, 12, actions[:5])
    second = play(lanes, 11, actions)
    third = [lanes.reset(1, 11), *(lanes.step({1: action})[1] for action in actions)]
    other = lanes.reset(1, 12)
    lanes.close()
    for a, b, c in zip(first, second, third, strict=True):
        assert np.array_equal(a.observation["observation"], b.observation["observation"])
        assert np.array_equal(a.observation["observation"], c.observation["observation"])
        assert a.facts == b.facts == c.facts
    assert not np.array_equal(first[0].observation["observation"], other.observation["observation"])


def test_facts_do_not_change_what_is_seen():
    actions = [2, 3, 2, 4, 2]
    told, silent = world(HEALTH).open(1), world(HEALTH, facts=False).open(1)
    for a, b in zip(play(told, 3, actions), play(silent, 3, actions), strict=True):
        assert np.array_equal(a.observation["observation"], b.observation["observation"])
        assert b.facts == {} and b.scene is None
    told.close()
    silent.close()


def test_settings_of_picture_actions_and_variables():
    basic = world(
        "doom:basic",
        size=(160, 120),
        frame_skip=2,
        actions={"wait": [], "shoot": ["ATTACK"], "sidestep": ["move_left"]},
        game_variables=["ARMOR"],
    )
    assert basic.info.actions.names == ("wait", "shoot", "sidestep")
    assert basic.info.settings["screen"] == [160, 120]
    assert {"armor", "ammo2"} <= {column.name for column in basic.info.facts}
    lanes = basic.open(1)
    start = lanes.reset(0, seed=1)
    after = [lanes.step({0: 1})[0] for _ in range(12)][-1]
    assert start.observation["observation"].shape == (120, 160, 3)
    assert after.facts["ammo2"] < start.facts["ammo2"]
    with pytest.raises(WorldError, match="There is no action 3; there are 3: wait, shoot, sidestep"):
        lanes.step({0: 3})
    lanes.close()


@pytest.mark.parametrize(
    ("size", "screen"), [((112, 64), [320, 180]), ((84, 84), [320, 256]), ((160, 100), [320, 200]), (None, [320, 240])]
)
def test_the_screen_fits_the_size(size, screen):
    assert world("doom:basic", size=size).info.settings["screen"] == screen


def test_time_limits_are_called_so(tmp_path):
    config = tmp_path / "short.cfg"
    shutil.copy(Path(vizdoom.scenarios_path) / "my_way_home.wad", tmp_path)
    config.write_text(
        "doom_scenario_path = my_way_home.wad\nepisode_timeout = 40\nscreen_resolution = RES_320X240\n"
        "available_buttons = { TURN_LEFT TURN_RIGHT MOVE_FORWARD }\n"
    )
    lanes = world(config).open(1)
    moments = play(lanes, 0, [0] * 50)
    lanes.close()
    assert [m.ended for m in moments[-2:]] == ["", "time limit"]


def test_maps_take_turns_by_seed():
    lanes = world("doom:freedoom2", doom_map=["map01", "map02"], size=(160, 120)).open(1)
    first, second = lanes.reset(0, 0), lanes.reset(0, 1)
    lanes.close()
    assert (first.facts["map"], second.facts["map"]) == ("map01", "map02")
    assert first.scene.walls != second.scene.walls


def test_bad_settings_say_what_would_be_good(tmp_path):
    with pytest.raises(UnknownName, match="Did you mean 'health_gathering_supreme'"):
        world("doom:health_gathering_suprem")
    with pytest.raises(UnknownName, match="Did you mean 'frame_skip'"):
        world("doom:basic", frameskip=4)
    with pytest.raises(UnknownName, match="Did you mean 'TURN_LEFT'"):
        world("doom:basic", actions={"left": ["TURN_LEFFT"]})
    with pytest.raises(UnknownName, match="Did you mean 'ARMOR'"):
        world("doom:basic", game_variables=["ARMOUR"])
    with pytest.raises(UnknownName, match="screen resolution '320x181'"):
        world("doom:basic", resolution="320x181")
    with pytest.raises(WorldError, match="takes an amount"):
        world("doom:basic", actions={"turn": ["TURN_LEFT_RIGHT_DELTA"]})
    with pytest.raises(
        WorldError, match=r"no ViZDoom config at nowhere.cfg. For a bundled scenario write 'doom:nowhere'"
    ):
        world("nowhere.cfg")
    with pytest.raises(WorldError, match="1 or more, not 0"):
        world("doom:basic", frame_skip=0)
    broken = tmp_path / "broken.cfg"
    broken.write_text("doom_scenario_path = missing.wad\navailable_buttons = { ATTACK }\n")
    with pytest.raises(WorldError, match=r"lane 0 failed while it was opened: Doom could not be started.*missing.wad"):
        world(broken).open(1)


def test_an_engine_that_dies_is_a_world_error_and_leaves_nothing():
    game = DoomGame(world("doom:basic").setups)
    pid, folder = game.pid, game._engine.folder
    lanes = ThreadedLanes(lambda lane: game, 1)
    lanes.reset(0, seed=0)
    lanes.step({0: 0})
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(WorldError, match=r"lane 0 failed at step 2: .*ViZDoom"):
        lanes.step({0: 0})
    lanes.close()
    assert not is_running(pid) and not folder.exists()


def test_closing_ends_the_engine():
    game = DoomGame(world("doom:basic").setups)
    pid, folder = game.pid, game._engine.folder
    assert is_running(pid)
    game.close()
    game.close()
    assert not is_running(pid) and not folder.exists()


SCRIPT = """
import sys, time
from innerview.worlds.doom.world import DoomGame, DoomWorld
game = DoomGame(DoomWorld("doom:basic").setups)
game.reset(0)
print(game.pid, game._engine.folder, flush=True)
if sys.argv[1] == "wait":
    time.sleep(600)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, None])
def test_an_engine_does_not_outlive_its_python(how, own_folder):
    command = [sys.executable, "-c", SCRIPT, "wait" if how else "end"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        pid, folder = process.stdout.readline().split()
        if how:
            process.send_signal(how)
        process.wait(60)
    deadline = time.monotonic() + 60
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_running(pid)
    if how:
        left = Path(folder)
        assert left.parent == own_folder
        instance = (left / "instance").read_text()
        assert list(Path("/dev/shm").glob(f"ViZDoom*{instance}"))
        _sweep_now(left)
        assert not list(Path("/dev/shm").glob(f"ViZDoom*{instance}"))
    assert not Path(folder).exists()


def _sweep_now(folder):
    """Sweep as if the folder had been left a while ago."""
    import innerview.worlds.doom.engines as engines

    before, engines.JUST_MADE_S = engines.JUST_MADE_S, 0.0
    try:
        sweep(folder.parent)
    finally:
        engines.JUST_MADE_S = before


def test_sweeping_leaves_running_games_alone(own_folder):
    game = DoomGame(DoomWorld("doom:basic").setups)
    _sweep_now(game._engine.folder)
    assert game._engine.folder.parent == own_folder
    assert game._engine.folder.exists() and game._engine.folder.name.startswith(PREFIX)
    game.reset(0)
    game.close()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere ps is always there")
def test_a_game_is_closed_where_no_other_program_is_installed(monkeypatch, tmp_path):
    game = DoomGame(DoomWorld("doom:basic").setups)
    monkeypatch.setenv("PATH", str(tmp_path))
    game.close()
    assert not game._engine.folder.exists()


class _Told:
    """What ViZDoom tells of one label."""

    def __init__(self, name, category, x):
        self.object_name, self.object_category = name, category
        self.x, self.y, self.width, self.height = 10, 20, 30, 40
        self.object_position_x, self.object_position_y = x, 0.0


def test_labels_leave_out_oneself_and_come_nearest_first():
    labels = [_Told("Imp", "Monster", 30.0), _Told("DoomPlayer", "Self", 0.0), _Told("Clip", "Ammo", 3.0)]
    seen = look_at_labels(labels, x=0.0, y=4.0, scale=(0.5, 0.25))
    assert [thing["name"] for thing in seen] == ["Clip", "Imp"]
    assert (seen[0]["x_px"], seen[0]["y_px"], seen[0]["width_px"], seen[0]["height_px"]) == (5.0, 5.0, 15.0, 10.0)
    assert (seen[0]["distance"], seen[0]["x"], seen[0]["y"]) == (5.0, 3.0, 0.0)


def glimpse(tic, *, damage=0.0, hits=0.0, x=0.0, items=None, count=0.0, **more):
    variables = {"POSITION_X": x, "POSITION_Y": 0.0, "ITEMCOUNT": count, "HITS_TAKEN": hits, "DAMAGE_TAKEN": damage}
    return Glimpse(tic, variables, {} if items is None else items, **more)


@pytest.mark.parametrize(
    ("told", "hits"),
    [
        ([(1, 8, 1), (5, 8, 1), (33, 16, 2), (65, 24, 3)], [False, False, False]),  # floor from the start
        ([(1, 8, 1), (33, 46, 3), (65, 54, 4)], [True, False]),  # poison on the floor's beat
        ([(1, 0, 0), (5, 12, 1), (33, 12, 1), (65, 15, 2)], [True, False, True]),  # shots
        ([(1, 0, 0), (33, 5, 1), (65, 10, 2), (97, 15, 3)], [True, False, False]),  # walks into slime
        ([(1, 8, 1), (33, 8, 1), (65, 8, 1)], [False, False]),  # leaves it
    ],
)
def test_hits_are_reported_from_a_damaging_floor(told, hits):
    teller = FactTracker(("POSITION_X",))
    first, *rest = [glimpse(tic, damage=float(d), hits=float(h)) for tic, d, h in told]
    assert not teller.begin(first)["hit"]
    assert [teller.go_on(now)["hit"] for now in rest] == hits


def test_items_are_picked_up_within_reach_only():
    near, far = {1: ("Clip", 50.0, 0.0)}, {2: ("Medikit", 500.0, 0.0)}
    teller = FactTracker(("POSITION_X",))
    teller.begin(glimpse(1, items={**near, **far}))
    assert not teller.go_on(glimpse(5, x=10.0, items={**near, **far}))["picked_up"]
    facts = teller.go_on(glimpse(9, x=20.0, items=far))
    assert (facts["picked_up"], facts["last_item"]) == (True, "Clip")
    assert not teller.go_on(glimpse(13, x=20.0))["picked_up"]
    assert teller.go_on(glimpse(17, x=20.0, count=1.0))["picked_up"]


def test_what_ends_the_episode_by_being_picked_up_counts():
    teller = FactTracker(("POSITION_X",))
    teller.begin(glimpse(1, items={1: ("GreenArmor", 40.0, 0.0)}))
    end = Glimpse(5, glimpse(5, x=10.0).variables, None, finished=True)
    assert teller.go_on(end)["last_item"] == "GreenArmor"


def test_what_was_picked_up_with_the_last_action_has_its_name():
    """When a time limit or a death ends the episode there is no look at what is left: the game's count tells."""
    for ended in ({}, {"dead": True}):
        teller = FactTracker(("POSITION_X",))
        teller.begin(glimpse(1, items={1: ("GreenArmor", 40.0, 0.0), 2: ("Clip", 55.0, 0.0)}))
        end = Glimpse(5, glimpse(5, x=10.0, count=1.0).variables, None, **ended)
        facts = teller.go_on(end)
        assert (facts["picked_up"], facts["picked_up_item"], facts["last_item"]) == (True, "GreenArmor", "GreenArmor")
    nothing = FactTracker(("POSITION_X",))
    nothing.begin(glimpse(1, items={1: ("GreenArmor", 40.0, 0.0)}))
    assert nothing.go_on(Glimpse(5, glimpse(5, x=10.0).variables, None))["picked_up_item"] == ""


def test_an_engine_folder_keeps_the_users_folder_clean(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lanes = world("doom:basic").open(1)
    lanes.reset(0, 0)
    lanes.close()
    assert list(tmp_path.iterdir()) == []
