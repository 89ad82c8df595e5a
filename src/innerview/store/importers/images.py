"""Image files named by rows: kept as they are; one that is broken is named, and the rest is imported."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from PIL import Image

from innerview.errors import StoreError
from innerview.schema import ArraySpec
from innerview.store.paths import checked_name
from innerview.store.recordings.arrays.encoded import check_picture

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif", ".tif", ".tiff")
_NAMED = 20
"""Broken files that are named one by one."""


@dataclass(frozen=True, kw_only=True)
class ImageFiles:
    """One array and the file of each row."""

    spec: ArraySpec
    """Shape and type are read off the files."""
    files: Sequence[Path | None]


@dataclass(frozen=True, kw_only=True)
class WholeRows:
    """Rows whose files can all be read."""

    arrays: tuple[ImageFiles, ...]
    rows: np.ndarray
    """Which of the rows that were named."""
    remarks: tuple[str, ...]

    def read(self, start: int, stop: int) -> dict[str, list[bytes]]:
        """Rows start to stop of the whole ones."""
        chosen = self.rows[start:stop].tolist()
        return {a.spec.name: [_content(a.files[row]) for row in chosen] for a in self.arrays}


def whole_rows(arrays: Sequence[ImageFiles], progress: Callable[[int, int], None] | None = None) -> WholeRows:
    """Look at every file; rows with a broken one, or one of another size than most, are named and left out."""
    count = len(arrays[0].files) if arrays else 0
    wrong: dict[int, str] = {}
    made = []
    for array in arrays:
        checked_name("array", array.spec.name)
        shapes: dict[int, tuple[tuple[int, ...], str]] = {}
        for row, file in enumerate(array.files):
            try:
                shapes[row] = check_picture(_content(file))
            except StoreError as error:
                wrong.setdefault(row, f"{_named(file, array.spec.name, row)}: {error}")
        made.append(replace(array, spec=_sized(array.spec, shapes, wrong, array.files)))
    rows = np.array([row for row in range(count) if row not in wrong], np.int64)
    if arrays and not len(rows):
        raise StoreError(f"No row has whole images. {wrong[min(wrong)]}" if wrong else "There is no row to import.")
    return WholeRows(arrays=tuple(made), rows=rows, remarks=_remarks([wrong[row] for row in sorted(wrong)]))


def _sized(
    spec: ArraySpec,
    shapes: Mapping[int, tuple[tuple[int, ...], str]],
    wrong: dict[int, str],
    files: Sequence[Path | None],
) -> ArraySpec:
    if not shapes:
        first = wrong[min(wrong)] if wrong else "There is no row."
        raise StoreError(f"No image of '{spec.name}' can be read. {first}")
    (shape, dtype), _ = Counter(shapes.values()).most_common(1)[0]
    for row, found in shapes.items():
        if found != (shape, dtype):
            told = f"it is {_size(*found)}, most images of '{spec.name}' are {_size(shape, dtype)}"
            wrong.setdefault(row, f"{_named(files[row], spec.name, row)}: {told}.")
    axes = ("height", "width", "channel")[: len(shape)]
    return replace(spec, shape=shape, dtype=dtype, kind="encoded", role=spec.role, axes=axes, pixelated=False)


def _content(file: Path | None) -> bytes:
    """A file's bytes; what is neither PNG nor JPEG becomes a PNG file of the same pixels."""
    if file is None:
        raise StoreError("no image is named.")
    try:
        content = file.read_bytes()
    except OSError as error:
        raise StoreError(f"It cannot be read ({error.strerror}).") from error
    if file.suffix.lower() in (".png", ".jpg", ".jpeg"):
        return content
    try:
        with Image.open(io.BytesIO(content)) as picture:
            out = io.BytesIO()
            _plain(picture).save(out, "PNG", compress_level=1)
            return out.getvalue()
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise StoreError(f"It is not an image that can be read: {error}.") from error


def _plain(picture: Image.Image) -> Image.Image:
    """The same picture in a mode that a PNG file has, with as many bits."""
    if picture.mode in ("L", "RGB", "RGBA", "I;16"):
        return picture
    if picture.mode not in ("I", "F", "I;16B", "I;16L"):
        return picture.convert("RGB")
    values = np.asarray(picture)
    whole = np.rint(values).clip(0, 65535).astype(np.uint16)
    if not np.array_equal(whole, values):
        raise StoreError("Its values do not fit into 16 bits. Give it as an array in an .npz file.")
    return Image.fromarray(whole)


def _named(file: Path | None, array: str, row: int) -> str:
    return f"Left out row {row}, '{file.parent.name}/{file.name}'" if file else f"Left out row {row} of '{array}'"


def _remarks(wrong: Sequence[str]) -> tuple[str, ...]:
    more = len(wrong) - _NAMED
    return (*wrong[:_NAMED], *([f"{more} more rows were left out for such reasons."] if more > 0 else []))


def _size(shape: tuple[int, ...], dtype: str) -> str:
    colour = "grey" if len(shape) == 2 else "colour"
    return f"{shape[1]}×{shape[0]} {'16-bit ' if dtype == 'uint16' else ''}{colour}"
