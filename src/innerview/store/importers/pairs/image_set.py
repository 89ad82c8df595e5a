"""A set of images as a layout gives it, and how it becomes a recording."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from innerview.errors import StoreError
from innerview.schema import (
    ArraySpec,
    Camera,
    Column,
    ImportedFrom,
    Origin,
    RecordingInfo,
    RowKind,
    with_foreign_poses,
)
from innerview.store.importers.images import NAMED, UNSAID, ImageFiles, Refused, paired, whole_rows
from innerview.store.importers.pairs.checks import about_depth, rows_without_pose, with_angles_checked
from innerview.store.importers.pairs.described import Description
from innerview.store.paths import checked_name, confined
from innerview.store.recordings.bulk import write_table
from innerview.store.recordings.scenes import scene_key
from innerview.store.recordings.tables import parquet_bytes
from innerview.store.study import Study


@dataclass(frozen=True, kw_only=True)
class ImageSet:
    """Rows with a file for each array, and what is known of each."""

    by: str
    """What the layout is called."""
    arrays: tuple[ImageFiles, ...]
    table: pl.DataFrame
    columns: tuple[Column, ...]
    remarks: tuple[str, ...] = ()
    camera: Camera | None = None
    intrinsics_px: tuple[float, ...] = ()
    """fx, fy, cx, cy of the first array's pictures, where that is all that is known of the camera."""

    def camera_of(self, spec: ArraySpec) -> Camera | None:
        """The camera, as files tell it."""
        if self.camera is not None or not self.intrinsics_px:
            return self.camera
        fx, fy, cx, cy = self.intrinsics_px
        return Camera(width_px=spec.shape[1], height_px=spec.shape[0], focal_px=(fx, fy), centre_px=(cx, cy))


def write_images(study: Study, name: str, source: Path, found: ImageSet, said: Description) -> tuple[str, ...]:
    """Make a recording of a set of images; gives what has to be said about it."""
    columns = with_foreign_poses([said.column(column) for column in found.columns])
    posed, without = _posed(found, columns)
    whole = whole_rows(posed)
    rows = np.flatnonzero(~np.isin(np.arange(found.table.height), list(without)))[whole.rows]
    table = found.table[rows.tolist()]
    arrays = tuple(said.array(spec) for spec in _sides(whole.arrays))
    columns, odd = with_angles_checked(table, columns)
    ground = said.ground(found.camera_of(arrays[0]))
    info = RecordingInfo(
        name=checked_name("recording", name),
        origin=Origin(kind="imported", by=found.by, source=source.name),
        row=RowKind(one="pair", many="pairs") if len(arrays) > 1 else RowKind(one="image", many="images"),
        columns=columns,
        arrays=arrays,
        scene=scene_key(ground.scene) if ground.scene else "",
        arguments=ImportedFrom(files=(source.name,), content=hashlib.sha256(parquet_bytes(table)).hexdigest()),
    )
    scenes = ((ground.scene, ground.picture),) if ground.scene else ()
    write_table(study, info, table, whole.read, heights={}, scenes=scenes)
    deep = tuple(remark for spec in arrays if (remark := about_depth(spec, whole)))
    unknown = _about_missing_poses(table, columns)
    nothing = tuple(without.values())
    return (*found.remarks, *some_of(nothing), *whole.remarks, *unknown, *odd, *deep, *ground.remarks)


def array_spec(name: str, said: Description) -> ArraySpec:
    """An array of images by its name: "sim.rgb" is the rgb of the domain sim."""
    domain, _, kind = name.partition(".")
    unit = said.unit(name, kind)
    return ArraySpec(name=name, shape=(), dtype="uint8", role="image", domain=domain, pair=kind or UNSAID, unit=unit)


def file_in(folder: Path, name: str) -> Path | Refused:
    """A file that is named by a table; one outside the folder is refused, and named."""
    try:
        return confined(folder, name)
    except (StoreError, ValueError) as error:
        return Refused(name=name, why=str(error))


def some_of(remarks: Sequence[str]) -> tuple[str, ...]:
    """The first of many remarks of one kind, and how many more there are."""
    more = len(remarks) - NAMED
    return (*remarks[:NAMED], *([f"{more} more rows were left out for such reasons."] if more > 0 else []))


def _posed(found: ImageSet, columns: Sequence[Column]) -> tuple[list[ImageFiles], dict[int, str]]:
    """The arrays without the rows whose pose is no number, and why each of those is left out."""
    wrong = rows_without_pose(found.table, columns)
    stay = [row for row in range(found.table.height) if row not in wrong]
    if not stay and wrong:
        raise StoreError(f"No row has a pose. {found.arrays[0].name(min(wrong))}: {wrong[min(wrong)]}.")
    kept = [replace(array, files=[array.files[row] for row in stay], rows=stay) for array in found.arrays]
    return kept, {row: f"{found.arrays[0].name(row)}: {why}." for row, why in wrong.items()}


def _sides(arrays: Sequence[ImageFiles]) -> Iterator[ArraySpec]:
    """A folder that is not inside another one is a domain only where others are its partners: sim and real, not rgb."""
    for array in paired(arrays):
        spec = array.spec
        yield spec if spec.pair or "." in spec.name else replace(spec, domain="")


def _about_missing_poses(table: pl.DataFrame, columns: Sequence[Column]) -> tuple[str, ...]:
    missing = [table[column.name].is_null().to_numpy() for column in columns if column.pose]
    count = int(np.any(missing, axis=0).sum()) if missing else 0
    return (
        (f"{count} of {table.height:,} rows have no pose; they stay, and nothing is compared there.",) if count else ()
    )
