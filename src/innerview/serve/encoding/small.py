"""Numbers in few bytes: whole ones of 16 bits, and what one of them stands for."""

from __future__ import annotations

import numpy as np

REACH = 32767


def quantised(values: np.ndarray) -> tuple[np.ndarray, float]:
    """int16 of the same shape, and the step: their product is off by half a step at most; what is not finite is 0.

    Whole numbers that fit stay as they are, with a step of 1.
    """
    finite = np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    largest = float(np.abs(finite).max(initial=0.0))
    whole = values.dtype.kind in "biu" and largest <= REACH
    step = 1.0 if whole or not largest else largest / REACH
    return np.rint(finite / step).astype(np.int16), step
