"""Where training pictures are taken, and what is done to them."""

from __future__ import annotations

import math

import pytest
import torch
from innerview_zoo.models.office.augment import perlin, perlin_depth, randomise_light
from innerview_zoo.models.office.data import TURN_M, distance_m, spaced_poses, take

from innerview.errors import WorldError
from tests.zoo.square_room import SquareRoom

CPU = torch.device("cpu")


def drawing(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_distance_counts_place_and_turn_over_the_seam() -> None:
    one, other = torch.tensor([1.0, 2.0, math.pi - 0.1]), torch.tensor([1.3, 2.4, -math.pi + 0.1])
    assert distance_m(one, other).item() == pytest.approx(math.hypot(0.5, TURN_M * 0.2), rel=1e-4)


def test_poses_keep_their_distance_and_come_again_with_the_seed() -> None:
    poses = spaced_poses(SquareRoom(), 3000, seed=1)
    apart = distance_m(poses[:, None], poses[None]).fill_diagonal_(9)
    assert poses.shape == (3000, 3)
    assert apart.min() >= 0.3 - 1e-4
    torch.testing.assert_close(poses, spaced_poses(SquareRoom(), 3000, seed=1))


def test_too_many_poses_are_refused_with_what_fits() -> None:
    with pytest.raises(WorldError, match=r"Only \d+ poses .* not 3000.*fewer"):
        spaced_poses(SquareRoom(), 3000, seed=1, spacing_m=1.5)


def test_pictures_are_taken_bit_by_bit_but_are_the_same() -> None:
    room = SquareRoom()
    poses = room.anywhere(23, 5)
    images = take(room, poses, month=0, device=CPU, keep_on=CPU)
    assert torch.equal(images.rgbd, room.pictures(poses, month=0, device=CPU))
    rgbd, truth = images.batch(torch.tensor([3, 20]), CPU)
    assert rgbd.max() <= 1
    torch.testing.assert_close(truth, poses[[3, 20]])


def test_light_changes_colours_and_leaves_depth() -> None:
    rgbd = torch.rand(4, 4, 32, 32)
    changed = randomise_light(rgbd, drawing())
    assert torch.equal(changed[:, 3], rgbd[:, 3])
    assert changed.min() >= 0 and changed.max() <= 1
    moved = (changed[:, :3] - rgbd[:, :3]).abs().mean((1, 2, 3))
    assert (moved > 0.01).all() and len(moved.unique()) == 4  # each its own
    assert torch.equal(changed, randomise_light(rgbd, drawing()))


def test_perlin_noise_is_smooth_and_zero_at_the_corners() -> None:
    noise = perlin(3, 64, cells=4, generator=drawing())
    assert noise.abs().max() <= 1.0
    assert noise[:, ::16, ::16].abs().max() < 1e-6
    assert (noise[:, 1:] - noise[:, :-1]).abs().max() < 0.3
    assert noise.std() > 0.1


def test_perlin_depth_makes_holes_and_leaves_colours() -> None:
    rgbd = torch.rand(64, 4, 64, 64).clamp_min(0.05)
    changed = perlin_depth(rgbd, drawing())
    assert torch.equal(changed[:, :3], rgbd[:, :3])
    holes = (changed[:, 3] == 0).float().mean((1, 2))
    assert 0.05 < holes.mean() < 0.6
    assert changed[:, 3].max() <= 1
    assert (changed[:, 3] == rgbd[:, 3]).all((1, 2)).any()  # some stay clean
