"""Maps of any method as one picture of sizes a row: what all that is measured on maps begins with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from innerview.errors import LensError
from innerview.saliency import (
    blurring,
    discriminative,
    gradcam,
    gradient,
    guided,
    guided_gradcam,
    integrated,
    integrated_input,
    occlusion,
    sarfa,
    smoothgrad,
)
from innerview.schema import TARGET, Heat, Parameter, Rows, Watch

if TYPE_CHECKING:
    from innerview.subjects import Subject

_GUIDED = {"gradients": "guided"}
METHODS: Mapping[str, tuple[ModuleType, Mapping[str, Any]]] = {
    "gradient": (gradient, {}),
    "guided": (guided, {}),
    "discriminative": (discriminative, {}),
    "smoothgrad": (smoothgrad, {}),
    "gradcam": (gradcam, {}),
    "g1gradcam": (gradcam, _GUIDED),
    "guided-gradcam": (guided_gradcam, {}),
    "g2gradcam": (guided_gradcam, _GUIDED),
    "integrated-input": (integrated_input, {}),
    "integrated": (integrated, {}),
    "occlusion": (occlusion, {}),
    "blurring": (blurring, {}),
    "sarfa": (sarfa, {}),
}
"""Methods by name, those with guided weights by their names in the literature."""
METHOD = Parameter(
    name="method",
    type="choice",
    default="gradient",
    choices=tuple(METHODS),
    description="How the map is made; a method with a target or a layer takes those below.",
)
LAYER = Parameter(
    name="layer", type="layer", default="", description="Of methods that look at a layer; their own unless said."
)
FRAME = Parameter(
    name="frame",
    type="int",
    default=-1,
    low=-1,
    high=255,
    description="Of a stack: 0 is the newest frame, 1 the one before; -1 takes the strongest of all at each pixel.",
)
MAP = (METHOD, TARGET, LAYER, FRAME)
"""What every lens over maps is told of them."""
BATCH = 64


@dataclass(frozen=True, kw_only=True)
class MapOf:
    """Which map: a method, and what it is asked."""

    method: str = "gradient"
    target: str = "action"
    layer: str = ""
    frame: int = -1

    def sizes(self, rows: Rows, subject: Subject) -> np.ndarray:
        """[row, height, width]: the size of each pixel's value, in the first input that is a picture."""
        module, fixed = METHODS[self.method]
        given: dict[str, Any] = dict(fixed)
        for parameter in module.LENS.parameters:
            if parameter.type == "target":
                given[parameter.name] = self.target
            elif parameter.type == "layer" and self.layer:
                given[parameter.name] = self.layer
        if "convolution" in module.LENS.needs and not subject.convolutions:
            raise LensError(f"'{self.method}' needs a convolution over pictures; '{subject.info.name}' has none.")
        heat: Heat = module.look(rows, subject, **given)
        name = next(spec.name for spec in subject.info.inputs if spec.kind == "image")
        if name not in heat.heat:
            raise LensError(f"'{self.method}' gives no map of '{name}': '{self.target}' does not depend on it.")
        return self._plane(heat.heat[name])

    def pieces(self, rows: Rows, subject: Subject, watch: Watch) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Places and their maps, some at a time, with progress."""
        for first in range(0, rows.count, BATCH):
            watch(first, rows.count, f"maps by {self.method}")
            places = np.arange(first, min(first + BATCH, rows.count))
            yield places, self.sizes(rows.part(places), subject)

    def _plane(self, values: np.ndarray) -> np.ndarray:
        sizes = np.abs(np.asarray(values, np.float32))
        channels = sizes.shape[1]
        if self.frame < 0 or channels == 1:
            largest: np.ndarray = sizes.max(axis=1)
            return largest
        if self.frame >= channels:
            raise LensError(f"There is no frame {self.frame} steps back: the map has {channels}, 0 to {channels - 1}.")
        return sizes[:, channels - 1 - self.frame]
