"""What a gradient or an attribution is taken of: a number per row, read off the heads."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import torch
from torch import Tensor

from innerview.errors import LensError, UnknownName
from innerview.schema import Head, targets_of
from innerview.subjects.subject import Subject

Score = Callable[[Mapping[str, Tensor]], Tensor]
"""Heads [rows · times, size] to scores [rows · times]."""
WORDS = (
    "'value'; 'action', the chosen one; 'log NAME', an action's log-probability; 'NAME over NAME', one action against "
    "another; 'NAME of HEAD', one number of a head"
)


def scorer(subject: Subject, heads: Mapping[str, Tensor], target: str, *, taken: np.ndarray | None = None) -> Score:
    """How a target is read off heads. What a row chose is settled by `heads` [rows, size], and stays the same after.

    `taken` [rows]: the actions that were taken, where they are to be asked about; NaN where that is not known.
    """
    if target == "value":
        return _chosen(_valued(subject), heads)
    if target == "action":
        return _chosen(_acting(subject), heads, taken)
    first, over, second = target.partition(" over ")
    if over:
        head = _acting(subject)
        one, other = _part(head, first), _part(head, second)
        return lambda found: found[head.name][:, one] - found[head.name][:, other]
    if target.startswith("log "):
        head = _acting(subject)
        part = _part(head, target.removeprefix("log "))
        if head.kind != "policy":
            raise LensError(
                f"Head '{head.name}' has no probabilities; choose '{target.removeprefix('log ')} of {head.name}'."
            )
        return lambda found: found[head.name].log_softmax(dim=1)[:, part]
    name, of, title = target.rpartition(" of ")
    known = {head.name: head for head in subject.info.heads}
    if not of or title not in known:
        raise UnknownName("target", target, targets_of(subject.info.heads), f"A target is {WORDS}.")
    part = _part(known[title], name)
    return lambda found: found[title][:, part]


def _chosen(head: Head, heads: Mapping[str, Tensor], taken: np.ndarray | None = None) -> Score:
    best = heads[head.name].detach().argmax(dim=1)
    if taken is not None:
        known = torch.as_tensor(np.isfinite(taken), device=best.device)
        best = torch.where(known, torch.as_tensor(np.nan_to_num(taken), device=best.device).long(), best)

    def score(found: Mapping[str, Tensor]) -> Tensor:
        values = found[head.name]
        if head.kind == "gaussian":
            return values.abs().sum(dim=1)
        if head.kind == "policy":
            values = values.log_softmax(dim=1)
        return values.gather(1, best.repeat(len(values) // len(best))[:, None])[:, 0]

    return score


def _part(head: Head, name: str) -> int:
    if name not in head.parts:
        raise UnknownName(f"part of head '{head.name}'", name, head.parts)
    return head.parts.index(name)


def _valued(subject: Subject) -> Head:
    found = [head for head in subject.info.heads if head.kind in ("value", "q")]
    if not found:
        raise LensError(f"Subject '{subject.info.name}' has no value head; choose the target 'action'.")
    return min(found, key=lambda head: head.kind != "value")


def _acting(subject: Subject) -> Head:
    if subject.acting_head is None:
        raise LensError(f"Subject '{subject.info.name}' has no head that acts; choose the target 'value'.")
    return subject.acting_head
