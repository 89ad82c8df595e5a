"""Perturbation saliency: how far the policy moves when information around a place is blurred away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from innerview.errors import LensError
from innerview.saliency.backpropagation import as_heat, vectors_of
from innerview.saliency.perturbation import BLUR, EVERY, SPOT, perturbed, spots
from innerview.schema import Heat, Lens, Parameter, Rows, Watch, unwatched

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import Tensor

    from innerview.subjects import Subject

LENS = Lens(
    name="blurring",
    question="Where would missing information change what is said?",
    needs=("subject",),
    parameters=(
        Parameter(
            name="head",
            type="head",
            default="",
            description="Whose change is measured; the head that acts unless said.",
        ),
        EVERY,
        SPOT,
        BLUR,
    ),
    yields="heat",
    over="row",
    cost="seconds",
    paper="Greydanus, Koul, Dodge, Fern 2017: Visualizing and understanding Atari agents, equation 1",
)


def look(
    rows: Rows,
    subject: Subject,
    *,
    head: str = "",
    every: int = 0,
    spot: float = 0.0,
    blur: float = 3.0,
    watch: Watch = unwatched,
) -> Heat:
    """Half the squared distance between what the head says of the picture and of the one blurred around a place.

    Of a vector, with one feature set to 0.
    """
    name = head or acting(subject)

    def moved(whole: Mapping[str, Tensor], said: Mapping[str, Tensor]) -> Tensor:
        return 0.5 * (whole[name] - said[name]).square().sum(1)

    heat = perturbed(rows, subject, lambda spec: spots(spec, every, spot, blur), moved, watch)
    return Heat(
        heat=as_heat(heat),
        rows=rows.numbers,
        unit=f"half the squared change of '{name}'",
        signed=False,
        vectors=vectors_of(subject),
    )


def acting(subject: Subject) -> str:
    """The head that acts, or the only one."""
    if subject.acting_head is not None:
        return subject.acting_head.name
    if len(subject.info.heads) == 1:
        return subject.info.heads[0].name
    names = ", ".join(head.name for head in subject.info.heads)
    raise LensError(f"'{subject.info.name}' has no head that acts; say head=…. It has {names}.")
