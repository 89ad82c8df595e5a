"""Occlusion: what the subject says when a patch of the picture is covered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from innerview.saliency.backpropagation import as_heat, vectors_of
from innerview.saliency.perturbation import FILLS, Fill, Parts, covered, perturbed
from innerview.schema import TARGET, Heat, Lens, Parameter, Rows, Watch, unwatched

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import Tensor

    from innerview.schema import InputSpec
    from innerview.subjects import Subject

LENS = Lens(
    name="occlusion",
    question="What would be decided without this patch?",
    needs=("subject",),
    parameters=(
        TARGET,
        Parameter(
            name="patch",
            type="int",
            default=0,
            low=0,
            high=256,
            description="Side of the patch, in pixels; 0: 8, or a quarter of the side of a small picture or a board.",
        ),
        Parameter(
            name="step",
            type="int",
            default=0,
            low=0,
            high=256,
            description="To the next patch; 0: half of one.",
        ),
        Parameter(
            name="fill",
            type="choice",
            default="mean",
            choices=FILLS,
            description="What covers it: the picture's mean colour, black, or the picture blurred.",
        ),
    ),
    yields="heat",
    over="row",
    cost="seconds",
    paper="Zeiler, Fergus 2013: Visualizing and understanding convolutional networks",
)


def look(
    rows: Rows,
    subject: Subject,
    *,
    target: str = "action",
    patch: int = 0,
    step: int = 0,
    fill: Fill = "mean",
    watch: Watch = unwatched,
) -> Heat:
    """By how much the target falls when a patch is covered, averaged over the patches that cover each pixel.

    Of a vector, when a feature is set to 0.
    """
    from innerview.subjects import scorer

    def covering(image: InputSpec) -> Parts:
        side = patch or min(8, max(1, min(image.shape[1:]) // 4))
        masks = patches(tuple(image.shape[1:]), side, step or max(1, side // 2))

        def pictured(falls: Tensor) -> Tensor:
            flat = masks.flatten(1).to(falls)
            return ((falls @ flat) / flat.sum(0).clamp_min(1)).view(len(falls), 1, *image.shape[1:])

        return Parts(masks, lambda picture: covered(rows, image, picture, fill, side / 2), pictured)

    def fall(whole: Mapping[str, Tensor], said: Mapping[str, Tensor]) -> Tensor:
        score = scorer(subject, whole, target)
        return score(whole) - score(said)

    heat = perturbed(rows, subject, covering, fall, watch)
    return Heat(heat=as_heat(heat), rows=rows.numbers, unit=f"of '{target}'", vectors=vectors_of(subject))


def patches(size: tuple[int, ...], patch: int, step: int) -> Tensor:
    """Masks [places, 1, height, width] that together cover every pixel; those at the far edges are cut off there."""
    import torch

    height, width = size
    starts = [range(0, max(side - patch, 0) + step, step) for side in size]
    masks = torch.zeros(len(starts[0]) * len(starts[1]), 1, height, width)
    for number, (top, left) in enumerate((top, left) for top in starts[0] for left in starts[1]):
        masks[number, :, top : top + patch, left : left + patch] = 1
    return masks[masks.flatten(1).any(1)]
