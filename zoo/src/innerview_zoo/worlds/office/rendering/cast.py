"""Finds what every ray meets first. The same tensor code runs on a CPU and on a GPU.

Every solid is a unit solid in a frame of its own, so a hit is one small formula for each of four shapes. Which solids
can show in which tile of 16 x 16 pixels follows from their corners on the screen; each tile then goes through its own
list from near to far and stops as soon as the next solid begins behind everything seen so far. So the answer is exact,
and a pixel tests three or four of the thousands of solids.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from innerview_zoo.worlds.office.rendering.camera import TILE, Raster
from innerview_zoo.worlds.office.rendering.solids import Solids
from innerview_zoo.worlds.office.things.parts import BALL, BOX, CYLINDER, RING

NEAR = 0.02
FAR = 1e4
FAR_AWAY = 1e12
SLOTS_AT_ONCE = 16
"""Where few tiles are left, so many of their solids are tested in one go: it saves starting as many small tasks."""
_DEPTH_STEPS = 1 << 24
_EDGES = ((0, 1), (2, 3), (4, 5), (6, 7), (0, 2), (1, 3), (4, 6), (5, 7), (0, 4), (1, 5), (2, 6), (3, 7))


@dataclass(frozen=True)
class Hits:
    """What the rays met: [n, tiles, TILE * TILE] each."""

    depth: torch.Tensor
    """Along the camera's axis, in metres."""
    solid: torch.Tensor
    """Row of `Solids`."""


@dataclass(frozen=True)
class _Shown:
    """Solids that may show in an image, one row each."""

    image: torch.Tensor
    solid: torch.Tensor
    """int32."""
    near: torch.Tensor
    tiles: torch.Tensor
    """[rows, 4]: first and last tile across and down."""


def cast(solids: Solids, *, eyes: torch.Tensor, angles: torch.Tensor, raster: Raster, ceiling_m: float) -> Hits:
    """Eyes [n, 3] in metres and angles [n] in radians to hits."""
    depth, solid = _ground_and_ceiling(eyes, raster, ceiling_m)
    count, tiles = depth.shape[0] * depth.shape[1], depth.shape[2]
    hits = Hits(depth.view(count, tiles), solid.view(count, tiles))
    shown = _shown(solids, eyes, angles, raster)
    shapes = solids.shape[shown.solid]
    for shape in (BOX, CYLINDER, BALL, RING):
        chosen = shapes == shape
        some = _Shown(shown.image[chosen], shown.solid[chosen], shown.near[chosen], shown.tiles[chosen])
        if len(some.solid):
            _cast_shape(shape, solids, some, hits, eyes, angles, raster)
    return Hits(depth, solid)


def _ground_and_ceiling(eyes: torch.Tensor, raster: Raster, ceiling_m: float) -> tuple[torch.Tensor, torch.Tensor]:
    up = raster.rays[None, :, 2, :]
    z = eyes[:, 2].view(-1, 1, 1)
    rises = up > 0
    gap = torch.where(rises, ceiling_m - z, -z)
    tiny = torch.where(rises, 1e-7, -1e-7)
    depth = gap / torch.where(up.abs() < 1e-7, tiny, up)
    return depth.clamp(max=FAR).contiguous(), rises.to(torch.int32).expand(depth.shape).contiguous()


def _shown(solids: Solids, eyes: torch.Tensor, angles: torch.Tensor, raster: Raster) -> _Shown:
    """Solids in front of each camera, with the tiles they may touch."""
    image, solid = _in_frustum(solids, eyes, angles, raster)
    reach = solids.axes[solid] * solids.half[solid].unsqueeze(1)  # columns: half axes
    signs = torch.tensor([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)], device=eyes.device)
    offset = solids.centre[solid] - eyes[image]
    corners = offset.unsqueeze(1) + (reach.unsqueeze(1) * signs.view(1, 8, 1, 3)).sum(-1)  # [rows, 8, 3]
    deep, right, up = _seen_from(corners, angles[image].unsqueeze(1), raster.pitch)
    deep, right, up = _clipped(deep, right, up)
    ok = deep >= NEAR * 0.999
    x = raster.focal * right / deep.clamp(min=NEAR) + raster.width / 2
    y = -raster.focal * up / deep.clamp(min=NEAR) + raster.height / 2
    big = 1e9
    x0, x1 = torch.where(ok, x, big).amin(1) - 1, torch.where(ok, x, -big).amax(1) + 1
    y0, y1 = torch.where(ok, y, big).amin(1) - 1, torch.where(ok, y, -big).amax(1) + 1
    near = torch.where(ok, deep, big).amin(1)
    keep = (x1 > 0) & (x0 < raster.width) & (y1 > 0) & (y0 < raster.height)
    last = torch.tensor([raster.across - 1, raster.across - 1, raster.down - 1, raster.down - 1], device=eyes.device)
    box = torch.stack([x0, x1, y0, y1], 1)[keep].div(TILE).floor()
    tiles = box.clamp(min=0.0).to(torch.int64).minimum(last)
    return _Shown(image[keep], solid[keep].to(torch.int32), near[keep], tiles)


def _in_frustum(
    solids: Solids, eyes: torch.Tensor, angles: torch.Tensor, raster: Raster
) -> tuple[torch.Tensor, torch.Tensor]:
    """Pairs of image and solid whose bounding ball is in front of the camera and no smaller than a third of a pixel."""
    centre, radius = solids.centre[2:], solids.half[2:].norm(dim=1)
    offset = centre.unsqueeze(0) - eyes.unsqueeze(1)
    deep, right, up = _seen_from(offset, angles.unsqueeze(1), raster.pitch)
    tx, ty = raster.width / 2 / raster.focal, raster.height / 2 / raster.focal
    wide, tall = (1 + tx * tx) ** 0.5, (1 + ty * ty) ** 0.5
    inside = (deep + radius > NEAR) & (right.abs() - tx * deep < radius * wide) & (up.abs() - ty * deep < radius * tall)
    inside &= radius * raster.focal > 0.3 * deep
    image, solid = inside.nonzero(as_tuple=True)
    return image, solid + 2


def _seen_from(
    offset: torch.Tensor, angle: torch.Tensor, pitch: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Depth, right and up in the camera's frame of points relative to its eye."""
    c, s = torch.cos(angle), torch.sin(angle)
    forward = offset[..., 0] * c + offset[..., 1] * s
    right = offset[..., 0] * s - offset[..., 1] * c
    cp, sp = torch.cos(torch.tensor(pitch)).item(), torch.sin(torch.tensor(pitch)).item()
    return forward * cp + offset[..., 2] * sp, right, offset[..., 2] * cp - forward * sp


def _clipped(
    deep: torch.Tensor, right: torch.Tensor, up: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The corners, and where edges that go behind the camera meet the plane just in front of it."""
    a, b = ([edge[end] for edge in _EDGES] for end in (0, 1))
    gap = deep[:, b] - deep[:, a]
    share = (NEAR - deep[:, a]) / torch.where(gap.abs() < 1e-9, 1e-9, gap)
    crosses = (share > 0) & (share < 1)
    cut_right = right[:, a] + share * (right[:, b] - right[:, a])
    cut_up = up[:, a] + share * (up[:, b] - up[:, a])
    cut_deep = torch.where(crosses, NEAR, -1.0).to(deep.dtype)
    return torch.cat([deep, cut_deep], 1), torch.cat([right, cut_right], 1), torch.cat([up, cut_up], 1)


def _cast_shape(
    shape: int, solids: Solids, shown: _Shown, hits: Hits, eyes: torch.Tensor, angles: torch.Tensor, raster: Raster
) -> None:
    """Go through every tile's solids of one shape from near to far; `hits` is changed in place."""
    to_local, origin = _local_frames(solids, shown, eyes, angles)
    start, count, owner = _lists(shown, raster, len(hits.depth))
    per_image = raster.across * raster.down
    inner = solids.inner[shown.solid] if shape == RING else None
    active = count.nonzero(as_tuple=True)[0]
    slot = 0
    while len(active):
        best = hits.depth.index_select(0, active)
        first = owner[start[active] + slot]
        keep = shown.near[first] < best.amax(1)  # lists are sorted: from here on nothing could show
        active, best = active[keep], best[keep]
        if not len(active):
            break
        many = min(max(len(count) // (4 * len(active)), 1), SLOTS_AT_ONCE)
        slots = slot + torch.arange(many, device=count.device)
        listed = slots < count[active].unsqueeze(1)
        row = owner[(start[active].unsqueeze(1) + slots).clamp(max=len(owner) - 1)].view(-1)
        rays = raster.rays.index_select(0, (active % per_image).repeat_interleave(many))
        depth = _hit(shape, to_local[row], origin[row], rays, None if inner is None else inner[row])
        depth = depth.view(len(active), many, -1) + (~listed).unsqueeze(2) * FAR_AWAY
        _keep_nearest(hits, active, best, depth, shown.solid[row].view(-1, many))
        slot += many
        active = active[count[active] > slot]


def _keep_nearest(
    hits: Hits, active: torch.Tensor, best: torch.Tensor, depth: torch.Tensor, solids: torch.Tensor
) -> None:
    """Write what is nearer than the best so far; of equals the one that comes first in a list stays."""
    solid = hits.solid.index_select(0, active)
    for i in range(depth.shape[1]):
        nearer = (depth[:, i] < best).to(torch.int32)
        solid = torch.addcmul(solid, nearer, solids[:, i : i + 1] - solid)
        best = torch.minimum(depth[:, i], best)
    hits.solid.index_copy_(0, active, solid)
    hits.depth.index_copy_(0, active, best)


def _local_frames(
    solids: Solids, shown: _Shown, eyes: torch.Tensor, angles: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """From a ray in the robot's frame to the unit solid's: a matrix [rows, 3, 3] and the eye [rows, 3]."""
    axes = solids.axes[shown.solid] / solids.half[shown.solid].unsqueeze(1)  # columns over their half size
    angle = angles[shown.image]
    c, s = torch.cos(angle).unsqueeze(1), torch.sin(angle).unsqueeze(1)
    forward = c * axes[:, 0] + s * axes[:, 1]
    left = c * axes[:, 1] - s * axes[:, 0]
    to_local = torch.stack([forward, left, axes[:, 2]], dim=2)
    offset = eyes[shown.image] - solids.centre[shown.solid]
    return to_local, (axes * offset.unsqueeze(2)).sum(1)


def _lists(shown: _Shown, raster: Raster, tiles: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """For each tile the first place and the length of its list, and the rows of `shown` in all lists, near to far."""
    x0, x1, y0, y1 = shown.tiles.unbind(1)
    across = x1 - x0 + 1
    amount = across * (y1 - y0 + 1)
    owner = torch.repeat_interleave(torch.arange(len(amount), device=amount.device), amount)
    inside = torch.arange(len(owner), device=owner.device) - (amount.cumsum(0) - amount)[owner]
    wide = across[owner]
    x, y = x0[owner] + inside % wide, y0[owner] + torch.div(inside, wide, rounding_mode="floor")
    tile = (shown.image[owner] * raster.down + y) * raster.across + x
    depth = (shown.near[owner] * 10_000).to(torch.int64).clamp(max=_DEPTH_STEPS - 1)
    order = torch.argsort(tile * _DEPTH_STEPS + depth, stable=True)
    count = torch.bincount(tile, minlength=tiles)
    return count.cumsum(0) - count, count, owner[order]


def _hit(
    shape: int, to_local: torch.Tensor, origin: torch.Tensor, rays: torch.Tensor, inner: torch.Tensor | None
) -> torch.Tensor:
    """Depth [rows, pixels] at which rays [rows, 3, pixels] enter their unit solid; FAR where they miss."""
    fx, fy, fz = rays.unbind(1)
    m = to_local.unsqueeze(-1)
    dx, dy, dz = (torch.addcmul(torch.addcmul(m[:, i, 0] * fx, m[:, i, 1], fy), m[:, i, 2], fz) for i in range(3))
    ox, oy, oz = (origin[:, i : i + 1] for i in range(3))
    if shape == BOX:
        return _hit_box((dx, dy, dz), (ox, oy, oz))
    if shape == BALL:
        a, b = dx * dx + dy * dy + dz * dz, dx * ox + dy * oy + dz * oz
        root = b * b - a * (ox * ox + oy * oy + oz * oz - 1)
        depth = (-b - root.clamp(min=0).sqrt()) / a
        return _unless(depth, -root, NEAR - depth)
    if shape == CYLINDER:
        return _hit_cylinder((dx, dy, dz), (ox, oy, oz))
    depth = -oz * _inverse(dz)
    x, y = torch.addcmul(ox, depth, dx), torch.addcmul(oy, depth, dy)
    far = x * x + y * y
    assert inner is not None
    return _unless(depth, far - 1, (inner * inner).unsqueeze(1) - far, NEAR - depth)


def _inverse(along: torch.Tensor) -> torch.Tensor:
    """One over a number, finite also for rays that run along a face."""
    return along.reciprocal().clamp(-1e9, 1e9)


def _unless(depth: torch.Tensor, *faults: torch.Tensor) -> torch.Tensor:
    """Depth where no fault is positive, far away elsewhere. Adding is many times faster on a CPU than choosing."""
    for fault in faults:
        depth = torch.add(depth, fault.clamp(min=0), alpha=FAR_AWAY)
    return depth


def _hit_box(d: tuple[torch.Tensor, ...], o: tuple[torch.Tensor, ...]) -> torch.Tensor:
    enter = leave = None
    for along, origin in zip(d, o, strict=True):
        inverse = _inverse(along)
        middle, reach = -origin * inverse, inverse.abs()
        first, last = middle - reach, middle + reach
        enter = first if enter is None else torch.maximum(enter, first)
        leave = last if leave is None else torch.minimum(leave, last)
    assert enter is not None and leave is not None
    return _unless(enter, enter - leave, NEAR - enter)


def _hit_cylinder(d: tuple[torch.Tensor, ...], o: tuple[torch.Tensor, ...]) -> torch.Tensor:
    """Where both the endless cylinder and the slab between its two ends have been entered."""
    (dx, dy, dz), (ox, oy, oz) = d, o
    a, b = dx * dx + dy * dy + 1e-12, dx * ox + dy * oy
    root = b * b - a * (ox * ox + oy * oy - 1)
    width = root.clamp(min=0).sqrt()
    inverse = _inverse(dz)
    middle, reach = -oz * inverse, inverse.abs()
    enter = torch.maximum((-b - width) / a, middle - reach)
    leave = torch.minimum((-b + width) / a, middle + reach)
    return _unless(enter, -root, enter - leave, NEAR - enter)
