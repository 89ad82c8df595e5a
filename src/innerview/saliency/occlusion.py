"""Occlusion: what the subject says when a patch of the picture is covered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from innerview.saliency.backpropagation import as_heat
from innerview.saliency.perturbation import FILLS, Fill, covered, image_input, perturbed
from innerview.schema import TARGET, Heat, Lens, Parameter, Rows, Watch, unwatched

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import Tensor

    from innerview.subjects import Subject

LENS = Lens(
    name="occlusion",
    question="What would be decided without this patch?",
    needs=("image input", "subject"),
    parameters=(
        TARGET,
        Parameter(name="patch", type="int", default=8, low=1, high=256, description="Side of the patch, in pixels."),
        Parameter(name="step", type="int", default=4, low=1, high=256, description="From one patch to the next."),
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
    patch: int = 8,
    step: int = 4,
    fill: Fill = "mean",
    watch: Watch = unwatched,
) -> Heat:
    """By how much the target falls when a patch is covered, averaged over the patches that cover each pixel."""
    from innerview.subjects import scorer

    image = image_input(subject)
    masks = patches(tuple(image.shape[1:]), patch, step)

    def cover(picture: Tensor) -> Tensor:
        return covered(rows, image, picture, fill, patch / 2)

    def fall(whole: Mapping[str, Tensor], said: Mapping[str, Tensor]) -> Tensor:
        score = scorer(subject, whole, target)
        return score(whole) - score(said)

    falls = perturbed(rows, subject, masks, cover, fall, watch)
    flat = masks.flatten(1).to(falls)
    heat = ((falls @ flat) / flat.sum(0).clamp_min(1)).view(rows.count, 1, *image.shape[1:])
    return Heat(heat=as_heat({image.name: heat}), rows=rows.numbers, unit=f"of '{target}'")


def patches(size: tuple[int, ...], patch: int, step: int) -> Tensor:
    """Masks [places, 1, height, width] that together cover every pixel; those at the far edges are cut off there."""
    import torch

    height, width = size
    starts = [range(0, max(side - patch, 0) + step, step) for side in size]
    masks = torch.zeros(len(starts[0]) * len(starts[1]), 1, height, width)
    for number, (top, left) in enumerate((top, left) for top in starts[0] for left in starts[1]):
        masks[number, :, top : top + patch, left : left + patch] = 1
    return masks[masks.flatten(1).any(1)]
