"""The case studies on the office, on a few pairs; and the camera of the office recovered from its pictures."""

from __future__ import annotations

from pathlib import Path

import innerview_zoo as zoo
import numpy as np
import pytest
import torch
from innerview_zoo.pairs import cases
from innerview_zoo.worlds.office import Camera, Conditions, office_floor, render, sample_poses
from innerview_zoo.worlds.office.tour import TourWorld

import innerview as iv
from innerview.errors import WorldError
from innerview.schema import ArraySpec, Column
from innerview.schema import Camera as Intrinsics
from innerview.worlds import Renderer


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> iv.Study:
    return iv.Study.create(tmp_path_factory.mktemp("cases") / "office.study")


def test_the_page_says_what_is_measured(study: iv.Study) -> None:
    found = cases.measured(study, count=4, models=("office_vanilla",), budget=8)
    text = cases.page(found)
    (black,) = found.black
    assert black.differs == 0
    assert "Each says one and the same of every row." in text
    # By hand: the network on pictures of nothing but zeros.
    subject, _ = zoo.load("office_vanilla")
    with torch.no_grad():
        said = subject.module(torch.zeros(1, 4, 256, 256))["pose"][0].numpy()
    np.testing.assert_allclose(black.said, said, atol=1e-4)
    assert f"{said[0]:.2f}, {said[1]:.2f}" in text
    gap = found.gaps[0].value["models"][0]["place"]["median"]["gap"]
    assert f"{gap['value']:.2f} ({gap['low']:.2f} to {gap['high']:.2f})" in text
    brighter = found.brighter.value["models"][-1]
    assert brighter["filter"] == "brightness 1.6"
    assert f"{brighter['place']['mean']['other']['value']:.2f} (" in text
    assert found.found[0].value["sentence"] in text
    assert "removes a bike" in text


def test_the_office_renders_for_other_cameras() -> None:
    world = TourWorld()
    assert isinstance(world, Renderer)
    poses = sample_poses(office_floor(0), 2, seed=1)
    shot = Camera(size=(48, 32), height_m=1.0, pitch_deg=-8, fov_deg=60)
    given = Intrinsics(
        width_px=48, height_px=32, focal_px=(shot.focal_px,) * 2, centre_px=(24, 16), height_m=1.0, pitch_deg=-8
    )
    colours, depth = world.render(poses.numpy(), given)
    frame = render(office_floor(0), poses, camera=shot)
    assert np.array_equal(colours, frame.rgb.permute(0, 2, 3, 1).numpy())
    np.testing.assert_allclose(depth, frame.depth.numpy(), atol=1e-5)
    with pytest.raises(WorldError, match="known height and pitch"):
        world.render(poses.numpy(), Intrinsics(width_px=8, height_px=8, focal_px=(8, 8), centre_px=(4, 4)))


def test_the_camera_is_recovered_to_five_per_cent_with_every_gap_switched_on(tmp_path: Path) -> None:
    true = Camera(size=64, height_m=0.95, pitch_deg=-9, fov_deg=66)
    poses = sample_poses(office_floor(0), 8, seed=4)
    frame = render(office_floor(0), poses, camera=true, conditions=Conditions.real(1))
    made = iv.Study.create(tmp_path / "camera.study")
    axes = ("height", "width", "channel")
    iv.write_rows(
        made,
        "real",
        columns=dict(zip(("x", "y", "angle"), poses.numpy().astype(float).T, strict=True)),
        arrays={
            "rgb": frame.rgb.permute(0, 2, 3, 1).numpy(),
            "depth": np.rint(frame.depth.numpy() * 1000).astype(np.uint16),
        },
        specs=[
            Column(name="x", type="float", unit="m", pose="x"),
            Column(name="y", type="float", unit="m", pose="y"),
            Column(name="angle", type="float", unit="rad", pose="angle"),
            ArraySpec(name="rgb", shape=(64, 64, 3), dtype="uint8", role="image", axes=axes, domain="real"),
            ArraySpec(name="depth", shape=(64, 64), dtype="uint16", axes=axes[:2], domain="real", unit="mm"),
        ],
    )
    found = iv.fit_camera(made, TourWorld(), "real", domain="real", count=4, width=32, budget=140, progress=False).value
    recovered = [found["camera"][name] for name in ("height_m", "pitch_deg", "fov_deg")]
    assert recovered == pytest.approx([true.height_m, true.pitch_deg, true.fov_deg], rel=0.05)
    assert found["tested"]["difference"]["high"] < 0
