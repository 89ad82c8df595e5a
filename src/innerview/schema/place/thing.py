"""Things that were in view."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ObjectInView:
    """One thing of a column of objects; what a world does not say of it is NaN."""

    name: str
    x_px: float
    """Left edge of its box, in pixels of the observation."""
    y_px: float
    """Upper edge."""
    width_px: float
    height_px: float
    distance: float
    """From the agent, in the unit of the places."""
    x: float
    """Where it is on the map."""
    y: float
