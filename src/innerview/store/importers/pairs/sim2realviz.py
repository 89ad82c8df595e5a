"""Sim2RealViz's files: the pose stands in the name, x7.393_y0.047_z0.225_r164_rgb.jpeg, and match.csv pairs them.

Real and simulated names are in frames of their own; the truth of a pair is the simulated one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from innerview.errors import StoreError, UnknownName
from innerview.schema import Column
from innerview.store.importers.images import ImageFiles, Refused
from innerview.store.importers.pairs.described import Description
from innerview.store.importers.pairs.image_set import ImageSet, array_spec, file_in, some_of
from innerview.store.importers.tables import read_table
from innerview.store.paths import is_plain_file

_NUMBER = r"(-?\d+(?:\.\d+)?)"
_NAME = re.compile(rf"x{_NUMBER}_y{_NUMBER}_z{_NUMBER}_r{_NUMBER}_(rgb|depth)\.(?:jpe?g|png)", re.IGNORECASE)
_MATCH = "match.csv"
_HEADS = {"real": "REAL_RGB", "sim": "SIM_RGB"}
_UPRIGHT = ("y", "z")
_LEVEL_M = 0.05
"""How much the coordinate that is up may vary."""


@dataclass(frozen=True, kw_only=True)
class _Named:
    """What a name says; the angle in degrees."""

    x: float
    y: float
    z: float
    r: float

    @classmethod
    def read(cls, name: str) -> _Named | None:
        found = _NAME.fullmatch(Path(name).name)
        return cls(**dict(zip("xyzr", map(float, found.groups()[:4]), strict=True))) if found else None


def is_sim2realviz(folder: Path) -> bool:
    """Whether images are called by their pose, in the folder itself or below."""
    return _match_file(folder) is not None or any(_NAME.fullmatch(path.name) for path in folder.iterdir())


def read_sim2realviz(said: Description) -> ImageSet:
    """Pairs as match.csv has them, in its order; without it, every image by itself."""
    path = _match_file(said.folder)
    files = _Files.below(said.folder)
    return _pairs(said, path, files) if path is not None else _images(said, files)


def _match_file(folder: Path) -> Path | None:
    below = (path / _MATCH for path in sorted(folder.iterdir()) if path.is_dir() and not path.is_symlink())
    return next((path for path in (folder / _MATCH, *below) if is_plain_file(path)), None)


@dataclass(frozen=True, kw_only=True)
class _Files:
    """Files that are called by their pose, by name; several folders may have one of the same name."""

    folder: Path
    by_name: Mapping[str, tuple[Path, ...]]

    @classmethod
    def below(cls, folder: Path) -> _Files:
        found: dict[str, tuple[Path, ...]] = {}
        for path in sorted(folder.rglob("*")):
            if _NAME.fullmatch(path.name):
                found[path.name] = (*found.get(path.name, ()), path)
        return cls(folder=folder, by_name=found)

    def find(self, name: str, domain: str) -> Path | Refused:
        """The file of that name; of several the one in a folder that is called as the domain."""
        called = Path(name).name
        there = self.by_name.get(called, ())
        own = [path for path in there if domain in (part.lower() for part in path.relative_to(self.folder).parts[:-1])]
        chosen = own or list(there)
        if len(chosen) != 1:
            where = ", ".join(path.relative_to(self.folder).as_posix() for path in chosen)
            why = f"there are several files of that name: {where}." if chosen else "There is no such file."
            return Refused(name=name, why=why)
        return file_in(self.folder, chosen[0].relative_to(self.folder).as_posix())

    def depth(self, rgb: Path) -> Path | Refused | None:
        """The depth beside an image in colour."""
        stem = rgb.name[: -len(rgb.suffix)].removesuffix("_rgb")
        names = (f"{stem}_depth{suffix}" for suffix in (rgb.suffix, ".png", ".jpeg", ".jpg"))
        there = (rgb.with_name(name) for name in names)
        found = next((path for path in there if path in self.by_name.get(path.name, ())), None)
        return None if found is None else file_in(self.folder, found.relative_to(self.folder).as_posix())


def _pairs(said: Description, path: Path, files: _Files) -> ImageSet:
    table = read_table(path)
    for head in _HEADS.values():
        if head not in table.columns:
            raise UnknownName("column", head, table.columns, f"'{_MATCH}' has REAL_RGB and SIM_RGB.")
    remarks, rows = [], []
    for line, (real, sim) in enumerate(table.select(_HEADS["real"], _HEADS["sim"]).iter_rows()):
        poses = {"real": _Named.read(str(real)), "sim": _Named.read(str(sim))}
        wrong = [name for name, pose in zip((real, sim), poses.values(), strict=True) if pose is None]
        if wrong:
            told = f"'{wrong[0]}' does not say a pose, as x7.393_y0.047_z0.225_r164_rgb.jpeg does"
            remarks.append(f"Line {line + 2} of '{_MATCH}' is left out: {told}.")
        else:
            rows.append((str(real), str(sim), poses["real"], poses["sim"]))
    if not rows:
        raise StoreError(f"'{_MATCH}' pairs nothing. {remarks[0] if remarks else 'It is empty.'}")
    up = _up([sim for *_, sim in rows if sim is not None], said)
    arrays, shown = [], {"real": [row[0] for row in rows], "sim": [row[1] for row in rows]}
    for domain, names in shown.items():
        colour = [files.find(name, domain) for name in names]
        arrays += _arrays(said, files, domain, colour)
    columns: dict[str, list[object]] = {
        "name": [Path(name).name.rpartition("_rgb")[0] for name in shown["sim"]],
        **_poses([sim for *_, sim in rows if sim is not None], up),
    }
    real = [pose for _, _, pose, _ in rows if pose is not None]
    columns |= {
        "odometry x": [p.x for p in real],
        "odometry y": [p.y for p in real],
        "odometry angle": [p.r for p in real],
    }
    own = "In the robot's own frame, as the real image is called."
    more = tuple(
        Column(name=name, type="float", unit=unit, domain="real", description=own)
        for name, unit in (("odometry x", "m"), ("odometry y", "m"), ("odometry angle", "deg"))
    )
    return _image_set(arrays, columns, more, up, remarks, by="Sim2RealViz")


def _images(said: Description, files: _Files) -> ImageSet:
    """Every image in colour, with the depth beside it."""
    names = [path for paths in files.by_name.values() for path in paths if "_rgb." in path.name.lower()]
    poses = [pose for path in names if (pose := _Named.read(path.name)) is not None]
    if not poses:
        raise StoreError(f"'{said.folder.name}' has no image that is called by its pose: x1_y0_z2_r90_rgb.jpeg.")
    up = _up(poses, said)
    colour = [file_in(files.folder, path.relative_to(files.folder).as_posix()) for path in names]
    columns: dict[str, list[object]] = {
        "name": [path.name.rpartition("_rgb")[0] for path in names],
        **_poses(poses, up),
    }
    return _image_set(_arrays(said, files, "", colour), columns, (), up, [], by="images called by their pose")


def _arrays(said: Description, files: _Files, domain: str, colour: list[Path | Refused]) -> list[ImageFiles]:
    prefix = f"{domain}." if domain else ""
    made = [ImageFiles(spec=array_spec(f"{prefix}rgb", said), folder=files.folder, files=colour)]
    depth = [None if isinstance(path, Refused) else files.depth(path) for path in colour]
    if any(path is not None for path in depth):
        nothing = "there is no depth beside it."
        beside = [
            Refused(name=path.name, why=nothing) if far is None else far
            for path, far in zip(colour, depth, strict=True)
        ]
        made.append(ImageFiles(spec=array_spec(f"{prefix}depth", said), folder=files.folder, files=beside, grey=True))
    return made


def _up(poses: Iterable[_Named], said: Description) -> str:
    """Which coordinate is up: said, or the one that stays the same."""
    asked = said.said.get("up", "")
    if asked:
        if asked not in _UPRIGHT:
            raise UnknownName("coordinate", str(asked), _UPRIGHT, "'up' in pairs.json says which one is up.")
        return str(asked)
    found = list(poses)
    spread = {axis: max(getattr(p, axis) for p in found) - min(getattr(p, axis) for p in found) for axis in _UPRIGHT}
    level = [axis for axis in _UPRIGHT if spread[axis] <= _LEVEL_M]
    if len(level) == 1 or (level and len(found) == 1):
        return level[-1]
    raise StoreError(
        f"In the names y varies by {spread['y']:g} m and z by {spread['z']:g} m: nothing says which of them is up. Say "
        'it in pairs.json: {"up": "y"} (as Habitat has it) or {"up": "z"}.'
    )


def _poses(poses: Iterable[_Named], up: str) -> dict[str, list[object]]:
    """x, y and the angle, anticlockwise from x. With y up, y of the floor is −z, and a name's 0° looks along it."""
    found = list(poses)
    if up == "z":
        return {"x": [p.x for p in found], "y": [p.y for p in found], "angle": [_turned(p.r) for p in found]}
    return {"x": [p.x for p in found], "y": [0.0 - p.z for p in found], "angle": [_turned(90 + p.r) for p in found]}


def _turned(angle_deg: float) -> float:
    return math.remainder(angle_deg, 360.0)


def _image_set(
    arrays: list[ImageFiles],
    columns: dict[str, list[object]],
    more: tuple[Column, ...],
    up: str,
    remarks: list[str],
    *,
    by: str,
) -> ImageSet:
    frame = (
        "y of the floor is −z, and an angle of 0 in a name is 90° here"
        if up == "y"
        else "angles are anticlockwise from x"
    )
    said = f"{up} is up in the names{' of the simulated images, which are taken as true' if more else ''}: {frame}."
    described = (
        Column(name="name", type="text", kind="index", description="The file's name without its ending."),
        Column(name="x", type="float", unit="m", pose="x"),
        Column(name="y", type="float", unit="m", pose="y"),
        Column(name="angle", type="float", unit="deg", pose="angle", description="Whole degrees in the names."),
    )
    return ImageSet(
        by=by,
        arrays=tuple(arrays),
        table=pl.DataFrame({name: pl.Series(name, values) for name, values in columns.items()}),
        columns=(*described, *more),
        remarks=(said, *some_of(remarks)),
    )
