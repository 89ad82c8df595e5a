"""What the pose networks are trained and tested on: places in the office, and the pictures taken there."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from innerview.errors import WorldError
from innerview_zoo.models.office.augment import Lens
from innerview_zoo.models.office.pose import CHANNELS, SIZE, wrapped

SPACING_M = 0.3
"""Two training pictures are at least this far apart."""
TURN_M = 2.5
"""What a turn by one radian counts for in that distance: it moves what is 2.5 m away by 2.5 m."""
FIRST_TEST_SEED = 1_000_000_000
"""Training draws its places from seeds below."""
_CANDIDATES = 16_384
_AT_ONCE = 2048  # compared with each other
_PATIENCE = 3  # rounds of candidates in a row without one that fits


class Place(Protocol):
    """Somewhere pictures can be taken."""

    @property
    def lens(self) -> Lens | None:
        """How its camera looks; None if that is no pinhole."""

    def anywhere(self, count: int, seed: int) -> Tensor:
        """Poses [count, 3] in free space: x, y in metres and heading in radians."""

    def tour(self, which: int, count: int) -> Tensor:
        """Poses [count, 3] along a robot's way; there are two ways."""

    def pictures(self, poses: Tensor, *, month: int, device: torch.device) -> Tensor:
        """Bytes [n, 4, 256, 256]; month 0 is the simulation, 1 and 2 are the stand-in for reality."""


@dataclass(frozen=True)
class Images:
    """Pictures and where they were taken."""

    rgbd: Tensor
    """uint8 [n, 4, 256, 256]: red, green, blue, depth."""
    poses: Tensor
    """float32 [n, 3]: x, y in metres and heading in radians."""

    def __len__(self) -> int:
        return len(self.poses)

    def batch(self, rows: Tensor, device: torch.device) -> tuple[Tensor, Tensor]:
        """Pictures in 0 to 1 [k, 4, 256, 256] and poses [k, 3] of these rows."""
        rows = rows.to(self.rgbd.device)
        rgbd = self.rgbd[rows].to(device, non_blocking=True).float().div_(255.0)
        return rgbd, self.poses[rows].to(device)


def distance_m(one: Tensor, other: Tensor) -> Tensor:
    """How far poses [..., 3] are apart over place and heading: √(Δx² + Δy² + (2.5 m/rad · Δα)²), Δα wrapped."""
    turn = TURN_M * wrapped(one[..., 2] - other[..., 2])
    return ((one[..., :2] - other[..., :2]).square().sum(-1) + turn.square()).sqrt()


def spaced_poses(place: Place, count: int, *, seed: int, spacing_m: float = SPACING_M) -> Tensor:
    """Poses [count, 3] drawn anywhere, each at least `spacing_m` from all before it."""
    grid, kept = _Grid(spacing_m), list[Tensor]()
    found = empty = turn = 0
    while empty < _PATIENCE:
        drawn = place.anywhere(_CANDIDATES, seed + turn).double().cpu()
        drawn[:, 2] = wrapped(drawn[:, 2])
        free = drawn[~grid.taken(drawn)][:_AT_ONCE]
        fresh = free[_far_from_earlier(free, spacing_m)][: count - found]
        grid.add(fresh)
        kept.append(fresh)
        found, turn = found + len(fresh), turn + 1
        empty = 0 if len(fresh) else empty + 1
        if found >= count:
            return torch.cat(kept).float()
    raise WorldError(
        f"Only {found} poses were found that are {spacing_m} m apart (a turn counts {TURN_M} m a radian), not {count}. "
        "Ask for fewer images or a smaller spacing."
    )


def _far_from_earlier(poses: Tensor, spacing_m: float) -> Tensor:
    near = distance_m(poses[:, None], poses[None]) < spacing_m
    return ~near.tril(-1).any(1)


class _Grid:
    """Boxes over x, y and heading, so small that two poses in one box would be too near each other."""

    def __init__(self, spacing_m: float, extent_m: float = 64.0) -> None:
        self.spacing_m = spacing_m
        self.side_m = spacing_m / math.sqrt(3) * 0.999
        self.across = math.ceil(extent_m / self.side_m)
        self.around = math.ceil(2 * math.pi * TURN_M / self.side_m)
        self.poses = torch.zeros(0, 3, dtype=torch.float64)
        self.keys = torch.zeros(0, dtype=torch.int64)
        self.order = torch.zeros(0, dtype=torch.int64)
        reach = torch.arange(-2, 3)
        self.around_box = torch.cartesian_prod(reach, reach, reach)

    def taken(self, poses: Tensor) -> Tensor:
        """Whether a pose is too near to one that was added [n]."""
        if not len(self.poses):
            return torch.zeros(len(poses), dtype=torch.bool)
        keys = self._keys(self._box(poses)[:, None] + self.around_box[None])
        at = torch.searchsorted(self.keys, keys).clamp_max(len(self.poses) - 1)
        row, _ = there = (self.keys[at] == keys).nonzero(as_tuple=True)
        near = distance_m(poses[row], self.poses[self.order[at[there]]]) < self.spacing_m
        taken = torch.zeros(len(poses), dtype=torch.bool)
        taken[row[near]] = True
        return taken

    def add(self, poses: Tensor) -> None:
        """Remember poses that are not taken."""
        self.poses = torch.cat((self.poses, poses))
        self.keys, self.order = self._keys(self._box(self.poses)).sort()

    def _box(self, poses: Tensor) -> Tensor:
        turn = (poses[:, 2:] + math.pi) / (2 * math.pi) * self.around
        return torch.cat((poses[:, :2] / self.side_m, turn), 1).floor().long()

    def _keys(self, box: Tensor) -> Tensor:
        x, y, turn = box.unbind(-1)
        return ((x + 2) * (self.across + 4) + y + 2) * self.around + turn % self.around


def take(place: Place, poses: Tensor, *, month: int, device: torch.device, keep_on: torch.device) -> Images:
    """Pictures at these poses, rendered bit by bit on one device and kept on one."""
    kept = torch.empty(len(poses), CHANNELS, SIZE, SIZE, dtype=torch.uint8, device=keep_on)
    chunk = 250 if device.type == "cuda" else 10
    for first in range(0, len(poses), chunk):
        part = slice(first, first + chunk)
        kept[part] = place.pictures(poses[part], month=month, device=device).to(keep_on)
    return Images(kept, poses.to(keep_on))
