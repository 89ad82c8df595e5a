"""Filters of colours [rows, height, width, channel]; bytes stay bytes."""

from __future__ import annotations

import numpy as np
import torch

from innerview.errors import RequestError
from innerview.subjects.sites.operations import blurred

RGB = 3


def brighter(colours: np.ndarray, factor: float) -> np.ndarray:
    """Colours times a factor."""
    return np.asarray(colours * np.float32(factor))


def contrasted(colours: np.ndarray, factor: float) -> np.ndarray:
    """Distance from the mean of all colours of the same picture, times a factor."""
    middle = colours.mean(axis=tuple(range(1, colours.ndim)), keepdims=True, dtype=np.float64).astype(np.float32)
    return np.asarray(middle + (colours - middle) * np.float32(factor))


def warmer(colours: np.ndarray, warmth: float) -> np.ndarray:
    """Red times 2^warmth, blue divided by it: what a wrong white balance does to a picture."""
    if colours.shape[-1] != RGB:
        raise RequestError(
            f"'temperature' needs red, green and blue; these pictures have {colours.shape[-1]} channels."
        )
    return colours * np.array([2**warmth, 1, 2**-warmth], np.float32)


def smoothed(colours: np.ndarray, sigma_px: float) -> np.ndarray:
    """Blurred by a Gaussian; beyond the border stands what is at the border."""
    if sigma_px == 0:
        return colours
    planes = torch.from_numpy(np.ascontiguousarray(np.moveaxis(colours, -1, 1)))
    return np.moveaxis(blurred(planes, sigma_px).numpy(), 1, -1)


OPERATIONS = {"brightness": brighter, "contrast": contrasted, "temperature": warmer, "blur": smoothed}


def changed_colours(name: str, value: float, colours: np.ndarray) -> np.ndarray:
    """Colours through one filter, in the type they came in: what leaves the range of bytes is cut off."""
    if colours.dtype.kind == "f":
        return np.asarray(OPERATIONS[name](colours.astype(np.float32, copy=False), value))
    most = np.iinfo(colours.dtype).max
    done = OPERATIONS[name](colours.astype(np.float32), value)
    made: np.ndarray = np.rint(np.clip(done, 0, most)).astype(colours.dtype)
    return made
