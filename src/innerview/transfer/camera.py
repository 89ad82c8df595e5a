"""How far pictures of two cameras are apart that stand at the same place: by what was measured, and by what is seen."""

from __future__ import annotations

import numpy as np

DEPTH_CAP, COLOUR_CAP = 0.5, 2.0
"""What differs more is something else: a thing that was moved, a hole."""
COLOUR_WEIGHT = 0.5
"""Of a colour's difference beside that of depth: light and white balance move colours too."""


def view_differences(
    colours: np.ndarray, depth_m: np.ndarray | None, other: np.ndarray, other_depth_m: np.ndarray | None
) -> np.ndarray:
    """Per picture [row]: mean difference of log depth, where both were measured, and of colours, light put aside.

    Colours are [row, height, width, channel]; each channel of each picture is taken to mean 0 and spread 1.
    """
    seen = np.abs(_plain(colours) - _plain(other)).clip(max=COLOUR_CAP).mean(axis=(1, 2, 3))
    if depth_m is None or other_depth_m is None:
        return np.asarray(seen)
    both = (depth_m > 0) & (other_depth_m > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = np.where(both, np.abs(np.log(depth_m / other_depth_m)), 0).clip(max=DEPTH_CAP)
    # A view in which nothing was measured by both counts as the farthest.
    measured = np.where(both.any(axis=(1, 2)), apart.sum(axis=(1, 2)) / np.maximum(both.sum(axis=(1, 2)), 1), DEPTH_CAP)
    return np.asarray(measured + COLOUR_WEIGHT * seen)


def smaller(colours: np.ndarray, depth_m: np.ndarray | None, by: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Pictures with so many pixels to one: colours as means, depth as what was measured around the middle."""
    rows, height, width, channels = colours.shape
    lines, columns = height // by, width // by
    blocks = colours[:, : lines * by, : columns * by].reshape(rows, lines, by, columns, by, channels)
    made = blocks.mean(axis=(2, 4), dtype=np.float32)
    if depth_m is None:
        return made, None
    first = (by - 1) // 2
    middle = slice(first, first + (1 if by % 2 else 2))
    grid = depth_m[:, : lines * by, : columns * by].reshape(rows, lines, by, columns, by)[:, :, middle, :, middle]
    near = grid.transpose(0, 1, 3, 2, 4).reshape(rows, lines, columns, -1)
    # At an edge the means of near and far would be a place where nothing is.
    known = (near > 0).all(axis=-1) & (near.max(axis=-1) < 1.1 * np.maximum(near.min(axis=-1), 1e-6))
    return made, np.where(known, near.mean(axis=-1), 0)


def _plain(colours: np.ndarray) -> np.ndarray:
    values = colours.astype(np.float32)
    middle = values.mean(axis=(1, 2), keepdims=True)
    return np.asarray((values - middle) / np.maximum(values.std(axis=(1, 2), keepdims=True), 1.0))
