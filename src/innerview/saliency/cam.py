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
    """[row, 1, height, width] at the picture's size, before anything is cut off; [row, frame, …] of a layer that sees
    each frame by itself."""

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
    if len(small) != rows.count:
        _check_frames(rows, subject, layer, len(small))
    signed = receptive_field(subject, layer).pictured(small, image.shape[1:])
    return Cam(image.name, layer, signed.reshape(rows.count, -1, *signed.shape[2:]))


def _check_frames(rows: Rows, subject: Subject, layer: str, runs: int) -> None:
    """Raise unless the layer ran on every frame of every row by itself, the rows one after the other."""
    import torch

    twice = np.zeros(2, np.int64)  # the same row twice: a change of the first must stay in its own frames
    given = rows.inputs(twice)
    image = next(spec for spec in subject.info.inputs if spec.kind == "image")
    frames = image.shape[0]
    in_order = runs == frames * rows.count
    if in_order:
        memory = rows.memory_before(twice)
        with torch.no_grad():
            before = subject.run(given, memory, keep=(layer,)).sites[layer]
            for frame in (0, frames - 1):
                changed = given[image.name].clone()
                changed[0, frame] = 1 - changed[0, frame]
                after = subject.run({**given, image.name: changed}, memory, keep=(layer,)).sites[layer]
                moved = (after - before).abs().flatten(1).amax(1) > 0
                in_order = in_order and len(moved) == 2 * frames and moved.nonzero().flatten().tolist() in ([], [frame])
    if not in_order:
        raise LensError(
            f"Layer '{layer}' ran on {runs} pictures for {rows.count} rows of {frames} channels each, and not on every "
            "channel by itself in order: which picture belongs to which row is not known. Choose another layer."
        )
