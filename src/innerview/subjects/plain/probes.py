"""Tries a module in ways that show what it does beside its answer: draws numbers, writes into its inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from innerview.errors import SubjectError
from innerview.subjects.inputs import Input
from innerview.subjects.isolation import FAILURES, Evaluating, same_random_numbers, watching
from innerview.subjects.memory.convention import Convention, apart, outputs_by_hand
from innerview.subjects.memory.probe import Found, Probe
from innerview.subjects.structure import Path, lists, parts

_SEED = 1_000
"""A second run draws from here on."""


def varied(body: Any, example: Mapping[str, Tensor], steps: int, inputs: Sequence[Input]) -> list[dict[str, Tensor]]:
    """Inputs for some steps: others of the example's kind, where the module takes them, and the example last."""
    kinds = {item.spec.name: item for item in inputs}
    device = next(iter(example.values())).device
    module = body.entry.module
    with same_random_numbers(device), watching(module), Evaluating(list(module.modules())), torch.no_grad():
        for spread in (1.0, 0.1, 0.0):
            generator = torch.Generator().manual_seed(20_262)
            drawn = [{n: _other(v, kinds[n], generator, spread) for n, v in example.items()} for _ in range(steps - 1)]
            if not spread or all(_takes(body, step) for step in drawn) or not _takes(body, example):
                break
    return [*drawn, dict(example)]


def _takes(body: Any, step: Mapping[str, Tensor]) -> bool:
    """Whether the module can be called so, and gives numbers."""
    try:
        result = body.caller(step, copies=True)({})
    except FAILURES:
        return False
    return not any(bool(torch.isnan(part.value).any()) for part in parts(result))


def _other(value: Tensor, item: Input, generator: torch.Generator, spread: float) -> Tensor:
    """Other rows: any numbers with a spread of 1, near the example with less, the example with none."""
    if not spread:
        return value
    if not value.is_floating_point():
        seen = value[:1].flatten()
        if spread < 1 or (seen.numel() > 1 and not bool((seen == seen[0]).all())):
            chosen = torch.randint(0, seen.numel(), value.shape, generator=generator)
            return seen[chosen.to(seen.device)]
        return torch.randint(0, 2, value.shape, generator=generator).to(value)
    drawn = torch.rand(value.shape, generator=generator)
    if item.spec.kind == "image":
        drawn = drawn.mul(255.0 if item.normalise is False else 1.0).to(value)
    else:
        drawn = drawn.mul(2).sub(1).to(value)
    return drawn if spread == 1 else value + spread * drawn


def drawn_parts(probe: Probe, convention: Convention) -> frozenset[Path]:
    """Parts of the output that are drawn at random; an error where a module does not repeat itself at all."""
    first, again, other = (
        outputs_by_hand(probe.module, probe.calls, convention, probe.batch, probe.device, seed)
        for seed in (0, 0, _SEED)
    )
    for step, (one, two) in enumerate(zip(first, again, strict=True)):
        for a, b in zip(parts(one), parts(two), strict=False):
            if a.path != b.path or a.value.shape != b.value.shape or apart(a.value, b.value):
                raise SubjectError(
                    f"{type(probe.module).__name__} does not repeat itself: '{a.name}' is another in step {step} when "
                    "the same steps are run again. It keeps something outside of the module (a global, a closure, a "
                    "file), or draws numbers that no seed reaches. Keep what it remembers in attributes, or take it "
                    "as an argument and return the new one."
                )
    found = set()
    for one, two in zip(first, other, strict=True):
        for a, b in zip(parts(one), parts(two), strict=False):
            if a.value.shape == b.value.shape and apart(a.value, b.value):
                found.add(a.path)
        found |= {path for (path, a), (_, b) in zip(_actions(one), _actions(two), strict=False) if a != b}
    return frozenset(found)


def _actions(result: Any) -> list[tuple[Path, list[Any]]]:
    """Lists of whole numbers in an output."""
    return [(path, list(item)) for path, item in lists(result) if all(type(number) is int for number in item)]


def changed_inputs(body: Any, rows: Mapping[str, Tensor], found: Found) -> bool:
    """Whether the module writes into the tensors that it is given."""
    own = {name: value.clone() for name, value in rows.items()}
    before = {name: value._version for name, value in own.items()}
    module = body.entry.module
    call = body.caller(own, copies=False)
    device = next(iter(own.values())).device
    with same_random_numbers(device), watching(module), Evaluating(list(module.modules())), torch.no_grad():
        try:
            for _ in found.convention.play([call], len(next(iter(own.values())))):
                pass
        except FAILURES:
            return True
    return any(value._version != before[name] for name, value in own.items())
