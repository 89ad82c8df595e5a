"""Gives every hit its colour: texture, paint of its room, lamps, sun and shade."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from innerview.worlds.office.camera import Raster
from innerview.worlds.office.cast import Hits
from innerview.worlds.office.floor import Floor
from innerview.worlds.office.lights import CELL_M, LightMap
from innerview.worlds.office.parts import BALL, CYLINDER
from innerview.worlds.office.solids import CEILING, GLASS, GROUND, OWN, WALL, Solids
from innerview.worlds.office.textures import LAYERS, SIDE, Texels, linear, sample

Triple = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


@dataclass(frozen=True, kw_only=True)
class Paints:
    """How rooms look: [1 + rooms, …], the first row for outside."""

    wall: torch.Tensor
    ground: torch.Tensor
    wall_paint: torch.Tensor
    """[rooms, 4]."""
    accent: torch.Tensor
    ground_paint: torch.Tensor

    def to(self, device: torch.device) -> Paints:
        """The same on a device."""
        return Paints(**{name: value.to(device) for name, value in vars(self).items()})


def paints_of(floor: Floor) -> Paints:
    """Tables of the rooms' looks."""
    rooms = floor.rooms

    def paint(colours: list[str]) -> torch.Tensor:
        return torch.tensor([[0.6, 0.6, 0.6, 0.0], *([*linear(c), 0.0] for c in colours)])

    return Paints(
        wall=torch.tensor([LAYERS["plaster"], *(LAYERS[room.wall] for room in rooms)]),
        ground=torch.tensor([LAYERS["concrete"], *(LAYERS[room.ground] for room in rooms)]),
        wall_paint=paint([room.paint for room in rooms]),
        accent=paint([room.accent or room.paint for room in rooms]),
        ground_paint=paint([room.ground_paint for room in rooms]),
    )


@dataclass(frozen=True)
class _Surface:
    """Where rays ended: all [pixels]."""

    solid: torch.Tensor
    skin: torch.Tensor
    point: Triple
    normal: Triple
    local: Triple
    top: torch.Tensor
    side_x: torch.Tensor
    round: torch.Tensor


def shade(
    hits: Hits, solids: Solids, *, eyes: torch.Tensor, angles: torch.Tensor, raster: Raster,
    light: LightMap, paints: Paints, texels: Texels, height_m: float,
) -> torch.Tensor:  # fmt: skip
    """Linear colour [n, tiles, pixels, 3] of hits."""
    c, s = torch.cos(angles).view(-1, 1, 1), torch.sin(angles).view(-1, 1, 1)
    fx, fy, fz = (raster.rays[None, :, i] for i in range(3))
    ray = fx * c - fy * s, fx * s + fy * c, fz.expand(hits.depth.shape)
    point = tuple(torch.addcmul(eyes[:, i].view(-1, 1, 1), hits.depth, ray[i]).reshape(-1) for i in range(3))
    flat = tuple(part.reshape(-1) for part in ray)
    surface = _surface(hits.solid.reshape(-1).to(torch.int64), solids, point)  # type: ignore[arg-type]
    room = _cell_of(light, surface, 0.09)
    albedo, metres = _look(surface, solids, paints, room)
    colour = _textured(surface, solids, texels, albedo, metres, flat, hits.depth.reshape(-1), raster)  # type: ignore[arg-type]
    lit = _light(surface, light, room, height_m)
    glow = solids.glow[surface.solid].unsqueeze(-1)
    shaded = colour * torch.lerp(lit, torch.ones_like(lit), glow)
    return shaded[:, :3].view(*hits.depth.shape, 3)


def _surface(solid: torch.Tensor, solids: Solids, point: Triple) -> _Surface:
    """The hit in the solid's own frame, and the way its surface looks."""
    axes, half, centre = solids.axes, solids.half, solids.centre
    offset = [point[i] - centre[:, i].contiguous()[solid] for i in range(3)]
    turn = [[axes[:, i, j].contiguous()[solid] for j in range(3)] for i in range(3)]
    inverse = [(1 / half[:, j])[solid] for j in range(3)]
    local = [(turn[0][j] * offset[0] + turn[1][j] * offset[1] + turn[2][j] * offset[2]) * inverse[j] for j in range(3)]
    shape = solids.shape[solid]
    ax, ay, az = (v.abs() for v in local)
    rounded = (shape == BALL) | (shape == CYLINDER)
    top = torch.where(rounded, (az > 0.9995) & (shape == CYLINDER), (az >= ax) & (az >= ay)) | (shape > CYLINDER)
    side_x = (ax > ay) & ~top & ~rounded
    bent = rounded & ~top
    nx = torch.where(bent, local[0] * inverse[0], torch.where(side_x, local[0].sign(), 0.0))
    ny = torch.where(bent, local[1] * inverse[1], torch.where(side_x | top, 0.0, local[1].sign()))
    nz = torch.where(top, local[2].sign(), torch.where(shape == BALL, local[2] * inverse[2], 0.0))
    normal = [turn[i][0] * nx + turn[i][1] * ny + turn[i][2] * nz for i in range(3)]
    length = torch.rsqrt((normal[0] ** 2 + normal[1] ** 2 + normal[2] ** 2).clamp(min=1e-12))
    world = (normal[0] * length, normal[1] * length, normal[2] * length)
    skin = solids.skin[solid]
    return _Surface(solid, skin, point, world, (local[0], local[1], local[2]), top, side_x, bent)


def _cell_of(light: LightMap, surface: _Surface, away_m: float) -> torch.Tensor:
    """1 + index of the room a surface faces."""
    return light.room[_cells(light, *(surface.point[i] + away_m * surface.normal[i] for i in (0, 1)))]


def _cells(light: LightMap, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    column = (x / CELL_M).to(torch.int64).clamp(0, light.across - 1)
    return (y / CELL_M).to(torch.int64).clamp(0, light.down - 1) * light.across + column


def _look(
    surface: _Surface, solids: Solids, paints: Paints, room: torch.Tensor
) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
    """Paint [pixels, 4], and texture layer with whether the room chose it."""
    skin, solid, top = surface.skin, surface.solid, surface.top
    own = torch.where(top, 1, 0)
    paint = _padded(solids.paint)[solid * 2 + own]
    layer = solids.layer.view(-1)[solid * 2 + own]
    is_wall, is_ground = skin == WALL, skin == GROUND
    accent = surface.normal[0].abs() > 0.7
    wall_paint = torch.where(accent.unsqueeze(-1), paints.accent[room], paints.wall_paint[room])
    paint = torch.where(is_wall.unsqueeze(-1), wall_paint, paint)
    paint = torch.where(is_ground.unsqueeze(-1), paints.ground_paint[room], paint)
    layer = torch.where(is_wall, paints.wall[room], torch.where(is_ground, paints.ground[room], layer))
    layer = torch.where(skin == CEILING, LAYERS["ceiling"], torch.where(skin == GLASS, LAYERS["outside"], layer))
    return paint, (layer, skin != OWN)


def _padded(paint: torch.Tensor) -> torch.Tensor:
    rows = paint.view(-1, 3)
    return torch.cat([rows, rows.new_zeros(len(rows), 1)], 1)


def _textured(
    surface: _Surface, solids: Solids, texels: Texels, paint: torch.Tensor, chosen: tuple[torch.Tensor, torch.Tensor],
    ray: Triple, depth: torch.Tensor, raster: Raster,
) -> torch.Tensor:  # fmt: skip
    """Paint times texture at the hit."""
    layer, by_room = chosen
    place = [
        torch.addcmul(
            solids.uv[:, 3 + i].contiguous()[surface.solid],
            surface.local[i],
            solids.uv[:, i].contiguous()[surface.solid],
        )
        for i in range(3)
    ]
    u = torch.where(surface.side_x, place[1], torch.where(surface.round, place[0] + place[1], place[0]))
    v = torch.where(surface.top, place[1], place[2])
    turns = torch.where(by_room, 1 / texels.metres[layer], 1.0)
    u, v = u * turns, v * turns
    length = torch.rsqrt(ray[0] ** 2 + ray[1] ** 2 + ray[2] ** 2)
    slant = sum((surface.normal[i] * ray[i] for i in range(3)), torch.zeros_like(length)).abs() * length
    density = torch.where(by_room, SIDE * turns, solids.density[surface.solid])
    blur = depth / raster.focal * density * torch.rsqrt(slant.clamp(min=0.04))
    glass = surface.skin == GLASS
    u = torch.where(glass, torch.atan2(ray[1], ray[0]) * (2 / torch.pi), u)
    v = torch.where(glass, (0.36 + 0.62 * ray[2] * length).clamp(0.01, 0.99), v)
    blur = torch.where(glass, 1.0, blur)
    return paint * sample(texels, layer=layer, u=u, v=v, blur=blur)


def _light(surface: _Surface, light: LightMap, room: torch.Tensor, height_m: float) -> torch.Tensor:
    """Light [pixels, 4] that falls on a surface."""
    (x, y, z), (nx, ny, nz) = surface.point, surface.normal
    table = _bilinear(light, x + 0.16 * nx, y + 0.16 * ny)
    lamps, walls, shade, air = table.unbind(-1)
    ground = surface.skin == GROUND
    high = (z / height_m).clamp(0, 1)
    corner = 1 - 0.55 * (walls - torch.where(ground, 0.0, 0.25)).clamp(0, 0.6)
    edge = 1 - 0.22 * torch.exp(-z.clamp(min=0) * 6) - 0.16 * torch.exp((z - height_m).clamp(max=0) * 5)
    facing = 0.78 + 0.22 * nz + 0.07 * nx - 0.05 * ny
    sideways = air * facing * (0.9 + 0.18 * high - 0.12 * high * high)
    under = torch.lerp(shade, torch.ones_like(shade), (z * 1.4).clamp(0, 1))
    flat = torch.where(ground, lamps * shade, sideways * edge * under)
    flat = torch.where(surface.skin == CEILING, 0.62 * air + 0.16, flat) * corner
    sx, sy, sz = light.sun
    lean = (nx * sx + ny * sy + nz * sz).clamp(min=0)
    run = z / sz
    hit = light.sunny[_cells(light, x - sx * run + 0.03 * nx, y - sy * run + 0.03 * ny)]
    sun = light.sun_strength * torch.where((hit == room) & (room > 0), lean, 0.0)
    tint = [*light.tint, 1.0]
    warm = (1.5, 1.32, 1.05, 0.0)
    return torch.stack([flat * tint[i] + sun * warm[i] for i in range(4)], -1)


def _bilinear(light: LightMap, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    column, row = x / CELL_M - 0.5, y / CELL_M - 0.5
    c0, r0 = column.floor(), row.floor()
    fc, fr = (column - c0).unsqueeze(-1), (row - r0).unsqueeze(-1)
    left, right = (c0.to(torch.int64) + i for i in (0, 1))
    low, high = (r0.to(torch.int64) + i for i in (0, 1))
    left, right = (v.clamp(0, light.across - 1) for v in (left, right))
    low, high = (v.clamp(0, light.down - 1) * light.across for v in (low, high))
    table = light.table
    bottom = torch.lerp(table[low + left], table[low + right], fc)
    return torch.lerp(bottom, torch.lerp(table[high + left], table[high + right], fc), fr)
