"""One row of an image array as a lossless picture."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Literal

import numpy as np
from PIL import Image

Format = Literal["png", "webp"]
MEDIA_TYPES: dict[Format, str] = {"png": "image/png", "webp": "image/webp"}


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Encoded bytes, and the values that became black and white where the array is not 8-bit."""

    content: bytes
    range: tuple[float, float]


def encode(
    pixels: np.ndarray, *, format: Format = "png", low: float | None = None, high: float | None = None
) -> Picture:
    """Encode [height, width] or [height, width, 3 or 4], as `ArraySpec.as_shown` gives it; bytes stay as they are."""
    if pixels.dtype == np.uint8 and low is None and high is None:
        shown, (black, white) = pixels, (0.0, 255.0)
    else:
        shown, (black, white) = _scale(pixels, low, high)
    out = io.BytesIO()
    picture = Image.fromarray(np.ascontiguousarray(shown))
    if format == "webp":
        picture.save(out, "WEBP", lossless=True, exact=True, quality=30, method=1)
    else:
        picture.save(out, "PNG", compress_level=2)
    return Picture(content=out.getvalue(), range=(black, white))


def _scale(pixels: np.ndarray, low: float | None, high: float | None) -> tuple[np.ndarray, tuple[float, float]]:
    values = pixels.astype(np.float64)
    known = values[np.isfinite(values)]
    black = low if low is not None else (float(known.min()) if known.size else 0.0)
    white = high if high is not None else (float(known.max()) if known.size else 1.0)
    span = white - black if white > black else 1.0
    scaled = np.nan_to_num((values - black) / span, nan=0.0, posinf=1.0, neginf=0.0).clip(0, 1)
    return np.rint(scaled * 255).astype(np.uint8), (black, white)
