"""Floors that are ready to use: the office floor, and a bare room for experiments."""

from __future__ import annotations

from functools import lru_cache

from innerview.errors import WorldError
from innerview_zoo.worlds.office.floors.building import FIRST_WALL_ID, HEIGHT_M, LINES, SIZE_M, build
from innerview_zoo.worlds.office.floors.floor import Floor, Room, Wall
from innerview_zoo.worlds.office.floors.furnishing import furnish
from innerview_zoo.worlds.office.floors.rooms import ROOMS
from innerview_zoo.worlds.office.floors.ways import check_seed


def office_floor(seed: int = 0) -> Floor:
    """The standard floor; the seed varies colours, angles and the small things, never the walls."""
    check_seed(seed)
    return _office_floor(int(seed))


@lru_cache(maxsize=4)
def _office_floor(seed: int) -> Floor:
    walls, doors, windows = build(LINES)
    return Floor(
        size_m=(SIZE_M, SIZE_M),
        height_m=HEIGHT_M,
        rooms=ROOMS,
        walls=walls,
        doors=doors,
        windows=windows,
        things=furnish(seed),
        seed=seed,
    )


def bare_room(width_m: float = 6.0, depth_m: float = 4.0) -> Floor:
    """One empty room without doors or windows, whose inner faces are the edges of its outline."""
    if not (1 <= width_m <= 100 and 1 <= depth_m <= 100):
        raise WorldError(f"A bare room is 1 to 100 m along each side, not {width_m:g} x {depth_m:g}.")
    thick = 0.2
    spans = (
        (-thick, -thick, width_m + thick, 0.0), (-thick, depth_m, width_m + thick, depth_m + thick),
        (-thick, 0.0, 0.0, depth_m), (width_m, 0.0, width_m + thick, depth_m),
    )  # fmt: skip
    walls = tuple(Wall(id=FIRST_WALL_ID + i, x0=s[0], y0=s[1], x1=s[2], y1=s[3]) for i, s in enumerate(spans))
    outline = ((0.0, 0.0), (width_m, 0.0), (width_m, depth_m), (0.0, depth_m))
    return Floor(
        size_m=(width_m, depth_m),
        height_m=HEIGHT_M,
        rooms=(Room(name="room", kind="room", polygon=outline),),
        walls=walls,
        doors=(),
        windows=(),
        things=(),
    )
