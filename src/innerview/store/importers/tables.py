"""Brings data from other tools into a study: NPZ archives, and tables that name image files."""

from __future__ import annotations

import hashlib
import math
import re
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from innerview.errors import DamagedPart, StoreError, UnknownName
from innerview.schema import (
    ArraySpec,
    Column,
    ImportedFrom,
    Ordering,
    Origin,
    RecordingInfo,
    RowKind,
    with_foreign_poses,
)
from innerview.store.importers.foreign import FILE_LIMIT, foreign
from innerview.store.importers.images import SUFFIXES, UNSAID, ImageFiles, Refused, paired, whole_rows
from innerview.store.isolation.process import Apart
from innerview.store.paths import checked_name, confined
from innerview.store.recordings.bulk import column_spec, counts_time, write_rows, write_table
from innerview.store.recordings.tables import parquet_bytes
from innerview.store.study import Study

_HEADER = re.compile(r"(.+?)\s*\[([^\]]+)\]")


def import_npz(
    study: Study,
    path: Path | str,
    *,
    name: str | None = None,
    units: Mapping[str, str] | None = None,
    row: RowKind | None = None,
    ordering: Ordering | None = None,
) -> tuple[str, tuple[str, ...]]:
    """One row per entry along the first axis: 1-D entries become columns, others arrays.

    `ordering` names the columns that group rows and count them in time; unless said, `episode` and `step` where both
    are there and count. Nothing is counted that is not in the file. `units` gives those of columns. Columns that are
    called as those of a pose usually are become its parts. Gives the recording's name and what has to be said.
    """
    source = Path(path)
    columns: dict[str, np.ndarray] = {}
    arrays: dict[str, np.ndarray] = {}
    for key, value in _read_npz(source).items():
        if value.ndim == 0:
            raise StoreError(f"'{key}' in '{source.name}' is a single number. Every entry needs one value per row.")
        (columns if value.ndim == 1 else arrays)[checked_name("column or array", key)] = value
    heights = {key: len(value) for key, value in {**columns, **arrays}.items()}
    if len(set(heights.values())) != 1:
        told = ", ".join(f"{key} has {count}" for key, count in heights.items()) or "it is empty"
        raise StoreError(f"All entries of '{source.name}' need the same number of rows: {told}.")
    if not columns:
        columns["row"] = np.arange(next(iter(heights.values())))
    table = pl.DataFrame({key: pl.Series(key, value) for key, value in columns.items()})
    target = name or _name_from(source)
    order, remarks = _ordering(table, ordering)
    write_rows(
        study,
        target,
        columns=table,
        arrays=arrays,
        specs=described_columns(table, _checked(units, table, source), ordering=order),
        row=row,
        ordering=order,
        note=source.name,
        origin=Origin(kind="imported", source=source.name),
    )
    return target, remarks


def import_table(
    study: Study,
    path: Path | str,
    *,
    name: str | None = None,
    images: Sequence[str] | None = None,
    domains: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
    row: RowKind | None = None,
    ordering: Ordering | None = None,
) -> tuple[str, tuple[str, ...]]:
    """A CSV or Parquet file with a row per line. Columns that name image files, relative to it, become arrays.

    `images` says which columns do; left out, those whose first value looks like an image file. `domains` gives the side
    an image column belongs to, "sim" or "real" say, and what it shows where there are several of a side: "sim/depth".
    A unit stands in the head of a column, `angle [deg]` or `depth [mm]`, or in `units`. Rows are ordered as in
    `import_npz`. Gives the recording's name, and which rows were left out as their image is broken.
    """
    source = Path(path)
    table, in_heads = split_units(read_table(source))
    known = {**in_heads, **_checked(units, table, source)}
    chosen = [c for c in table.columns if _names_images(table[c])] if images is None else list(images)
    for column in chosen:
        if column not in table.columns:
            raise UnknownName("column", column, table.columns, f"It is named by images for '{source.name}'.")
    folder = source.resolve().parent
    # The files stay named in the table: "photo" becomes the array, "photo file" the column.
    sides = domains or {}
    whole = whole_rows(
        [_images(folder, table[column], sides.get(column, ""), known.pop(column, "")) for column in chosen]
    )
    table = table.rename({column: f"{column} file" for column in chosen})
    table = table[whole.rows] if chosen else table
    order, remarks = _ordering(table, ordering)
    info = RecordingInfo(
        name=name or _name_from(source),
        origin=Origin(kind="imported", source=source.name),
        row=row or (RowKind() if order else RowKind(one="row", many="rows")),
        ordering=order,
        columns=described_columns(table, known, ordering=order),
        arrays=tuple(array.spec for array in paired(whole.arrays)),
        arguments=ImportedFrom(files=(source.name,), content=hashlib.sha256(parquet_bytes(table)).hexdigest()),
    )
    write_table(study, info, table, whole.read, heights={})
    return info.name, (*remarks, *whole.remarks)


def described_columns(
    table: pl.DataFrame, units: Mapping[str, str], *, ordering: Ordering | None = None
) -> tuple[Column, ...]:
    """The columns of a foreign table: types from their values, parts of a pose from their names."""
    columns = [replace(column_spec(s, ordering=ordering), unit=units.get(s.name, "")) for s in table]
    return with_foreign_poses(columns)


def _checked(units: Mapping[str, str] | None, table: pl.DataFrame, source: Path) -> Mapping[str, str]:
    for column in units or {}:
        if column not in table.columns:
            raise UnknownName("column", column, table.columns, f"A unit is given for it in '{source.name}'.")
    return units or {}


def _images(folder: Path, files: pl.Series, side: str, unit: str) -> ImageFiles:
    domain, _, kind = side.partition("/")
    pair = (kind or UNSAID) if domain else ""
    spec = ArraySpec(name=files.name, shape=(), dtype="uint8", role="image", domain=domain, pair=pair, unit=unit)
    named = [None if file is None else _confined(folder, str(file)) for file in files]
    return ImageFiles(spec=spec, folder=folder, files=named)


def _confined(folder: Path, name: str) -> Path | Refused:
    try:
        return confined(folder, name)
    except StoreError as error:
        return Refused(name=name, why=str(error))


def _read_npz(source: Path) -> dict[str, np.ndarray]:
    with foreign(source, "NPZ without running code from it"):
        loaded = np.load(source, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            raise StoreError(f"'{source.name}' is a single array. Save it with numpy.savez(…, name=array).")
        with loaded as archive:
            _check_sizes(source, archive.zip)
            return {key: archive[key] for key in archive.files}


def _check_sizes(source: Path, archive: zipfile.ZipFile) -> None:
    """Refuse an archive that would unpack to more than is read, or an entry that declares more than it has."""
    total = sum(entry.file_size for entry in archive.infolist())
    if total > FILE_LIMIT:
        raise StoreError(f"'{source.name}' unpacks to {total:,} bytes; at most {FILE_LIMIT:,} are read.")
    for entry in archive.infolist():
        with archive.open(entry) as file:
            version = np.lib.format.read_magic(file)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, dtype = read(file)
        if not all(size >= 0 for size in shape) or math.prod(shape) * dtype.itemsize > entry.file_size:
            raise StoreError(f"'{entry.filename}' in '{source.name}' declares {shape} values; it does not hold them.")


def read_table(source: Path) -> pl.DataFrame:
    """A CSV or Parquet file, or an error that says what is wrong with it."""
    suffix = source.suffix.lower()
    if suffix not in (".csv", ".parquet"):
        raise UnknownName("kind of table", suffix, (".csv", ".parquet"), f"'{source.name}' was given.")
    with foreign(source, "CSV" if suffix == ".csv" else "Parquet"):
        if suffix == ".csv":
            return pl.read_csv(source)
        return _parquet(source)


def _parquet(source: Path) -> pl.DataFrame:
    """Read in another process: a damaged file can end the one that reads it."""
    try:
        with closing(Apart()) as apart:
            return apart.foreign_table(source.absolute())
    except DamagedPart as error:
        said = str(error)
        raise StoreError(
            said if source.name in said else f"'{source.name}' cannot be read as Parquet: {said}"
        ) from error


def split_units(table: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, str]]:
    """The table without units in the heads of its columns, and the units: `angle [deg]` is angle in degrees."""
    found = {column: match for column in table.columns if (match := _HEADER.fullmatch(column))}
    heads = [found[column][1] if column in found else column for column in table.columns]
    if len(set(heads)) != len(heads):
        raise StoreError(f"Two columns have the same name without their unit: {', '.join(table.columns)}.")
    return table.rename({column: match[1] for column, match in found.items()}), {m[1]: m[2] for m in found.values()}


def _ordering(table: pl.DataFrame, asked: Ordering | None) -> tuple[Ordering | None, tuple[str, ...]]:
    """How rows are ordered, as asked for or as columns of the usual names say, and why they are not."""
    usual = Ordering()
    if asked is not None or usual.group not in table.columns:
        return asked, ()
    if usual.time in table.columns and counts_time(table, usual):
        return usual, ()
    told = f"Rows have no time: there is '{usual.group}', but no '{usual.time}' that counts 0, 1, 2, … in each."
    return None, (told,)


def _names_images(series: pl.Series) -> bool:
    first = series.drop_nulls().head(1).to_list()
    return bool(first) and isinstance(first[0], str) and first[0].lower().endswith(SUFFIXES)


def _name_from(source: Path) -> str:
    return checked_name("recording", source.stem)
