"""Lenses of the gap beside what is known of the office: changed pixels, places of pixels, gaps that were switched."""

from __future__ import annotations

from dataclasses import replace

import innerview_zoo as zoo
import numpy as np
import pytest
from innerview_zoo.models.office.blame import blame_planted
from innerview_zoo.worlds.office import (
    Camera,
    Conditions,
    Floor,
    office_floor,
    places_of,
    render,
    rgbd_of,
    sample_poses,
)

import innerview as iv
from innerview.schema import Camera as Intrinsics
from innerview.schema import Column
from innerview.testing.feeds import GivenFeed, fed_rows
from innerview.transfer import distance, occlusion
from innerview.transfer.ground import Gathering, Grid


@pytest.fixture(scope="module")
def floor() -> Floor:
    return office_floor(0)


@pytest.fixture(scope="module")
def subject() -> iv.Subject:
    found: iv.Subject = zoo.load("office_vanilla")[0]
    return found


def auroc(heat: np.ndarray, changed: np.ndarray) -> float:
    """How often a changed pixel has more heat than another; ties count half."""
    _, place, times = np.unique(heat, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(times) - (times - 1) / 2)[place.reshape(heat.shape)]
    yes = changed.sum()
    return float((ranks[changed].sum() - yes * (yes + 1) / 2) / (yes * (changed.size - yes)))


@pytest.mark.parametrize("kind", ["removed", "moved", "recoloured"])
def test_heat_finds_a_planted_change(floor: Floor, subject: iv.Subject, kind: str) -> None:
    poses = sample_poses(floor, 24, seed=9)
    small = render(floor, poses, camera=Camera(size=64)).ids
    named = {thing.id: thing for thing in floor.things if thing.kind not in ("lamp", "rug", "column")}
    views = [
        (p, int(i))
        for p, ids in zip(poses, small, strict=True)
        for i in ids.unique()
        if int(i) in named and 80 < (ids == i).sum() < 800
    ]
    pose, id = views[len(views) // 2]
    thing = named[id]
    painted = replace(
        floor, things=tuple(replace(t, colour="#b03030") if t.id == id else t for t in floor.things), cache={}
    )
    edits = {
        "removed": lambda: floor.without(id),
        "moved": lambda: floor.moved(id, x=thing.x + 0.4),
        "recoloured": lambda: painted,
    }
    frames = [render(each, pose[None]) for each in (floor, edits[kind]())]
    changed = ((frames[0].ids == id) | (frames[1].ids == id))[0].numpy()
    sim, real = (rgbd_of(frame).float() / 255 for frame in frames)
    rows = fed_rows(
        subject,
        {"rgbd": real},
        domains={"sim": GivenFeed(subject, {"rgbd": sim}), "real": GivenFeed(subject, {"rgbd": real})},
        columns={part: pose[None, place].double().numpy() for place, part in enumerate(("x", "y", "angle"))},
        specs={
            p: Column(name=p, type="float", pose=p, unit="rad" if p == "angle" else "m") for p in ("x", "y", "angle")
        },  # type: ignore[arg-type]
    )
    for heat in (distance.look(rows, subject).heat["rgbd"], np.abs(occlusion.look(rows, subject).heat["rgbd"])):
        assert auroc(heat[0, 0], changed) > 0.8


def test_pixels_fall_where_the_office_says_they_are(floor: Floor) -> None:
    poses, camera = sample_poses(floor, 3, seed=4), Camera(size=64)
    depth = render(floor, poses, camera=camera).depth
    known = Intrinsics(
        width_px=64, height_px=64, focal_px=(camera.focal_px,) * 2, centre_px=(32, 32), pitch_deg=camera.pitch_deg
    )
    gathering = Gathering(Grid.over((0, 0), (22, 22), 0.5), known)
    gathering.add(depth.numpy(), poses.numpy())
    at = places_of(depth, poses, camera)[depth > 0].numpy()
    counts, _, _ = np.histogram2d(at[:, 1], at[:, 0], bins=44, range=((0, 22), (0, 22)))
    off = np.abs(gathering.gathered.counts - counts[::-1])
    assert off.sum() <= 0.002 * counts.sum()  # pixels on an edge between two cells


@pytest.mark.parametrize("gap", ["white_balance", "depth_noise", "moved_objects"])
def test_blame_names_the_gap_that_was_switched_on(floor: Floor, subject: iv.Subject, gap: str) -> None:
    poses = sample_poses(floor, 6, seed=8)
    when = replace(Conditions.simulated(), **{gap: 0.7})  # type: ignore[arg-type]
    real = rgbd_of(render(floor, poses, conditions=when)).float() / 255
    names = ("light", "white_balance", "exposure", "depth_noise", "moved_objects")
    found = blame_planted(subject, real, poses, {each: Conditions.real(1).only(each) for each in names}, floor=floor)
    assert found.value["first"] == gap
