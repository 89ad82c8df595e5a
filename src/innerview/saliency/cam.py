"""Class activation maps by gradients: what Grad-CAM and its three relatives share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from innerview.errors import LensError
from innerview.saliency.backpropagation import flow_back
from innerview.schema import Parameter, Rows

if TYPE_CHECKING:
    from torch import Tensor

    from innerview.subjects import Rule, Subject

LAYER = Parameter(
    name="layer",
    type="layer",
    default="",
    description="The layer whose maps are weighted: one with height and width; the first convolution unless said.",
)
GRADIENTS = Parameter(
    name="gradients",
    type="choice",
    default="plain",
    choices=("plain", "guided"),
    description="Which gradients weight the maps; guided ones make it G1Grad-CAM, and G2Grad-CAM as a product.",
)
SIGNED = Parameter(
    name="signed",
    type="bool",
    default=False,
    description="Keep what is below zero, which Grad-CAM cuts off.",
)
INVERTED_SHARE = 0.1
"""A map is called inverted where less than this share of it speaks for the target."""


@dataclass(frozen=True)
class Cam:
    """Maps of one layer, weighted and summed."""

    image: str
    """The input that the maps are laid over."""
    layer: str
    signed: Tensor
    """[row, 1, height, width] at the picture's size, before anything is cut off."""

    @property
    def rectified(self) -> Tensor:
        """What speaks for the target."""
        return self.signed.clamp_min(0)

    @property
    def inverted(self) -> np.ndarray:
        """bool [row]: nearly all of the map is negative, so that the rectified one, and products with it, are empty."""
        flat = self.signed.flatten(1)
        whole, positive = flat.abs().sum(1), flat.clamp_min(0).sum(1)
        inverted: np.ndarray = ((whole > 0) & (positive < INVERTED_SHARE * whole)).cpu().numpy()
        return inverted


def cam_of(rows: Rows, subject: Subject, target: str, layer: str, *, rule: Rule = "plain") -> Cam:
    """Each channel's map weighted by the mean of the target's gradient over it (equations 2 and 3 without the cut)."""
    from innerview.subjects import receptive_field

    image = next(spec for spec in subject.info.inputs if spec.kind == "image")
    layer = layer or subject.convolutions[0]
    flow = flow_back(rows, subject, target, rule=rule, layer=layer, to_inputs=False)
    assert flow.activation is not None and flow.by_layer is not None
    if flow.activation.ndim != 4:
        raise LensError(
            f"Layer '{layer}' puts out {list(flow.activation.shape[1:])} per row, without height and width. Layers "
            f"that have both: {', '.join(subject.convolutions) or 'none'}."
        )
    weights = flow.by_layer.mean(dim=(2, 3), keepdim=True)
    small = (weights * flow.activation).sum(dim=1, keepdim=True)
    return Cam(image.name, layer, receptive_field(subject, layer).pictured(small, image.shape[1:]))
