"""Chooses elements: all but some, or as a person writes them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from innerview.errors import EditError
from innerview.schema import EditSet, MemorySite, SiteEdit

_PART = re.compile(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?")


def all_but(elements: Iterable[int], size: int) -> tuple[int, ...]:
    """Every other element of a memory of `size`."""
    kept = set(elements)
    return tuple(element for element in range(size) if element not in kept)


def keep_only(elements: Iterable[int], site: MemorySite, *, name: str, note: str = "") -> EditSet:
    """A reduction that zeroes every element of the site but these."""
    gone = all_but(elements, math.prod(site.shape))
    edits = (SiteEdit(elements=gone, site=site.address),) if gone else ()
    return EditSet(name=name, edits=edits, note=note)


def parse_elements(text: str) -> tuple[int, ...]:
    """Elements as people write them: "3, 17, 40-47"."""
    found: list[int] = []
    for part in text.split(","):
        match = _PART.fullmatch(part)
        if match is None:
            raise EditError(f"'{part.strip()}' names no elements. Write them as 3,17,40-47.")
        first = int(match[1])
        last = int(match[2]) if match[2] else first
        if last < first or last - first > 1_000_000:
            raise EditError(f"'{part.strip()}' is no range of elements: write the smaller first, as in 40-47.")
        found.extend(range(first, last + 1))
    return tuple(dict.fromkeys(found))
