"""How every surface is finished: one row per side of a solid and per kind of surface of a room."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from innerview_zoo.worlds.office.floors.floor import Floor
from innerview_zoo.worlds.office.rendering.solids import CEILING, GLASS, GROUND, OWN, WALL, Solids
from innerview_zoo.worlds.office.textures.table import LAYERS, METRES, SIDE, linear
from innerview_zoo.worlds.office.things.parts import BALL, BOX, CYLINDER, RING

PER_ROOM = 4
"""Rows of a room: wall, wall that runs north and south, ground, ceiling."""
_KIND = {OWN: 0.0, GLASS: 0.0, WALL: 0.0, GROUND: 2.0, CEILING: 3.0}


@dataclass(frozen=True, kw_only=True)
class Finish:
    """Tables of plain columns: gathering a column by pixel is the fastest thing a CPU can do here."""

    place: tuple[torch.Tensor, ...]
    """By solid: centre (3), axes over half size (9), axes (9), one over half size (3)."""
    mark: tuple[torch.Tensor, ...]
    """By solid, 0 or 1: box, ball, cylinder, ring, looks of its room, wall, ground, ceiling, glass; then its kind."""
    uv: tuple[torch.Tensor, ...]
    """By solid: scale (3) and offset (3) of the texture."""
    glow: torch.Tensor
    look: tuple[torch.Tensor, ...]
    """By row: red, green, blue, texture, turns of the texture a metre, texels a metre."""
    first_room: int
    """The row at which rooms begin; room r has PER_ROOM rows there, room 0 is outside."""

    def to(self, device: torch.device) -> Finish:
        """The same on a device."""
        return Finish(
            place=_moved(self.place, device),
            mark=_moved(self.mark, device),
            uv=_moved(self.uv, device),
            glow=self.glow.to(device),
            look=_moved(self.look, device),
            first_room=self.first_room,
        )


def _moved(columns: tuple[torch.Tensor, ...], device: torch.device) -> tuple[torch.Tensor, ...]:
    return tuple(column.to(device) for column in columns)


def finish_of(floor: Floor, solids: Solids) -> Finish:
    """The finish of a floor's solids and rooms."""
    axes, half = solids.axes, solids.half
    place = [solids.centre[:, i] for i in range(3)]
    place += [axes[:, i, j] / half[:, j] for j in range(3) for i in range(3)]
    place += [axes[:, i, j] for j in range(3) for i in range(3)]
    place += [1 / half[:, i] for i in range(3)]
    shape, skin = solids.shape, solids.skin
    marks = [shape == kind for kind in (BOX, BALL, CYLINDER, RING)]
    marks += [(skin != OWN) & (skin != GLASS), skin == WALL, skin == GROUND, skin == CEILING, skin == GLASS]
    kind = torch.tensor([_KIND[int(s)] for s in skin])
    return Finish(
        place=tuple(column.contiguous().float() for column in place),
        mark=(*(mark.float() for mark in marks), kind),
        uv=tuple(solids.uv[:, i].contiguous() for i in range(6)),
        glow=solids.glow,
        look=_look(floor, solids),
        first_room=2 * len(shape),
    )


def _look(floor: Floor, solids: Solids) -> tuple[torch.Tensor, ...]:
    sides = torch.cat(
        [
            solids.paint.view(-1, 3),
            torch.where((solids.skin == GLASS).unsqueeze(1), LAYERS["outside"], solids.layer).view(-1, 1),
            torch.ones(2 * len(solids.shape), 1),
            solids.density.repeat_interleave(2).view(-1, 1),
        ],
        1,
    )
    rows = [_room_row("#c8c8c8", "concrete")] * PER_ROOM
    for room in floor.rooms:
        rows.append(_room_row(room.paint, room.wall))
        rows.append(_room_row(room.accent or room.paint, room.wall))
        rows.append(_room_row(room.ground_paint, room.ground))
        rows.append(_room_row("#ffffff", "ceiling"))
    return tuple(torch.cat([sides, torch.tensor(rows)]).float().unbind(1))


def _room_row(paint: str, texture: str) -> list[float]:
    metres = METRES[LAYERS[texture]]
    return [*linear(paint), float(LAYERS[texture]), 1 / metres, SIDE / metres]
