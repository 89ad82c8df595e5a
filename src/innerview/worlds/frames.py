"""Frames: made smaller the same way everywhere, whether a game is recorded, trained on or drawn."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import gcd
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from innerview.errors import UnknownName

ResizeMethod = Literal["smooth", "bilinear", "area"]


def resize_frame(frame_hwc: np.ndarray, size: tuple[int, int], method: ResizeMethod = "smooth") -> NDArray[np.uint8]:
    """A uint8 frame [height, width, channel] or [height, width] at `size` = (width, height).

    "smooth" lets every pixel count, with a triangle as wide as a new pixel and its neighbours: no shimmer, and the
    smallest files. Up to rounding it is torch's `interpolate(mode="bilinear", antialias=True)`.
    "bilinear" mixes the two nearest pixels of each axis (half-pixel centres, no antialiasing), as torch's
    `interpolate(mode="bilinear", align_corners=False)` does, but in whole numbers with halves rounded up, so that
    every machine gives the same pixels. "area" averages all pixels that a new one covers.
    """
    height, width = frame_hwc.shape[:2]
    if (width, height) == size:
        return np.ascontiguousarray(frame_hwc)
    if method in ("smooth", "area"):
        return _resize_by_filter(frame_hwc, size, method)
    if method != "bilinear":
        raise UnknownName("resize method", str(method), get_args(ResizeMethod))
    return _resize_bilinear(frame_hwc, size)


@dataclass(frozen=True)
class _Taps:
    """Two source positions for each target of one axis, with whole-number weights that add up to `total`."""

    near: NDArray[np.intp]
    far: NDArray[np.intp]
    near_weight: NDArray[np.unsignedinteger]
    far_weight: NDArray[np.unsignedinteger]
    total: int


def _taps(source: int, target: int) -> _Taps:
    position = np.maximum((2 * np.arange(target) + 1) * source - target, 0)  # in units of 1 / (2 target) pixel
    near = np.minimum(position // (2 * target), source - 1)
    far_weight = np.where(near < source - 1, position - near * 2 * target, 0)
    common = gcd(2 * target, *(int(weight) for weight in far_weight))
    total, far_weight = 2 * target // common, (far_weight // common).astype(np.uint64)
    return _Taps(near, np.minimum(near + 1, source - 1), np.uint64(total) - far_weight, far_weight, total)


@lru_cache(maxsize=64)
def _plan(height: int, width: int, channels: int, size: tuple[int, int]) -> tuple[_Taps, _Taps]:
    """Taps down and across; across counts in single values, not pixels: long inner loops are what makes it fast."""
    down, across = _taps(height, size[1]), _taps(width, size[0])
    small: type = np.uint16 if 255 * down.total < 2**16 else np.uint32
    large: type = np.uint32 if 512 * down.total * across.total < 2**32 else np.uint64  # 512: twice 255, and rounding
    values = np.arange(channels)
    return (
        _Taps(down.near, down.far, _column(down.near_weight, small), _column(down.far_weight, small), down.total),
        _Taps(
            (across.near[:, None] * channels + values).ravel(),
            (across.far[:, None] * channels + values).ravel(),
            across.near_weight.repeat(channels).astype(large),
            across.far_weight.repeat(channels).astype(large),
            across.total,
        ),
    )


def _column(weights: NDArray[np.unsignedinteger], kind: type) -> NDArray[np.unsignedinteger]:
    return weights.astype(kind)[:, None]


def _resize_bilinear(frame: np.ndarray, size: tuple[int, int]) -> NDArray[np.uint8]:
    height, width, *channels = frame.shape
    down, across = _plan(height, width, *(channels or [1]), size)
    lines = frame.reshape(height, -1)
    upper, lower = lines[down.near], lines[down.far]
    both = _mixed(upper, lower, across.near, down) * across.near_weight
    both += _mixed(upper, lower, across.far, down) * across.far_weight
    total = both.dtype.type(down.total * across.total)
    both += both
    both += total
    both //= total + total
    small: NDArray[np.uint8] = both.astype(np.uint8).reshape(size[1], size[0], *channels)
    return small


def _mixed(upper: np.ndarray, lower: np.ndarray, columns: NDArray[np.intp], down: _Taps) -> np.ndarray:
    """Two lines mixed into one, in some columns only: small arrays stay in the cache."""
    mixed: np.ndarray = upper.take(columns, axis=1) * down.near_weight
    mixed += lower.take(columns, axis=1) * down.far_weight
    return mixed


def _resize_by_filter(frame: np.ndarray, size: tuple[int, int], method: str) -> NDArray[np.uint8]:
    from PIL import Image

    kind = Image.Resampling.BILINEAR if method == "smooth" else Image.Resampling.BOX
    return np.asarray(Image.fromarray(frame).resize(size, kind))
