"""Makes the rows that a lens is given from any rows of a recording."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from innerview.errors import LensError, UnknownName
from innerview.lenses.columns.derived import Derived, derived
from innerview.lenses.columns.predicted import domain_of
from innerview.schema import ArraySpec, Column, Predicted, RowArray, Rows, States, Things
from innerview.store import Predictions, Recording, Study, damage_named

if TYPE_CHECKING:
    from innerview.lenses.rows.inputs import RowInputs


def named_recording(study: Study, name: str | None) -> Recording:
    """The recording of that name, or the only one."""
    names = study.recordings()
    if name is None and len(names) != 1:
        there = ", ".join(map(repr, names)) or "none"
        raise LensError(f"Say which recording; this study has {there}.{damage_named(study.damaged())}")
    return study.recording(name or names[0])


def memory_arrays(recording: Recording) -> tuple[str, ...]:
    """Names of the arrays that hold memory."""
    return tuple(spec.name for spec in recording.info.arrays if spec.role == "memory")


def memory_array(recording: Recording, name: str = "") -> str:
    """The memory array of that name, or the first."""
    known = memory_arrays(recording)
    if not known:
        raise LensError(
            f"Recording '{recording.name}' has no memory: its subject has none, or its memory was not found when it "
            "was adapted. Declare it with iv.subject(…, memory={name: shape}) and record again."
        )
    if name and name not in known:
        raise UnknownName("memory array", name, known)
    return name or known[0]


def states(recording: Recording, array: str, numbers: np.ndarray) -> States:
    """The states of a memory array in these rows."""
    spec = next(spec for spec in recording.info.arrays if spec.name == array)

    def read(places: np.ndarray) -> np.ndarray:
        values = recording.array_rows(array, numbers[places])
        return np.ascontiguousarray(values.reshape(len(values), -1), np.float32)

    return States(rows=len(numbers), elements=prod(spec.shape), read=read)


def episodes(recording: Recording, numbers: np.ndarray) -> tuple[tuple[int, int], ...]:
    """Start and stop of each episode among these rows, in places; none where rows have no time."""
    if recording.info.ordering is None or not len(numbers):
        return ()
    inside = np.flatnonzero(np.diff(recording.group_starts(numbers))) + 1
    return tuple(pairwise([0, *inside.tolist(), len(numbers)]))


def recorded_rows(
    study: Study, recording: Recording, numbers: np.ndarray | None = None, given: RowInputs | None = None
) -> Rows:
    """Any rows of a recording, ascending, all where none are named; where they are `given` to a subject, with that."""
    numbers = np.arange(recording.rows) if numbers is None else np.asarray(numbers, np.int64)
    columns = Columns(study=study, recording=recording, numbers=numbers)
    rows = Rows(
        numbers=numbers,
        memory={name: states(recording, name, numbers) for name in memory_arrays(recording)},
        columns=columns,
        specs=columns.specs,
        groups=episodes(recording, numbers),
        things=_things(study, recording, numbers),
        predicted=lambda: predicted(study, recording, numbers),
        seconds_per_step=recording.info.ordering.seconds_per_step if recording.info.ordering else None,
        arrays={s.name: _array(recording, s, numbers) for s in recording.info.arrays if s.kind != "ragged"},
        scene=partial(recording.scene, recording.info.scene) if recording.info.scene else None,
    )
    mask = next((spec for spec in recording.info.arrays if spec.role == "mask"), None)
    if mask is not None:
        name = mask.name
        read = lambda places: recording.array_rows(name, numbers[places])  # noqa: E731
        rows = replace(rows, mask=read, classes=mask.elements)
    if given is None:
        return rows
    from innerview.lenses.rows.feed import RecordedFeed

    domains = {name: RecordedFeed(side, numbers) for name, side in given.domains.items()}
    feed = RecordedFeed(given, numbers)
    return replace(rows, feed=feed, ends=given.extremes(), domains=domains, channels=given.channels)


def _array(recording: Recording, spec: ArraySpec, numbers: np.ndarray) -> RowArray:
    return RowArray(spec=spec, read=lambda places: recording.array_rows(spec.name, numbers[places]))


def predicted(study: Study, recording: Recording, numbers: np.ndarray) -> list[Predicted]:
    """What subjects predict of these rows, domain by domain, oldest first; of the recording as it is now."""
    found = [each for each in study.predictions(recording.name) if each.is_current and not each.info.edits]
    return [
        Predicted(
            subject=each.subject,
            domain=domain_of(each),
            states={spec.name: _predicted_states(each, spec, numbers) for spec in each.info.arrays},
        )
        for each in found
        if domain_of(each)
    ]


def _predicted_states(prediction: Predictions, spec: ArraySpec, numbers: np.ndarray) -> States:
    own = prediction.source_rows
    elements = prod(spec.shape)

    def read(places: np.ndarray) -> np.ndarray:
        wanted = numbers[places]
        values = np.full((len(wanted), elements), np.nan, np.float32)
        if len(own):
            at = np.minimum(np.searchsorted(own, wanted), len(own) - 1)
            there = own[at] == wanted
            values[there] = prediction.array_rows(spec.name, at[there]).reshape(int(there.sum()), -1)
        return values

    return States(rows=len(numbers), elements=elements, read=read)


def _things(study: Study, recording: Recording, numbers: np.ndarray) -> Things | None:
    """Named things, where the recording has them and a picture that their boxes lie in."""
    info = recording.info
    column = next((c.name for c in info.columns if c.type == "objects"), None)
    picture = next((spec for spec in info.arrays if spec.role == "observation" and spec.is_image), None)
    if column is None or picture is None:
        return None

    def read(places: np.ndarray) -> list[list[dict[str, Any]]]:
        wanted = numbers[places]
        if not len(wanted):
            return []
        low = int(wanted.min())
        listed = recording.columns([column], low, int(wanted.max()) + 1)[column][(wanted - low).tolist()]
        return [list(things or ()) for things in listed.to_list()]

    height, width = picture.shape[:2]
    return Things(names=lambda: tuple(derived(study, recording).kinds), read=read, size_hw=(height, width))


@dataclass(frozen=True, kw_only=True)
class Columns(Mapping[str, np.ndarray]):
    """Columns by name, recorded, derived and of the episodes, each read whenever it is asked for and not kept."""

    study: Study
    recording: Recording
    numbers: np.ndarray

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
        if not len(self.numbers):
            return pl.Series(name, [], dtype=pl.Float64)
        start, stop = int(self.numbers[0]), int(self.numbers[-1]) + 1
        series = self._between(name, start, stop)
        return series if len(series) == len(self.numbers) else series[self.numbers - start]

    def _between(self, name: str, start: int, stop: int) -> pl.Series:
        info = self.recording.info
        if name not in {c.name for c in info.group_columns} or name in {c.name for c in info.columns}:
            return self._derived.columns([name], start, stop)[name]
        assert info.ordering is not None
        key = info.ordering.group
        rows = self.recording.columns([key], start, stop)
        lines = self.recording.groups().select(key, name).unique(key, keep="last")
        return rows.join(lines, on=key, how="left", maintain_order="left")[name]


def as_array(series: pl.Series) -> np.ndarray:
    """Numbers and true or false as float64 with NaN where unknown; words as objects with None."""
    if series.dtype.is_numeric() or series.dtype == pl.Boolean:
        return series.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    return np.asarray(series.to_list(), dtype=object)
