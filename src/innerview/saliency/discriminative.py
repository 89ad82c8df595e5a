"""Action-discriminative guided backpropagation: which pixels speak for this action and against the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from innerview.saliency.backpropagation import as_heat, flow_back, vectors_of
from innerview.schema import Heat, Lens, Parameter, Rows, Watch, unwatched

if TYPE_CHECKING:
    from innerview.subjects import Subject

LENS = Lens(
    name="discriminative",
    question="Which pixels speak for this action and not for the others?",
    needs=("gradients",),
    parameters=(
        Parameter(
            name="action",
            type="text",
            default="",
            description="The action that is asked about, by name; the chosen one unless said.",
        ),
    ),
    yields="heat",
    over="row",
    cost="instant",
    paper="Asked for by Rosynski, Kirchner, Valdenegro-Toro 2020; guided as by Springenberg and others 2014",
)


def look(rows: Rows, subject: Subject, *, action: str = "", watch: Watch = unwatched) -> Heat:
    """Guided backpropagation of one action's number less the mean of all others'.

    What raises all actions alike cancels before the first rectifier on the way back, so it does not show.
    """
    target = f"{action or 'action'} over others"
    flow = flow_back(rows, subject, target, rule="guided")
    return Heat(
        heat=as_heat(flow.inward),
        rows=rows.numbers,
        unit=f"of '{target}' per unit of the input",
        vectors=vectors_of(subject),
    )
