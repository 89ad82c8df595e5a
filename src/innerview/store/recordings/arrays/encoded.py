"""Pictures as the bytes of their file, JPEG or PNG, decoded when they are read."""

from __future__ import annotations

import io
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from innerview.errors import DamagedPart, StoreError
from innerview.schema import ArraySpec
from innerview.store.recordings.arrays.codecs import check_spec, checksum

_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG = b"\xff\xd8\xff"
_MAX_PIXELS = 1 << 26
_JPEG_END = b"\xff\xd9"
_JPEG_TAIL = 64
_JPEG_AHEAD = 8
"""Bytes that the library reads before it needs them."""
_UNREADABLE = (OSError, ValueError, SyntaxError, Image.DecompressionBombError)
_LAYOUT = (
    "c.N holds block N: the files one after the other, each with its CRC32C behind it, then an index (offset and size "
    "of each, uint64, little-endian) and its CRC32C."
)


@dataclass(frozen=True)
class EncodedCodec:
    """Keeps each row's file as it is."""

    spec: ArraySpec
    block_rows: int
    chunk_rows = 1
    head_file = "array.json"

    def __post_init__(self) -> None:
        check_spec(self.spec)
        if self.spec.dtype not in ("uint8", "uint16"):
            raise StoreError(
                f"Array '{self.spec.name}' is encoded: pictures are uint8 or uint16, not {self.spec.dtype}."
            )

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the decoded picture."""
        return np.dtype(self.spec.dtype)

    def encode(self, rows: Sequence[bytes]) -> bytes:
        """The file's bytes and their checksum."""
        return rows[0] + checksum(rows[0])

    def decode(self, content: bytes) -> np.ndarray:
        """The picture, [1, *shape]."""
        return decode_picture(self.content(content), self.spec)[None]

    def content(self, content: bytes) -> bytes:
        """The file as it was imported."""
        if checksum(content[:-4]) != content[-4:]:
            raise DamagedPart("its checksum does not match")
        return content[:-4]

    def check(self, values: Sequence[Any] | np.ndarray) -> str:
        """What is wrong with rows that somebody wants to write; empty where nothing is."""
        wrong = next((value for value in values if not isinstance(value, bytes)), None)
        return "" if wrong is None else f"takes the bytes of a JPEG or PNG file a row; got {type(wrong).__name__}"

    def head(self, rows: int) -> dict[str, Any]:
        """What stands beside the files, for whoever reads them without innerview."""
        return {
            "format": "innerview encoded array",
            "shape": [rows, *self.spec.shape],
            "data_type": self.spec.dtype,
            "block_rows": self.block_rows,
            "layout": _LAYOUT,
        }


def decode_picture(content: bytes, spec: ArraySpec) -> np.ndarray:
    """A file's pixels, of the shape and type that were declared."""
    shape, dtype = picture_shape(content)
    if shape != spec.shape or dtype != spec.dtype:
        raise DamagedPart(f"it holds a picture of {shape} and {dtype} instead of {spec.shape} and {spec.dtype}")
    try:
        with Image.open(io.BytesIO(content), formats=("PNG", "JPEG")) as picture:
            grey = len(shape) == 2
            wanted = {True: "L", False: "RGBA" if shape[-1] == 4 else "RGB"}[grey]
            plain = picture if dtype == "uint16" or picture.mode == wanted else picture.convert(wanted)
            pixels = np.asarray(plain)
    except _UNREADABLE as error:
        raise DamagedPart(f"the picture cannot be decoded ({error})") from error
    return pixels.astype(spec.dtype, copy=False)


def picture_shape(content: bytes) -> tuple[tuple[int, ...], str]:
    """Shape and type of a picture, by its header alone; StoreError says what is wrong with it."""
    if content.startswith(_PNG):
        return _png_shape(content)
    if not content.startswith(_JPEG):
        raise StoreError("It is neither a PNG nor a JPEG file.")
    try:
        with Image.open(io.BytesIO(content), formats=("JPEG",)) as picture:
            return _jpeg_shape(picture), "uint8"
    except _UNREADABLE as error:
        raise StoreError(f"It is a damaged JPEG file: {error}.") from error


def check_picture(content: bytes) -> tuple[tuple[int, ...], str]:
    """As `picture_shape`, after looking whether the file is whole: a PNG's checksums, a JPEG's data up to its end."""
    if content.startswith(_JPEG) and _JPEG_END in content[-_JPEG_TAIL:]:
        return _checked_jpeg(content)
    shape = picture_shape(content)
    if not content.startswith(_PNG):
        raise StoreError("It is cut short: a JPEG file ends with its end marker.")
    _check_png(content)
    return shape


def _png_shape(content: bytes) -> tuple[tuple[int, ...], str]:
    if len(content) < 33 or content[12:16] != b"IHDR":
        raise StoreError("It is a damaged PNG file: its header is missing.")
    width, height = int.from_bytes(content[16:20], "big"), int.from_bytes(content[20:24], "big")
    depth, colour = content[24], content[25]
    if depth == 16 and colour != 0:
        raise StoreError("It has 16 bits a colour, which would be read as 8. Save it in grey, a file a channel.")
    channels = {0: 1, 2: 3, 3: 3, 4: 4, 6: 4}.get(colour)
    if channels is None:
        raise StoreError(f"It is a damaged PNG file: there is no colour type {colour}.")
    return checked_size(width, height, channels), "uint16" if depth == 16 else "uint8"


def _check_png(content: bytes) -> None:
    place = 8
    while place + 12 <= len(content):
        size, kind = int.from_bytes(content[place : place + 4], "big"), content[place + 4 : place + 8]
        end = place + 8 + size
        if zlib.crc32(memoryview(content)[place + 4 : end]) != int.from_bytes(content[end : end + 4], "big"):
            raise StoreError(f"It is a damaged PNG file: the checksum of its part {kind!r} does not match.")
        if kind == b"IEND":
            return
        place = end + 4
    raise StoreError("It is cut short: a PNG file ends with its part IEND.")


def _checked_jpeg(content: bytes) -> tuple[tuple[int, ...], str]:
    """Unpack a JPEG at an eighth of its size, which is quick. It has no checksum: a changed bit may go unnoticed."""
    # Where data end too early, the library fills up with grey at the marker. Zeros in its place must not be needed.
    one = _jpeg_scans(content) == 1
    whole = content[: content.rindex(_JPEG_END)] + bytes(_JPEG_AHEAD) if one else content
    try:
        with Image.open(io.BytesIO(whole), formats=("JPEG",)) as picture:
            shape = _jpeg_shape(picture)
            picture.draft("L", (1, 1))
            picture.load()
    except _UNREADABLE as error:
        raise StoreError(f"It is a damaged JPEG file: {error}.") from error
    return shape, "uint8"


def _jpeg_shape(picture: Image.Image) -> tuple[int, ...]:
    return checked_size(*picture.size, 1 if picture.mode == "L" else 3)


def _jpeg_scans(content: bytes) -> int:
    """In how many passes a picture is kept; a small preview in the header is none of them."""
    place = 2
    while place + 4 <= len(content) and content[place] == 0xFF and content[place + 1] != 0xDA:
        place += 2 + int.from_bytes(content[place + 2 : place + 4], "big")
    return content.count(b"\xff\xda", place)


def checked_size(width: int, height: int, channels: int) -> tuple[int, ...]:
    """The shape of a picture of that size, or an error where it is larger than is read."""
    if not 0 < width * height <= _MAX_PIXELS:
        raise StoreError(f"It is {width}×{height} pixels; at most {_MAX_PIXELS:,} can be read.")
    return (height, width) if channels == 1 else (height, width, channels)
