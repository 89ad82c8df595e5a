"""The camera that took pictures is recovered by a world that renders: a room whose every ray is known."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import innerview as iv
from innerview.errors import RequestError
from innerview.schema import ActionSpace, ArraySpec, Camera, Column, WorldInfo
from innerview.testing.worlds import CountingWorld

WIDE, LONG, TALL = 6.0, 8.0, 3.0
ROWS, SIZE = 12, 48
TRUE = (0.9, -12.0, 64.0)
START = (1.2, -5.0, 75.0)


class PaintedRoom:
    """A box of 6 × 8 × 3 m whose walls carry waves of colour."""

    info = WorldInfo(name="room", family="test", observations=(), actions=ActionSpace(kind="discrete", names=("stay",)))

    def open(self, lanes: int) -> Any:
        raise NotImplementedError

    def render(self, poses: np.ndarray, camera: Camera) -> tuple[np.ndarray, np.ndarray]:
        assert camera.height_m is not None and camera.pitch_deg is not None
        right = (np.arange(camera.width_px) + 0.5 - camera.centre_px[0]) / camera.focal_px[0]
        up = -(np.arange(camera.height_px) + 0.5 - camera.centre_px[1])[:, None] / camera.focal_px[1]
        pitch = math.radians(camera.pitch_deg)
        ahead, rise = math.cos(pitch) - up * math.sin(pitch), math.sin(pitch) + up * math.cos(pitch)
        colours, depths = [], []
        for x, y, angle in poses.astype(float):
            way = np.stack(
                np.broadcast_arrays(
                    ahead * math.cos(angle) + right * math.sin(angle),
                    ahead * math.sin(angle) - right * math.cos(angle),
                    rise,
                )
            )
            origin = np.array([x, y, camera.height_m])[:, None, None]
            sides = np.where(way > 0, np.array([WIDE, LONG, TALL])[:, None, None], 0.0)
            with np.errstate(divide="ignore", invalid="ignore"):
                depth = np.where(way == 0, np.inf, (sides - origin) / way).min(axis=0)
            hit = origin + depth * way
            waves = 127 + 120 * np.sin(np.stack([hit.sum(0) * 2, hit[0] * 3 + hit[2], hit[1] * 3 - hit[2]], axis=-1))
            colours.append(waves.round().astype(np.uint8))
            depths.append(depth)
        return np.stack(colours), np.stack(depths)


def camera(height: float, pitch: float, fov: float, size: int = SIZE) -> Camera:
    focal = size / 2 / math.tan(math.radians(fov) / 2)
    return Camera(
        width_px=size,
        height_px=size,
        focal_px=(focal, focal),
        centre_px=(size / 2, size / 2),
        height_m=height,
        pitch_deg=pitch,
    )


def study_of(folder: Path, *, depth: bool = True, light: float = 1.0, unknown: int = 0) -> iv.Study:
    rng = np.random.default_rng(3)
    poses = np.stack([rng.uniform(1.5, 4.5, ROWS), rng.uniform(1.5, 6.5, ROWS), rng.uniform(-3, 3, ROWS)], axis=1)
    colours, depth_m = PaintedRoom().render(poses, camera(*TRUE))
    study = iv.Study.create(folder / "room.study")
    picture, plane = ("height", "width", "channel"), ("height", "width")
    specs: list[Column | ArraySpec] = [
        Column(name="x", type="float", unit="m", pose="x"),
        Column(name="y", type="float", unit="m", pose="y"),
        Column(name="angle", type="float", unit="rad", pose="angle"),
        ArraySpec(name="rgb", shape=(SIZE, SIZE, 3), dtype="uint8", role="image", axes=picture, domain="real"),
    ]
    arrays = {"rgb": (colours * light).astype(np.uint8)}
    if depth:
        arrays["depth"] = np.rint(depth_m * 1000).astype(np.uint16)
        specs.append(ArraySpec(name="depth", shape=(SIZE, SIZE), dtype="uint16", axes=plane, domain="real", unit="mm"))
    columns = dict(zip(("x", "y", "angle"), poses.T.copy(), strict=True))
    columns["x"][:unknown] = np.nan
    iv.write_rows(study, "rows", columns=columns, arrays=arrays, specs=specs)
    return study


@pytest.mark.parametrize(("depth", "light"), [(True, 1.0), (False, 0.6)])
def test_height_pitch_and_field_of_view_are_recovered(tmp_path: Path, depth: bool, light: float) -> None:
    study = study_of(tmp_path, depth=depth, light=light)
    found = iv.fit_camera(study, PaintedRoom(), "rows", domain="real", count=4, width=SIZE, progress=False)
    value = found.value
    assert value["depth"] == depth
    recovered = [value["camera"][name] for name in ("height_m", "pitch_deg", "fov_deg")]
    assert recovered == pytest.approx(TRUE, rel=0.05)
    assert value["tested"]["difference"]["high"] < 0
    assert "explains the pictures better" in value["sentence"]
    assert value["tested"]["rows"] == 4


def test_rows_without_a_pose_are_not_used(tmp_path: Path) -> None:
    study = study_of(tmp_path, unknown=9)
    with pytest.raises(RequestError, match="3 rows have a true pose; 4 are needed"):
        iv.fit_camera(study, PaintedRoom(), "rows", domain="real", progress=False)


def test_what_is_asked_wrongly_is_refused(tmp_path: Path) -> None:
    study = study_of(tmp_path)
    with pytest.raises(RequestError, match="does not render views"):
        iv.fit_camera(study, CountingWorld(), "rows", domain="real", progress=False)
    with pytest.raises(RequestError, match="Say which domain's pictures"):
        iv.fit_camera(study, PaintedRoom(), "rows", progress=False)
    with pytest.raises(RequestError, match="from a smaller to a larger number"):
        iv.fit_camera(study, PaintedRoom(), "rows", domain="real", height_m=(2, 1), progress=False)
