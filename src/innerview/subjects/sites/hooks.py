"""Attaches hooks and takes them off again, also after an error."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from innerview.errors import SubjectError
from innerview.subjects.structure import parts


@contextlib.contextmanager
def attached(handles: Iterable[RemovableHandle]) -> Iterator[None]:
    """Hooks that go when the block ends. `handles` may be lazy: a failure half way removes those made so far."""
    made: list[RemovableHandle] = []
    try:
        made.extend(handles)
        yield
    finally:
        for handle in made:
            handle.remove()


@dataclass(frozen=True)
class Layers:
    """What must be known of layers to keep their outputs."""

    names: tuple[str, ...] = ()
    """In the order in which their outputs are ready."""
    rewritten: frozenset[str] = frozenset()
    """Layers whose output a later operation changes in place."""
    time_axes: Mapping[str, int] = field(default_factory=dict)
    """Layers whose output has a time axis of length 1, and which axis that is."""
    repeated: frozenset[str] = frozenset()
    """Layers that run several times in one step and say something else each time."""


def keeping(
    chosen: Iterable[tuple[str, nn.Module]], into: dict[str, Tensor], layers: Layers
) -> Iterator[RemovableHandle]:
    """Hooks that put each layer's output, batch axis first, into a dict; of several calls the last one counts."""
    for name, layer in chosen:
        yield layer.register_forward_hook(_keeper(name, into, name in layers.rewritten, layers.time_axes.get(name)))


def putting(name: str, layer: nn.Module, value: Tensor, layers: Layers) -> Iterator[RemovableHandle]:
    """A hook that has the module go on from this value, batch axis first, instead of what the layer put out."""

    def hook(layer: nn.Module, args: Any, output: Any) -> Tensor:
        if not isinstance(output, Tensor):
            raise SubjectError(
                f"Layer '{name}' puts out {type(output).__name__}, not one tensor; choose another layer."
            )
        axis = layers.time_axes.get(name)
        onwards = value if axis is None else value.unsqueeze(axis)
        return onwards.clone() if name in layers.rewritten else onwards

    yield layer.register_forward_hook(hook)


def main_tensor(output: Any) -> Tensor | None:
    """The tensor that stands for a layer's output: the first one."""
    if isinstance(output, Tensor):
        return output
    found = parts(output)
    return found[0].value if found else None


def _keeper(name: str, into: dict[str, Tensor], rewritten: bool, time_axis: int | None) -> Any:
    def hook(layer: nn.Module, args: Any, output: Any) -> Any:
        value = main_tensor(output)
        if value is None:
            return None
        if time_axis is None:
            into[name] = value
            # A later in-place operation would overwrite what is kept: let it work on a copy.
            return value.clone() if rewritten and value is output else None
        into[name] = value.squeeze(time_axis)
        if not torch.is_grad_enabled():
            return None
        # The module goes on from what was kept, so that gradients can be taken at it.
        onwards = into[name].unsqueeze(time_axis)
        return onwards if value is output else (onwards, *output[1:]) if isinstance(output, tuple) else None

    return hook
