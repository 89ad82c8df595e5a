"""Which layers a head depends on: networks for policy and value may be apart, and some go round others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from innerview.errors import SubjectError
from innerview.schema import parse_site
from innerview.subjects.attribution.receptive_field import blanks
from innerview.subjects.sites.hooks import attached

if TYPE_CHECKING:
    from torch.utils.hooks import RemovableHandle

    from innerview.schema import Head
    from innerview.subjects.subject import Subject


def reaching_layers(
    subject: Subject, head: Head | None, layers: Sequence[str] | None = None, *, without: Sequence[str] = ()
) -> tuple[str, ...]:
    """Layers, convolutions unless said, that a head depends on; `without` what goes through some others.

    Where that cannot be told, as gradients do not flow, all of them; then nothing is said to go round others.
    """
    asked = tuple(subject.convolutions if layers is None else layers)
    if head is None or not asked:
        return asked
    with subject.alone(), attached(_cutting(subject, without)):
        output = subject.run(blanks(subject, 1, grad=True), keep=asked, grad=True)
    said, found = output.heads[head.name].sum(), [output.sites[name] for name in asked]
    if not said.requires_grad or not all(layer.requires_grad for layer in found):
        return () if without else asked
    gradients = torch.autograd.grad(said, found, allow_unused=True)
    return tuple(name for name, moved in zip(asked, gradients, strict=True) if moved is not None)


def head_of(subject: Subject, target: str) -> Head | None:
    """The head that a target is read off; None where there is none."""
    heads = {head.name: head for head in subject.info.heads}
    if target == "value":
        valued = (head for head in heads.values() if head.kind in ("value", "q"))
        return min(valued, key=lambda head: head.kind != "value", default=None)
    return heads.get(target.rpartition(" of ")[2], subject.acting_head)


def middle_for(subject: Subject, target: str = "action") -> str:
    """Where objects tend to be told apart: the middle one of the convolutions that a target depends on."""
    if not subject.convolutions:
        raise SubjectError(f"Subject '{subject.info.name}' has no convolution; name a layer with height and width.")
    found = reaching_layers(subject, head_of(subject, target)) or subject.convolutions
    return found[len(found) // 2]


def _cutting(subject: Subject, layers: Sequence[str]) -> Iterator[RemovableHandle]:
    """Hooks after which no gradient flows back through these layers."""

    def cut(layer: nn.Module, args: Any) -> Any:
        return tuple(value.detach() if isinstance(value, Tensor) else value for value in args)

    for name in layers:
        yield subject.module.get_submodule(parse_site(name).module).register_forward_pre_hook(cut)
