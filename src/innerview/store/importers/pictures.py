"""Pictures that other tools wrote into text: base64 of a JPEG or PNG file, one per step."""

from __future__ import annotations

import base64
import binascii
import io
from dataclasses import dataclass

import numpy as np
from PIL import Image

from innerview.errors import StoreError
from innerview.store.importers.tracks import Track

MAX_PIXELS = 4096 * 4096


@dataclass(frozen=True, kw_only=True)
class Pictures:
    """How the pictures of a key are decoded: all alike, and not wider than asked for."""

    key: str
    source: tuple[int, int]
    """Width and height as they were written."""
    size: tuple[int, int]
    grey: bool
    dtype: str = "uint8"
    """16-bit pictures, depth say, stay 16 bit."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Of one picture as an array."""
        width, height = self.size
        return (height, width) if self.grey else (height, width, 3)

    @property
    def scale(self) -> float:
        """Pixels of the array per pixel of the source, across."""
        return self.size[0] / self.source[0]

    def read(self, track: Track, start: int, stop: int) -> np.ndarray:
        """Rows start to stop."""
        texts = track.texts(self.key, start, stop)
        return np.stack([self._one(track, step, text) for step, text in enumerate(texts, start)])

    def _one(self, track: Track, step: int, text: str) -> np.ndarray:
        where = track.at(self.key, step)
        with _open(where, text) as picture:
            if picture.size != self.source:
                raise StoreError(f"{where} is {_size_text(picture.size)}, the first one {_size_text(self.source)}.")
            if (picture.mode in DEEP) != (self.dtype == "uint16"):
                raise StoreError(f"{where} has another number of bits a pixel than the first one.")
            try:
                wanted = picture.convert("F" if picture.mode in DEEP else "L" if self.grey else "RGB")
            except (OSError, ValueError, SyntaxError) as error:
                raise StoreError(f"{where} is a damaged picture: {error}.") from error
            sized = np.asarray(wanted if wanted.size == self.size else wanted.resize(self.size, _SMOOTH))
            return np.rint(sized).astype(self.dtype) if sized.dtype.kind == "f" else sized


_SMOOTH = Image.Resampling.BILINEAR
DEEP = ("I;16", "I;16B", "I;16L", "I")
"""Modes of pictures with 16 bits a pixel."""


def find_pictures(track: Track, key: str, *, width: int) -> Pictures:
    """Size and colours of the first picture, which all others must have; `width` is the widest, 0 keeps every pixel."""
    where = track.at(key, 0)
    with _open(where, track.texts(key, 0, 1)[0]) as picture:
        across, down = picture.size
        deep = picture.mode in DEEP
        grey = deep or picture.mode in ("L", "1")
    factor = min(1.0, width / across) if width else 1.0
    size = (max(1, round(across * factor)), max(1, round(down * factor)))
    dtype = "uint16" if deep else "uint8"
    return Pictures(key=key, source=(across, down), size=size, grey=grey, dtype=dtype)


def _open(where: str, text: str) -> Image.Image:
    head, comma, rest = text.partition(",")
    try:
        data = base64.b64decode(rest if comma and head.startswith("data:") else text, validate=True)
        picture = Image.open(io.BytesIO(data))
    except (binascii.Error, ValueError) as error:
        raise StoreError(f"{where} is not base64 text: {error}.") from error
    except (OSError, Image.DecompressionBombError) as error:
        raise StoreError(f"{where} is not a picture that can be read.") from error
    if picture.width * picture.height > MAX_PIXELS:
        raise StoreError(f"{where} is {_size_text(picture.size)}, which is too large for a picture.")
    return picture


def _size_text(size: tuple[int, int]) -> str:
    return f"{size[0]}×{size[1]}"
