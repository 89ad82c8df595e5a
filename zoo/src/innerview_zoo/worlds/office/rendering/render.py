"""Pictures of a floor: colour, depth and the id of what every pixel shows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch

from innerview.errors import WorldError
from innerview_zoo.worlds.office.conditions import Conditions
from innerview_zoo.worlds.office.floors.floor import Floor
from innerview_zoo.worlds.office.reality import as_real
from innerview_zoo.worlds.office.rendering.camera import Camera, Raster, raster_of
from innerview_zoo.worlds.office.rendering.cast import Hits, cast
from innerview_zoo.worlds.office.rendering.finish import Finish, finish_of
from innerview_zoo.worlds.office.rendering.lights import LightMap, bake
from innerview_zoo.worlds.office.rendering.sensors import sense
from innerview_zoo.worlds.office.rendering.shade import shade
from innerview_zoo.worlds.office.rendering.solids import Solids, solids_of
from innerview_zoo.worlds.office.textures.table import Texels, texels

# On a GPU more at once is faster but takes memory: 2^25 peaks at 10 GiB; 2^26 is a fifth faster and takes 20.
PIXELS_AT_ONCE = {"cpu": 1 << 17, "cuda": 1 << 25}


@dataclass(frozen=True)
class Frame:
    """What a camera saw from n poses."""

    rgb: torch.Tensor
    """uint8 [n, 3, height, width]."""
    depth: torch.Tensor
    """float32 [n, height, width]: metres along the camera's axis; 0 where the sensor read nothing."""
    ids: torch.Tensor
    """int16 [n, height, width]: `Floor.kinds` names them."""


@dataclass(frozen=True)
class Stage:
    """A floor made ready for drawing on a device."""

    solids: Solids
    light: LightMap
    finish: Finish
    texels: Texels
    walls: torch.Tensor
    """[walls, 4]: x0, y0, x1, y1 of walls at the height of the camera's foot."""
    size_m: tuple[float, float]
    height_m: float


def render(
    floor: Floor,
    poses: torch.Tensor | np.ndarray,
    *,
    camera: Camera | None = None,
    conditions: Conditions | None = None,
    device: torch.device | str = "cpu",
) -> Frame:
    """Colour, depth and ids from poses [n, 3]: x and y in metres, angle in radians counter-clockwise from +x."""
    where = torch.device(device)
    shot, when = camera or Camera(), conditions or Conditions.simulated()
    scene = as_real(floor, when)
    stage = stage_of(scene, where)
    at = torch.as_tensor(poses, dtype=torch.float32).to(where)
    check_poses(stage, at)
    if shot.height_m >= stage.height_m:
        raise WorldError(f"The camera at {shot.height_m:g} m would be above the ceiling at {stage.height_m:g} m.")
    raster = raster_of(shot, where)
    step = max(1, PIXELS_AT_ONCE.get(where.type, 1 << 20) // (raster.width * raster.height))
    frames = [_render_some(stage, some, shot, raster, when) for some in torch.split(at, step)] if len(at) else []
    if not frames:
        return _nothing(shot, where)
    if len(frames) == 1:
        return frames[0]
    return Frame(*(torch.cat([getattr(frame, name) for frame in frames]) for name in ("rgb", "depth", "ids")))


def stage_of(floor: Floor, device: torch.device) -> Stage:
    """The floor on a device; worked out once and kept with the floor."""
    kept = floor.cache.get(("stage", device))
    if isinstance(kept, Stage):
        return kept
    solids = solids_of(floor)
    walls = torch.tensor([[w.x0, w.y0, w.x1, w.y1] for w in floor.walls if w.blocks], dtype=torch.float32).view(-1, 4)
    stage = Stage(
        solids=solids.to(device),
        light=bake(floor, solids).to(device),
        finish=finish_of(floor, solids).to(device),
        texels=texels(floor.textures_seed, device),
        walls=walls.to(device),
        size_m=floor.size_m,
        height_m=floor.height_m,
    )
    floor.cache[("stage", device)] = stage
    return stage


def check_poses(stage: Stage, poses: torch.Tensor) -> None:
    """Refuse poses of the wrong shape, outside the floor or inside a wall."""
    if poses.ndim != 2 or poses.shape[1] != 3:
        raise WorldError(f"Poses are [n, 3]: x, y in metres and angle in radians, not {tuple(poses.shape)}.")
    if not bool(poses.isfinite().all()):
        raise WorldError("A pose holds a number that is not finite.")
    x, y = poses[:, 0], poses[:, 1]
    width, depth = stage.size_m
    outside = (x < 0) | (x > width) | (y < 0) | (y > depth)
    if bool(outside.any()):
        i = int(outside.nonzero()[0])
        raise WorldError(
            f"Pose {i} at ({float(x[i]):.2f}, {float(y[i]):.2f}) is outside the floor, which goes from (0, 0) to "
            f"({width:g}, {depth:g}) m. sample_poses(floor, …) draws poses in free space."
        )
    x0, y0, x1, y1 = stage.walls.unbind(1)
    inside = (x[:, None] > x0) & (x[:, None] < x1) & (y[:, None] > y0) & (y[:, None] < y1)
    if bool(inside.any()):
        i = int(inside.any(1).nonzero()[0])
        raise WorldError(
            f"Pose {i} at ({float(x[i]):.2f}, {float(y[i]):.2f}) is inside a wall. sample_poses(floor, …) draws poses "
            "in free space, and is_free(floor, x, y) says whether a place is free."
        )


def _render_some(stage: Stage, poses: torch.Tensor, camera: Camera, raster: Raster, when: Conditions) -> Frame:
    eyes = torch.cat([poses[:, :2], torch.full_like(poses[:, :1], camera.height_m)], 1)
    angles = poses[:, 2].contiguous()
    hits = cast(stage.solids, eyes=eyes, angles=angles, raster=raster, ceiling_m=stage.height_m)
    channels = _shaded(stage, hits, eyes, angles, raster)
    colour = torch.stack([raster.untile(channel) for channel in channels], 1)
    depth, solid = raster.untile(hits.depth), raster.untile(hits.solid)
    if (many := camera.samples) > 1:
        colour = torch.nn.functional.avg_pool2d(colour.clamp(0, 1), many)
        depth, solid = (v[:, many // 2 :: many, many // 2 :: many] for v in (depth, solid))
    solid = solid.to(torch.int64)
    shiny = stage.solids.glow[solid] > 0.5 if when.depth_noise else solid
    rgb, depth = sense(colour, depth.contiguous(), poses=poses, shiny=shiny, conditions=when, camera=camera)
    return Frame(rgb, depth, stage.solids.id[solid].to(torch.int16))


def _shaded(stage: Stage, hits: Hits, eyes: torch.Tensor, angles: torch.Tensor, raster: Raster) -> list[torch.Tensor]:
    """Colours of all tiles, some tiles at a time where a picture is very large."""
    count, tiles, pixels = hits.depth.shape
    step = max(1, PIXELS_AT_ONCE.get(hits.depth.device.type, 1 << 20) * 4 // (count * pixels))
    parts = []
    for first in range(0, tiles, step):
        some = slice(first, first + step)
        part = Hits(hits.depth[:, some].contiguous(), hits.solid[:, some].contiguous())
        channels = shade(
            part,
            stage.finish,
            eyes=eyes,
            angles=angles,
            raster=replace(raster, rays=raster.rays[some]),
            light=stage.light,
            texels=stage.texels,
            height_m=stage.height_m,
        )
        parts.append(channels)
    return [torch.cat([part[i] for part in parts], 1) if len(parts) > 1 else parts[0][i] for i in range(3)]


def _nothing(camera: Camera, device: torch.device) -> Frame:
    width, height = camera.width_height
    empty = torch.zeros(0, height, width, device=device)
    return Frame(torch.zeros(0, 3, height, width, dtype=torch.uint8, device=device), empty, empty.to(torch.int16))
