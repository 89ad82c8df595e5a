"""What flows back from a target to the inputs or to a layer: the part that gradient methods share."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from innerview.errors import LensError
from innerview.schema import Rows

if TYPE_CHECKING:
    from torch import Tensor

    from innerview.subjects import Rule, Subject

Given = Mapping[str, "Tensor"]


@dataclass(frozen=True)
class Flow:
    """One pass forward and back over some rows."""

    inputs: dict[str, Tensor]
    """As they were given, [row, …] by name."""
    inward: dict[str, Tensor]
    """The gradient by each input that the target depends on, of the same shape."""
    activation: Tensor | None = None
    """What the layer put out, where one was asked for."""
    by_layer: Tensor | None = None
    """The gradient by it."""


def inputs_of(subject: Subject) -> list[str]:
    """Names of the inputs that gradients can be taken by: pictures and boards first, then vectors; no tokens."""
    specs = [spec for spec in subject.info.inputs if spec.kind != "tokens"]
    if not specs:
        raise LensError(f"'{subject.info.name}' takes tokens alone: there is no gradient by those.")
    return [spec.name for spec in sorted(specs, key=lambda spec: spec.kind != "image")]


def vectors_of(subject: Subject) -> tuple[str, ...]:
    """Names of the inputs whose heat is a bar per feature."""
    return tuple(spec.name for spec in subject.info.inputs if spec.kind == "vector" and len(spec.shape) < 2)


def as_planes(values: Tensor) -> Tensor:
    """Values of an input [row, …] as heat has them, [row, channel, height, width].

    A vector is one row of pixels, a board of two axes one plane.
    """
    wanted = {1: (1, 1, 1), 2: (1, 1, -1), 3: (1, *values.shape[1:])}.get(values.ndim, values.shape[1:])
    return values.reshape(len(values), *(wanted if len(wanted) == 3 else (-1, *values.shape[-2:])))


def flow_back(
    rows: Rows,
    subject: Subject,
    target: str,
    *,
    rule: Rule = "plain",
    layer: str = "",
    to_inputs: bool = True,
    change: Callable[[str, Tensor], Tensor] | None = None,
) -> Flow:
    """The target's gradient by every input and, where one is named, by a layer. `change` alters inputs first.

    Where it is wanted by the layer alone, nothing goes back further than that.
    """
    import torch

    from innerview.subjects import scored_run

    names, watched = _watched(rows, subject, change)
    places = np.arange(rows.count)
    keep = (layer,) if layer else ()
    with torch.enable_grad():
        score, output = scored_run(subject, watched, rows.memory_before(places), target, keep=keep, rule=rule)
        if not score.requires_grad:
            raise LensError(_cut_off(names[0], target))
        reached = names if to_inputs else []
        sources = [watched[name] for name in reached] + [output.sites[name] for name in keep]
        gradients = torch.autograd.grad(score.sum(), sources, allow_unused=True)
    inward = {n: g for n, g in zip(reached, gradients, strict=False) if g is not None}
    if to_inputs and not inward:
        raise LensError(_cut_off(names[0], target))
    check_finite(subject, inward)
    by_layer = gradients[-1] if layer else None
    if layer and by_layer is None:
        raise LensError(f"'{target}' does not depend on layer '{layer}'. Choose a layer that it depends on.")
    activation = output.sites[layer].detach() if layer else None
    return Flow({n: watched[n].detach() for n in names}, inward, activation, by_layer)


def flow_by_action(rows: Rows, subject: Subject, action: str, *, rule: Rule) -> tuple[Tensor, dict[str, Tensor]]:
    """The action that is asked about, [row], and the gradient of every action's number: [action, row, …] by input."""
    import torch

    from innerview.subjects import action_numbers

    names, watched = _watched(rows, subject, None)
    memory = rows.memory_before(np.arange(rows.count))
    with torch.enable_grad():
        output = subject.run(watched, memory, rule=rule, grad=True)
        head, asked = action_numbers(subject, output.heads, action)
        numbers = output.heads[head]
        if not numbers.requires_grad:
            raise LensError(_cut_off(names[0], head))
        sources = [watched[name] for name in names]
        found = [
            torch.autograd.grad(number.sum(), sources, allow_unused=True, retain_graph=True)
            for number in numbers.unbind(1)
        ]
    gradients = {
        name: torch.stack([torch.zeros_like(watched[name]) if g is None else g for g in of])
        for name, of in zip(names, zip(*found, strict=True), strict=True)
        if any(g is not None for g in of)
    }
    if not gradients:
        raise LensError(_cut_off(names[0], head))
    check_finite(subject, {name: value.transpose(0, 1) for name, value in gradients.items()})
    return asked, gradients


def as_heat(values: Given) -> dict[str, np.ndarray]:
    """Values of inputs as the arrays that a heat map holds."""
    return {name: as_planes(value.detach()).cpu().float().numpy() for name, value in values.items()}


def _watched(
    rows: Rows, subject: Subject, change: Callable[[str, Tensor], Tensor] | None
) -> tuple[list[str], dict[str, Tensor]]:
    """Names of the inputs that gradients are taken by, and all inputs, those ready for it."""
    from innerview.subjects import laid

    names = inputs_of(subject)
    own = rows.inputs(np.arange(rows.count))
    inputs = {n: v.detach().clone() if v is own[n] else v for n, v in laid(subject, own).items()}
    if change is not None:
        inputs = {n: change(n, v) if n in names else v for n, v in inputs.items()}
    return names, {n: v.requires_grad_(n in names) for n, v in inputs.items()}


def _cut_off(name: str, target: str) -> str:
    return f"No gradient of '{target}' reached input '{name}': something between them cuts it off."


def check_finite(subject: Subject, gradients: Given) -> None:
    """Raise where a gradient is not finite, and say in which rows."""
    import torch

    for name, value in gradients.items():
        # A sum is the quickest test; where it overflows, the numbers themselves are looked at.
        if math.isfinite(float(value.sum())):
            continue
        bad = (~torch.isfinite(value).flatten(1).all(1)).nonzero().flatten().tolist()
        if bad:
            raise LensError(
                f"The gradient by input '{name}' of '{subject.info.name}' is not finite in {len(bad)} of "
                f"{len(value)} rows, the first at place {bad[0]}. Check the weights and the inputs."
            )
