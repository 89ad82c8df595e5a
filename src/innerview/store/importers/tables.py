"""Brings data from other tools into a study: NPZ archives, and tables that name image files."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl
from PIL import Image

from innerview.errors import StoreError, UnknownName
from innerview.schema import ArraySpec, Ordering, RecordingInfo, RowKind
from innerview.store.paths import checked_name, confined
from innerview.store.recordings.tables import parquet_bytes
from innerview.store.recordings.whole import column_spec, write_rows, write_table
from innerview.store.study import Study

_IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif", ".tif", ".tiff")


def import_npz(study: Study, path: Path | str, *, name: str | None = None, row: RowKind | None = None) -> str:
    """One row per entry along the first axis: 1-D entries become columns, others arrays. Gives the recording's name.

    An `episode` column makes it episodes; `step` is counted where it is missing.
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
    table = _with_steps(pl.DataFrame({key: pl.Series(key, value) for key, value in columns.items()}))
    target = name or _name_from(source)
    write_rows(study, target, columns=table, arrays=arrays, row=row, ordering=_ordering(table), note=source.name)
    return target


def import_table(
    study: Study,
    path: Path | str,
    *,
    name: str | None = None,
    images: Sequence[str] | None = None,
    domains: Mapping[str, str] | None = None,
    row: RowKind | None = None,
) -> str:
    """A CSV or Parquet file with a row per line. Columns that name image files, relative to it, become arrays.

    `images` says which columns do; left out, those whose first value looks like an image file. `domains` gives the side
    an image column belongs to, "sim" or "real" say. Gives the recording's name.
    """
    source = Path(path)
    table = _with_steps(_read_table(source))
    chosen = [c for c in table.columns if _names_images(table[c])] if images is None else list(images)
    for column in chosen:
        if column not in table.columns:
            raise UnknownName("column", column, table.columns, f"It is named by images for '{source.name}'.")
    folder = source.resolve().parent
    # The files stay named in the table: "photo" becomes the array, "photo file" the column.
    files = {column: table[column].to_list() for column in chosen}
    table = table.rename({column: f"{column} file" for column in chosen})
    specs = tuple(_image_spec(folder, c, files[c], (domains or {}).get(c, "")) for c in chosen)
    digest = hashlib.sha256(parquet_bytes(table)).hexdigest()
    info = RecordingInfo(
        name=name or _name_from(source),
        row=row or (RowKind() if _ordering(table) else RowKind(one="row", many="rows")),
        ordering=_ordering(table),
        columns=tuple(column_spec(series) for series in table),
        arrays=specs,
        arguments={"source": source.name, "content": digest},
    )

    def read(start: int, stop: int) -> dict[str, np.ndarray]:
        return {s.name: np.stack([_read_image(folder, s, f) for f in files[s.name][start:stop]]) for s in specs}

    write_table(study, info, table, read, heights={})
    return info.name


def _read_npz(source: Path) -> dict[str, np.ndarray]:
    try:
        loaded = np.load(source, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            raise StoreError(f"'{source.name}' is a single array. Save it with numpy.savez(…, name=array).")
        with loaded as archive:
            return {key: archive[key] for key in archive.files}
    except FileNotFoundError as error:
        raise StoreError(f"There is no file '{source}'.") from error
    except (ValueError, zipfile.BadZipFile, EOFError) as error:
        raise StoreError(f"'{source.name}' cannot be read as NPZ without running code from it: {error}") from error


def _read_table(source: Path) -> pl.DataFrame:
    suffix = source.suffix.lower()
    if suffix not in (".csv", ".parquet"):
        raise UnknownName("kind of table", suffix, (".csv", ".parquet"), f"'{source.name}' was given.")
    try:
        return pl.read_csv(source) if suffix == ".csv" else pl.read_parquet(source)
    except FileNotFoundError as error:
        raise StoreError(f"There is no file '{source}'.") from error
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise StoreError(f"'{source.name}' cannot be read: {str(error).splitlines()[0]}") from error


def _with_steps(table: pl.DataFrame) -> pl.DataFrame:
    if "episode" in table.columns and "step" not in table.columns:
        return table.with_columns(pl.int_range(pl.len()).over("episode").alias("step"))
    return table


def _ordering(table: pl.DataFrame) -> Ordering | None:
    return Ordering() if "episode" in table.columns else None


def _names_images(series: pl.Series) -> bool:
    first = series.drop_nulls().head(1).to_list()
    return bool(first) and isinstance(first[0], str) and first[0].lower().endswith(_IMAGE_SUFFIXES)


def _image_spec(folder: Path, column: str, files: Sequence[str | None], domain: str) -> ArraySpec:
    if not files:
        raise StoreError(f"Column '{column}' names no image: the table is empty.")
    checked_name("array", column)
    first = _open_image(folder, column, files[0])
    shape = first.shape
    axes = ("height", "width", "channel")[: len(shape)]
    return ArraySpec(name=column, shape=shape, dtype="uint8", role="image", axes=axes, domain=domain, pixelated=False)


def _read_image(folder: Path, spec: ArraySpec, file: str | None) -> np.ndarray:
    picture = _open_image(folder, spec.name, file)
    if picture.shape != spec.shape:
        raise StoreError(
            f"Image '{file}' of column '{spec.name}' is {_size(picture.shape)}, the first one {_size(spec.shape)}. "
            "All images of a column need the same size and colours; resize them first."
        )
    return picture


def _open_image(folder: Path, column: str, file: str | None) -> np.ndarray:
    if file is None:
        raise StoreError(f"A row of column '{column}' names no image. Every row needs one.")
    try:
        with Image.open(confined(folder, file)) as picture:
            return np.asarray(picture if picture.mode == "L" else picture.convert("RGB"), np.uint8)
    except FileNotFoundError as error:
        raise StoreError(f"There is no image '{file}', which column '{column}' names.") from error
    except OSError as error:
        raise StoreError(f"'{file}', which column '{column}' names, is not an image: {error}") from error


def _size(shape: tuple[int, ...]) -> str:
    return f"{shape[1]}×{shape[0]} {'grey' if len(shape) == 2 else 'colour'}"


def _name_from(source: Path) -> str:
    return checked_name("recording", source.stem)
