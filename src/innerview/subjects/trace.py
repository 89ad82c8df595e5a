"""Runs a module once with hooks on every layer and notes what happened, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from innerview.subjects.isolation import Evaluating, Written, same_random_numbers, watching
from innerview.subjects.sites.hooks import Layers, attached, hookable, main_tensor
from innerview.subjects.structure import parts

ROOT = ""
"""The qualified name torch gives to the module itself."""


@dataclass
class RecurrentCall:
    """The first call of a recurrent layer and the state after the last."""

    layer: nn.Module
    input: Tensor
    received: Any = None
    state: tuple[Tensor, ...] = ()
    calls: int = 0
    """How often it ran."""


@dataclass
class Trace:
    """What one run of a module told."""

    result: Any = None
    layers: list[str] = field(default_factory=list)
    """Qualified names in the order in which their outputs were ready."""
    rewritten: frozenset[str] = frozenset()
    """Layers whose output a later operation changes in place."""
    repeated: set[str] = field(default_factory=set)
    """Layers that ran several times and said something else each time."""
    recurrent: dict[str, RecurrentCall] = field(default_factory=dict)
    makers: dict[int, tuple[str, Tensor]] = field(default_factory=dict)
    """id of an output tensor to the layer that made it (and the tensor, so that no other gets its id)."""
    written: list[Written] = field(default_factory=list)
    captured: dict[str, tuple[Tensor, int]] = field(default_factory=dict)
    shapes: dict[str, list[tuple[int, ...]]] = field(default_factory=dict)
    """Of each layer's output, call by call."""

    def maker(self, value: Tensor) -> str:
        """The innermost layer that made a tensor, or nothing."""
        return self.makers[id(value)][0] if id(value) in self.makers else ""

    def named_layers(self, batch: int, time_axis: int | None) -> Layers:
        """What keeping a layer's output needs to know, for a run on `batch` rows."""
        axes = dict.fromkeys(self.captured, time_axis) if time_axis is not None else {}
        axes |= {
            n: 1 if c.layer.batch_first else 0 for n, c in self.recurrent.items() if isinstance(c.layer, nn.RNNBase)
        }
        timed = {
            name: axis
            for name, axis in axes.items()
            if name in self.captured and _is_time(tuple(self.captured[name][0].shape), axis, batch)
        }
        sites = {address: shape for name in self.layers for address, shape in self._calls(name, timed.get(name))}
        return Layers(tuple(sites), tuple(sites.values()), self.rewritten, timed)

    def _calls(self, name: str, time_axis: int | None) -> Iterator[tuple[str, tuple[int, ...]]]:
        """An address and a shape without batch axis for each call that says something of its own."""
        shapes = self.shapes[name] if name in self.repeated else self.shapes[name][-1:]
        for call, shape in enumerate(shapes):
            rows = shape if time_axis is None else (*shape[:time_axis], *shape[time_axis + 1 :])
            yield (f"{name}@{call}" if len(shapes) > 1 else name), rows[1:]


def trace(
    module: nn.Module,
    call: Callable[[], Any],
    *,
    device: torch.device,
    states: Mapping[str, Any] | None = None,
) -> Trace:
    """Call once, quietly. `states` replaces what recurrent layers receive as their state."""
    found = Trace()
    with (
        same_random_numbers(device),
        watching(module) as written,
        Evaluating(module.modules()),
        torch.no_grad(),
        attached(_hooks(module, found, states or {})),
    ):
        found.result = call()
        found.rewritten = frozenset(n for n, (value, version) in found.captured.items() if value._version != version)
    found.written = written
    return found


def is_recurrent(module: nn.Module) -> bool:
    """Whether torch knows this layer as recurrent."""
    return isinstance(module, nn.RNNBase | nn.RNNCellBase)


def recurrent_layers(module: nn.Module) -> dict[str, nn.Module]:
    """Recurrent layers by qualified name."""
    return {name: layer for name, layer in module.named_modules() if is_recurrent(layer)}


def new_state(layer: nn.Module, output: Any) -> tuple[Tensor, ...]:
    """The state in what a recurrent layer returns: (hidden,) or (hidden, cell)."""
    state = output[1] if isinstance(layer, nn.RNNBase) else output
    return tuple(state) if isinstance(state, tuple) else (state,)


def replaced(args: tuple[Any, ...], kwargs: dict[str, Any], state: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """A recurrent layer's arguments with another state."""
    if not args:
        return args, {**kwargs, "hx": state}
    return (args[0], state), {k: v for k, v in kwargs.items() if k != "hx"}


def _hooks(module: nn.Module, found: Trace, states: Mapping[str, Any]) -> Iterator[RemovableHandle]:
    for name, layer in hookable(module):
        if is_recurrent(layer):
            yield layer.register_forward_pre_hook(_before(name, found, states), with_kwargs=True)
        yield layer.register_forward_hook(_after(name, found))


def _before(name: str, found: Trace, states: Mapping[str, Any]) -> Any:
    def hook(layer: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if name in found.recurrent:
            return None
        data = args[0] if args else kwargs["input"]
        received = args[1] if len(args) > 1 else kwargs.get("hx")
        found.recurrent[name] = RecurrentCall(layer, data, received)
        return replaced(args, kwargs, states[name]) if name in states else None

    return hook


def _after(name: str, found: Trace) -> Any:
    def hook(layer: nn.Module, args: Any, output: Any) -> None:
        if name in found.recurrent:
            found.recurrent[name].state = new_state(layer, output)
            found.recurrent[name].calls += 1
        value = main_tensor(output)
        if name == ROOT or value is None:
            return
        before = found.captured.get(name)
        if before is None:
            found.layers.append(name)
        elif _differs(*before, value):
            found.repeated.add(name)
        found.captured[name] = (value, value._version)
        found.shapes.setdefault(name, []).append(tuple(value.shape))
        for part in parts(output):
            found.makers.setdefault(id(part.value), (name, part.value))

    return hook


def _differs(before: Tensor, version: int, now: Tensor) -> bool:
    """Whether a layer said something else the second time; what was overwritten since cannot be compared."""
    return before.shape != now.shape or (before._version == version and not torch.equal(before, now))


def _is_time(shape: tuple[int, ...], axis: int, batch: int) -> bool:
    return len(shape) > 2 and shape[axis] == 1 and shape[1 - axis] == batch
