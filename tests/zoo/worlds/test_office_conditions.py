"""The stand-in for reality: every gap can be switched on alone, and then changes what it says and nothing else."""

import pytest
import torch
from innerview_zoo.worlds.office import (
    GAPS,
    KINDS,
    Camera,
    Conditions,
    Floor,
    Frame,
    as_real,
    bare_room,
    office_floor,
    render,
)
from innerview_zoo.worlds.office.floors.ways import sample_poses

from innerview.errors import UnknownName, WorldError

CAMERA = Camera(size=96)
TOUCHES = {
    "light": {"rgb"},
    "white_balance": {"rgb"},
    "exposure": {"rgb"},
    "motion_blur": {"rgb"},
    "depth_noise": {"depth"},
    "scan_errors": {"rgb", "depth", "ids"},
    "moved_objects": {"rgb", "depth", "ids"},
    "vanished_objects": {"rgb", "depth", "ids"},
}


@pytest.fixture(scope="module")
def floor() -> Floor:
    return office_floor(0)


@pytest.fixture(scope="module")
def poses(floor: Floor) -> torch.Tensor:
    return sample_poses(floor, 6, seed=21, clearance_m=0.5)


@pytest.fixture(scope="module")
def simulated(floor: Floor, poses: torch.Tensor) -> Frame:
    return render(floor, poses, camera=CAMERA)


def test_every_gap_is_accounted_for() -> None:
    assert set(TOUCHES) == set(GAPS)


@pytest.mark.parametrize("month", [1, 2])
@pytest.mark.parametrize("gap", GAPS)
def test_a_gap_alone_changes_what_it_says(
    floor: Floor, poses: torch.Tensor, simulated: Frame, gap: str, month: int
) -> None:
    frame = render(floor, poses, camera=CAMERA, conditions=Conditions.real(month).only(gap))
    changed = {n for n in ("rgb", "depth", "ids") if not torch.equal(getattr(frame, n), getattr(simulated, n))}
    assert changed == TOUCHES[gap]


def test_without_gaps_it_is_the_simulator(floor: Floor, poses: torch.Tensor, simulated: Frame) -> None:
    frame = render(floor, poses, camera=CAMERA, conditions=Conditions.real(2).without(*GAPS))
    assert torch.equal(frame.rgb, simulated.rgb)
    assert torch.equal(frame.depth, simulated.depth)
    assert as_real(floor, Conditions.simulated()) is floor


def test_the_months_differ(floor: Floor, poses: torch.Tensor) -> None:
    first, second = (render(floor, poses, camera=CAMERA, conditions=Conditions.real(month)) for month in (1, 2))
    assert (first.rgb.float() - second.rgb.float()).abs().mean() > 5
    assert not torch.equal(first.depth, second.depth)


def test_white_balance_leans_to_one_colour(floor: Floor, poses: torch.Tensor, simulated: Frame) -> None:
    warm = render(floor, poses, camera=CAMERA, conditions=Conditions.real(1).only("white_balance")).rgb.float()
    cool = render(floor, poses, camera=CAMERA, conditions=Conditions.real(2).only("white_balance")).rgb.float()
    before = simulated.rgb.float()
    assert warm[:, 2].mean() < 0.9 * before[:, 2].mean()
    assert cool[:, 2].mean() > before[:, 2].mean()
    assert cool[:, 0].mean() < 0.95 * before[:, 0].mean()


def test_exposure_darkens(floor: Floor, poses: torch.Tensor, simulated: Frame) -> None:
    frame = render(floor, poses, camera=CAMERA, conditions=Conditions.real(2).only("exposure"))
    assert frame.rgb.float().mean() < 0.95 * simulated.rgb.float().mean()


def test_motion_smears_sideways_only(floor: Floor, poses: torch.Tensor, simulated: Frame) -> None:
    when = Conditions(month=2, motion_blur=2.0)
    frame = render(floor, poses, camera=CAMERA, conditions=when)
    sharp, smeared = simulated.rgb.float(), frame.rgb.float()
    across = [(image[..., 1:] - image[..., :-1]).abs().mean() for image in (sharp, smeared)]
    down = [(image[..., 1:, :] - image[..., :-1, :]).abs().mean() for image in (sharp, smeared)]
    assert across[1] < 0.75 * across[0]
    assert down[1] > across[1] / across[0] * down[0]


def test_depth_has_noise_that_grows_with_distance_and_ends_at_a_range() -> None:
    room = bare_room(14, 14)
    when = Conditions.real(2).only("depth_noise")
    near, far = (
        render(
            room,
            torch.tensor([[14 - gap, 7.0, 0.0]]),
            camera=Camera(size=128, fov_deg=30, pitch_deg=0.0),
            conditions=when,
        )
        for gap in (1.5, 4.5)
    )
    error = [float((frame.depth[frame.depth > 0] - gap).std()) for frame, gap in ((near, 1.5), (far, 4.5))]
    assert error[1] > 4 * error[0] > 0
    assert (near.depth == 0).any()
    beyond = render(
        room, torch.tensor([[2.0, 7.0, 0.0]]), camera=Camera(size=64, fov_deg=20, pitch_deg=0.0), conditions=when
    )
    assert (beyond.depth == 0).all()


def test_only_loose_things_vanish_or_move(floor: Floor) -> None:
    real = as_real(floor, Conditions.real(2).only("vanished_objects"))
    left = {thing.id for thing in real.things}
    gone = [thing for thing in floor.things if thing.id not in left]
    assert gone
    assert all(KINDS[thing.kind].loose or thing.on for thing in gone)
    moved = as_real(floor, Conditions.real(2).only("moved_objects"))
    elsewhere = [t for t in floor.things if (moved.thing(t.id).x, moved.thing(t.id).y) != (t.x, t.y)]
    assert elsewhere
    assert all(KINDS[thing.kind].loose or thing.on for thing in elsewhere)


def test_scan_errors_are_centimetres(floor: Floor) -> None:
    real = as_real(floor, Conditions.real(2).only("scan_errors"))
    away = [
        max(abs(real.thing(thing.id).x - thing.x), abs(real.thing(thing.id).y - thing.y))
        for thing in floor.things
        if not thing.on
    ]
    assert 0.005 < sum(away) / len(away) < 0.08
    assert max(away) <= 0.0801
    walls = [max(abs(a.x0 - b.x0), abs(a.y0 - b.y0)) for a, b in zip(floor.walls, real.walls, strict=True)]
    assert 0 < max(walls) < 0.12


def test_ids_name_the_same_thing_in_both_domains(floor: Floor) -> None:
    real = as_real(floor, Conditions.real(1))
    assert all(floor.kinds[id] == kind for id, kind in real.kinds.items())


def test_a_weaker_gap_is_a_smaller_one(floor: Floor, poses: torch.Tensor, simulated: Frame) -> None:
    def away(share: float) -> float:
        frame = render(floor, poses, camera=CAMERA, conditions=Conditions(month=1, white_balance=share))
        return float((frame.rgb.float() - simulated.rgb.float()).abs().mean())

    assert 0 < away(0.3) < away(1.0) < away(2.0)


def test_conditions_that_cannot_be_are_refused() -> None:
    with pytest.raises(WorldError, match="month 1 or 2"):
        Conditions(month=3)
    with pytest.raises(WorldError, match="light goes from 0"):
        Conditions(light=-1)
    with pytest.raises(UnknownName, match="Did you mean 'light'"):
        Conditions.real(1).only("lihgt")
    with pytest.raises(UnknownName, match="Did you mean 'exposure'"):
        Conditions.of(exposures=1)
