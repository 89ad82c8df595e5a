"""Filters of recorded pictures: what each changes, its numbers with their ranges, and how it is written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Literal

from innerview.errors import RequestError, UnknownName

FilterName = Literal["brightness", "contrast", "temperature", "blur", "depth range", "pitch", "height", "field of view"]
FilterPart = Literal["colour", "depth", "view"]
"""What a filter changes: colours, measured distances, or where the camera looks, which moves both."""


@dataclass(frozen=True, kw_only=True)
class FilterNumber:
    """One number of a filter."""

    name: str
    low: float
    high: float
    neutral: float
    """Which changes nothing."""
    usual: tuple[float, float]
    """Where sliders and searches stay."""
    unit: str = ""


@dataclass(frozen=True, kw_only=True)
class PictureFilter:
    """One filter as it is declared."""

    name: FilterName
    part: FilterPart
    numbers: tuple[FilterNumber, ...]
    description: str

    @property
    def neutral(self) -> tuple[float, ...]:
        """The numbers that change nothing."""
        return tuple(number.neutral for number in self.numbers)

    @property
    def example(self) -> str:
        """How it is written."""
        return " ".join([self.name, *(f"{number.low:g}…{number.high:g}{number.unit}" for number in self.numbers)])


def _one(
    name: FilterName,
    part: FilterPart,
    number: tuple[str, float, float, float],
    usual: tuple[float, float],
    unit: str,
    description: str,
) -> PictureFilter:
    called, low, high, neutral = number
    numbers = (FilterNumber(name=called, low=low, high=high, neutral=neutral, usual=usual, unit=unit),)
    return PictureFilter(name=name, part=part, numbers=numbers, description=description)


PICTURE_FILTERS: dict[str, PictureFilter] = {
    each.name: each
    for each in (
        _one("brightness", "colour", ("factor", 0, 4, 1), (0.5, 2), "", "Colours times a factor."),
        _one(
            "contrast", "colour", ("factor", 0, 4, 1), (0.5, 2), "", "Distance of colours from the picture's mean grey."
        ),
        _one(
            "temperature", "colour", ("warmth", -1, 1, 0), (-0.5, 0.5), "", "Red times 2^warmth and blue divided by it."
        ),
        _one("blur", "colour", ("sigma", 0, 10, 0), (0, 3), "px", "Colours blurred by a Gaussian of that width."),
        PictureFilter(
            name="depth range",
            part="depth",
            numbers=(
                FilterNumber(name="nearest", low=0, high=100, neutral=0, usual=(0, 1.5), unit="m"),
                FilterNumber(name="farthest", low=0, high=100, neutral=100, usual=(3, 100), unit="m"),
            ),
            description="What is nearer or farther was not measured: its depth is 0.",
        ),
        _one("pitch", "view", ("up", -30, 30, 0), (-10, 10), "deg", "The camera looks so much further up."),
        _one(
            "height",
            "view",
            ("up", -1, 1, 0),
            (-0.5, 0.5),
            "m",
            "The camera stands so much higher, along its own upward axis.",
        ),
        _one(
            "field of view",
            "view",
            ("factor", 0.5, 2, 1),
            (0.7, 1.4),
            "",
            "Tangent of half the field of view times a factor.",
        ),
    )
}
"""Filters of recorded pictures by name; the edits of an input (`FILTERS`) change what a module is given instead."""
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?"


@dataclass(frozen=True, kw_only=True)
class SavedFilter:
    """Filters under a name, made in this order."""

    name: str
    steps: str
    """As they are written: "brightness 1.2 | blur 0.8"."""
    note: str = ""
    """Where they come from, in words."""


def named_filter(text: str) -> PictureFilter | None:
    """The filter that a step is of; None where it is another step."""
    return next((each for name, each in PICTURE_FILTERS.items() if re.match(rf"{name}(?:\s|$)", text)), None)


def filter_numbers(chosen: PictureFilter, text: str) -> tuple[float, ...]:
    """The numbers of a filter as it is written, checked against their ranges."""
    words = text[len(chosen.name) :].split()
    many = len(chosen.numbers)
    if len(words) != many or not all(re.fullmatch(_NUMBER, word) for word in words):
        raise RequestError(f"'{text}': {_takes(chosen)}.")
    return checked_numbers(chosen, [float(word) for word in words])


def checked_numbers(chosen: PictureFilter, values: Sequence[float]) -> tuple[float, ...]:
    """Numbers of a filter, or an error that gives the range."""
    if len(values) != len(chosen.numbers):
        raise RequestError(f"'{chosen.name}' was given {len(values)} numbers: {_takes(chosen)}.")
    for number, value in zip(chosen.numbers, values, strict=True):
        if not (isfinite(value) and number.low <= value <= number.high):
            raise RequestError(
                f"'{chosen.name}': {number.name} goes from {number.low:g} to {number.high:g}"
                f"{number.unit and ' ' + number.unit}, not {value:g}. {chosen.description}"
            )
    if chosen.name == "depth range" and values[0] >= values[1]:
        raise RequestError(f"'depth range': nearest is below farthest, not {values[0]:g} and {values[1]:g} m.")
    return tuple(map(float, values))


def check_filter_name(name: str) -> PictureFilter:
    """The filter of that name, or an error that names the nearest one."""
    if name not in PICTURE_FILTERS:
        raise UnknownName("filter", name, PICTURE_FILTERS, f"Filters: {FILTER_GRAMMAR}")
    return PICTURE_FILTERS[name]


def _takes(chosen: PictureFilter) -> str:
    named = " and ".join(
        f"{number.name} from {number.low:g} to {number.high:g}{number.unit and ' ' + number.unit}"
        for number in chosen.numbers
    )
    return f"'{chosen.name}' takes {named}"


FILTER_GRAMMAR = (
    "brightness 1.2, contrast 0.8, temperature -0.2, blur 0.8, depth range 0.35 7, pitch 2, height 0.1, "
    + ("field of view 1.1.")
)
