"""What a gradient or an attribution is taken of: a number per row, read off the heads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from innerview.errors import LensError, UnknownName
from innerview.schema import Head, targets_of
from innerview.subjects.body import Output
from innerview.subjects.sites.backward import Rule
from innerview.subjects.subject import Subject

Score = Callable[[Mapping[str, Tensor]], Tensor]
"""Heads [rows · times, size] to scores [rows · times]."""
WORDS = (
    "'value'; 'action', the chosen one; 'log NAME', an action's log-probability; 'NAME over NAME', one action against "
    "another; 'NAME over others', one against the mean of all others ('action over others': the chosen one); 'NAME of "
    "HEAD', one number of a head; 'layer NAME', all that a layer puts out, summed"
)
OTHERS = "others"


def scored_run(
    subject: Subject,
    inputs: Mapping[str, Tensor],
    memory: Mapping[str, Tensor] | None,
    target: str,
    *,
    keep: Sequence[str] = (),
    rule: Rule = "plain",
    grad: bool = True,
) -> tuple[Tensor, Output]:
    """A run, and its target as one number per row [rows]: of a head, or of all that a layer puts out."""
    layer = _layer_of(target)
    output = subject.run(inputs, memory, keep=(*keep, *layer), rule=rule, grad=grad)
    return settled_target(subject, output.heads, target).read(output), output


@dataclass(frozen=True)
class Target:
    """A target that was settled for some rows: what they chose is asked about also where they are changed."""

    words: str
    keep: tuple[str, ...]
    """Sites that a run has to keep for it."""
    read: Callable[[Output], Tensor]
    """A number per row [rows] of what a run gave."""


def settled_target(subject: Subject, heads: Mapping[str, Tensor], target: str) -> Target:
    """A target of a head or a layer; what is asked about is settled by what these rows said, [rows, size] by head."""
    layer = _layer_of(target)
    if layer:
        return Target(target, layer, lambda output: output.sites[layer[0]].flatten(1).sum(dim=1))
    score = scorer(subject, heads, target)
    return Target(target, (), lambda output: score(output.heads))


def _layer_of(target: str) -> tuple[str, ...]:
    """The layer that a target names; none where it is of a head."""
    word, _, layer = target.partition(" ")
    return (layer,) if word == "layer" else ()


def scorer(subject: Subject, heads: Mapping[str, Tensor], target: str, *, taken: np.ndarray | None = None) -> Score:
    """How a target is read off heads. What a row chose is settled by `heads` [rows, size], and stays the same after.

    `taken` [rows]: the actions that were taken, where they are to be asked about; NaN where that is not known.
    """
    if target == "value":
        return _chosen(_valued(subject), heads)
    if target == "action":
        return _chosen(_acting(subject), heads, taken)
    first, over, second = target.partition(" over ")
    if over and second == OTHERS:
        return _against_others(*action_numbers(subject, heads, first, taken=taken))
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
    best = _best(heads[head.name], taken)

    def score(found: Mapping[str, Tensor]) -> Tensor:
        values = found[head.name]
        if head.kind == "gaussian":
            return values.abs().sum(dim=1)
        if head.kind == "policy":
            values = values.log_softmax(dim=1)
        return values.gather(1, best.repeat(len(values) // len(best))[:, None])[:, 0]

    return score


def _best(values: Tensor, taken: np.ndarray | None) -> Tensor:
    """The action with the largest number in each row; the one that was taken where that is asked about and known."""
    best = values.detach().argmax(dim=1)
    if taken is None:
        return best
    known = torch.as_tensor(np.isfinite(taken), device=best.device)
    return torch.where(known, torch.as_tensor(np.nan_to_num(taken), device=best.device).long(), best)


def action_numbers(
    subject: Subject, heads: Mapping[str, Tensor], action: str = "", *, taken: np.ndarray | None = None
) -> tuple[str, Tensor]:
    """The head that acts, and in each row [rows] the number of an action: that of a name, or of the chosen one."""
    head = _acting(subject)
    if head.kind == "gaussian" or head.size < 2:
        raise LensError(f"Head '{head.name}' has no actions to choose between; choose the target 'action'.")
    values = heads[head.name]
    if action in ("", "action"):
        return head.name, _best(values, taken)
    return head.name, torch.full_like(values[:, 0], _part(head, action), dtype=torch.int64)


def _against_others(name: str, one: Tensor) -> Score:
    """One action's number less the mean of all others'."""

    def score(found: Mapping[str, Tensor]) -> Tensor:
        values = found[name]
        chosen = values.gather(1, one.repeat(len(values) // len(one))[:, None])[:, 0]
        return (chosen * values.shape[1] - values.sum(dim=1)) / (values.shape[1] - 1)

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
