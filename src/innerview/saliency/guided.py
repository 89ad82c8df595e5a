"""Guided backpropagation: which pixels speak for the decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from innerview.saliency.backpropagation import as_heat, flow_back, vectors_of
from innerview.schema import TARGET, Heat, Lens, Rows, Watch, unwatched

if TYPE_CHECKING:
    from innerview.subjects import Subject

LENS = Lens(
    name="guided",
    question="Which pixels speak for the decision?",
    needs=("gradients",),
    parameters=(TARGET,),
    yields="heat",
    over="row",
    cost="instant",
    paper="Springenberg, Dosovitskiy, Brox, Riedmiller 2014: Striving for simplicity",
)


def look(rows: Rows, subject: Subject, *, target: str = "action", watch: Watch = unwatched) -> Heat:
    """The gradient by every image input; at a rectifier only what is positive both ways goes back."""
    flow = flow_back(rows, subject, target, rule="guided")
    return Heat(
        heat=as_heat(flow.inward),
        rows=rows.numbers,
        unit=f"of '{target}' per unit of the input",
        vectors=vectors_of(subject),
    )
