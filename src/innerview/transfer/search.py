"""Looks for the numbers that give the smallest error: points spread over their ranges first, then ever closer steps.

No state is kept: what was tried so far says what is tried next, so a search that was stopped goes on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Point = tuple[float, ...]
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29)
FIRST_STEP, LAST_STEP = 1 / 8, 1 / 256
_DIGITS = 4


@dataclass(frozen=True, kw_only=True)
class Range:
    """Where a number is looked for, and where the search begins."""

    low: float
    high: float
    start: float

    @property
    def _logarithmic(self) -> bool:
        """Factors double and halve: steps are the same in their logarithms."""
        return self.low > 0 and self.high / self.low >= 1.9

    def at(self, share: float) -> float:
        """The number at a share of the way from low to high."""
        if self._logarithmic:
            return round(self.low * math.exp(share * math.log(self.high / self.low)), _DIGITS)
        return round(self.low + (self.high - self.low) * share, _DIGITS)

    def share(self, value: float) -> float:
        """Where a number lies, from 0 to 1."""
        if self._logarithmic:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


def next_points(
    tried: Mapping[Point, float],
    ranges: Sequence[Range],
    *,
    spread: int,
    budget: int,
    last: float = LAST_STEP,
    slanted: bool = False,
) -> list[Point]:
    """What to try next, given the errors of all that was tried; nothing where the search is over.

    `last` is the smallest step, as a share of a range. Where one number makes up for another, there may be no better
    point along either: `slanted` looks along both at once too.
    """
    left = budget - len(tried)
    if left <= 0:
        return []
    first = [tuple(each.start for each in ranges), *(_halton(number, ranges) for number in range(1, spread + 1))]
    if new := _new(first, tried):
        return new[:left]
    best, step = min(first, key=tried.__getitem__), FIRST_STEP
    while step >= last:
        around = _around(best, ranges, step)
        if new := _new(around, tried):
            return new[:left]
        together = _together(best, around, tried)
        if new := _new(together, tried):
            return new[:left]
        nearest = min([best, *around, *together], key=tried.__getitem__)
        if nearest == best and slanted:
            corners = [far for near in around for far in _around(near, ranges, step) if _moved(best, far) == 2]
            if new := _new(corners, tried):
                return new[:left]
            nearest = min([best, *corners], key=tried.__getitem__)
        if nearest == best:
            step /= 2
        best = nearest
    return []


def best_of(tried: Mapping[Point, float]) -> Point:
    """The point of the smallest error; the first one tried of several."""
    return min(tried, key=tried.__getitem__)


def _new(points: Sequence[Point], tried: Mapping[Point, float]) -> list[Point]:
    return [point for point in dict.fromkeys(points) if point not in tried]


def _halton(number: int, ranges: Sequence[Range]) -> Point:
    """The n-th of points that fill the ranges evenly."""
    return tuple(each.at(_reversed(number, prime)) for each, prime in zip(ranges, _PRIMES, strict=False))


def _reversed(number: int, base: int) -> float:
    """The digits of a number behind the point, last one first."""
    found, unit = 0.0, 1 / base
    while number:
        number, digit = divmod(number, base)
        found += digit * unit
        unit /= base
    return found


def _moved(point: Point, other: Point) -> int:
    """How many numbers of two points differ."""
    return sum(a != b for a, b in zip(point, other, strict=True))


def _together(best: Point, around: Sequence[Point], tried: Mapping[Point, float]) -> list[Point]:
    """All numbers moved at once that are better moved alone; nothing where that is one or none."""
    moved = dict[int, Point]()
    for point in around:
        if tried[point] < tried[best]:
            place = next(at for at, (a, b) in enumerate(zip(point, best, strict=True)) if a != b)
            moved[place] = min(moved.get(place, point), point, key=tried.__getitem__)
    if len(moved) < 2:
        return []
    return [tuple(moved[at][at] if at in moved else value for at, value in enumerate(best))]


def _around(point: Point, ranges: Sequence[Range], step: float) -> list[Point]:
    """One step along each number, both ways, within its range."""
    found = []
    for place, each in enumerate(ranges):
        here = each.share(point[place])
        for there in (here - step, here + step):
            moved = each.at(min(max(there, 0.0), 1.0))
            found.append((*point[:place], moved, *point[place + 1 :]))
    return found
