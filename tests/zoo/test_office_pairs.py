"""Paired pictures of the office: what is recorded is what is rendered, and networks say of it what they say by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import innerview_zoo as zoo
import numpy as np
import pytest
import torch
from innerview_zoo.worlds.office import Camera, Conditions, office_floor, render, rgbd_of

import innerview as iv
from innerview.errors import UnknownName, WorldError
from innerview.lenses.rows.inputs import RowInputs

ROWS = 4
SIGHTS = {"sim": Conditions.simulated(), "real": Conditions.real(1)}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> iv.Study:
    made = iv.Study.create(tmp_path_factory.mktemp("pairs") / "office.study")
    zoo.office_pairs(made, ROWS, which="anywhere", seed=2)
    return made


def poses_of(study: iv.Study) -> np.ndarray:
    return study.recording("office").columns(["x", "y", "angle"]).to_numpy().astype(np.float32)


@pytest.mark.parametrize("domain", SIGHTS)
def test_rows_hold_what_is_rendered_at_their_pose(study: iv.Study, domain: str) -> None:
    recording = study.recording("office")
    frame = render(office_floor(0), poses_of(study), camera=Camera(size=256), conditions=SIGHTS[domain])
    colour, far, ids = (recording.array(f"{domain}.{kind}", 0, ROWS) for kind in ("rgb", "depth", "ids"))
    assert np.array_equal(colour, frame.rgb.permute(0, 2, 3, 1).numpy())
    assert np.array_equal(ids, frame.ids.numpy())
    assert far.dtype == np.uint16 and np.abs(far / 1000 - frame.depth.numpy()).max() <= 0.00051
    assert ((far == 0) == (frame.depth.numpy() == 0)).all()


@pytest.mark.parametrize("domain", SIGHTS)
def test_networks_predict_through_the_recording_what_they_say_by_hand(study: iv.Study, domain: str) -> None:
    subject, _ = zoo.load("office_vanilla")
    made = iv.predict(study, subject, "office", inputs={"rgbd": domain}, progress=False)
    assert str(made.binding) == f"rgbd ← {domain}.rgb + {domain}.depth | depth 10"
    frame = render(office_floor(0), poses_of(study), camera=Camera(size=256), conditions=SIGHTS[domain])
    given = rgbd_of(frame).float() / 255
    with torch.no_grad():
        by_hand = subject.module(given)["pose"].numpy()
    # The zoo keeps depth in steps of 39 mm, the recording in steps of 1 mm.
    assert np.abs(made.array("head.pose", 0, ROWS) - by_hand).max() < 0.05
    fed = RowInputs(subject, study.recording("office"), {"rgbd": domain}).inputs(np.arange(ROWS))["rgbd"]
    assert torch.equal(fed[:, :3], given[:, :3])
    assert (fed[:, 3] - given[:, 3]).abs().max() <= 0.5 / 255 + 1e-4
    assert bool((fed[:, 3][frame.depth == 0] == 0).all())
    with torch.no_grad():
        exact = subject.module(fed)["pose"].numpy()
    assert np.abs(made.array("head.pose", 0, ROWS) - exact).max() < 1e-4


def test_a_lens_looks_through_the_same_binding(study: iv.Study) -> None:
    subject, _ = zoo.load("office_vanilla")
    asked = {"subject": subject, "inputs": {"rgbd": "real"}, "rows": (0, 1), "progress": False}
    result = iv.look(study, "gradient", "office", target="x of pose", **asked)
    given = RowInputs(subject, study.recording("office"), {"rgbd": "real"}).inputs(np.arange(1))["rgbd"]
    given.requires_grad_(True)
    (by_hand,) = torch.autograd.grad(subject.module(given)["pose"][0, 0], given)
    heat = study.result_array(result.id, "heat.rgbd", 0, 1)
    assert heat.shape == (1, 4, 256, 256)
    np.testing.assert_allclose(heat, by_hand.numpy(), rtol=1e-3, atol=1e-6)


def test_black_and_white_of_a_joined_input_are_the_ends_of_what_it_takes(study: iv.Study) -> None:
    subject, _ = zoo.load("office_vanilla")
    ends = RowInputs(subject, study.recording("office"), {"rgbd": "sim"}).extremes()
    black, white = ends["rgbd"]
    assert bool((black == 0).all()) and bool((white == 1).all()) and white.shape == (4, 256, 256)


def test_the_map_has_rooms_and_the_camera_that_took_the_pictures(study: iv.Study) -> None:
    recording = study.recording("office")
    scene = recording.scene(recording.info.scene)
    camera = Camera(size=256)
    assert scene.camera is not None and scene.image is not None
    assert scene.camera.focal_px == (camera.focal_px, camera.focal_px)
    assert (scene.camera.height_m, scene.camera.pitch_deg) == (1.2, -5.0)
    assert {area.name for area in scene.polygons} == {room.name for room in office_floor(0).rooms}
    assert (scene.image.width_px, scene.image.height_px, scene.image.scale) == (440, 440, 0.05)
    named = {spec.name: (spec.domain, spec.pair, spec.unit) for spec in recording.info.arrays}
    assert named["real.depth"] == ("real", "depth", "mm") and named["sim.rgb"] == ("sim", "rgb", "")


def test_each_row_says_which_gaps_were_planted_in_it(tmp_path: Path) -> None:
    study = iv.Study.create(tmp_path / "s.study")
    light, plain = Conditions.real().only("light"), Conditions.simulated()
    floor = office_floor(0)
    bike = floor.of_kind("bike")[0]
    bare = floor.without(*(thing.id for thing in floor.of_kind("plant"))).moved(bike.id, angle=1.0)
    zoo.office_pairs(study, 3, conditions=[light, plain, plain], real_floor=[floor, floor, bare], size=32)
    recording = study.recording("office")
    table = recording.columns(["planted", "light", "room"])
    plants = len(floor.of_kind("plant"))
    assert table["planted"].to_list() == ["light", "none", f"moved bike, removed {plants} × plant"]
    assert table["light"].to_list() == [1.0, 0.0, 0.0]
    sim, real = recording.array("sim.rgb", 0, 3), recording.array("real.rgb", 0, 3)
    assert not np.array_equal(sim[0], real[0]) and np.array_equal(sim[1], real[1])
    poses = recording.columns(["x", "y", "angle"]).to_numpy().astype(np.float32)
    seen = render(bare, poses[2:], camera=Camera(size=32)).rgb[0].permute(1, 2, 0).numpy()
    assert np.array_equal(real[2], seen)


def test_the_command_writes_a_trajectory(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from innerview.cli.app import app

    told = CliRunner().invoke(
        app,
        ["zoo", "pairs", str(tmp_path / "s.study"), "--count", "2", "--size", "16", "--which", "2", "--gap", "light"],
    )
    assert told.exit_code == 0, told.output
    info = iv.Study.open(tmp_path / "s.study").recording("office").info
    assert info.origin.source == "trajectory 2" and [c.name for c in info.columns][-1] == "light"


def test_what_cannot_be_rendered_is_refused(tmp_path: Path) -> None:
    study = iv.Study.create(tmp_path / "s.study")
    with pytest.raises(WorldError, match="1 or more"):
        zoo.office_pairs(study, 0)
    with pytest.raises(UnknownName, match="anywhere"):
        zoo.office_pairs(study, 1, which="anywere")
    with pytest.raises(WorldError, match="has 2 entries for 3 pairs"):
        zoo.office_pairs(study, 3, conditions=[replace(Conditions.real(), month=2)] * 2)
    with pytest.raises(WorldError, match=r"poses are \[2, 3\]"):
        zoo.office_pairs(study, 2, poses=np.zeros((3, 3)))
