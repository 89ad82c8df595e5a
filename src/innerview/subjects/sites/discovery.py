"""Finds the attention maps of a module by running it once on blank inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import torch

from innerview.errors import SubjectError, UnknownName
from innerview.schema import InputSpec, Site, SiteAddress
from innerview.schema.site import ATTENTION
from innerview.subjects.isolation import Evaluating, same_random_numbers
from innerview.subjects.sites.attention import AttentionMode, CallStack, Seen
from innerview.subjects.sites.hooks import attached
from innerview.subjects.sites.streams import Streams

if TYPE_CHECKING:
    from innerview.subjects.subject import Subject

DeclaredAttention = None | Sequence[str] | Mapping[str, Mapping[str, str]]
"""Modules with an attention of their own, and what is known of each: stream, row_tokens, column_tokens."""
_FIELDS = ("stream", "row_tokens", "column_tokens")


def find_attention(subject: Subject, rows: int, declared: DeclaredAttention = None) -> tuple[Site, ...]:
    """Every attention map of a run, in order; those of declared modules also where it is not clear that they are."""
    known = {name: {} for name in declared or ()} if not isinstance(declared, Mapping) else dict(declared)
    for name, said in known.items():
        for field in said:
            if field not in _FIELDS:
                raise UnknownName(f"field of attention '{name}'", field, _FIELDS)
    calls = CallStack(subject.module)
    inputs = {
        spec.name: torch.zeros(rows, *spec.shape, dtype=getattr(torch, spec.dtype), device=subject.device)
        for spec in subject.info.inputs
    }
    mode = AttentionMode(calls, rows, lambda place, value: value, Streams(inputs))
    with (
        subject.alone(),
        same_random_numbers(subject.device),
        Evaluating(subject.module.modules()),
        torch.no_grad(),
        attached(calls.hooks()),
        mode,
    ):
        try:
            subject.call(inputs)
        except SubjectError:
            return ()  # blank inputs are not for every module; what runs says more of it
    found = {place: seen for place, seen in mode.seen.items() if seen.sure or place[0] in known}
    modules = [module for module, _ in found]
    for name in known:
        if name not in modules:
            raise UnknownName("module with an attention", name, sorted({place[0] for place in mode.seen}))
    return tuple(
        _site(module, call if modules.count(module) > 1 or call else None, seen, subject.info.inputs, known)
        for (module, call), seen in found.items()
    )


def _site(
    module: str,
    call: int | None,
    seen: Seen,
    inputs: Sequence[InputSpec],
    known: Mapping[str, Mapping[str, str]],
) -> Site:
    heads, rows, columns = seen.map.shape[1:]
    said = known.get(module, {})
    return Site(
        address=str(SiteAddress(module=module, call=call, part=ATTENTION)),
        kind="attention",
        shape=(heads, rows, columns),
        axes=("head", "row", "column"),
        stream=said.get("stream", seen.stream),
        row_tokens=said.get("row_tokens", _tokens(inputs, rows)),
        column_tokens=said.get("column_tokens", _tokens(inputs, columns)),
    )


def _tokens(inputs: Sequence[InputSpec], count: int) -> str:
    """The only input that has so many tokens."""
    fits = [spec.name for spec in inputs if spec.kind != "image" and len(spec.shape) > 0 and spec.shape[0] == count]
    return fits[0] if len(fits) == 1 else ""
