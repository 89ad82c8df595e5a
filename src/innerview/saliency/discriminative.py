"""Action-discriminative guided backpropagation: which pixels speak for this action and against the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from innerview.saliency.backpropagation import as_heat, flow_by_action, vectors_of
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
    """Guided backpropagation of one action's number, less the mean of those of all others.

    They are subtracted at the input: taken off the numbers themselves, next to nothing of the others is left behind
    the rectifiers of a deep network, where guided backpropagation draws nearly the same whatever it begins with.
    """
    import torch

    asked, gradients = flow_by_action(rows, subject, action, rule="guided")
    found = {}
    for name, each in gradients.items():
        count = len(each)
        own = each[asked, torch.arange(rows.count, device=each.device)]
        found[name] = (own * count - each.sum(0)) / (count - 1)
    return Heat(
        heat=as_heat(found),
        rows=rows.numbers,
        unit=f"of '{action or 'action'}' over others, per unit of the input",
        vectors=vectors_of(subject),
    )
