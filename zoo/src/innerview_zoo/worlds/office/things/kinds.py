"""Every kind of thing that can stand on a floor, by name."""

from __future__ import annotations

from innerview_zoo.worlds.office.things.fittings import FITTINGS
from innerview_zoo.worlds.office.things.parts import Kind, Vec3
from innerview_zoo.worlds.office.things.seats_and_tables import SEATS_AND_TABLES
from innerview_zoo.worlds.office.things.small_things import SMALL_THINGS

KINDS: dict[str, Kind] = {**SEATS_AND_TABLES, **FITTINGS, **SMALL_THINGS}


def default_size(kind: str) -> Vec3:
    """Width, depth and height in metres that a kind usually has."""
    return KINDS[kind].size
