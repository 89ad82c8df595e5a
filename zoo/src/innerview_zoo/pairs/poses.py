"""Images and true poses out of any recording that has them, as pose networks are trained and tested on them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from torch import nn

from innerview.errors import RequestError
from innerview.lenses.rows.inputs import RowInputs
from innerview.schema import RecordingInfo, pose_of, units_per
from innerview.schema.binding import DEPTH_RANGE_M, colour_and_depth
from innerview.store import Recording
from innerview.subjects import Subject, subject
from innerview_zoo.models.office import POSE
from innerview_zoo.models.office.augment import Lens
from innerview_zoo.models.office.data import Images
from innerview_zoo.models.office.pose import CHANNELS, SIZE
from innerview_zoo.report import Progress, no_progress

INPUT = "rgbd"
_AT_ONCE = 16


@dataclass(frozen=True, kw_only=True)
class PoseRows:
    """Rows of a recording whose images of a domain and whose true pose are known."""

    recording: Recording
    domain: str
    binding: str
    """What feeds the network, as it is written in `inputs=`."""
    rows: np.ndarray
    poses: torch.Tensor
    """float32 [rows, 3]: metres and radians."""

    @classmethod
    def of(cls, recording: Recording, domain: str | None = None, *, depth_m: float = DEPTH_RANGE_M) -> PoseRows:
        """Those of a domain; of the only one where none is said."""
        side = _domain(recording.info, domain)
        rows, poses = _poses(recording, side)
        binding = _binding(recording.info, side, depth_m)
        return cls(recording=recording, domain=side, binding=binding, rows=rows, poses=poses)

    def chosen(self, count: int, *, seed: int) -> PoseRows:
        """So many of them, drawn by seed, in their order; all where there are no more."""
        if count >= len(self.rows):
            return self
        places = np.sort(np.random.default_rng(seed).permutation(len(self.rows))[:count])
        return self.at(places)

    def at(self, places: np.ndarray) -> PoseRows:
        """Some of them."""
        return PoseRows(
            recording=self.recording,
            domain=self.domain,
            binding=self.binding,
            rows=self.rows[places],
            poses=self.poses[torch.from_numpy(places)],
        )

    def images(self, *, keep_on: torch.device, progress: Progress = no_progress) -> Images:
        """Pictures as bytes, through the same binding that feeds predictions."""
        given = RowInputs(_reader(), self.recording, {INPUT: self.binding})
        kept = torch.empty(len(self.rows), 4, SIZE, SIZE, dtype=torch.uint8, device=keep_on)
        for first in range(0, len(self.rows), _AT_ONCE):
            progress(first, len(self.rows), f"reading {self.domain or 'images'}")
            seen = given.inputs(self.rows[first : first + _AT_ONCE])[INPUT]
            kept[first : first + _AT_ONCE] = seen.mul(255).round().to(torch.uint8).to(keep_on)
        return Images(kept, self.poses.to(keep_on))

    @property
    def lens(self) -> Lens | None:
        """How the camera looks, where that is known: then pictures can be turned aside."""
        key = self.recording.info.scene
        camera = self.recording.scene(key).camera if key else None
        if camera is None or camera.pitch_deg is None or camera.width_px != camera.height_px:
            return None
        focal_px = camera.focal_px[0] * SIZE / camera.width_px
        return Lens(focal_px, math.radians(camera.pitch_deg)) if camera.focal_px[0] == camera.focal_px[1] else None


class _Colours(nn.Module):
    """Takes what a pose network takes, and is quick to adapt."""

    def forward(self, rgbd: torch.Tensor) -> dict[str, torch.Tensor]:
        """The mean colour [n, 3]."""
        return {"pose": rgbd[:, :3].mean((2, 3))}


@cache
def _reader() -> Subject:
    return subject(
        _Colours(), name="reader", example={INPUT: torch.zeros(1, CHANNELS, SIZE, SIZE)}, heads={"pose": POSE}
    )


def domains_of(info: RecordingInfo) -> tuple[str, ...]:
    """Domains with images in colour and of depth, in their order; "" stands for arrays without one."""
    known = dict.fromkeys(array.domain for array in info.arrays)
    return tuple(d for d in known if colour_and_depth(array for array in info.arrays if array.domain == d))


def _domain(info: RecordingInfo, asked: str | None) -> str:
    known = domains_of(info)
    if asked is None and len(known) == 1:
        return known[0]
    if asked not in known:
        told = ", ".join(known) or "none"
        wrong = f"'{asked}' has no" if asked is not None else "It is not said which has the"
        raise RequestError(
            f"{wrong} pictures in colour and of depth of '{info.name}' to be used. Domains that have both: {told}. "
            "Depth needs a unit of length: import it with --unit depth=mm."
        )
    return asked


def _binding(info: RecordingInfo, domain: str, depth_m: float) -> str:
    pair = colour_and_depth(array for array in info.arrays if array.domain == domain)
    assert pair is not None
    resized = ["" if array.shape[:2] == (SIZE, SIZE) else f" | resize {SIZE}x{SIZE}" for array in pair]
    return f"{pair[0].name}{resized[0]} + {pair[1].name}{resized[1]} | depth {depth_m:g}"


def _poses(recording: Recording, domain: str) -> tuple[np.ndarray, torch.Tensor]:
    pose = pose_of(recording.info.columns, {domain} - {""})
    metres = units_per(pose.unit, "m") if pose.unit else None
    if not pose.placed or not pose.directed or metres is None:
        raise RequestError(
            f"'{recording.name}' does not say where its images were taken: columns x and y with a unit such as m, and "
            "an angle in deg or rad. Import it with --unit x=m --unit y=m --unit angle=deg."
        )
    table = recording.columns([*pose.placed, pose.angle])
    values = np.stack([table[name].cast(float).fill_null(np.nan).to_numpy() for name in table.columns], axis=1)
    rows = np.flatnonzero(np.isfinite(values).all(axis=1))
    assert pose.angle_deg is not None
    values = values[rows] * np.array([metres, metres, math.radians(pose.angle_deg)])
    return rows, torch.from_numpy(values.astype(np.float32))
