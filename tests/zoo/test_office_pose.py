"""The pose network's sizes, its loss and what is kept of it."""

from __future__ import annotations

import math

import pytest
import torch
from innerview_zoo.models.office.pose import GAMMA, PoseNet, folded, pose_loss, wrapped


def unit(angle_deg: float) -> torch.Tensor:
    angle = math.radians(angle_deg)
    return torch.tensor([[math.cos(angle), math.sin(angle)]])


def test_it_is_small_and_gives_metres_and_radians() -> None:
    net = PoseNet().eval()
    assert sum(p.numel() for p in net.parameters()) <= 1_200_000
    with torch.no_grad():
        pose = net(torch.rand(2, 4, 256, 256))["pose"]
    assert pose.shape == (2, 3)
    assert (pose[:, 2].abs() <= math.pi).all()


def test_an_angle_just_over_the_seam_is_a_small_error() -> None:
    place = torch.zeros(1, 2)
    truth = torch.tensor([[0.0, 0.0, math.radians(-179.0)]])
    assert pose_loss(place, unit(179.0), truth).item() == pytest.approx(GAMMA * math.radians(2), rel=1e-4)


@pytest.mark.parametrize(("angle", "same"), [(0.0, 0.0), (3 * math.pi / 2, -math.pi / 2), (-7.0, -7.0 + 2 * math.pi)])
def test_wrapping(angle: float, same: float) -> None:
    assert wrapped(torch.tensor(angle)).item() == pytest.approx(same, abs=1e-6)


def test_the_loss_is_the_weighted_squared_distance_and_the_angle() -> None:
    place = torch.tensor([[3.0, 4.0]])
    truth = torch.tensor([[0.0, 0.0, 0.0]])
    found = pose_loss(place, unit(90.0), truth).item()
    assert found == pytest.approx(0.7 * 25 + 0.3 * math.pi / 2, rel=1e-5)


def test_a_larger_unit_leaves_the_heading_as_it_is() -> None:
    place, truth = torch.tensor([[3.0, 4.0]]), torch.zeros(1, 3)
    found = pose_loss(place, unit(90.0), truth, unit_m=5.0).item()
    assert found == pytest.approx(0.7 * 1 + 0.3 * math.pi / 2, rel=1e-5)


def test_the_gradient_turns_the_heading_the_short_way() -> None:
    heading = unit(170.0).requires_grad_()
    truth = torch.tensor([[0.0, 0.0, math.radians(-170.0)]])
    pose_loss(torch.zeros(1, 2), heading, truth).backward()
    assert heading.grad is not None
    better = heading.detach() - 0.01 * heading.grad
    assert math.degrees(math.atan2(better[0, 1], better[0, 0])) > 170.0


def test_the_plain_network_computes_what_the_trained_one_does() -> None:
    torch.manual_seed(0)
    trained = PoseNet(norm=True)
    trained.normalise(torch.rand(8, 4, 16, 16), 20 * torch.rand(8, 2))
    images = torch.rand(6, 4, 256, 256)
    with torch.no_grad():
        for _ in range(3):
            trained(images)
        trained.eval()
        plain = folded(trained)
        torch.testing.assert_close(plain(images)["pose"], trained(images)["pose"], atol=1e-3, rtol=1e-3)
    assert not any("norm" in name for name, _ in plain.named_modules())


def test_a_model_carries_its_own_normalisation() -> None:
    net = PoseNet()
    seen = torch.rand(16, 4, 32, 32) * torch.tensor([1.0, 0.5, 0.25, 0.1]).view(1, 4, 1, 1)
    net.normalise(seen, torch.tensor([[2.0, 4.0], [6.0, 12.0]]))
    kept = net.state_dict()
    torch.testing.assert_close(kept["input_mean"], torch.tensor([0.5, 0.25, 0.125, 0.05]), atol=0.01, rtol=0.1)
    torch.testing.assert_close(kept["centre_m"], torch.tensor([4.0, 8.0]))
