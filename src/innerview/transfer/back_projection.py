"""Back-projection: heat over pictures, or the pictures' pixels themselves, laid on the map of the ground."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from innerview.errors import LensError
from innerview.schema import (
    Camera,
    FloorMap,
    Heat,
    Lens,
    Parameter,
    RowArray,
    Rows,
    Watch,
    is_depth,
    pose_part,
    units_per,
    unwatched,
)
from innerview.transfer.ground import COMBINES, Combine, Gathering, grid_of

if TYPE_CHECKING:
    from innerview.schema import PosePart, Scene
    from innerview.subjects import Subject

Side = Literal["own", "sim", "real"]
AT_ONCE = 64
"""Rows whose depth is read together."""

LENS = Lens(
    name="back-projection",
    question="Where on the map does the heat lie?",
    needs=("depth",),
    parameters=(
        Parameter(
            name="heat",
            type="result",
            of_type="heat",
            default="",
            description="Heat over pictures of these rows, by any lens; where none, pixels are counted.",
        ),
        Parameter(
            name="combine",
            type="choice",
            default="mean",
            choices=COMBINES,
            description="Of all pixels that look at a cell: their mean, their sum, or the strongest with its sign.",
        ),
        Parameter(
            name="cell",
            type="float",
            default=0.1,
            low=0.01,
            high=100.0,
            description="Side of a cell of the map, in the map's unit.",
        ),
        Parameter(
            name="depth",
            type="choice",
            default="own",
            choices=("own", "sim", "real"),
            description="Which depth places the pixels: that of the domain the heat lies over, or another's.",
        ),
    ),
    yields="map",
    over="rows",
    cost="instant",
    paper="Jaunet, Bono, Vuillemot, Wolf 2021: Sim2RealViz, visualizing the sim2real gap in robot ego-pose estimation",
)


def look(
    rows: Rows,
    subject: Subject | None = None,
    *,
    heat: Heat | str = "",
    combine: Combine = "mean",
    cell: float = 0.1,
    depth: Side = "own",
    watch: Watch = unwatched,
) -> FloorMap:
    """Each pixel's heat in the cell of the map where it lies, by depth, camera and the recorded pose."""
    given = heat if isinstance(heat, Heat) else None
    scene, camera = _scene(rows)
    poses = _poses(rows, scene)
    places, lines = _common(rows, given)
    known = np.isfinite(poses[places]).all(1)
    skipped = rows.numbers[places[~known]].tolist()
    places, lines = places[known], lines[known]
    if not len(places):
        raise LensError("None of these rows has a pose, so no pixel can be placed. Choose others.")
    domain = depth if depth != "own" else given.domain if given else ""
    lengths = _depth(rows, domain)
    factor = _factor(lengths, scene)
    gathering = Gathering(grid_of(scene, cell), camera, combine=combine)
    for first in range(0, len(places), AT_ONCE):
        watch(first, len(places), "placing pixels")
        some = slice(first, first + AT_ONCE)
        far = _plane(lengths.read(places[some])).astype(np.float32) * np.float32(factor)
        values = None if given is None else strongest(next(iter(given.heat.values()))[lines[some]])
        if values is not None and values.shape != far.shape:
            far = nearest(far, values.shape[1:])
        gathering.add(far, poses[places[some]], values)
    found, grid = gathering.gathered, gathering.grid
    return FloorMap(
        values=found.counts if given is None else found.values,
        counts=found.counts,
        origin=grid.origin,
        cell=grid.cell,
        place_unit=scene.unit,
        unit="pixels" if given is None else _unit(given, combine),
        signed=given is not None and given.signed,
        positive=given.positive if given else "orange",
        value={
            "combine": combine if given else "sum",
            "domain": lengths.spec.domain,
            "depth": lengths.spec.name,
            "rows": len(places),
            "without_pose": skipped[:100],
            "outside_px": found.outside,
            "without_depth_px": found.unmeasured,
            "pitch_deg": camera.pitch_deg,
        },
        arrays={"rows": rows.numbers[places].astype(np.int32)},
    )


def strongest(heat: np.ndarray) -> np.ndarray:
    """One value a pixel of heat [row, channel, height, width]: that of the channel with the largest size."""
    if heat.shape[1] == 1:
        return np.asarray(heat[:, 0], np.float32)
    best = np.abs(heat).argmax(1, keepdims=True)
    return np.asarray(np.take_along_axis(heat, best, 1)[:, 0], np.float32)


def nearest(values: np.ndarray, size_hw: tuple[int, ...]) -> np.ndarray:
    """Pictures [n, height, width] at another size: of each pixel the one that its middle lies in."""
    picks = [
        ((np.arange(wanted) + 0.5) * have / wanted).astype(np.int64)
        for have, wanted in zip(values.shape[1:], size_hw, strict=True)
    ]
    return values[:, picks[0][:, None], picks[1][None, :]]


def _unit(heat: Heat, combine: Combine) -> str:
    words = {"mean": "mean of ", "sum": "sum of ", "maximum": "strongest "}
    return f"{words[combine]}{heat.unit}"


def _scene(rows: Rows) -> tuple[Scene, Camera]:
    scene = rows.scene() if rows.scene else None
    if scene is None:
        raise LensError(
            "These rows share no map. Import one with its scale and origin: map.png and 'map' in pairs.json."
        )
    if scene.camera is None:
        raise LensError(
            "The map says no camera, so the direction of a pixel is not known. Give its intrinsics: 'camera' in "
            "pairs.json with width_px, height_px, focal_px and centre_px."
        )
    return scene, scene.camera


def _poses(rows: Rows, scene: Scene) -> np.ndarray:
    """[row, 3]: x and y in the map's unit, angle in radians."""
    found = []
    parts: tuple[PosePart, ...] = ("x", "y", "angle")
    for part in parts:
        column = pose_part(rows.specs.values(), part)
        if column is None:
            raise LensError(f"The rows do not say the true {part}. Say which column does: Column(…, pose='{part}').")
        wanted = "rad" if part == "angle" else scene.unit
        factor = units_per(column.unit, wanted)
        if factor is None:
            raise LensError(
                f"'{column.name}' is in '{column.unit or 'no unit'}', which is not known in '{wanted}'. Give the "
                "column its unit, and the map its scale in metres."
            )
        found.append(np.asarray(rows.columns[column.name], np.float64) * factor)
    return np.stack(found, 1)


def _common(rows: Rows, heat: Heat | None) -> tuple[np.ndarray, np.ndarray]:
    """Places of rows that have heat, and where it stands in the result."""
    if heat is None:
        every = np.arange(rows.count)
        return every, every
    _, places, lines = np.intersect1d(rows.numbers, heat.rows, return_indices=True)
    if not len(places):
        raise LensError("None of these rows is in that result. Choose rows that it has, or run its lens on these.")
    return places, lines


def _depth(rows: Rows, domain: str) -> RowArray:
    """The picture of depth of a domain; the first where none is named."""
    known = [array for array in rows.arrays.values() if is_depth(array.spec)]
    fitting = [array for array in known if not domain or array.spec.domain in (domain, "")]
    if domain and len(fitting) > 1:
        fitting = [array for array in fitting if array.spec.domain]
    if not fitting or (domain and len(fitting) > 1):
        names = ", ".join(array.spec.name for array in known) or "none"
        lacks = "has several" if fitting else "has none"
        raise LensError(
            f"Depth of {f'domain {domain!r}' if domain else 'these rows'}: the recording {lacks} ({names}). "
            "Say depth='sim' or depth='real', or import pictures of depth with their unit."
        )
    return fitting[0]


def _factor(depth: RowArray, scene: Scene) -> float:
    factor = units_per(depth.spec.unit, scene.unit)
    if factor is None:
        raise LensError(
            f"Depth '{depth.spec.name}' is in '{depth.spec.unit}' and the map in '{scene.unit}': give the map a "
            "scale in metres."
        )
    return factor


def _plane(values: np.ndarray) -> np.ndarray:
    return values[..., 0] if values.ndim == 4 else values
