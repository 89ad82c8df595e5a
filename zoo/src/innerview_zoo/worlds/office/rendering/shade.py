"""Gives every hit its colour: texture, paint of its room, lamps, sun and shade.

Masks are numbers 0 and 1 that are multiplied: on a CPU that is ten times faster than choosing.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from innerview_zoo.worlds.office.rendering.camera import Raster
from innerview_zoo.worlds.office.rendering.cast import Hits
from innerview_zoo.worlds.office.rendering.finish import PER_ROOM, Finish
from innerview_zoo.worlds.office.rendering.lights import CELL_M, LightMap
from innerview_zoo.worlds.office.textures.table import Texels, sample

Triple = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
SUNLIGHT = (2.7, 2.4, 1.9)
OUTSIDE_TURNS = 2.0
"""How often the view through the windows repeats around the horizon, over pi."""


@dataclass(frozen=True)
class _Surface:
    """Where rays ended, all [pixels]: point and normal on the floor, place in the solid's own frame, and masks."""

    solid: torch.Tensor
    point: Triple
    normal: Triple
    local: Triple
    top: torch.Tensor
    side_x: torch.Tensor
    bent: torch.Tensor


def shade(
    hits: Hits, finish: Finish, *, eyes: torch.Tensor, angles: torch.Tensor, raster: Raster,
    light: LightMap, texels: Texels, height_m: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:  # fmt: skip
    """Linear red, green and blue of hits, [n, tiles, pixels] each."""
    c, s = torch.cos(angles).view(-1, 1, 1), torch.sin(angles).view(-1, 1, 1)
    fx, fy, fz = (raster.rays[None, :, i] for i in range(3))
    ray = (fx * c - fy * s, fx * s + fy * c, fz.expand(hits.depth.shape))
    point = [torch.addcmul(eyes[:, i].view(-1, 1, 1), hits.depth, ray[i]).view(-1) for i in range(3)]
    flat: Triple = (ray[0].reshape(-1), ray[1].reshape(-1), ray[2].reshape(-1))
    surface = _surface(hits.solid.view(-1), finish, (point[0], point[1], point[2]))
    room = _room_faced(surface, light)
    colour = _textured(surface, finish, texels, light, room, flat, hits.depth.view(-1), raster)
    lit = _light(surface, finish, light, room, height_m)
    glow = _of(finish.glow, surface.solid)
    shaded = [colour[i] * torch.addcmul(lit[i], glow, 1 - lit[i]) for i in range(3)]
    return tuple(channel.view(hits.depth.shape) for channel in shaded)  # type: ignore[return-value]


def _of(column: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return column.index_select(0, index)


def _surface(solid: torch.Tensor, finish: Finish, point: Triple) -> _Surface:
    """The hit in the solid's own frame, and the way its surface looks."""
    take = [_of(column, solid) for column in finish.place]
    offset = [point[i] - take[i] for i in range(3)]
    local = [_dot(take[3 + 3 * j : 6 + 3 * j], offset) for j in range(3)]
    is_box, is_ball, is_tube, is_ring = (_of(column, solid) for column in finish.mark[:4])
    ax, ay, az = (v.abs() for v in local)
    top = is_box * (az >= torch.maximum(ax, ay)) + is_tube * (az > 0.9995) + is_ring
    upright = 1 - top
    side_x = is_box * upright * (ax > ay)
    side_y = is_box * upright - side_x
    bent = (is_ball + is_tube) * upright
    inverse = take[21:24]
    own = [
        torch.addcmul(side_x * local[0].sign(), bent * inverse[0], local[0]),
        torch.addcmul(side_y * local[1].sign(), bent * inverse[1], local[1]),
        torch.addcmul(top * local[2].sign(), is_ball * inverse[2], local[2]),
    ]
    axes = take[12:21]
    normal = [own[0] * axes[i] + own[1] * axes[3 + i] + own[2] * axes[6 + i] for i in range(3)]
    length = torch.rsqrt(_dot(normal, normal).clamp(min=1e-12))
    world = (normal[0] * length, normal[1] * length, normal[2] * length)
    return _Surface(solid, point, world, (local[0], local[1], local[2]), top, side_x, bent)


def _dot(a: list[torch.Tensor] | Triple, b: list[torch.Tensor] | Triple) -> torch.Tensor:
    return torch.addcmul(torch.addcmul(a[0] * b[0], a[1], b[1]), a[2], b[2])


def _room_faced(surface: _Surface, light: LightMap) -> torch.Tensor:
    """1 + index of the room a surface faces, int32."""
    x, y = (surface.point[i] + 0.09 * surface.normal[i] for i in (0, 1))
    return _of(light.room, _cells(light, x, y))


def _cells(light: LightMap, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    column = (x * (1 / CELL_M)).to(torch.int32).clamp(0, light.across - 1)
    row = (y * (1 / CELL_M)).to(torch.int32).clamp(0, light.down - 1)
    return row * light.across + column


def _textured(
    surface: _Surface, finish: Finish, texels: Texels, light: LightMap, room: torch.Tensor, ray: Triple,
    depth: torch.Tensor, raster: Raster,
) -> list[torch.Tensor]:  # fmt: skip
    """Paint times texture at the hit."""
    solid, top = surface.solid, surface.top
    by_room, is_wall, _, _, is_glass, kind = (_of(column, solid) for column in finish.mark[4:])
    kind = torch.addcmul(kind, is_wall, (surface.normal[0].abs() > 0.7).to(torch.float32))
    chosen = by_room.to(torch.int32)
    of_room = finish.first_room + room * PER_ROOM + kind.to(torch.int32)
    of_solid = solid * 2 + top.to(torch.int32)
    row = of_solid + chosen * (of_room - of_solid)
    red, green, blue, layer, turns, density = (_of(column, row) for column in finish.look)
    scale = [_of(column, solid) for column in finish.uv]
    place = [torch.addcmul(scale[3 + i], surface.local[i], scale[i]) for i in range(3)]
    u = torch.addcmul(torch.addcmul(place[0], surface.side_x, place[1] - place[0]), surface.bent, place[1]) * turns
    v = torch.addcmul(place[2], top, place[1] - place[2]) * turns
    length = torch.rsqrt(_dot(ray, ray))
    slant = (_dot(surface.normal, ray) * length).abs().clamp(min=0.04)
    blur = depth * density * torch.rsqrt(slant) * (1 / raster.focal)
    round_view = torch.atan2(ray[1], ray[0]) * (OUTSIDE_TURNS / torch.pi)
    high_view = torch.add(0.36, ray[2] * length, alpha=0.62).clamp(0.01, 0.99)
    u, v = torch.lerp(u, round_view, is_glass), torch.lerp(v, high_view, is_glass)
    blur = blur * (1 - is_glass)
    texture = sample(texels, layer=layer.to(torch.int32), u=u, v=v, blur=blur)
    bright = is_glass * (light.sky - 1) + 1  # at night the windows are dark
    red, green, blue = red * bright, green * bright, blue * bright
    return [red * texture[0], green * texture[1], blue * texture[2]]


def _light(
    surface: _Surface, finish: Finish, light: LightMap, room: torch.Tensor, height_m: float
) -> list[torch.Tensor]:
    """Red, green and blue of the light that falls on a surface."""
    (x, y, z), (nx, ny, nz) = surface.point, surface.normal
    lamps, walls, shadow, air = _bilinear(
        light, light.table, torch.add(x, nx, alpha=0.16), torch.add(y, ny, alpha=0.16)
    )
    is_ground, is_ceiling = (_of(finish.mark[i], surface.solid) for i in (6, 7))
    high = (z * (1 / height_m)).clamp(0, 1)
    corner = 1 - 0.55 * (walls - 0.25 * (1 - is_ground)).clamp(0, 0.6)
    edge = 1 - 0.22 * torch.exp(z.clamp(min=0) * -6) - 0.16 * torch.exp((z - height_m).clamp(max=0) * 5)
    facing = 0.78 + 0.22 * nz + 0.07 * nx - 0.05 * ny
    sideways = air * facing * (0.9 + high * (0.18 - 0.12 * high))
    under = torch.lerp(shadow, torch.ones_like(shadow), (z * 1.4).clamp(0, 1))
    flat = torch.lerp(sideways * edge * under, lamps * shadow, is_ground)
    flat = torch.lerp(flat, 0.62 * air + 0.16, is_ceiling) * corner
    sun = _sun(surface, light, room)
    return [torch.add(flat * light.tint[i], sun, alpha=SUNLIGHT[i]) for i in range(3)]


def _sun(surface: _Surface, light: LightMap, room: torch.Tensor) -> torch.Tensor:
    """Sunlight through a window of the same room, found where the ray from the sun would meet the ground."""
    (x, y, z), (nx, ny, nz) = surface.point, surface.normal
    if light.sun_strength == 0:
        return torch.zeros_like(z)
    sx, sy, sz = light.sun
    lean = (nx * sx + ny * sy + nz * sz).clamp(min=0) * light.sun_strength
    ground_x = torch.add(torch.add(x, z, alpha=-sx / sz), nx, alpha=0.03)
    ground_y = torch.add(torch.add(y, z, alpha=-sy / sz), ny, alpha=0.03)
    hit = _of(light.sunny, _cells(light, ground_x, ground_y))
    (shine,) = _bilinear(light, (light.sunshine,), ground_x, ground_y)
    return lean * shine * ((hit == room) & (room > 0))


def _bilinear(
    light: LightMap, tables: tuple[torch.Tensor, ...], x: torch.Tensor, y: torch.Tensor
) -> list[torch.Tensor]:
    """Columns of the light map between its cells."""
    column = (x * (1 / CELL_M) - 0.5).clamp(0, light.across - 1.001)
    row = (y * (1 / CELL_M) - 0.5).clamp(0, light.down - 1.001)
    c0, r0 = column.floor(), row.floor()
    across, up = column - c0, row - r0
    low = (r0.to(torch.int32) * light.across + c0.to(torch.int32)).clamp(0, light.across * (light.down - 1) - 2)
    found = []
    for table in tables:
        bottom = torch.lerp(_of(table, low), _of(table, low + 1), across)
        top = torch.lerp(_of(table, low + light.across), _of(table, low + (light.across + 1)), across)
        found.append(torch.lerp(bottom, top, up))
    return found
