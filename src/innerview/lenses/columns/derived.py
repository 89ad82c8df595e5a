"""Columns of a recording, those that were recorded and those that are made from them alike."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from math import prod

import numpy as np
import polars as pl

from innerview.errors import DamagedPart, MetricError, StoreError, UnknownName
from innerview.lenses.columns.custom import OwnMetric, own_metrics
from innerview.metrics import (
    ADVANTAGE,
    THRESHOLDS,
    Calibration,
    DerivedColumn,
    Given,
    Stretch,
    calibrate,
    loops,
    standard,
    things,
)
from innerview.metrics.standard import element_changes
from innerview.metrics.thresholds import DISCOUNT, JUMP, LOOP_RADIUS, SMOOTHING, default_jump
from innerview.schema import Column, Metrics, pose_of
from innerview.store import DerivedCache, Recording, Study, load_metrics

log = logging.getLogger(__name__)
PIECE = 1 << 16
"""Rows that are made and kept together."""
CHUNK_BYTES = 32 << 20
MAX_KINDS = 24
SAMPLE_ROWS = 4_096
SCAN_ROWS = 1 << 14
GROWING_ROWS = 1 << 16
"""Rows that are looked through for kinds of things while a recording still grows."""


Counted = Callable[[pl.Series], dict[str, int]]
"""Counts the names in a stretch of a column."""


def words(texts: pl.Series) -> dict[str, int]:
    """Every word of a column of text, and in how many rows it stands."""
    counted = texts.drop_nulls().value_counts()
    return {str(word): int(count) for word, count in counted.iter_rows()}


def derived(study: Study, recording: Recording | str) -> Derived:
    """The columns of a recording with those made from them, by the study's metrics as they stand now."""
    opened = study.recording(recording) if isinstance(recording, str) else recording
    return Derived(opened, usable_metrics(study))


def usable_metrics(study: Study) -> Metrics:
    """The study's metrics; none where they cannot be read, for what is recorded can be looked at all the same."""
    try:
        return load_metrics(study)
    except StoreError as problem:
        log.warning("The study's metrics are left out: %s", problem)
        return Metrics()


class Derived:
    """A recording's columns by name; what is not recorded is made when it is asked for, and kept where that is long."""

    def __init__(self, recording: Recording, metrics: Metrics | None = None) -> None:
        self.recording, self.metrics = recording, metrics or Metrics()
        self._cache = DerivedCache(recording)
        self._suggestions: dict[str, float] = {}

    @property
    def specs(self) -> tuple[Column, ...]:
        """The derived columns."""
        warned = [self._with_warning(made.column) for made in self._made.values()]
        return (*warned, *(own.column for own in self._own.values()))

    def _with_warning(self, column: Column) -> Column:
        if column.name != ADVANTAGE or self.calibration is None:
            return column
        return replace(column, warning=self.calibration.warning)

    @cached_property
    def calibration(self) -> Calibration | None:
        """How values lie beside rewards in the first episodes; None where that cannot be known."""
        if ADVANTAGE not in self._made:
            return None
        if not self.recording.rows:
            return None
        try:
            stop = self.whole_groups(0, min(self.recording.rows, SCAN_ROWS))[1]
            reads = self._made[ADVANTAGE].reads
            table = self.recording.columns(reads, 0, stop).cast(pl.Float64).fill_null(float("nan"))
            rows, cut = self.stretch(0, stop), self._cut(0, stop)
        except DamagedPart:
            return None  # the recording itself says what is damaged
        reward, value = (table[name].to_numpy() for name in reads)
        settings = {"discount": self.threshold(DISCOUNT.name), "smoothing": self.threshold(SMOOTHING.name)}
        return calibrate(reward, value, rows, cut, **settings)

    def _cut(self, start: int, stop: int) -> np.ndarray:
        """[rows]: whether the episode of each was cut short: by the world, by whoever recorded, or not ended yet."""
        found = np.zeros(stop - start, bool)
        if not self.recording.info.group_columns:
            return found
        groups = self.recording.groups()
        if "stop" not in groups.columns:
            return found
        ended = int(groups["stop"][-1]) if len(groups) else 0
        found[max(0, ended - start) :] = True
        if "cut" in groups.columns:
            for first, last in groups.filter(pl.col("cut")).select("start", "stop").iter_rows():
                found[max(0, first - start) : max(0, last - start)] = True
        return found

    @property
    def problems(self) -> dict[str, str]:
        """People's own metrics that cannot be computed here, and why."""
        return {name: str(problem) for name, problem in self._checked[1].items()}

    def columns(self, names: Sequence[str] | None = None, start: int = 0, stop: int | None = None) -> pl.DataFrame:
        """Some columns of a range of rows; the recorded ones where none are named."""
        info = self.recording.info
        wanted = [column.name for column in info.columns] if names is None else list(dict.fromkeys(names))
        recorded = {column.name for column in info.columns}
        made = {column.name for column in self.specs} if set(wanted) - recorded else set()
        for name in wanted:
            if name not in recorded | made:
                raise UnknownName("column", name, [*recorded, *made])
        stop = self.recording.rows if stop is None else stop
        table = self.recording.columns([name for name in wanted if name in recorded], start, stop)
        made_columns = [self.series(name, start, stop) for name in wanted if name not in recorded]
        return pl.DataFrame([*table.get_columns(), *made_columns]).select(wanted)

    def series(self, name: str, start: int, stop: int) -> pl.Series:
        """One derived column: numbers or yes and no, unknown as null."""
        if name in self._own:
            return self._own[name].series(self, start, stop)
        made = self._made[name]
        values = self._values(made, start, stop)
        if made.column.type == "bool":
            return pl.Series(name, values.astype(bool))
        return pl.Series(name, values.astype(np.float64)).fill_nan(None)

    def threshold(self, name: str) -> float:
        """A threshold as somebody set it, as it usually is, or as this recording suggests it."""
        if name in self.metrics.thresholds:
            return float(self.metrics.thresholds[name])
        if name not in THRESHOLDS:
            raise UnknownName("threshold", name, THRESHOLDS)
        default = THRESHOLDS[name].default
        if default is None and name not in self._suggestions:
            self._suggestions[name] = self._suggested(name)
        return self._suggestions[name] if default is None else default

    @property
    def used_thresholds(self) -> set[str]:
        """Thresholds that decide the values of some column here."""
        named = {name for own in self._own.values() for name in own.expression.thresholds}
        return named.union(*(made.thresholds for made in self._made.values()))

    def stretch(self, start: int, stop: int) -> Stretch:
        """Those rows, with where their groups begin and end."""
        return Stretch.of(self.recording.bounds, start, stop)

    def whole_groups(self, start: int, stop: int) -> tuple[int, int]:
        """The rows of every group that has a row in the range."""
        bounds = self.recording.bounds
        first = bounds[np.searchsorted(bounds, start, side="right") - 1] if start else 0
        after = bounds[np.searchsorted(bounds, stop, side="left") :]
        return int(first), int(after[0]) if len(after) else self.recording.rows

    @cached_property
    def kinds(self) -> list[str]:
        """Kinds of things that come into view, the commonest first; only so many, for each makes columns."""
        if all(column.name != "objects" or column.type != "objects" for column in self.recording.info.columns):
            return []
        return self._commonest("kinds", "objects", things.kinds)

    def words(self, column: str) -> list[str]:
        """Words of a column of text, the commonest of them in the order of the alphabet."""
        return self._commonest(f"words of {column}", column, words)

    def _commonest(self, key: str, column: str, counted: Counted) -> list[str]:
        """The commonest names in a column, kept under a key once nothing is added to the recording."""
        kept = self._cache.load_json(key)
        if isinstance(kept, list) and all(isinstance(name, str) for name in kept):
            return kept
        counts: dict[str, int] = {}
        rows = self.recording.rows if self.recording.complete else min(self.recording.rows, GROWING_ROWS)
        whole = True
        for start in range(0, rows, SCAN_ROWS):
            stop = min(rows, start + SCAN_ROWS)
            for part in self._readable(column, start, stop):
                whole = whole and part is not None
                for name, count in counted(part).items() if part is not None else ():
                    counts[name] = counts.get(name, 0) + count
        found = sorted(sorted(counts, key=lambda name: (-counts[name], name))[:MAX_KINDS])
        if self.recording.complete and whole:
            self._cache.save_json(key, found)
        return found

    def _readable(self, column: str, start: int, stop: int) -> Iterator[pl.Series | None]:
        """A stretch of a column, block by block where some are damaged: None for these, which the recording names."""
        try:
            yield self.recording.columns([column], start, stop)[column]
        except DamagedPart:
            for first, last in self.recording.by_block(start, stop):
                try:
                    yield self.recording.columns([column], first, last)[column]
                except DamagedPart:
                    yield None

    @cached_property
    def _made(self) -> dict[str, DerivedColumn]:
        info = self.recording.info
        found = standard(info.columns, info.arrays, kinds=self.kinds, timed=info.ordering is not None)
        return {made.column.name: made for made in found}

    @property
    def _own(self) -> dict[str, OwnMetric]:
        return self._checked[0]

    @cached_property
    def _checked(self) -> tuple[dict[str, OwnMetric], dict[str, MetricError]]:
        return own_metrics(self, self.metrics.own)

    @property
    def made_specs(self) -> tuple[Column, ...]:
        """The derived columns that come with innerview."""
        return tuple(made.column for made in self._made.values())

    def _values(self, made: DerivedColumn, start: int, stop: int) -> np.ndarray:
        """Piece by piece: a piece that is wanted whole is kept, of others only the rows that are wanted are made."""
        parts = []
        key = "|".join([made.column.name, *(f"{name}={self.threshold(name)!r}" for name in made.thresholds)])
        for piece in range(start // PIECE, -(-stop // PIECE) if stop > start else 0):
            first, last = piece * PIECE, min((piece + 1) * PIECE, self.recording.rows)
            begin, end = max(first, start), min(last, stop)
            kept = self._cache.load(key, piece, last - first) if made.heavy else None
            if kept is None:
                kept = self._make(made, begin, end)
                if made.heavy and (begin, end) == (first, last):
                    self._cache.save(key, piece, kept)
                parts.append(kept)
            else:
                parts.append(kept[begin - first : end - first])
        return np.concatenate(parts) if parts else np.zeros(0, bool if made.column.type == "bool" else np.float64)

    def _make(self, made: DerivedColumn, start: int, stop: int) -> np.ndarray:
        kind = bool if made.column.type == "bool" else np.float32
        parts = [self._made_from(made, first, last).astype(kind) for first, last in self._chunks(made, start, stop)]
        return np.concatenate(parts)

    def _chunks(self, made: DerivedColumn, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Ranges small enough for what is read to fit in memory."""
        specs = [spec for spec in self.recording.info.arrays if spec.name in made.arrays]
        row_bytes = sum(prod(spec.shape) * np.dtype(spec.dtype).itemsize for spec in specs)
        rows = max(1, CHUNK_BYTES // row_bytes) if row_bytes else max(1, stop - start)
        for first in range(start, stop, rows):
            yield first, min(stop, first + rows)

    def _made_from(self, made: DerivedColumn, start: int, stop: int) -> np.ndarray:
        first, last = start, stop
        if made.reach == "group":
            first, last = self.whole_groups(start, stop)
        elif made.reach == "before":
            first = max(0, start - made.before)
        given = Given(
            table=self.recording.columns(made.reads, first, last),
            arrays={name: self.recording.array(name, first, last) for name in made.arrays},
            rows=self.stretch(first, last) if made.reach != "row" else Stretch.of(np.zeros(1), 0, last - first),
            thresholds={name: self.threshold(name) for name in made.thresholds},
            cut=self._cut(first, last) if made.reach == "group" else np.zeros(last - first, bool),
            calibration=self.calibration if made.calibrated else None,
        )
        return made.make(given)[start - first : stop - first]

    def _suggested(self, name: str) -> float:
        rows = self.recording.rows
        if name == LOOP_RADIUS.name:
            stop = min(rows, 4 * SAMPLE_ROWS)
            placed = pose_of(self.recording.info.columns).placed
            places = self.recording.columns(placed, 0, stop).cast(pl.Float64).fill_null(float("nan"))
            x, y = (places[name].to_numpy() for name in placed)
            return loops.default_radius(x, y, self.stretch(0, stop))
        assert name == JUMP.name, name
        stop = min(rows, SAMPLE_ROWS)
        sites = [spec.name for spec in self.recording.info.arrays if spec.role == "memory"]
        changes = [element_changes(self.recording.array(site, 0, stop), self.stretch(0, stop)) for site in sites[:1]]
        return default_jump(changes[0]) if changes else 0.0
