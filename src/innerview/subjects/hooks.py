"""Attaches hooks and takes them off again, also after an error."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

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


def keeping(
    layers: Iterable[tuple[str, nn.Module]], into: dict[str, Tensor], rewritten: frozenset[str]
) -> Iterator[RemovableHandle]:
    """Hooks that put each layer's output into a dict; of several calls the last one counts."""
    for name, layer in layers:
        yield layer.register_forward_hook(_keeper(name, into, name in rewritten))


def activation(layer: nn.Module, output: Any) -> Tensor | None:
    """The tensor that stands for a layer's output; a recurrent layer's without its time axis of length 1."""
    found = parts(output)
    if not found:
        return None
    value = found[0].value
    if isinstance(layer, nn.RNNBase) and value.ndim == 3:
        axis = 1 if layer.batch_first else 0
        return value.squeeze(axis) if value.shape[axis] == 1 else value
    return value


def _keeper(name: str, into: dict[str, Tensor], rewritten: bool) -> Any:
    def hook(layer: nn.Module, args: Any, output: Any) -> Any:
        value = activation(layer, output)
        if value is None:
            return None
        into[name] = value
        # A later in-place operation would overwrite what is kept: let it work on a copy.
        return output.clone() if rewritten and isinstance(output, Tensor) else None

    return hook
