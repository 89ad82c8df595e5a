"""Writes rows that are there already: a table and arrays become a recording in one call."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from innerview.errors import StoreError
from innerview.schema import (
    ArraySpec,
    Column,
    ImportedFrom,
    Ordering,
    Origin,
    RecordingInfo,
    RowKind,
    Scene,
    only_number,
)
from innerview.store.recordings.arrays.given import Given, given_array
from innerview.store.recordings.tables import key_changes, parquet_bytes
from innerview.store.study import Study

Arrays = Callable[[int, int], Mapping[str, Any]]
"""Gives rows start to stop of every array, as the writer takes them."""
_BLOCK_BYTES = 32 << 20
_PACKED = {"encoded": 4}
"""How much smaller a kind is kept than it is read."""


def write_rows(
    study: Study,
    name: str,
    *,
    columns: Mapping[str, Sequence[Any] | np.ndarray] | pl.DataFrame,
    arrays: Mapping[str, Given] | None = None,
    row: RowKind | None = None,
    ordering: Ordering | None = None,
    specs: Sequence[Column | ArraySpec] = (),
    note: str = "",
    origin: Origin | None = None,
) -> None:
    """Make a recording of data that no agent recorded: paired images with a pose each, questions about pictures.

    `arrays` are numpy arrays with a row each; lists of arrays whose lengths differ; lists of the bytes of JPEG or PNG
    files, which stay as they are; or mappings, whose values rows share by the key that stands in a column of words.
    Types are read off the values; `specs` describes columns and arrays better (unit, domain, axes, key). With
    `ordering`, rows of a group must stand next to each other and a line per group is kept.
    """
    table = columns if isinstance(columns, pl.DataFrame) else _as_table(columns)
    declared = {spec.name: spec for spec in specs}
    given = [given_array(key, value, declared.get(key), table) for key, value in (arrays or {}).items()]
    own = {array.spec.name: array.rows for array in given if not array.spec.key}
    digest = hashlib.sha256(parquet_bytes(table))
    for part in (part for array in given for part in array.parts()):
        digest.update(part)
    write_table(
        study,
        RecordingInfo(
            name=name,
            origin=origin or Origin(),
            row=row or (RowKind() if ordering else RowKind(one="row", many="rows")),
            ordering=ordering,
            columns=tuple(column_spec(s, declared.get(s.name), ordering=ordering) for s in table),
            arrays=tuple(array.spec for array in given),
            arguments=ImportedFrom(content=digest.hexdigest()),
            note=note,
        ),
        table,
        lambda start, stop: {key: value[start:stop] for key, value in own.items()},
        heights={key: len(value) for key, value in own.items()},
        shared={array.spec.name: array.shared for array in given if array.spec.key},
    )


def write_table(
    study: Study,
    info: RecordingInfo,
    table: pl.DataFrame,
    arrays: Arrays,
    *,
    heights: Mapping[str, int],
    shared: Mapping[str, Mapping[str, Any]] | None = None,
    scenes: Sequence[tuple[Scene, bytes]] = (),
) -> None:
    """Write a table and its arrays, group by group; goes on where an earlier call was stopped.

    `shared` has the values of arrays that rows share, by array and key.
    """
    wrong = {key: count for key, count in heights.items() if count != table.height}
    if wrong:
        told = ", ".join(f"array '{key}' has {count}" for key, count in wrong.items())
        raise StoreError(f"Columns have {table.height} rows, but {told}. All need the same number.")
    groups = list(_groups(table, info))
    info = _with_groups(info, groups)
    block_rows = fitting_block_rows(info)
    with study.writer(info, block_rows=block_rows) as writer:
        if writer.complete:
            raise StoreError(f"There is a recording '{info.name}' already, with this content. Choose another name.")
        for scene, picture in scenes:
            writer.add_scene(scene, picture)
        done = writer.rows_committed
        for start, stop, line in groups or [(0, table.height, {})]:
            for first in range(max(start, done), stop, block_rows):
                last = min(first + block_rows, stop)
                for name, values in (shared or {}).items():
                    key = next(spec.key for spec in info.arrays if spec.name == name)
                    used = table[key][first:last].unique(maintain_order=True).to_list()
                    writer.share(name, {word: values[word] for word in used if word in values})
                writer.append(table[first:last], arrays(first, last))
            if line and stop > done:
                writer.end_group(line)


def fitting_block_rows(info: RecordingInfo) -> int:
    """How many rows make a block of a reasonable size."""
    row_bytes = sum(
        np.dtype(s.dtype).itemsize * s.size // _PACKED.get(s.kind, 1) for s in info.arrays if not s.key
    ) + 64 * len(info.columns)
    return int(2 ** int(np.clip(np.log2(_BLOCK_BYTES / max(row_bytes, 1)), 5, 16)))


def column_spec(
    series: pl.Series, declared: Column | ArraySpec | None = None, *, ordering: Ordering | None = None
) -> Column:
    """A column's description, as declared or read off its values."""
    if isinstance(declared, Column):
        return declared
    if isinstance(declared, ArraySpec):
        raise StoreError(f"'{series.name}' is a column but is described as an array.")
    kind = series.dtype
    if kind.is_integer():
        counts = ordering is not None and series.name in (ordering.group, ordering.time)
        return Column(name=series.name, type="int", kind="index" if counts else "fact")
    if kind.is_float():
        return Column(name=series.name, type="float", kind="reward" if series.name == "reward" else "fact")
    if kind == pl.Boolean:
        return Column(name=series.name, type="bool")
    if kind in (pl.String, pl.Categorical, pl.Enum):
        return Column(name=series.name, type="text", kind="text")
    raise StoreError(f"Column '{series.name}' has type {kind}. A recording takes numbers, true or false, and text.")


def _as_table(columns: Mapping[str, Sequence[Any] | np.ndarray]) -> pl.DataFrame:
    for name, values in columns.items():
        if isinstance(values, np.ndarray) and values.ndim != 1:
            raise StoreError(
                f"Column '{name}' has shape {values.shape}. One value per row is a column; give it as array."
            )
    try:
        return pl.DataFrame({name: pl.Series(name, values) for name, values in columns.items()})
    except (TypeError, pl.exceptions.PolarsError) as error:
        raise StoreError(f"The columns do not make a table: {str(error).splitlines()[0]}") from error


def counts_time(table: pl.DataFrame, ordering: Ordering) -> bool:
    """Whether the column of time counts 0, 1, 2, … in every group."""
    if not table[ordering.time].dtype.is_numeric():
        return False
    counted = pl.int_range(pl.len()).over(ordering.group)
    return bool(table.select((pl.col(ordering.time) == counted).all()).item())


def _groups(table: pl.DataFrame, info: RecordingInfo) -> Iterator[tuple[int, int, dict[str, Any]]]:
    ordering, earned = info.ordering, only_number(info.columns, "reward")
    if ordering is None or not table.height:
        return
    for needed in (ordering.group, ordering.time):
        if needed not in table.columns:
            raise StoreError(f"The ordering names column '{needed}', which is not there. There are {table.columns}.")
    keys = table[ordering.group]
    starts = [0, *key_changes(keys).tolist(), table.height]
    if keys.n_unique() != len(starts) - 1:
        raise StoreError(f"Rows of one {ordering.group} must stand next to each other. Sort by {ordering.group} first.")
    if not counts_time(table, ordering):
        raise StoreError(f"Column '{ordering.time}' has to count 0, 1, 2, … in every {ordering.group}. It does not.")
    for start, stop in pairwise(starts):
        line = {ordering.group: keys[start], "start": start, "stop": stop, "length": stop - start}
        if earned is not None:
            line["return"] = float(table[earned.name][start:stop].sum())
        yield start, stop, line


def _with_groups(info: RecordingInfo, groups: list[tuple[int, int, dict[str, Any]]]) -> RecordingInfo:
    if not groups or info.ordering is None:
        return info
    group = next(c for c in info.columns if c.name == info.ordering.group)
    numbers = (Column(name=n, type="int", kind="index") for n in ("start", "stop", "length"))
    returns = [Column(name="return", type="float", kind="reward")] if "return" in groups[0][2] else []
    return RecordingInfo(**{**info.__dict__, "group_columns": (group, *numbers, *returns)})
