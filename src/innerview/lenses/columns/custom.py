"""Columns that people made with an expression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import polars as pl

from innerview.errors import MetricError, UnknownName
from innerview.metrics import THRESHOLDS, Expression, Stretch, Value, evaluate, parse
from innerview.schema import Column, Metric
from innerview.store import Recording


class Source(Protocol):
    """What an expression is computed from."""

    @property
    def recording(self) -> Recording:
        """The recording itself."""
        ...

    @property
    def made_specs(self) -> tuple[Column, ...]:
        """The derived columns that come with innerview."""
        ...

    def columns(self, names: Sequence[str] | None = None, start: int = 0, stop: int | None = None) -> pl.DataFrame:
        """Columns of a range of rows."""
        ...

    def threshold(self, name: str) -> float:
        """A threshold."""
        ...

    def stretch(self, start: int, stop: int) -> Stretch:
        """Rows with their groups."""
        ...

    def whole_groups(self, start: int, stop: int) -> tuple[int, int]:
        """The rows of every group that has a row in the range."""
        ...


@dataclass(frozen=True, kw_only=True)
class OwnMetric:
    """A column made with an expression."""

    column: Column
    expression: Expression

    def series(self, source: Source, start: int, stop: int) -> pl.Series:
        """Its values; where it looks at other rows, whole groups are computed."""
        first, last = source.whole_groups(start, stop) if self.expression.over_time else (start, stop)
        names = list(self.expression.columns)
        table = source.columns(names, first, last)
        specs = known_columns(source)
        found = evaluate(
            self.expression,
            read=lambda name: as_value(table[name], specs[name]),
            rows=source.stretch(first, last),
            thresholds={name: source.threshold(name) for name in self.expression.thresholds},
        )
        values = pl.Series(self.column.name, found.data[start - first : stop - first])
        return values if found.kind == "truth" else values.fill_nan(None)


def known_columns(source: Source) -> dict[str, Column]:
    """Every column that an expression may read: recorded ones, and those that come with innerview."""
    return {column.name: column for column in (*source.recording.info.columns, *source.made_specs)}


def check_metric(source: Source, metric: Metric, *, others: Sequence[str] = ()) -> OwnMetric:
    """The column that a metric makes of this recording, or an error that says what is wrong and where."""
    known = known_columns(source)
    if metric.name in known or metric.name in others:
        raise MetricError(f"There is a column '{metric.name}' already. Choose another name.")
    expression = parse(metric.expression)
    for name, at in expression.columns.items():
        if name not in known:
            readable = [n for n, column in known.items() if column.type != "objects"]
            told = UnknownName("column", name, readable, 'A name with spaces is written col("name with spaces").')
            raise MetricError(f"{told} (character {at + 1})", at)
        if known[name].type == "objects":
            raise MetricError(
                f"'{name}' holds lists of things (character {at + 1}). Use a column made from it, such as "
                f"""{next((f'col("{n}")' for n in known if n.endswith(" in view")), 'col("… in view")')}.""",
                at,
            )
    for name in expression.thresholds:
        if name not in THRESHOLDS:
            raise MetricError(str(UnknownName("threshold", name, THRESHOLDS)))
    if expression.over_time and source.recording.info.ordering is None:
        raise MetricError("This recording's rows have no time: functions that look at other rows cannot be used.")
    return OwnMetric(column=_column(metric, expression, known), expression=expression)


def own_metrics(source: Source, metrics: Sequence[Metric]) -> tuple[dict[str, OwnMetric], dict[str, MetricError]]:
    """The metrics that can be computed here by name, and why the others cannot."""
    found: dict[str, OwnMetric] = {}
    problems: dict[str, MetricError] = {}
    for metric in metrics:
        try:
            found[metric.name] = check_metric(source, metric, others=list(found))
        except MetricError as problem:
            problems[metric.name] = problem
    return found, problems


def _column(metric: Metric, expression: Expression, known: dict[str, Column]) -> Column:
    """Computed over no rows at all, which tells whether it fits together and what it gives."""
    empty = np.zeros(0)
    found = evaluate(
        expression,
        read=lambda name: as_value(pl.Series(name, [], dtype=_DTYPES[known[name].type]), known[name]),
        rows=Stretch(0, empty.astype(np.int64), empty.astype(np.int64)),
        thresholds=dict.fromkeys(expression.thresholds, 0.0),
    )
    return Column(
        name=metric.name,
        type="bool" if found.kind == "truth" else "float",
        unit=metric.unit,
        description=metric.description or metric.expression,
        derived=metric.expression,
    )


_DTYPES = {"int": pl.Int64, "float": pl.Float64, "bool": pl.Boolean, "text": pl.String}


def as_value(series: pl.Series, column: Column) -> Value:
    """A column as an expression sees it: numbers, yes or no, or words (also where numbers stand for names)."""
    if column.type == "bool":
        return Value("truth", series.fill_null(False).to_numpy())
    if column.type == "text":
        words = series.drop_nulls().unique().sort()
        return Value("word", _codes(series, words), tuple(words.to_list()))
    if column.categories:
        return Value("word", series.fill_null(-1).to_numpy().astype(np.int64), column.categories)
    return Value("number", series.cast(pl.Float64).fill_null(float("nan")).to_numpy())


def _codes(series: pl.Series, words: pl.Series) -> np.ndarray:
    if not len(words):
        return np.full(len(series), -1)
    return series.cast(pl.Enum(words)).to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
