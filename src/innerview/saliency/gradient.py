"""Gradient saliency: how much each pixel would move what the subject says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from innerview.errors import LensError
from innerview.schema import TARGET, Heat, Lens, Parameter, Rows, Watch, unwatched

if TYPE_CHECKING:
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
    yields="heat",
    over="row",
    cost="instant",
    paper="Simonyan, Vedaldi, Zisserman 2013: Deep inside convolutional networks",
)


def look(
    rows: Rows,
    subject: Subject,
    *,
    target: str = "action",
    times_input: bool = False,
    watch: Watch = unwatched,
) -> Heat:
    """The gradient by every image input, as it is: per channel and frame, with its sign."""
    import torch  # here, as what lenses there are is asked of every page, and torch takes its time

    from innerview.subjects import scorer

    places = np.arange(rows.count)
    images = [spec.name for spec in subject.info.inputs if spec.kind == "image"]
    watched = {n: v.detach().clone().requires_grad_(n in images) for n, v in rows.inputs(places).items()}
    with torch.enable_grad():
        output = subject.run(watched, rows.memory_before(places), grad=True)
        score = scorer(subject, output.heads, target)(output.heads).sum()
        gradients = torch.autograd.grad(score, [watched[name] for name in images], allow_unused=True)
    reached = {name: gradient for name, gradient in zip(images, gradients, strict=True) if gradient is not None}
    if not reached:
        raise LensError(f"No gradient reached input '{images[0]}': something between it and the head cuts it off.")
    heat = {name: g * watched[name].detach() if times_input else g for name, g in reached.items()}
    unit = f"of '{target}'" if times_input else f"of '{target}' per unit of the input"
    return Heat(heat={name: values.cpu().numpy() for name, values in heat.items()}, rows=rows.numbers, unit=unit)
