"""Image files named by rows: kept as they are; one that is broken is named, and the rest is imported."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from PIL import Image

from innerview.errors import StoreError
from innerview.schema import ArraySpec
from innerview.store.importers.foreign import picture_bytes
from innerview.store.paths import checked_name
from innerview.store.recordings.arrays.encoded import check_picture, checked_size

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif", ".tif", ".tiff")
UNSAID = "image"
"""The pair of pictures of which only the domain is known."""
Shape = tuple[tuple[int, ...], str]
_THREADS = 4
NAMED = 20
"""Broken files that are named one by one."""
_SAME_GREY = 12
"""How far channels may be apart that JPEG kept of a picture in grey."""


@dataclass(frozen=True, kw_only=True)
class Refused:
    """A file that is named and not read."""

    name: str
    why: str


Named = Path | Refused | None


@dataclass(frozen=True, kw_only=True)
class ImageFiles:
    """One array and the file of each row."""

    spec: ArraySpec
    """Shape and type are read off the files."""
    folder: Path
    """Files are named as seen from here."""
    files: Sequence[Named]
    grey: bool = False
    """One number a pixel: a file of three equal channels, as JPEG files of depth may be, becomes one of grey."""
    rows: Sequence[int] | None = None
    """What rows are called in words, where these are some of others."""

    def name(self, row: int) -> str:
        """A row's file in words, and the domain where its path does not say it."""
        file, domain = self.files[row], self.spec.domain
        row = row if self.rows is None else self.rows[row]
        if file is None:
            return f"Left out row {row} of '{self.spec.name}'"
        if isinstance(file, Refused):
            return f"Left out row {row}, '{file.name}'" + (f" ({domain})" if domain else "")
        path = file.relative_to(self.folder) if file.is_relative_to(self.folder) else file
        return f"Left out row {row}, '{path.as_posix()}'" + (f" ({domain})" if domain not in ("", *path.parts) else "")


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
        return {a.spec.name: [_content(a.files[row], grey=a.grey) for row in chosen] for a in self.arrays}


def whole_rows(arrays: Sequence[ImageFiles]) -> WholeRows:
    """Look at every file; rows with a broken one, or one of another size than most, are named and left out."""
    count = len(arrays[0].files) if arrays else 0
    wrong: dict[int, str] = {}
    made = []
    for array in arrays:
        checked_name("array", array.spec.name)
        shapes: dict[int, Shape] = {}
        for row, found in enumerate(_checked(array)):
            if isinstance(found, StoreError):
                wrong.setdefault(row, f"{array.name(row)}: {found}")
            else:
                shapes[row] = found
        made.append(replace(array, spec=_sized(array, shapes, wrong)))
    rows = np.array([row for row in range(count) if row not in wrong], np.int64)
    if arrays and not len(rows):
        raise StoreError(f"No row has whole images. {wrong[min(wrong)]}" if wrong else "There is no row to import.")
    return WholeRows(arrays=tuple(made), rows=rows, remarks=_remarks([wrong[row] for row in sorted(wrong)]))


def paired(arrays: Sequence[ImageFiles]) -> tuple[ImageFiles, ...]:
    """The same arrays, each in a pair only where several domains show the same.

    Where nobody said what a picture shows, those that are alike in size and type are taken for the same.
    """
    specs = [array.spec for array in arrays]

    def in_pair(spec: ArraySpec) -> bool:
        same = [other for other in specs if other.pair == spec.pair]
        alike = spec.pair != UNSAID or len({(other.shape, other.dtype) for other in same}) == 1
        return alike and len(same) > 1 and len({other.domain for other in same} - {""}) == len(same)

    return tuple(a if in_pair(a.spec) else replace(a, spec=replace(a.spec, pair="")) for a in arrays)


def _checked(array: ImageFiles) -> Iterator[Shape | StoreError]:
    def check(file: Named) -> Shape | StoreError:
        try:
            return check_picture(_content(file, grey=array.grey))
        except StoreError as error:
            return error

    with ThreadPoolExecutor(_THREADS) as threads:
        yield from threads.map(check, array.files)


def _sized(array: ImageFiles, shapes: Mapping[int, Shape], wrong: dict[int, str]) -> ArraySpec:
    spec = array.spec
    if not shapes:
        first = wrong[min(wrong)] if wrong else "There is no row."
        raise StoreError(f"No image of '{spec.name}' can be read. {first}")
    (shape, dtype), _ = Counter(shapes.values()).most_common(1)[0]
    for row, found in shapes.items():
        if found != (shape, dtype):
            told = f"it is {_size(*found)}, most images of '{spec.name}' are {_size(shape, dtype)}"
            wrong.setdefault(row, f"{array.name(row)}: {told}.")
    axes = ("height", "width", "channel")[: len(shape)]
    return replace(spec, shape=shape, dtype=dtype, kind="encoded", role=spec.role, axes=axes, pixelated=False)


def _content(file: Named, *, grey: bool = False) -> bytes:
    """A file's bytes; what is neither PNG nor JPEG becomes a PNG file of the same pixels."""
    if file is None:
        raise StoreError("no image is named.")
    if isinstance(file, Refused):
        raise StoreError(file.why)
    content = picture_bytes(file)
    as_it_is = file.suffix.lower() in (".png", ".jpg", ".jpeg")
    if as_it_is and not (grey and len(check_picture(content)[0]) == 3):
        return content
    try:
        with Image.open(io.BytesIO(content)) as picture:
            checked_size(*picture.size, len(picture.getbands()))
            return _as_png(_grey(picture) if grey else _plain(picture))
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise StoreError(f"It is not an image that can be read: {error}.") from error


def _as_png(picture: Image.Image) -> bytes:
    out = io.BytesIO()
    picture.save(out, "PNG", compress_level=1)
    return out.getvalue()


def _grey(picture: Image.Image) -> Image.Image:
    """One channel of a picture whose channels are the same, but for what JPEG makes of them."""
    if len(picture.getbands()) < 3:
        return _plain(picture)
    values = np.asarray(picture.convert("RGB")).astype(np.int16)
    if int((values.max(axis=2) - values.min(axis=2)).max()) > _SAME_GREY:
        raise StoreError("It should hold one number a pixel, and is in colour. Give depth in grey.")
    return picture.convert("RGB").getchannel("G")


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


def _remarks(wrong: Sequence[str]) -> tuple[str, ...]:
    more = len(wrong) - NAMED
    return (*wrong[:NAMED], *([f"{more} more rows were left out for such reasons."] if more > 0 else []))


def _size(shape: tuple[int, ...], dtype: str) -> str:
    colour = "grey" if len(shape) == 2 else "colour"
    return f"{shape[1]}×{shape[0]} {'16-bit ' if dtype == 'uint16' else ''}{colour}"
