"""Units of lengths and angles, and how many of one make another."""

from __future__ import annotations

import re
from math import pi

METRES = {"m": 1.0, "cm": 0.01, "mm": 0.001, "km": 1000.0}
_SEVERAL = re.compile(r"(\d+(?:\.\d+)?)\s+(\w+)")
DEGREES = {"deg": 1.0, "rad": 180 / pi}


def units_per(unit: str, wanted: str) -> float | None:
    """By what a number is multiplied to be in another unit; None where the two cannot be compared.

    A unit may have a number before it: in "0.2 mm", 5,000 are a metre.
    """
    if unit == wanted:
        return 1.0
    if several := _SEVERAL.fullmatch(unit):
        one = units_per(several[2], wanted)
        return None if one is None else float(several[1]) * one
    for known in (METRES, DEGREES):
        if unit in known and wanted in known:
            return known[unit] / known[wanted]
    return None
