"""A folder for each kind of image, whose files of the same name are a row: sim/rgb/0001.jpg, real/rgb/0001.jpg."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl

from innerview.errors import StoreError
from innerview.schema import Column
from innerview.store.importers.images import SUFFIXES, ImageFiles, Refused
from innerview.store.importers.pairs.described import Description
from innerview.store.importers.pairs.image_set import ImageSet, array_spec, file_in
from innerview.store.importers.tables import read_table, split_units
from innerview.store.recordings.bulk import column_spec

_NAMES = ("name", "file", "image", "stem")
Found = dict[str, dict[str, Path | Refused]]


def read_by_name(said: Description) -> ImageSet:
    """Rows are the names that every folder of images has."""
    folder = said.folder
    found, remarks = _image_folders(folder)
    if not found:
        raise StoreError(f"'{folder}' holds no folders of images ({', '.join(SUFFIXES)}).")
    stems = sorted(set.intersection(*(set(files) for files in found.values())))
    remarks += [
        f"'{array.replace('.', '/')}' has {len(files) - len(stems)} images without a partner; they are left out."
        for array, files in found.items()
        if len(files) > len(stems)
    ]
    if not stems:
        raise StoreError(f"No name of an image is in all of {', '.join(found)}: nothing is paired.")
    table, columns, doubled = _poses(folder, stems)
    arrays = tuple(
        ImageFiles(spec=array_spec(name, said), folder=folder, files=[files[stem] for stem in stems])
        for name, files in found.items()
    )
    return ImageSet(by="folder of images", arrays=arrays, table=table, columns=columns, remarks=(*remarks, *doubled))


def _image_folders(folder: Path) -> tuple[Found, list[str]]:
    """Images by stem, by name of the array (the folder's path with points); and folders that are links, in words."""
    found: Found = {}
    linked: list[str] = []
    for path in _files(folder, linked):
        if path.suffix.lower() not in SUFFIXES or path.parent == folder:
            continue
        name = ".".join(path.parent.relative_to(folder).parts)
        files = found.setdefault(name, {})
        if path.stem in files:
            before = files[path.stem]
            raise StoreError(
                f"'{name.replace('.', '/')}' has two images of the same name: {Path(before.name).name} and "
                f"{path.name}. A row takes one of each folder: give them different names, or move one away."
            )
        files[path.stem] = file_in(folder, path.relative_to(folder).as_posix()) if path.is_symlink() else path
    return found, linked


def _files(folder: Path, linked: list[str]) -> Iterator[Path]:
    """Everything below a folder but other folders, in order; folders that are links are not entered."""
    for here, below, names in os.walk(folder):
        below.sort()
        linked += [
            f"'{(Path(here) / name).relative_to(folder).as_posix()}' is a link to a folder; it is left out."
            for name in below
            if (Path(here) / name).is_symlink()
        ]
        yield from (Path(here) / name for name in sorted(names))


def _poses(folder: Path, stems: list[str]) -> tuple[pl.DataFrame, tuple[Column, ...], tuple[str, ...]]:
    """The table beside the images, a line each; its columns with the units that stand in their heads; and remarks."""
    rows = pl.DataFrame({"name": pl.Series(stems, dtype=pl.String)})
    named = Column(name="name", type="text", kind="index", description="The files' name without its ending.")
    paths = [path for path in sorted(folder.iterdir()) if path.suffix.lower() in (".csv", ".parquet")]
    if not paths:
        return rows, (named,), ()
    if len(paths) > 1:
        raise StoreError(f"'{folder.name}' has several tables: {', '.join(p.name for p in paths)}. Keep one.")
    table, units = split_units(read_table(paths[0]))
    key = next((column for column in _NAMES if column in table.columns), None)
    if key is None:
        raise StoreError(f"'{paths[0].name}' needs a column {' or '.join(_NAMES)} that names the images of each line.")
    table = table.with_columns(pl.col(key).cast(pl.String).map_elements(lambda n: Path(n).stem, return_dtype=pl.String))
    table = table.rename({key: "name"})
    joined = rows.join(table.unique("name", keep="first"), on="name", how="left", maintain_order="left")
    twice = table["name"].filter(table["name"].is_duplicated()).unique(maintain_order=True).to_list()
    doubled = (
        [f"'{paths[0].name}' has several lines for {', '.join(twice[:5])}; the first one counts."] if twice else []
    )
    columns = [replace(column_spec(series), unit=units.get(series.name, "")) for series in joined]
    return joined, (named, *(column for column in columns if column.name != "name")), tuple(doubled)
