"""The office's pose networks load through the zoo and know where they are; weights cut short are refused."""

from __future__ import annotations

import math
from pathlib import Path

import innerview_zoo as zoo
import numpy as np
import pytest
import torch
from innerview_zoo.models.office import adapt, evaluate_model, weights_of
from innerview_zoo.models.office.augment import turn_aside
from innerview_zoo.models.office.place import OfficePlace
from innerview_zoo.models.office.pose import PoseNet
from innerview_zoo.models.office.recipes import RECIPES
from innerview_zoo.models.office.score import compare
from innerview_zoo.worlds.office import bare_room
from safetensors.torch import save_file

from innerview.errors import SubjectError, UnknownName

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def seen() -> tuple[torch.Tensor, torch.Tensor]:
    """Simulated pictures at poses of a tour, as bytes, and those poses."""
    place = OfficePlace()
    poses = place.tour(1, 400)[20::45]
    return place.pictures(poses, month=0, device=CPU), poses


@pytest.mark.parametrize("name", RECIPES)
def test_each_knows_where_it_is_in_the_simulation(name: str, seen: tuple[torch.Tensor, torch.Tensor]) -> None:
    subject, world = zoo.load(f"office_{name}")
    pictures, poses = seen
    output = subject.run(subject.inputs({"rgbd": pictures.permute(0, 2, 3, 1).numpy()}))
    found = compare(output.heads["pose"].double(), poses.double())
    assert np.median(found.place_m) < 1.0
    assert np.median(found.heading_deg) < 20
    assert world.info.observations[0].shape == (256, 256, 4)


def test_it_walks_through_its_world() -> None:
    subject, world = zoo.load("office_vanilla")
    lanes = world.open(1)
    moment = lanes.reset(0, 3)
    output = subject.run(subject.inputs({"rgbd": moment.observation["rgbd"][None]}))
    lanes.close()
    told = torch.tensor([[moment.facts[name] for name in ("x", "y", "angle")]])
    assert [(head.name, head.kind, head.names) for head in subject.info.heads] == [
        ("pose", "pose", ("x", "y", "angle"))
    ]
    assert compare(output.heads["pose"].double(), told.double()).place_m[0] < 3


def test_each_model_carries_its_own_normalisation() -> None:
    means = [adapt(name).module.get_buffer("input_mean").tolist() for name in ("vanilla", "augmented", "perlin")]
    assert means[0] != means[1] and means[0] != means[2]


def test_an_unknown_model_and_weights_cut_short_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'vanilla'"):
        adapt("vanila")
    whole = weights_of("vanilla").read_bytes()
    cut = tmp_path / "weights.safetensors"
    cut.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(SubjectError, match="damaged"):
        adapt("vanilla", weights=cut)
    save_file({"conv1.conv.weight": torch.zeros(3)}, cut)
    with pytest.raises(SubjectError, match="another module"):
        adapt("vanilla", weights=cut)


def test_the_weights_are_small_and_of_half_precision() -> None:
    for name in RECIPES:
        assert weights_of(name).stat().st_size <= 2_500_000
    assert sum(p.numel() for p in PoseNet().parameters()) <= 1_200_000


def test_evaluating_prints_a_row_for_each_set() -> None:
    report = evaluate_model("vanilla", 2)
    assert [row[1] for row in report.rows][:3] == [
        "simulated, unseen places",
        "trajectory 1, simulated",
        "trajectory 1, stand-in",
    ]
    assert report.main.unit == "m" and report.main.low <= report.main.value <= report.main.high


def test_turning_a_picture_aside_is_what_turning_the_camera_shows() -> None:
    place = OfficePlace(bare_room())
    poses = torch.tensor([[2.0, 1.5, 0.3], [3.0, 2.0, 2.5]])
    turn = torch.tensor([math.radians(5), math.radians(-4)])
    turned = poses + torch.nn.functional.pad(turn[:, None], (2, 0))
    before, after = (place.pictures(p, month=0, device=CPU).float() / 255 for p in (poses, turned))
    inside = slice(40, 216)  # what was in view both times
    made = turn_aside(before, turn, place.lens)
    wrong = turn_aside(before, -turn, place.lens)
    off, off_wrong = ((x - after)[:, 3, :, inside].abs().mean() for x in (made, wrong))
    assert off < 0.003
    assert off_wrong > 3 * off
