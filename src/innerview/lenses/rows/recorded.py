"""What a lens over many rows is given: states, columns and episodes of a recording, read when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import prod

import numpy as np
import polars as pl

from innerview.errors import LensError, UnknownName
from innerview.lenses.columns.derived import Derived, derived
from innerview.schema import Column, Rows, States
from innerview.store import Recording, Study


def memory_arrays(recording: Recording) -> tuple[str, ...]:
    """Names of the arrays that hold memory."""
    return tuple(spec.name for spec in recording.info.arrays if spec.role == "memory")


def memory_array(recording: Recording, name: str = "") -> str:
    """The memory array of that name, or the first."""
    known = memory_arrays(recording)
    if not known:
        raise LensError(
            f"Recording '{recording.name}' keeps no memory: its subject has none, or its memory was not found when it "
            "was adapted. Declare it with iv.subject(…, memory={name: shape}) and record again."
        )
    if name and name not in known:
        raise UnknownName("memory array", name, known)
    return name or known[0]


def states(recording: Recording, array: str, start: int, stop: int) -> States:
    """The states of a memory array in rows start to stop."""
    spec = next(spec for spec in recording.info.arrays if spec.name == array)

    def read(places: np.ndarray) -> np.ndarray:
        values = recording.array_rows(array, np.asarray(places) + start)
        return np.ascontiguousarray(values.reshape(len(values), -1), np.float32)

    return States(rows=stop - start, elements=prod(spec.shape), read=read)


def episodes(recording: Recording, start: int, stop: int) -> tuple[tuple[int, int], ...]:
    """Start and stop of each episode within rows start to stop, counted from start; none where rows have no time."""
    ordering = recording.info.ordering
    if ordering is None or start == stop:
        return ()
    keys = recording.columns([ordering.group], start, stop)[ordering.group]
    inside = np.flatnonzero(keys[1:].ne_missing(keys[:-1]).to_numpy()) + 1
    return tuple(pairwise([0, *inside.tolist(), stop - start]))


def rows_of(study: Study, recording: Recording, arrays: tuple[str, ...], start: int, stop: int) -> Rows:
    """Rows start to stop with those memory arrays and every column that holds numbers or words."""
    columns = Columns(study=study, recording=recording, start=start, stop=stop)
    return Rows(
        memory={name: states(recording, name, start, stop) for name in arrays},
        columns=columns,
        specs=columns.specs,
        groups=episodes(recording, start, stop),
        first=start,
    )


@dataclass(frozen=True, kw_only=True)
class Columns(Mapping[str, np.ndarray]):
    """Columns by name, recorded, derived and of the episodes, each read whenever it is asked for and not kept."""

    study: Study
    recording: Recording
    start: int
    stop: int

    @cached_property
    def specs(self) -> dict[str, Column]:
        """What there is to ask for."""
        info = self.recording.info
        of_groups = {c.name: c for c in info.group_columns if c.kind == "category" and info.ordering}
        own = {c.name: c for c in (*info.columns, *self._derived.specs) if c.type != "objects"}
        return of_groups | own

    @cached_property
    def _derived(self) -> Derived:
        return derived(self.study, self.recording)

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.specs:
            raise UnknownName("column", name, self.specs)
        return as_array(self._series(name))

    def __iter__(self) -> Iterator[str]:
        return iter(self.specs)

    def __len__(self) -> int:
        return len(self.specs)

    def _series(self, name: str) -> pl.Series:
        info = self.recording.info
        if name not in {c.name for c in info.group_columns} or name in {c.name for c in info.columns}:
            return self._derived.columns([name], self.start, self.stop)[name]
        assert info.ordering is not None
        key = info.ordering.group
        rows = self.recording.columns([key], self.start, self.stop)
        lines = self.recording.groups().select(key, name).unique(key, keep="last")
        return rows.join(lines, on=key, how="left", maintain_order="left")[name]


def as_array(series: pl.Series) -> np.ndarray:
    """Numbers and true or false as float64 with NaN where unknown; words as objects with None."""
    if series.dtype.is_numeric() or series.dtype == pl.Boolean:
        return series.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    return np.asarray(series.to_list(), dtype=object)
