"""The office as a place where pictures are taken."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from innerview_zoo.models.office.augment import Lens
from innerview_zoo.models.office.pose import SIZE
from innerview_zoo.worlds.office import (
    Camera,
    Conditions,
    Floor,
    office_floor,
    render,
    rgbd_of,
    sample_poses,
    trajectory,
)


class OfficePlace:
    """The standard floor, simulated or as its stand-in for reality."""

    def __init__(self, floor: Floor | None = None) -> None:
        self.floor = floor or office_floor(seed=0)
        self.camera = Camera(size=SIZE)
        self.lens = Lens(self.camera.focal_px, math.radians(self.camera.pitch_deg))

    def anywhere(self, count: int, seed: int) -> Tensor:
        """Poses [count, 3] in free space."""
        return sample_poses(self.floor, count, seed=seed)

    def tour(self, which: int, count: int) -> Tensor:
        """Poses [count, 3] along trajectory 1 or 2."""
        return trajectory(self.floor, which, count=count)

    def pictures(self, poses: Tensor, *, month: int, device: torch.device) -> Tensor:
        """Bytes [n, 4, 256, 256], as the world "office:tour" shows them; month 0 is the simulation."""
        conditions = Conditions.real(month=month) if month else Conditions.simulated()
        return rgbd_of(render(self.floor, poses, camera=self.camera, conditions=conditions, device=device))
