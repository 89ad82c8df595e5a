"""Gradient saliency: how much each pixel would move what the subject says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from innerview.saliency.backpropagation import as_heat, flow_back, vectors_of
from innerview.schema import TARGET, Heat, Lens, Parameter, Rows, Watch, unwatched

if TYPE_CHECKING:
    from innerview.subjects import Subject

LENS = Lens(
    name="gradient",
    question="Which pixels would change the decision?",
    needs=("gradients",),
    parameters=(
        TARGET,
        Parameter(
            name="times_input", type="bool", default=False, description="Multiply by the pixel: darkness counts less."
        ),
    ),
    variants={"gradient-times-input": {"times_input": True}},
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
    flow = flow_back(rows, subject, target)
    heat = {name: g * flow.inputs[name] if times_input else g for name, g in flow.inward.items()}
    unit = f"of '{target}'" if times_input else f"of '{target}' per unit of the input"
    return Heat(
        heat=as_heat(heat),
        rows=rows.numbers,
        unit=unit,
        vectors=vectors_of(subject),
    )
