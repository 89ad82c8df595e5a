"""SARFA: what matters for this action (specific), and not for how the others compare (relevant)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from innerview.saliency.backpropagation import as_heat, vectors_of
from innerview.saliency.perturbation import BLUR, EVERY, SPOT, perturbed, spots
from innerview.schema import Heat, Lens, Parameter, Rows, Watch, unwatched

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import Tensor

    from innerview.subjects import Subject

LENS = Lens(
    name="sarfa",
    question="Which information speaks for this action in particular?",
    needs=("subject",),
    parameters=(
        Parameter(
            name="action",
            type="text",
            default="",
            description="The action that is asked about, by name; the chosen one unless said.",
        ),
        EVERY,
        SPOT,
        BLUR,
    ),
    yields="heat",
    over="row",
    cost="seconds",
    paper="Puri, Verma, Gupta, Kayastha, Deshmukh, Krishnamurthy, Singh 2020: Explain your move (SARFA)",
)


def look(
    rows: Rows,
    subject: Subject,
    *,
    action: str = "",
    every: int = 0,
    spot: float = 0.0,
    blur: float = 3.0,
    watch: Watch = unwatched,
) -> Heat:
    """The harmonic mean of how much less likely the action becomes and how little the others change.

    Of a picture blurred around each place; of a vector with one feature after the other set to 0.
    """
    from innerview.subjects import action_numbers

    def salient(whole: Mapping[str, Tensor], said: Mapping[str, Tensor]) -> Tensor:
        name, one = action_numbers(subject, whole, action)
        return sarfa(whole[name], said[name], one)

    heat = perturbed(rows, subject, lambda spec: spots(spec, every, spot, blur), salient, watch)
    return Heat(
        heat=as_heat(heat),
        rows=rows.numbers,
        unit="from 0 to 1",
        signed=False,
        vectors=vectors_of(subject),
    )


def sarfa(before: Tensor, after: Tensor, action: Tensor) -> Tensor:
    """Scores [n] of numbers for actions before and after a change [n, actions], for one action each [n]."""
    import torch

    one = action[:, None]
    drop = before.softmax(1).gather(1, one)[:, 0] - after.softmax(1).gather(1, one)[:, 0]
    rest = torch.ones_like(before, dtype=torch.bool).scatter(1, one, False)
    left = [values[rest].view(len(values), -1).log_softmax(1) for values in (before, after)]
    apart = (left[1].exp() * (left[1] - left[0])).sum(1)
    relevance = 1 / (1 + apart)
    score = 2 * relevance * drop / (relevance + drop).clamp_min(1e-12)
    return torch.where(drop > 0, score, torch.zeros_like(score))
