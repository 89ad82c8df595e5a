"""What 'pairs.json' beside the images says of them: units, the map, named areas, the camera, columns and arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar, get_args

from innerview.errors import StoreError, UnknownName
from innerview.schema import ArraySpec, Camera, Column, MapImage, Polygon, PosePart, Scene
from innerview.store.files import parsed_json, read_plain
from innerview.store.importers.foreign import picture_bytes
from innerview.store.paths import is_plain_file
from innerview.store.recordings.arrays.encoded import check_picture
from innerview.store.recordings.scenes import map_name

_DECLARED = ("domain", "pair", "unit", "label")
_DECLARED_OF_COLUMNS = (*_DECLARED, "pose")
_OBJECTS = ("units", "arrays", "columns", "map", "polygons")
Described = TypeVar("Described", Column, ArraySpec)


@dataclass(frozen=True, kw_only=True)
class Ground:
    """The map that all rows lie on."""

    scene: Scene | None
    picture: bytes = b""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Description:
    """What a person says of a folder of images."""

    folder: Path
    said: Mapping[str, Any] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    """Of kinds of images, of arrays and of columns."""

    def unit(self, name: str, kind: str = "") -> str:
        """The unit of an array or a column: said of itself, else of its kind."""
        return str(self.units.get(name, self.units.get(kind, "")))

    def column(self, column: Column) -> Column:
        """A column with what is said of it."""
        unit = self.unit(column.name, column.pair) or column.unit
        return _declared(replace(column, unit=unit), self.said.get("columns", {}))

    def array(self, spec: ArraySpec) -> ArraySpec:
        """An array with what is said of it."""
        return _declared(spec, self.said.get("arrays", {}))

    def ground(self, camera: Camera | None = None) -> Ground:
        """The scene, where there is a map, areas or a camera; the camera that files tell goes after what is said."""
        try:
            return self._ground(camera)
        except (TypeError, ValueError, KeyError, AttributeError, IndexError, OverflowError) as error:
            told = f"The map in 'pairs.json' cannot be read: {error!r}. See innerview import --help."
            raise StoreError(told) from error

    def _ground(self, camera: Camera | None) -> Ground:
        shown, picture, remarks = self.said.get("map", {}), b"", []
        path = next((p for p in (self.folder / "map.png", self.folder / "map.jpg") if is_plain_file(p)), None)
        image = None
        if path is not None and "scale" not in shown:
            remarks.append(
                f"'{path.name}' is left out: nobody knows how large it is. Say in pairs.json how many units a pixel is "
                'and where its lower left corner lies: {"map": {"scale": 0.05, "origin": [0, 0], "unit": "m"}}.'
            )
        elif path is not None:
            picture = picture_bytes(path)
            image = _map_image(picture, shown)
        areas = self.said.get("polygons", {}).items()
        polygons = tuple(Polygon(name=str(n), points=tuple((float(x), float(y)) for x, y in ps)) for n, ps in areas)
        seen = camera_of(self.said["camera"]) if "camera" in self.said else camera
        if image is None and not polygons and seen is None:
            return Ground(scene=None, remarks=tuple(remarks))
        unit = str(shown.get("unit", "m" if image is not None else "map units"))
        scene = Scene(unit=unit, image=image, polygons=polygons, camera=seen)
        return Ground(scene=scene, picture=picture, remarks=tuple(remarks))


def description(folder: Path, units: Mapping[str, str] | None = None) -> Description:
    """What 'pairs.json' in a folder says, and the units that were given beside it."""
    if not folder.is_dir():
        raise StoreError(f"There is no folder '{folder}'.")
    path = folder / "pairs.json"
    said = parsed_json(read_plain(path), "'pairs.json'") if is_plain_file(path) else {}
    if not isinstance(said, dict):
        raise StoreError("'pairs.json' holds an object with units, map, polygons and camera.")
    for part in _OBJECTS:
        if not isinstance(said.get(part, {}), dict):
            raise StoreError(f"'{part}' in 'pairs.json' should be an object, not {said[part]!r:.60}.")
    return Description(folder=folder, said=said, units={**said.get("units", {}), **(units or {})})


def camera_of(value: Mapping[str, Any]) -> Camera:
    """A camera as files say it."""
    height, pitch = (None if value.get(name) is None else float(value[name]) for name in ("height_m", "pitch_deg"))
    return Camera(
        width_px=int(value["width_px"]),
        height_px=int(value["height_px"]),
        focal_px=(float(value["focal_px"][0]), float(value["focal_px"][1])),
        centre_px=(float(value["centre_px"][0]), float(value["centre_px"][1])),
        height_m=height,
        pitch_deg=pitch,
    )


def _map_image(content: bytes, shown: Mapping[str, Any]) -> MapImage:
    shape, _ = check_picture(content)
    scale = float(shown["scale"])
    if not 0 < scale < float("inf"):
        raise StoreError(f"'scale' of the map in 'pairs.json' is how many units a pixel is, above 0, not {scale!r}.")
    origin = shown.get("origin", (0, 0))
    return MapImage(
        file=map_name(content),
        width_px=shape[1],
        height_px=shape[0],
        origin=(float(origin[0]), float(origin[1])),
        scale=scale,
    )


def _declared(spec: Described, described: Mapping[str, Any]) -> Described:
    """A column or an array with what 'pairs.json' says of it: domain, pair, unit, label, part of a pose."""
    said = described.get(spec.name, {})
    if not isinstance(said, dict):
        raise StoreError(f"'pairs.json' should say of '{spec.name}' an object, not {said!r:.60}.")
    known = _DECLARED_OF_COLUMNS if isinstance(spec, Column) else _DECLARED
    for name, value in said.items():
        if name not in known:
            raise UnknownName("field", name, known, f"'pairs.json' says it of '{spec.name}'.")
        if not isinstance(value, str):
            raise StoreError(f"'{name}' of '{spec.name}' in 'pairs.json' should be a text, not {value!r:.60}.")
        if name == "pose" and value not in get_args(PosePart):
            raise UnknownName("part of a pose", value, get_args(PosePart), f"'pairs.json' says it of '{spec.name}'.")
    return replace(spec, **said)
