"""What a lens gives back: one of eight types, each of which has a generic view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np

from innerview.errors import LensError
from innerview.schema.plain import to_json
from innerview.schema.result import Result

OutputType = Literal["heat", "layout", "per row", "per element", "table", "chart", "gallery", "map"]


@dataclass(frozen=True, kw_only=True)
class Axis:
    """A quantity: what it is called, and its unit."""

    name: str
    unit: str = ""


@dataclass(frozen=True, kw_only=True)
class Output:
    """What every type has: figures and arrays beside what its generic view shows, for views that know the lens."""

    type: ClassVar[str] = ""
    value: Any = field(default_factory=dict)
    """As JSON: whatever else is known."""
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Numbers, by name."""

    def shown(self) -> dict[str, Any]:
        """As JSON: all that the generic view needs beside the arrays."""
        return {}

    def stored(self) -> dict[str, np.ndarray]:
        """Every array that is kept, by name."""
        return dict(self.arrays)

    def check(self) -> None:
        """Raise LensError where the shapes do not fit the type."""


@dataclass(frozen=True, kw_only=True)
class Heat(Output):
    """How much each pixel counts: raw and signed, never scaled. It is scaled once, where it is shown."""

    type: ClassVar[str] = "heat"
    heat: Mapping[str, np.ndarray]
    """[row, channel, height, width] by name of the input; a channel of a stack is a frame's. Of an input that is a
    vector [row, 1, 1, feature]."""
    rows: np.ndarray
    """int [row]: rows of the recording."""
    unit: str = ""
    """What a value of 1 means."""
    signed: bool = True
    """Whether the sign means something; where not, only the size does."""
    steps: tuple[str, ...] = ()
    """Where it is of several observations, which: "t−1", "t". As many equal parts of the channels, in that order."""
    vectors: tuple[str, ...] = ()
    """Inputs that are vectors: their heat is shown as a bar per feature."""
    domain: str = ""
    """Of paired rows, the domain whose pictures it lies over; empty for those that were given."""
    positive: Literal["orange", "blue"] = "orange"
    """The colour of what is above zero, where the sign means something; below zero has the other one."""

    def shown(self) -> dict[str, Any]:
        largest = {name: float(np.abs(values).max(initial=0.0)) for name, values in self.heat.items()}
        shown = {"inputs": list(self.heat), "unit": self.unit, "signed": self.signed, "largest": largest}
        of_more = {"steps": list(self.steps), "vectors": list(self.vectors), "domain": self.domain}
        of_more |= {"positive": self.positive} if self.positive != "orange" else {}
        return {**shown, **{name: values for name, values in of_more.items() if values}}

    def stored(self) -> dict[str, np.ndarray]:
        heat = {f"heat.{name}": np.asarray(values, np.float32) for name, values in self.heat.items()}
        return {**self.arrays, **heat, "rows": np.asarray(self.rows, np.int32)}

    def check(self) -> None:
        for name, values in self.heat.items():
            if values.ndim != 4 or len(values) != len(self.rows):
                raise LensError(
                    f"Heat of '{name}' has shape {list(values.shape)}; it is [row, channel, height, width] with "
                    f"{len(self.rows)} rows."
                )
            if self.steps and values.shape[1] % len(self.steps):
                raise LensError(f"Heat of '{name}' has {values.shape[1]} channels for {len(self.steps)} steps.")
            _demand_finite(f"heat of '{name}'", values)


@dataclass(frozen=True, kw_only=True)
class Layout(Output):
    """Where rows lie in a plane."""

    type: ClassVar[str] = "layout"
    places: np.ndarray
    """[row, 2]."""
    rows: np.ndarray
    """int [point], ascending: rows of the recording; a row may have several points, such as one for each domain."""
    axes: tuple[Axis, ...] = ()
    """Two, where the directions mean something."""

    def shown(self) -> dict[str, Any]:
        return {"axes": [_axis(axis) for axis in self.axes]}

    def stored(self) -> dict[str, np.ndarray]:
        places, rows = np.asarray(self.places, np.float32), np.asarray(self.rows, np.int32)
        return {**self.arrays, "places": places, "rows": rows}

    def check(self) -> None:
        if self.places.shape != (len(self.rows), 2) or (np.diff(self.rows) < 0).any():
            raise LensError("A layout has places [row, 2] and as many rows, ascending.")
        _demand_finite("the layout", self.places)


@dataclass(frozen=True, kw_only=True)
class PerRow(Output):
    """Numbers for each row."""

    type: ClassVar[str] = "per row"
    values: np.ndarray
    """[row, k], NaN where unknown."""
    rows: np.ndarray
    """int [row]: rows of the recording."""
    columns: tuple[Axis, ...] = ()
    """What each of the k numbers is."""

    def shown(self) -> dict[str, Any]:
        return {"columns": [_axis(axis) for axis in self.columns]}

    def stored(self) -> dict[str, np.ndarray]:
        values = np.asarray(self.values, np.float32)
        return {**self.arrays, "values": values, "rows": np.asarray(self.rows, np.int32)}

    def check(self) -> None:
        if self.values.shape != (len(self.rows), len(self.columns)):
            raise LensError(
                f"Values per row are [{len(self.rows)} rows, {len(self.columns)} columns], not "
                f"{list(self.values.shape)}."
            )


@dataclass(frozen=True, kw_only=True)
class PerElement(Output):
    """Numbers for each element of a memory, a layer or a head."""

    type: ClassVar[str] = "per element"
    values: np.ndarray
    """[element, k], NaN where unknown."""
    columns: tuple[Axis, ...] = ()
    elements: tuple[str, ...] = ()
    """Names of the elements; numbered where empty."""
    of: str = ""
    """What they are elements of."""

    def shown(self) -> dict[str, Any]:
        return {"columns": [_axis(a) for a in self.columns], "elements": list(self.elements), "of": self.of}

    def stored(self) -> dict[str, np.ndarray]:
        return {**self.arrays, "values": np.asarray(self.values, np.float32)}

    def check(self) -> None:
        named = len(self.elements) or len(self.values)
        if self.values.shape != (named, len(self.columns)):
            raise LensError(
                f"Values per element are [{named} elements, {len(self.columns)} columns], not "
                f"{list(self.values.shape)}."
            )


@dataclass(frozen=True, kw_only=True)
class Table(Output):
    """Lines under titles."""

    type: ClassVar[str] = "table"
    columns: tuple[Axis, ...]
    lines: Sequence[Sequence[Any]]
    """Numbers, words, true or false, None; one for each column."""

    def shown(self) -> dict[str, Any]:
        return {"columns": [_axis(axis) for axis in self.columns], "lines": [list(line) for line in self.lines]}

    def check(self) -> None:
        for number, line in enumerate(self.lines):
            if len(line) != len(self.columns):
                raise LensError(f"Line {number} of the table has {len(line)} cells; it has {len(self.columns)} titles.")


@dataclass(frozen=True, kw_only=True)
class Series:
    """One line, or one set of bars or points, of a chart."""

    name: str
    y: Sequence[float | None]
    x: Sequence[float] | Sequence[str] = ()
    """Numbers or words; 0, 1, … where empty."""
    mark: Literal["line", "bar", "point"] = "line"


@dataclass(frozen=True, kw_only=True)
class Chart(Output):
    """Series over one axis."""

    type: ClassVar[str] = "chart"
    x: Axis
    y: Axis
    series: tuple[Series, ...]

    def shown(self) -> dict[str, Any]:
        series = [
            {"name": s.name, "x": _plain(s.x or range(len(s.y))), "y": _plain(s.y), "mark": s.mark} for s in self.series
        ]
        return {"x": _axis(self.x), "y": _axis(self.y), "series": series}

    def check(self) -> None:
        for series in self.series:
            if len(series.x) not in (0, len(series.y)):
                raise LensError(f"Series '{series.name}' has {len(series.x)} places for {len(series.y)} values.")


@dataclass(frozen=True, kw_only=True)
class Gallery(Output):
    """Pictures with a caption and a score each."""

    type: ClassVar[str] = "gallery"
    pictures: np.ndarray
    """uint8 [picture, height, width, channel]: grey (1), colour (3), or else as many grey frames."""
    captions: tuple[str, ...] = ()
    scores: Sequence[float | None] = ()
    score: Axis | None = None
    """What the scores are."""
    rows: Sequence[int] = ()
    """The row of the recording that each picture is of, where it is of one."""

    def shown(self) -> dict[str, Any]:
        score = _axis(self.score) if self.score else None
        return {
            "captions": list(self.captions),
            "scores": _plain(self.scores),
            "score": score,
            "rows": [int(row) for row in self.rows],
        }

    def stored(self) -> dict[str, np.ndarray]:
        return {**self.arrays, "pictures": self.pictures}

    def check(self) -> None:
        pictures = self.pictures
        if pictures.dtype != np.uint8 or pictures.ndim != 4:
            raise LensError(
                f"Pictures are uint8 [picture, height, width, channel], not {pictures.dtype} {list(pictures.shape)}."
            )
        for what, given in (("captions", self.captions), ("scores", self.scores), ("rows", self.rows)):
            if len(given) not in (0, len(pictures)):
                raise LensError(f"There are {len(given)} {what} for {len(pictures)} pictures.")


@dataclass(frozen=True, kw_only=True)
class FloorMap(Output):
    """A number for each cell of the ground, raw and signed, with how often it was seen; scaled where it is shown."""

    type: ClassVar[str] = "map"
    values: np.ndarray
    """[height, width], the uppermost row first, which has the largest y; 0 where nothing was seen."""
    counts: np.ndarray
    """int [height, width]: how many pixels looked there."""
    origin: tuple[float, float]
    """Where the lower left corner of the lower left cell lies, in the unit of places."""
    cell: float
    """Side of a cell, in the unit of places."""
    place_unit: str = "m"
    unit: str = ""
    """What a value of 1 means."""
    signed: bool = True
    positive: Literal["orange", "blue"] = "orange"

    def shown(self) -> dict[str, Any]:
        told = {"origin": list(self.origin), "cell": self.cell, "place_unit": self.place_unit, "unit": self.unit}
        colour = {"positive": self.positive} if self.positive != "orange" else {}
        largest = float(np.abs(self.values).max(initial=0.0))
        return {**told, "signed": self.signed, "largest": largest, "most": int(self.counts.max(initial=0)), **colour}

    def stored(self) -> dict[str, np.ndarray]:
        values, counts = np.asarray(self.values, np.float32), np.asarray(self.counts, np.int32)
        return {**self.arrays, "values": values, "counts": counts}

    def check(self) -> None:
        if self.values.ndim != 2 or self.values.shape != self.counts.shape:
            raise LensError(
                f"A map has values and counts [height, width], not {list(self.values.shape)} and "
                f"{list(self.counts.shape)}."
            )
        if not (self.cell > 0 and np.isfinite([self.cell, *self.origin]).all()):
            raise LensError(f"A map has cells of some size and an origin, not {self.cell} and {self.origin}.")
        _demand_finite("the map", self.values)


OUTPUTS: Mapping[str, type[Output]] = {
    kind.type: kind for kind in (Heat, Layout, PerRow, PerElement, Table, Chart, Gallery, FloorMap)
}


def join_rows(parts: Sequence[Output]) -> Output:
    """One output of several that were made of rows one batch after the other: heat and values per row.

    Further arrays have a value for each row too; what is said beside them holds for all rows.
    """
    first = parts[0]
    for part in parts:
        count = len(part.stored()["rows"])
        if to_json(part.value) != to_json(first.value) or any(len(v) != count for v in part.arrays.values()):
            raise LensError(
                "What a lens over single rows says beside its heat or values is the same whichever rows it is given: "
                "its `value` may not depend on them, and its `arrays` are [row, …]."
            )
    if len(parts) == 1:
        return first
    arrays = {name: np.concatenate([part.arrays[name] for part in parts]) for name in first.arrays}
    if isinstance(first, Heat):
        heats = [part for part in parts if isinstance(part, Heat)]
        joined = {name: np.concatenate([part.heat[name] for part in heats]) for name in first.heat}
        rows = np.concatenate([part.rows for part in heats])
        return replace(first, heat=joined, rows=rows, arrays=arrays)
    if isinstance(first, PerRow):
        each = [part for part in parts if isinstance(part, PerRow)]
        values, rows = np.concatenate([part.values for part in each]), np.concatenate([part.rows for part in each])
        return PerRow(values=values, rows=rows, columns=first.columns, value=first.value, arrays=arrays)
    raise LensError(f"A lens over single rows yields heat or values per row, not a {first.type}.")


def restored_rows(result: Result, arrays: Mapping[str, np.ndarray]) -> Output:
    """Heat or values per row, as they were before they were stored as a result."""
    beside, rows = dict(arrays), arrays["rows"]
    del beside["rows"]
    if result.type == PerRow.type:
        values, columns = beside.pop("values"), tuple(Axis(**axis) for axis in result.shown["columns"])
        return PerRow(values=values, rows=rows, columns=columns, value=result.value, arrays=beside)
    heat = {name: beside.pop(f"heat.{name}") for name in result.shown["inputs"]}
    unit, signed = result.shown["unit"], result.shown["signed"]
    several: dict[str, Any] = {name: tuple(result.shown.get(name, ())) for name in ("steps", "vectors")}
    several |= {name: result.shown[name] for name in ("domain", "positive") if name in result.shown}
    return Heat(heat=heat, rows=rows, unit=unit, signed=signed, value=result.value, arrays=beside, **several)


def _axis(axis: Axis) -> dict[str, str]:
    return {"name": axis.name, "unit": axis.unit}


def _plain(values: Sequence[Any] | range) -> list[Any]:
    """Numbers that JSON can carry: None where one is not finite."""
    plain = (value.item() if hasattr(value, "item") else value for value in values)
    return [None if isinstance(value, float) and not np.isfinite(value) else value for value in plain]


def _demand_finite(what: str, values: np.ndarray) -> None:
    if not np.isfinite(values).all():
        raise LensError(f"Some values of {what} are not finite.")
