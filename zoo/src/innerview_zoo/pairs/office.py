"""Paired pictures of the office: each pose in the simulator and in the stand-in for reality, with what differs."""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
import polars as pl
import torch
from PIL import Image

from innerview.errors import UnknownName, WorldError
from innerview.jobs.engine import Progress
from innerview.jobs.terminal import bar
from innerview.schema import (
    ArraySpec,
    Column,
    ImportedFrom,
    MapImage,
    Origin,
    Polygon,
    RecordingInfo,
    RowKind,
    Scene,
)
from innerview.schema import Camera as Intrinsics
from innerview.store import Study
from innerview.store.recordings.bulk import write_table
from innerview.store.recordings.scenes import map_name, scene_key
from innerview_zoo.pairs.ground import PIXELS_PER_M, ground_png
from innerview_zoo.worlds.office import (
    GAPS,
    Camera,
    Conditions,
    Door,
    Floor,
    Frame,
    Thing,
    conditions_of,
    is_free,
    office_floor,
    render,
    sample_poses,
    trajectory,
)
from innerview_zoo.worlds.office.reality import as_real
from innerview_zoo.worlds.office.view import View, ViewSettings

ANYWHERE = "anywhere"
T = TypeVar("T")
_AT_ONCE = 8
_PICTURE, _PLANE = ("height", "width", "channel"), ("height", "width")
_UNMEASURED_M = 65.535
"""What 16 bits of millimetres hold at most."""


@dataclass(frozen=True, kw_only=True)
class _Shot:
    """What a row is rendered from."""

    pose: np.ndarray
    conditions: Conditions
    real: Floor


def office_pairs(
    study: Study | str | Path,
    count: int,
    *,
    name: str = "office",
    which: int | str = 1,
    conditions: Conditions | Sequence[Conditions] | None = None,
    gaps: Sequence[str] | None = None,
    floor: Floor | None = None,
    real_floor: Floor | Sequence[Floor] | None = None,
    poses: np.ndarray | torch.Tensor | None = None,
    camera: Camera | None = None,
    size: int = 256,
    seed: int = 0,
    device: str = "cpu",
    progress: Progress | bool = True,
) -> str:
    """Record `count` poses of a trajectory (1 or 2), or "anywhere" by seed, each simulated and as in the stand-in.

    A row has sim.rgb, real.rgb, sim.depth, real.depth (mm) and sim.ids, real.ids, its true pose x, y (m), angle (rad),
    the room, and how strong each gap is in it. `conditions` are those of all rows or of each; left out, those of the
    trajectory's month, of which `gaps` keeps some. `floor` is what the simulator shows; `real_floor` (of all rows, or
    of each) stands where the robot is, for planted changes. `poses` [count, 3] go before `which`. Gives the name.
    """
    if count < 1:
        raise WorldError(f"count is how many pairs to render: 1 or more, not {count!r}.")
    made = study if isinstance(study, Study) else Study.open_or_create(study)
    scan = floor or office_floor(0)
    when = _each(conditions if conditions is not None else _usual(which, gaps), count, "conditions")
    real = _each(real_floor or scan, count, "real_floor")
    at = _poses(scan, real[0], when[0], count, which=which, seed=seed, given=poses)
    shots = [_Shot(pose=p, conditions=c, real=r) for p, c, r in zip(at, when, real, strict=True)]
    shot = camera or Camera(size=size)
    scene, picture = scene_of(scan, shot)
    table = _table(scan, shots)
    floors = {id(each): hashlib.sha256(repr(each).encode()).hexdigest() for each in (scan, *real)}
    told = repr((shot, floors[id(scan)], [(c, floors[id(r)]) for c, r in zip(when, real, strict=True)], at.tolist()))
    info = RecordingInfo(
        name=name,
        origin=Origin(kind="generated", by="office floor", source=_source(which, poses)),
        row=RowKind(one="pair", many="pairs"),
        columns=_columns(table),
        arrays=_arrays(shot),
        scene=scene_key(scene),
        arguments=ImportedFrom(content=hashlib.sha256(told.encode()).hexdigest(), format="office pairs"),
    )
    with bar(progress, f"rendering {name}", "pairs") as report:
        renderer = _Renderer(scan, shots, shot, device, report)
        write_table(made, info, table, renderer.rows, heights={}, scenes=((scene, picture),))
        report(count, count, "")
    return info.name


def scene_of(floor: Floor, camera: Camera) -> tuple[Scene, bytes]:
    """The floor as a map: walls, things, rooms, a picture of the ground and the camera; and the picture's file."""
    picture = ground_png(floor)
    width, depth = (round(side * PIXELS_PER_M) for side in floor.size_m)
    image = MapImage(file=map_name(picture), width_px=width, height_px=depth, origin=(0.0, 0.0), scale=1 / PIXELS_PER_M)
    across, down = camera.width_height
    intrinsics = Intrinsics(
        width_px=across,
        height_px=down,
        focal_px=(camera.focal_px, camera.focal_px),
        centre_px=(across / 2, down / 2),
        height_m=camera.height_m,
        pitch_deg=camera.pitch_deg,
    )
    rooms = tuple(Polygon(name=room.name, points=room.polygon) for room in floor.rooms)
    drawn = View(ViewSettings(floor=floor)).scene
    return replace(drawn, image=image, polygons=rooms, camera=intrinsics), picture


class _Renderer:
    """Renders rows when they are written."""

    def __init__(self, scan: Floor, shots: Sequence[_Shot], camera: Camera, device: str, progress: Progress) -> None:
        self._scan, self._shots, self._camera = scan, shots, camera
        self._device, self._progress = device, progress

    def rows(self, start: int, stop: int) -> Mapping[str, list[bytes]]:
        """The files of rows start to stop, by array."""
        files: dict[str, list[bytes]] = {}
        for first in range(start, stop, _AT_ONCE):
            self._progress(first, len(self._shots), "rendering")
            some = self._shots[first : min(first + _AT_ONCE, stop)]
            for domain, frames in (("sim", self._simulated(some)), ("real", self._real(some))):
                for kind, made in _files(frames).items():
                    files.setdefault(f"{domain}.{kind}", []).extend(made)
        return files

    def _simulated(self, shots: Sequence[_Shot]) -> Frame:
        poses = np.stack([shot.pose for shot in shots])
        return render(self._scan, poses, camera=self._camera, device=self._device)

    def _real(self, shots: Sequence[_Shot]) -> Frame:
        """Rows that share floor and conditions are rendered together."""
        groups: dict[tuple[int, Conditions], list[int]] = {}
        for place, shot in enumerate(shots):
            groups.setdefault((id(shot.real), shot.conditions), []).append(place)
        frames: dict[int, Frame] = {}
        for (_, conditions), places in groups.items():
            poses = np.stack([shots[place].pose for place in places])
            real = shots[places[0]].real
            made = render(real, poses, camera=self._camera, conditions=conditions, device=self._device)
            frames |= {
                place: Frame(made.rgb[i : i + 1], made.depth[i : i + 1], made.ids[i : i + 1])
                for i, place in enumerate(places)
            }
        ordered = [frames[place] for place in range(len(shots))]
        return Frame(*(torch.cat([getattr(frame, part) for frame in ordered]) for part in ("rgb", "depth", "ids")))


def _files(frame: Frame) -> dict[str, list[bytes]]:
    rgb = frame.rgb.permute(0, 2, 3, 1).contiguous().cpu().numpy()
    depth = (frame.depth.clamp(0, _UNMEASURED_M) * 1000).round().to(torch.int32).cpu().numpy().astype(np.uint16)
    ids = frame.ids.cpu().numpy().astype(np.uint16)
    return {"rgb": [_png(i) for i in rgb], "depth": [_png(i) for i in depth], "ids": [_png(i) for i in ids]}


def _png(pixels: np.ndarray) -> bytes:
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "PNG", compress_level=3)
    return out.getvalue()


def _usual(which: int | str, gaps: Sequence[str] | None) -> Conditions:
    month = conditions_of(which) if isinstance(which, int) else Conditions.real()
    return month if gaps is None else month.only(*gaps)


def _each(given: T | Sequence[T], count: int, what: str) -> list[T]:
    """One a row."""
    if not isinstance(given, Sequence):
        return [given] * count
    if len(given) != count:
        raise WorldError(f"{what} has {len(given)} entries for {count} pairs. Give one for all, or one for each.")
    return list(given)


def _poses(
    scan: Floor,
    real: Floor,
    conditions: Conditions,
    count: int,
    *,
    which: int | str,
    seed: int,
    given: np.ndarray | torch.Tensor | None,
) -> np.ndarray:
    if given is not None:
        poses = np.asarray(given, np.float32)
        if poses.shape != (count, 3):
            raise WorldError(f"poses are [{count}, 3]: x, y in metres and angle in radians; got {poses.shape}.")
        return poses
    if isinstance(which, int):
        return np.asarray(trajectory(scan, which, count=max(count, 2)), np.float32)[:count]
    if which != ANYWHERE:
        raise UnknownName("way", which, ("1", "2", ANYWHERE))
    there = as_real(real, conditions)
    drawn = sample_poses(scan, 3 * count + 20, seed=seed).numpy()
    # What was moved must not stand where the camera is.
    free = [pose for pose in drawn if is_free(there, float(pose[0]), float(pose[1]))][:count]
    if len(free) < count:
        raise WorldError(f"Only {len(free)} of {count} poses are free in both domains. Choose another seed.")
    return np.stack(free)


def _source(which: int | str, poses: object) -> str:
    return "given poses" if poses is not None else "poses anywhere" if which == ANYWHERE else f"trajectory {which}"


def _table(floor: Floor, shots: Sequence[_Shot]) -> pl.DataFrame:
    view = View(ViewSettings(floor=floor))
    x, y, angle = np.stack([shot.pose for shot in shots]).astype(np.float64).T
    rooms = [view.room_at(float(px), float(py)) for px, py in zip(x, y, strict=True)]
    on = [gap for gap in GAPS if any(getattr(shot.conditions, gap) for shot in shots)]
    columns: dict[str, Sequence[object] | np.ndarray] = {"x": x, "y": y, "angle": angle, "room": rooms}
    things = {id(shot.real): _planted_things(floor, shot.real) for shot in shots}
    columns["planted"] = [", ".join([*shot.conditions.on, *things[id(shot.real)]]) or "none" for shot in shots]
    columns |= {gap: [float(getattr(shot.conditions, gap)) for shot in shots] for gap in on}
    return pl.DataFrame({name: pl.Series(name, values) for name, values in columns.items()})


def _planted_things(scan: Floor, real: Floor) -> list[str]:
    """How the things and doors of one floor differ from those of another: "removed 3 × chair", "moved bike"."""
    before, after = _movable(scan), _movable(real)
    found: Counter[tuple[str, str]] = Counter()
    for number in before.keys() | after.keys():
        old, new = before.get(number), after.get(number)
        if old is None or new is None:
            found["removed" if new is None else "added", (scan if new is None else real).kinds[number]] += 1
        elif old != new:
            found[_change(old, new), scan.kinds[number]] += 1
    said = [
        f"{verb} {kind}" if count == 1 else f"{verb} {count} × {kind}" for (verb, kind), count in sorted(found.items())
    ]
    return said + [
        f"other {part}" for part in ("lights", "textures_seed") if getattr(scan, part) != getattr(real, part)
    ]


def _movable(floor: Floor) -> dict[int, Thing | Door]:
    return {**{thing.id: thing for thing in floor.things}, **{door.id: door for door in floor.doors}}


def _change(old: Thing | Door, new: Thing | Door) -> str:
    if isinstance(old, Door) or isinstance(new, Door):
        return "changed"
    same_place = (old.x, old.y, old.z, old.angle) == (new.x, new.y, new.z, new.angle)
    return "recoloured" if same_place and old.size == new.size else "resized" if same_place else "moved"


def _columns(table: pl.DataFrame) -> tuple[Column, ...]:
    words = "Counter-clockwise from the x axis."
    gaps = [name for name in table.columns if name in GAPS]
    return (
        Column(name="x", type="float", unit="m", pose="x"),
        Column(name="y", type="float", unit="m", pose="y"),
        Column(name="angle", type="float", unit="rad", pose="angle", description=words),
        Column(name="room", type="text", kind="category"),
        Column(
            name="planted",
            type="text",
            kind="category",
            description="Gaps that are on in the stand-in, and things that differ from the simulator's.",
        ),
        *(
            Column(name=gap, type="float", label=gap.replace("_", " "), description="0 is off, 1 as in that month.")
            for gap in gaps
        ),
    )


def _arrays(camera: Camera) -> tuple[ArraySpec, ...]:
    width, height = camera.width_height
    colour = ArraySpec(name="rgb", shape=(height, width, 3), dtype="uint8", role="image", axes=_PICTURE)
    depth = ArraySpec(name="depth", shape=(height, width), dtype="uint16", role="image", axes=_PLANE, unit="mm")
    ids = ArraySpec(name="ids", shape=(height, width), dtype="uint16", axes=_PLANE)
    return tuple(
        replace(each, name=f"{domain}.{each.name}", kind="encoded", domain=domain, pair=each.name, pixelated=False)
        for each in (colour, depth, ids)
        for domain in ("sim", "real")
    )
