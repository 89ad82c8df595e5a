"""Gradient saliency: how much each pixel would move what the subject says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from innerview.errors import LensError
from innerview.saliency.targets import TARGET, scorer
from innerview.schema import Lens, Parameter

if TYPE_CHECKING:
    from torch import Tensor

    from innerview.subjects import Subject

LENS = Lens(
    name="gradient",
    question="Which pixels would change the decision?",
    needs=("image input", "gradients"),
    parameters=(
        TARGET,
        Parameter(
            name="times_input", type="bool", default=False, description="Multiply by the pixel: darkness counts less."
        ),
    ),
    yields="heat per input",
    cost="instant",
    paper="Simonyan, Vedaldi, Zisserman 2013: Deep inside convolutional networks",
)


def look(
    subject: Subject,
    inputs: Mapping[str, Tensor],
    memory: Mapping[str, Tensor] | None = None,
    *,
    target: str = "action",
    times_input: bool = False,
) -> np.ndarray:
    """Heat [batch, height, width], the largest absolute gradient over the channels, scaled to 0–1 in each row."""
    import torch  # here, as what lenses there are is asked of every page, and torch takes its time

    images = [spec.name for spec in subject.info.inputs if spec.kind == "image"]
    if not images:
        raise LensError(f"Subject '{subject.info.name}' has no image input; gradient saliency needs one.")
    watched = {name: value.detach().clone().requires_grad_(name in images) for name, value in inputs.items()}
    picture = watched[images[0]]
    with torch.enable_grad():
        output = subject.run(watched, memory, grad=True)
        score = scorer(subject, output.heads, target)(output.heads).sum()
        (gradient,) = torch.autograd.grad(score, [picture], allow_unused=True)
    if gradient is None:
        raise LensError(f"No gradient reached input '{images[0]}': something between it and the head cuts it off.")
    heat = (gradient * picture.detach() if times_input else gradient).abs().amax(dim=1)
    top = heat.flatten(1).amax(dim=1).clamp_min(1e-12)
    return np.asarray((heat / top[:, None, None]).cpu().numpy(), np.float32)
