"""Integrated gradients at a hidden layer: what each place of the picture adds to what the subject says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from innerview.schema import TARGET, Heat, Lens, Parameter, Rows, Watch, unwatched

if TYPE_CHECKING:
    from innerview.subjects import Subject

LENS = Lens(
    name="integrated",
    question="What did each place add to the decision?",
    needs=("image input", "convolution", "gradients"),
    parameters=(
        TARGET,
        Parameter(
            name="layer",
            type="layer",
            default="",
            description="Where it is attributed: a layer with height and width; the middle convolution unless said.",
        ),
        Parameter(
            name="steps", type="int", default=50, low=2, high=500, description="How finely the path is followed."
        ),
    ),
    yields="heat",
    over="row",
    cost="instant",
    paper="Sundararajan, Taly, Yan 2017; at a hidden layer: Hilton, Cammarata, Carter, Goh, Olah 2020, appendix B",
)


def look(
    rows: Rows,
    subject: Subject,
    *,
    target: str = "action",
    layer: str = "",
    steps: int = 50,
    watch: Watch = unwatched,
) -> Heat:
    """What each place adds (above 0) or takes (below 0), summed over the layer's channels and spread over pixels."""
    from innerview.subjects import attribute, middle_for, receptive_field

    image = next(spec for spec in subject.info.inputs if spec.kind == "image")
    places = np.arange(rows.count)
    layer = layer or middle_for(subject, target)
    inputs, memory = rows.inputs(places), rows.memory_before(places)
    found = attribute(subject, inputs, memory, layer=layer, target=target, steps=steps)
    summed = found.values.sum(dim=1, keepdim=True)
    heat = receptive_field(subject, layer).pictured(summed, image.shape[1:])
    return Heat(
        heat={image.name: heat.cpu().numpy()},
        rows=rows.numbers,
        unit=f"of '{target}'",
        value={"layer": layer},
        arrays={"error": found.error.cpu().numpy()},
    )
