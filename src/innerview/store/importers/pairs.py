"""A folder of images, paired by name: a folder a kind of image, a table of poses, a map; see docs/imports.md."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar, get_args

import polars as pl

from innerview.errors import StoreError, UnknownName
from innerview.schema import (
    ArraySpec,
    Camera,
    Column,
    ImportedFrom,
    MapImage,
    Origin,
    Polygon,
    PosePart,
    RecordingInfo,
    RowKind,
    Scene,
    with_foreign_poses,
)
from innerview.store.files import parsed_json, read_plain
from innerview.store.importers.foreign import picture_bytes
from innerview.store.importers.images import SUFFIXES, UNSAID, ImageFiles, paired, whole_rows
from innerview.store.importers.tables import read_table, split_units
from innerview.store.paths import checked_name, is_plain_file
from innerview.store.recordings.arrays.encoded import check_picture
from innerview.store.recordings.bulk import column_spec, write_table
from innerview.store.recordings.scenes import map_name, scene_key
from innerview.store.recordings.tables import parquet_bytes
from innerview.store.study import Study

_NAMES = ("name", "file", "image", "stem")
_DECLARED = ("domain", "pair", "unit", "label")
_DECLARED_OF_COLUMNS = (*_DECLARED, "pose")
Described = TypeVar("Described", Column, ArraySpec)


@dataclass(frozen=True, kw_only=True)
class Ground:
    """The map that all rows lie on."""

    scene: Scene | None
    picture: bytes = b""


def import_pairs(
    study: Study, path: Path | str, *, name: str | None = None, units: Mapping[str, str] | None = None
) -> tuple[str, tuple[str, ...]]:
    """Make a recording of a folder of images; gives its name and what has to be said about it.

    Rows are the names that every folder of images has. `units` gives the unit of a kind of image: {"depth": "mm"}.
    """
    folder = Path(path)
    described = _described(folder)
    found = _image_folders(folder)
    if not found:
        raise StoreError(f"'{folder}' holds no folders of images ({', '.join(SUFFIXES)}).")
    stems = sorted(set.intersection(*(set(files) for files in found.values())))
    remarks = [
        f"'{array.replace('.', '/')}' has {len(files) - len(stems)} images without a partner; they are left out."
        for array, files in found.items()
        if len(files) > len(stems)
    ]
    if not stems:
        raise StoreError(f"No name of an image is in all of {', '.join(found)}: nothing is paired.")
    known, said = {**described.get("units", {}), **(units or {})}, described.get("arrays", {})
    whole = whole_rows(
        [ImageFiles(spec=_spec(n, known), folder=folder, files=[files[s] for s in stems]) for n, files in found.items()]
    )
    arrays = tuple(_declared(spec, said) for spec in _sides(whole.arrays))
    table, columns, doubled = _poses(folder, [stems[row] for row in whole.rows.tolist()], described.get("columns", {}))
    ground = _ground(folder, described)
    info = RecordingInfo(
        name=checked_name("recording", name or folder.resolve().name),
        origin=Origin(kind="imported", by="folder of images", source=folder.name),
        row=RowKind(one="pair", many="pairs") if len(found) > 1 else RowKind(one="image", many="images"),
        columns=columns,
        arrays=arrays,
        scene=scene_key(ground.scene) if ground.scene else "",
        arguments=ImportedFrom(files=(folder.name,), content=hashlib.sha256(parquet_bytes(table)).hexdigest()),
    )
    scenes = ((ground.scene, ground.picture),) if ground.scene else ()
    write_table(study, info, table, whole.read, heights={}, scenes=scenes)
    return info.name, (*remarks, *doubled, *whole.remarks)


def _described(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        raise StoreError(f"There is no folder '{folder}'.")
    path = folder / "pairs.json"
    value = parsed_json(read_plain(path), "'pairs.json'") if is_plain_file(path) else {}
    if not isinstance(value, dict):
        raise StoreError("'pairs.json' holds an object with units, map, polygons and camera.")
    for part in ("units", "arrays", "columns", "map", "polygons"):
        if not isinstance(value.get(part, {}), dict):
            raise StoreError(f"'{part}' in 'pairs.json' should be an object, not {value[part]!r:.60}.")
    return value


def _image_folders(folder: Path) -> dict[str, dict[str, Path]]:
    """Images by stem, by name of the array: the folder's path with points."""
    found: dict[str, dict[str, Path]] = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in SUFFIXES and path.parent != folder and is_plain_file(path):
            name = ".".join(path.parent.relative_to(folder).parts)
            files = found.setdefault(name, {})
            if path.stem in files:
                raise StoreError(
                    f"'{name.replace('.', '/')}' has two images of the same name: {files[path.stem].name} and "
                    f"{path.name}. A row takes one of each folder: give them different names, or move one away."
                )
            files[path.stem] = path
    return found


def _spec(name: str, units: Mapping[str, str]) -> ArraySpec:
    domain, _, kind = name.partition(".")
    unit = str(units.get(name, units.get(kind, "")))
    return ArraySpec(name=name, shape=(), dtype="uint8", role="image", domain=domain, pair=kind or UNSAID, unit=unit)


def _sides(arrays: Sequence[ImageFiles]) -> Iterator[ArraySpec]:
    """A folder that is not inside another one is a domain only where others are its partners: sim and real, not rgb."""
    for array in paired(arrays):
        spec = array.spec
        yield spec if spec.pair or "." in spec.name else replace(spec, domain="")


def _declared(spec: Described, described: Mapping[str, Any]) -> Described:
    """A column or an array with what 'pairs.json' says of it: domain, pair, unit, label, part of a pose."""
    said = described.get(spec.name, {})
    if not isinstance(said, dict):
        raise StoreError(f"'pairs.json' should say of '{spec.name}' an object, not {said!r:.60}.")
    known = _DECLARED_OF_COLUMNS if isinstance(spec, Column) else _DECLARED
    for field, value in said.items():
        if field not in known:
            raise UnknownName("field", field, known, f"'pairs.json' says it of '{spec.name}'.")
        if not isinstance(value, str):
            raise StoreError(f"'{field}' of '{spec.name}' in 'pairs.json' should be a text, not {value!r:.60}.")
        if field == "pose" and value not in get_args(PosePart):
            raise UnknownName("part of a pose", value, get_args(PosePart), f"'pairs.json' says it of '{spec.name}'.")
    return replace(spec, **said)


def _poses(
    folder: Path, stems: list[str], described: Mapping[str, Any]
) -> tuple[pl.DataFrame, tuple[Column, ...], tuple[str, ...]]:
    """The table beside the images, a line each; its columns with the units that stand in their heads; and remarks."""
    rows = pl.DataFrame({"name": pl.Series(stems, dtype=pl.String)})
    named = Column(name="name", type="text", kind="index", description="The files' name without its ending.")
    paths = [path for path in sorted(folder.iterdir()) if path.suffix.lower() in (".csv", ".parquet")]
    if not paths:
        return rows, (named,), ()
    if len(paths) > 1:
        raise StoreError(f"'{folder.name}' has several tables: {', '.join(p.name for p in paths)}. Keep one.")
    table, units = split_units(read_table(paths[0]))
    key = next((column for column in _NAMES if column in table.columns), None)
    if key is None:
        raise StoreError(f"'{paths[0].name}' needs a column {' or '.join(_NAMES)} that names the images of each line.")
    table = table.with_columns(pl.col(key).cast(pl.String).map_elements(lambda n: Path(n).stem, return_dtype=pl.String))
    table = table.rename({key: "name"})
    joined = rows.join(table.unique("name", keep="first"), on="name", how="left", maintain_order="left")
    twice = table["name"].filter(table["name"].is_duplicated()).unique(maintain_order=True).to_list()
    doubled = (
        [f"'{paths[0].name}' has several lines for {', '.join(twice[:5])}; the first one counts."] if twice else []
    )
    columns = [replace(column_spec(series), unit=units.get(series.name, "")) for series in joined]
    declared = [_declared(column, described) for column in columns if column.name != "name"]
    return joined, (named, *with_foreign_poses(declared)), tuple(doubled)


def _ground(folder: Path, described: Mapping[str, Any]) -> Ground:
    """The scene, where there is a map, areas or a camera."""
    shown = described.get("map", {})
    path = next((p for p in (folder / "map.png", folder / "map.jpg") if is_plain_file(p)), None)
    if path is None and not described.keys() & {"polygons", "camera"}:
        return Ground(scene=None)
    try:
        image, content = None, b""
        if path is not None:
            content = picture_bytes(path)
            shape, _ = check_picture(content)
            image = MapImage(
                file=map_name(content),
                width_px=shape[1],
                height_px=shape[0],
                origin=(float(shown.get("origin", (0, 0))[0]), float(shown.get("origin", (0, 0))[1])),
                scale=float(shown.get("scale", 1.0)),
            )
        areas = described.get("polygons", {}).items()
        polygons = tuple(
            Polygon(name=str(n), points=tuple((float(x), float(y)) for x, y in points)) for n, points in areas
        )
        camera = _camera(described["camera"]) if "camera" in described else None
    except (TypeError, ValueError, KeyError, AttributeError, IndexError, OverflowError) as error:
        raise StoreError(f"The map in 'pairs.json' cannot be read: {error!r}. See innerview import --help.") from error
    unit = str(shown.get("unit", "m" if image is not None else "map units"))
    return Ground(scene=Scene(unit=unit, image=image, polygons=polygons, camera=camera), picture=content)


def _camera(value: Mapping[str, Any]) -> Camera:
    return Camera(
        width_px=int(value["width_px"]),
        height_px=int(value["height_px"]),
        focal_px=(float(value["focal_px"][0]), float(value["focal_px"][1])),
        centre_px=(float(value["centre_px"][0]), float(value["centre_px"][1])),
        height_m=None if value.get("height_m") is None else float(value["height_m"]),
        pitch_deg=None if value.get("pitch_deg") is None else float(value["pitch_deg"]),
    )
