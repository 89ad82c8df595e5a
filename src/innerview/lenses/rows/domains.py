"""Paired data: which array stands for which in another domain, and what the channels of a picture hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from innerview.schema import ArraySpec, Binding, InputBinding, Step, is_depth


def domains_of(binding: Binding, arrays: Sequence[ArraySpec]) -> dict[str, Binding]:
    """The binding of each domain in which every array that has a pair has its counterpart; others feed all domains.

    None where nothing that is bound has a pair.
    """
    known = {spec.name: spec for spec in arrays}
    paired = [known[item.array] for item in binding.inputs if known[item.array].domain and known[item.array].pair]
    found = {}
    for domain in dict.fromkeys(spec.domain for spec in arrays if spec.domain):
        items = [_in_domain(item, domain, known, arrays) for item in binding.inputs]
        if paired and all(item is not None for item in items):
            found[domain] = Binding(inputs=tuple(item for item in items if item is not None))
    return found


def _in_domain(
    item: InputBinding, domain: str, known: dict[str, ArraySpec], arrays: Sequence[ArraySpec]
) -> InputBinding | None:
    own = known[item.array]
    if not (own.domain and own.pair) or own.domain == domain:
        return item
    others = [spec for spec in arrays if spec.domain == domain and spec.pair == own.pair]
    if len(others) != 1:
        return None
    steps = item.steps
    if others[0].shape[:2] != own.shape[:2] and own.is_image and not any(step.kind == "resize" for step in steps):
        steps = (Step(kind="resize", values=(own.shape[1], own.shape[0])), *steps)
    return replace(item, array=others[0].name, domain=domain, steps=steps)


def channels_of(spec: ArraySpec) -> tuple[str, ...]:
    """What each channel of a picture holds, "colour" or "depth"; nothing where an array has no channels."""
    if not spec.is_image or len(spec.shape) not in (2, 3):
        return ()
    if is_depth(spec):
        return ("depth",)
    count = spec.shape[2] if len(spec.shape) == 3 else 1
    named = spec.elements if len(spec.elements) == count else ("",) * count
    return tuple("depth" if name.lower() == "depth" else "colour" for name in named)
