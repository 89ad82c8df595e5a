"""One row of an image array as a lossless picture."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Literal

import numpy as np
from PIL import Image

from innerview.errors import RequestError

Format = Literal["png", "webp"]
MEDIA_TYPES: dict[Format, str] = {"png": "image/png", "webp": "image/webp"}
RGBA = ("red", "green", "blue", "alpha")


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Encoded bytes, and the values that became black and white where the array is not 8-bit."""

    content: bytes
    range: tuple[float, float]


def encode(
    image: np.ndarray,
    *,
    format: Format = "png",
    channel: int | None = None,
    elements: tuple[str, ...] = (),
    low: float | None = None,
    high: float | None = None,
) -> Picture:
    """Encode [height, width] or [height, width, channel]; 8-bit values stay exactly as they are."""
    pixels = _pick_channels(image, channel, elements)
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


def _pick_channels(image: np.ndarray, channel: int | None, elements: tuple[str, ...]) -> np.ndarray:
    """Colour where the channels are colours; else one channel in grey, the newest of a stack of frames."""
    if image.ndim == 2:
        return image
    if image.ndim != 3:
        raise RequestError(f"An array of shape {image.shape} cannot be shown as a picture.")
    count = image.shape[2]
    names = tuple(element.lower() for element in elements)
    if channel is None and (count == 3 or names == RGBA):
        return image
    if channel is None and names[-3:] == RGBA[:3]:
        return image[:, :, -3:]  # a stack of frames in colour: the newest
    if channel is None and names[:3] == RGBA[:3]:
        return image[:, :, :3]  # the others are no colours: depth, say
    chosen = count - 1 if channel is None else channel
    if not 0 <= chosen < count:
        raise RequestError(f"There is no channel {chosen}; the picture has channels 0 to {count - 1}.")
    return image[:, :, chosen]


def _scale(pixels: np.ndarray, low: float | None, high: float | None) -> tuple[np.ndarray, tuple[float, float]]:
    values = pixels.astype(np.float64)
    known = values[np.isfinite(values)]
    black = low if low is not None else (float(known.min()) if known.size else 0.0)
    white = high if high is not None else (float(known.max()) if known.size else 1.0)
    span = white - black if white > black else 1.0
    scaled = np.nan_to_num((values - black) / span, nan=0.0, posinf=1.0, neginf=0.0).clip(0, 1)
    return np.rint(scaled * 255).astype(np.uint8), (black, white)
