"""What saliency is taken of: a number per row, read off the heads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from innerview.errors import LensError, UnknownName

if TYPE_CHECKING:
    from torch import Tensor

    from innerview.schema import Head
    from innerview.subjects import Subject

TARGETS = ("action", "value")
Score = Callable[[Mapping[str, "Tensor"]], "Tensor"]
"""Heads [rows · times, size] to scores [rows · times]."""


def scorer(subject: Subject, heads: Mapping[str, Tensor], target: str) -> Score:
    """How a target is read off heads. What a row chose is settled by `heads` [rows, size], and stays the same after."""
    if target not in TARGETS:
        raise UnknownName("target", target, TARGETS)
    head = _valued(subject) if target == "value" else _acting(subject)
    best = heads[head.name].detach().argmax(dim=1)

    def score(found: Mapping[str, Tensor]) -> Tensor:
        values = found[head.name]
        if head.kind == "gaussian":
            return values.abs().sum(dim=1)
        if head.kind == "policy":
            values = values.log_softmax(dim=1)
        return values.gather(1, best.repeat(len(values) // len(best))[:, None])[:, 0]

    return score


def _valued(subject: Subject) -> Head:
    found = [head for head in subject.info.heads if head.kind in ("value", "q")]
    if not found:
        raise LensError(f"Subject '{subject.info.name}' has no value head; choose the target 'action'.")
    return found[0]


def _acting(subject: Subject) -> Head:
    if subject.acting_head is None:
        raise LensError(f"Subject '{subject.info.name}' has no head that acts; choose the target 'value'.")
    return subject.acting_head
