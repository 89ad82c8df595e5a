"""Rows as two domains show them: what lenses of this room share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from innerview.errors import LensError
from innerview.schema import Parameter, Rows

if TYPE_CHECKING:
    from torch import Tensor

    from innerview.schema import InputSpec
    from innerview.subjects import Subject

DOMAINS = ("sim", "real")
DOMAIN = Parameter(
    name="domain",
    type="choice",
    default="real",
    choices=DOMAINS,
    description="Over whose pictures it is laid.",
)


def other_domain(domain: str) -> str:
    """The other one of the two."""
    return DOMAINS[1 - DOMAINS.index(domain)]


def picture_of(subject: Subject) -> InputSpec:
    """The first image input."""
    found = next((spec for spec in subject.info.inputs if spec.kind == "image"), None)
    if found is None:
        raise LensError(f"'{subject.info.name}' has no image input.")
    return found


def maps_of(rows: Rows, subject: Subject, layer: str) -> Tensor:
    """What a layer puts out, [row, channel, height, width]."""
    found: Tensor = rows.activations(layer, np.arange(rows.count))
    if found.ndim != 4 or len(found) != rows.count:
        raise LensError(
            f"Layer '{layer}' puts out {list(found.shape[1:])} per row and not one map [channel, height, width] of "
            f"each. Layers that have one: {', '.join(spatial_layers(subject)) or 'none'}."
        )
    return found


def spatial_layers(subject: Subject) -> tuple[str, ...]:
    """Layers with channels, height and width, in the order in which they are ready."""
    shapes = dict(zip(subject.info.layers, subject.info.layer_shapes, strict=False))
    return tuple(name for name, shape in shapes.items() if len(shape) == 3 and min(shape[1:]) > 1)
