"""TUM RGB-D folders: rgb.txt and depth.txt name files by time, groundtruth.txt has poses, nearest belong together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from innerview.errors import StoreError
from innerview.schema import Column
from innerview.store.importers.foreign import foreign
from innerview.store.importers.images import ImageFiles, Refused
from innerview.store.importers.pairs.described import Description
from innerview.store.importers.pairs.image_set import ImageSet, array_spec, file_in, some_of
from innerview.store.paths import is_plain_file

DEPTH_UNIT = "0.2 mm"
"""5,000 are a metre."""
NEAR_S = 0.02
"""What is farther apart in time does not belong together."""


@dataclass(frozen=True, kw_only=True)
class _Sequence:
    """One folder: its images, and for each the nearest depth and pose, −1 where none is near."""

    folder: Path
    domain: str
    rgb: list[str]
    time_s: np.ndarray
    depth: list[str]
    depth_of: np.ndarray
    poses: np.ndarray
    """[poses, 7]: tx, ty, tz, qx, qy, qz, qw."""
    pose_of: np.ndarray


def is_tum(folder: Path) -> bool:
    """Whether a folder, or each of the folders in it, has rgb.txt."""
    return bool(_sequences(folder))


def _sequences(folder: Path) -> list[tuple[str, Path]]:
    """Folders with rgb.txt and the domain of each: none where it is the folder itself."""
    if is_plain_file(folder / "rgb.txt"):
        return [("", folder)]
    below = [path for path in sorted(folder.iterdir()) if path.is_dir() and not path.is_symlink()]
    return [(path.name, path) for path in below if is_plain_file(path / "rgb.txt")]


def read_tum(said: Description) -> ImageSet:
    """Rows are images with their depth and pose; several folders are domains, paired by the nearest time."""
    found = [_read(domain, folder) for domain, folder in _sequences(said.folder)]
    if not found:
        raise StoreError(f"'{said.folder.name}' has no rgb.txt, nor has a folder in it.")
    first, remarks = found[0], list[str]()
    rows: dict[str, np.ndarray] = {first.domain: np.arange(len(first.rgb))}
    for other in found[1:]:
        rows[other.domain] = nearest(first.time_s, other.time_s, NEAR_S)
    stay = np.ones(len(first.rgb), bool)
    for sequence in found:
        stay &= _whole(first, sequence, rows[sequence.domain], stay, remarks)
    if not stay.any():
        raise StoreError(f"No image of '{said.folder.name}' has everything. {remarks[0] if remarks else ''}")
    arrays = tuple(array for each in found for array in _arrays(said, each, rows[each.domain][stay]))
    table, columns = _table(found, {domain: places[stay] for domain, places in rows.items()})
    return ImageSet(by="TUM RGB-D", arrays=arrays, table=table, columns=columns, remarks=some_of(remarks))


def nearest(times_s: np.ndarray, others_s: np.ndarray, within_s: float) -> np.ndarray:
    """For each time the place of the nearest other one; −1 where none is that near."""
    if not len(others_s):
        return np.full(len(times_s), -1)
    order = np.argsort(others_s, kind="stable")
    ascending = others_s[order]
    after = np.searchsorted(ascending, times_s).clip(0, len(ascending) - 1)
    before = (after - 1).clip(0)
    closer = np.where(abs(ascending[before] - times_s) <= abs(ascending[after] - times_s), before, after)
    return np.where(abs(ascending[closer] - times_s) <= within_s, order[closer], -1)


def heading_pitch_roll(quaternions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Degrees, of cameras [n, 4] (x, y, z, w) that look along their z axis, with x to the right and y down; z is up.

    Pitch is positive upwards, roll where the right side is lower.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        x, y, z, w = (quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)).T
    ahead = np.stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
    right_z, down_z = 2 * (x * z - w * y), 2 * (y * z + w * x)
    heading = np.degrees(np.arctan2(ahead[1], ahead[0]))
    return heading, np.degrees(np.arcsin(ahead[2].clip(-1, 1))), np.degrees(np.arctan2(-right_z, -down_z))


def _read(domain: str, folder: Path) -> _Sequence:
    rgb, time_s = _files(folder / "rgb.txt")
    depth, depth_s = _files(folder / "depth.txt") if is_plain_file(folder / "depth.txt") else ([], np.zeros(0))
    path = folder / "groundtruth.txt"
    truth = _numbers(path) if is_plain_file(path) else np.zeros((0, 8))
    return _Sequence(
        folder=folder,
        domain=domain,
        rgb=rgb,
        time_s=time_s,
        depth=depth,
        depth_of=nearest(time_s, depth_s, NEAR_S),
        poses=truth[:, 1:],
        pose_of=nearest(time_s, truth[:, 0], NEAR_S),
    )


def _lines(path: Path) -> list[list[str]]:
    with foreign(path, "a list of TUM RGB-D"):
        lines = [line.split() for line in path.read_text("utf-8").splitlines() if line.strip()]
    return [words for words in lines if not words[0].startswith("#")]


def _files(path: Path) -> tuple[list[str], np.ndarray]:
    lines = _lines(path)
    with foreign(path, "a list of TUM RGB-D"):
        times = np.array([float(words[0]) for words in lines])
        return [words[1] for words in lines], times


def _numbers(path: Path) -> np.ndarray:
    lines = _lines(path)
    with foreign(path, "poses of TUM RGB-D"):
        values = np.array([[float(word) for word in words] for words in lines]).reshape(len(lines), -1)
    if len(lines) and values.shape[1] != 8:
        raise StoreError(f"'{path.name}' has {values.shape[1]} numbers a line; time tx ty tz qx qy qz qw are 8.")
    return values.reshape(-1, 8)


def _whole(first: _Sequence, each: _Sequence, places: np.ndarray, stay: np.ndarray, remarks: list[str]) -> np.ndarray:
    """Which rows have everything of a sequence; says why others have not."""
    whole = places >= 0
    without = f"is left out: '{each.domain}' has no image within {NEAR_S:g} s of it."
    remarks += [f"'{first.rgb[row]}' {without}" for row in np.flatnonzero(~whole & stay).tolist()]
    for what, there, of in (("depth", bool(each.depth), each.depth_of), ("pose", len(each.poses) > 0, each.pose_of)):
        if there:
            has = of[places.clip(0)] >= 0
            lost = np.flatnonzero(whole & stay & ~has).tolist()
            without = f"is left out: no {what} is within {NEAR_S:g} s of it."
            remarks += [f"'{each.rgb[places[row]]}' {without}" for row in lost]
            whole &= has
    return whole


def _arrays(said: Description, each: _Sequence, places: np.ndarray) -> list[ImageFiles]:
    prefix = f"{each.domain}." if each.domain else ""
    below = f"{each.folder.relative_to(said.folder).as_posix()}/" if each.domain else ""

    def named(kind: str, names: Sequence[str]) -> ImageFiles:
        files: list[Path | Refused | None] = [file_in(said.folder, below + name) for name in names]
        spec = array_spec(prefix + kind, said)
        return ImageFiles(spec=spec, folder=said.folder, files=files)

    made = [named("rgb", [each.rgb[place] for place in places])]
    if each.depth:
        depth = named("depth", [each.depth[each.depth_of[place]] for place in places])
        unit = depth.spec.unit or DEPTH_UNIT
        made.append(ImageFiles(spec=replace(depth.spec, unit=unit), folder=depth.folder, files=depth.files, grey=True))
    return made


def _table(found: Sequence[_Sequence], rows: dict[str, np.ndarray]) -> tuple[pl.DataFrame, tuple[Column, ...]]:
    """The time of each row, and the pose of each domain."""
    first = found[0]
    table: dict[str, np.ndarray] = {"time": first.time_s[rows[first.domain]]}
    columns = [Column(name="time", type="float", unit="s", description="Of the image.")]
    posed = [each for each in found if len(each.poses)]
    for each in posed:
        of = each.poses[each.pose_of[rows[each.domain]]]
        heading, pitch, roll = heading_pitch_roll(of[:, 3:])
        domain = each.domain if len(posed) > 1 else ""
        values = {"x": of[:, 0], "y": of[:, 1], "z": of[:, 2], "angle": heading, "pitch": pitch, "roll": roll}
        for part, numbers in values.items():
            called = f"{domain}.{part}" if domain else part
            table[called] = numbers
            unit = "m" if part in "xyz" else "deg"
            paired = part if domain else ""
            columns.append(Column(name=called, type="float", unit=unit, pose=part, domain=domain, pair=paired))  # type: ignore[arg-type]
    return pl.DataFrame(table), tuple(columns)
