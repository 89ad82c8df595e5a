"""Attaches hooks and takes them off again, also after an error."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from innerview.errors import SubjectError
from innerview.schema import parse_site
from innerview.subjects.structure import parts


def hookable(module: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """Parts of a module that hooks can be attached to, by name: not what was scripted or traced."""
    return ((n, part) for n, part in module.named_modules() if not isinstance(part, torch.jit.ScriptModule))


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
    """What must be known of layers to keep and change their outputs."""

    addresses: tuple[str, ...] = ()
    """In the order in which their outputs are ready; one for each call where a layer runs several times."""
    shapes: tuple[tuple[int, ...], ...] = ()
    """Of each of them, without the batch axis."""
    rewritten: frozenset[str] = frozenset()
    """Layers whose output a later operation changes in place."""
    time_axes: Mapping[str, int] = field(default_factory=dict)
    """Layers whose output has a time axis of length 1, and which axis that is."""


def capturing(
    chosen: Iterable[tuple[str, nn.Module]], into: dict[str, Tensor], layers: Layers
) -> Iterator[RemovableHandle]:
    """Hooks that put the output at each address, batch axis first, into a dict."""
    for address, layer in chosen:
        yield layer.register_forward_hook(_at_call(address, _capture_hook(address, into, layers)))


def replacing(
    address: str, layer: nn.Module, change: Callable[[Tensor], Tensor], layers: Layers
) -> Iterator[RemovableHandle]:
    """A hook that has the module go on from what `change` makes of a layer's output, batch axis first."""
    name = parse_site(address).module
    axis = layers.time_axes.get(name)

    def hook(layer: nn.Module, args: Any, output: Any) -> Any:
        value = main_tensor(output)
        if value is None or not (value is output or isinstance(output, tuple)):
            raise SubjectError(
                f"Layer '{address}' puts out {type(output).__name__}, not a tensor; choose another layer."
            )
        rows = value if axis is None else value.squeeze(axis)
        new = change(rows)
        if new is rows:
            return None
        onwards = new if axis is None else new.unsqueeze(axis)
        onwards = onwards.clone() if name in layers.rewritten else onwards
        return onwards if value is output else (onwards, *output[1:])

    yield layer.register_forward_hook(_at_call(address, hook))


def main_tensor(output: Any) -> Tensor | None:
    """The tensor that stands for a layer's output: the first one."""
    if isinstance(output, Tensor):
        return output
    found = parts(output)
    return found[0].value if found else None


def _at_call(address: str, hook: Callable[[nn.Module, Any, Any], Any]) -> Callable[[nn.Module, Any, Any], Any]:
    """The hook at one call of a layer where the address names it, at every call where it does not."""
    wanted = parse_site(address).call
    if wanted is None:
        return hook
    calls = 0

    def once(layer: nn.Module, args: Any, output: Any) -> Any:
        nonlocal calls
        calls += 1
        return hook(layer, args, output) if calls - 1 == wanted else None

    return once


def _capture_hook(address: str, into: dict[str, Tensor], layers: Layers) -> Callable[[nn.Module, Any, Any], Any]:
    name = parse_site(address).module
    rewritten, time_axis = name in layers.rewritten, layers.time_axes.get(name)

    def hook(layer: nn.Module, args: Any, output: Any) -> Any:
        value = main_tensor(output)
        if value is None:
            return None
        if time_axis is None:
            into[address] = value
            # A later in-place operation would overwrite what is kept: let it work on a copy.
            return value.clone() if rewritten and value is output else None
        into[address] = value.squeeze(time_axis)
        if not torch.is_grad_enabled():
            return None
        # The module goes on from what was kept, so that gradients can be taken at it.
        onwards = into[address].unsqueeze(time_axis)
        return onwards if value is output else (onwards, *output[1:]) if isinstance(output, tuple) else None

    return hook
