"""How far a predicted pose is from the recorded one."""

from __future__ import annotations

import numpy as np


def position_errors(x: np.ndarray, y: np.ndarray, true_x: np.ndarray, true_y: np.ndarray) -> np.ndarray:
    """Distance in the plane, in the unit of the places."""
    return np.asarray(np.hypot(x - true_x, y - true_y))


def heading_errors(angle_deg: np.ndarray, true_deg: np.ndarray) -> np.ndarray:
    """Angle between two headings, from 0 to 180: 359° is 2° from 1°."""
    return np.asarray(np.abs((angle_deg - true_deg + 180) % 360 - 180))
