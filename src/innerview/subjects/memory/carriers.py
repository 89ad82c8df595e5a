"""Carries a recurrent state into a module and out again; here through hooks on its recurrent layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from innerview.schema import MemorySite
from innerview.schema.subject import Editable
from innerview.subjects.sites.hooks import attached
from innerview.subjects.trace import new_state, replaced

Memory = Mapping[str, Tensor]
Call = Callable[[Mapping[str, Any]], Any]
"""Calls the module with further keyword arguments."""


@dataclass(frozen=True)
class Slot:
    """One tensor of state: a memory site, and how the module lays it out."""

    site: MemorySite
    batch_axis: int
    single_layer: bool = False
    """The module has an axis of length 1 for layers, which the site leaves out."""
    dtype: torch.dtype | None = None
    """What the module holds it in, where that is not what memory is carried in."""

    def pack(self, value: Tensor) -> Tensor:
        """[batch, *site.shape] as the module wants it."""
        if self.single_layer:
            value = value.unsqueeze(1)
        value = value.movedim(0, self.batch_axis).contiguous() if self.batch_axis else value
        return value if self.dtype is None else value.to(self.dtype)

    def unpack(self, value: Tensor) -> Tensor:
        """The module's own layout as [batch, *site.shape]."""
        if self.batch_axis:
            value = value.movedim(self.batch_axis, 0)
        value = value.squeeze(1) if self.single_layer else value
        return value if self.dtype is None else value.to(carried_in(self.dtype))


def carried_in(dtype: torch.dtype) -> torch.dtype:
    """The type in which memory is carried and recorded: single precision, double where a module works in it."""
    return torch.float64 if dtype is torch.float64 else torch.float32


class Carrier(Protocol):
    """A way to give a module its memory and to take it back."""

    @property
    def slots(self) -> tuple[Slot, ...]:
        """Every state tensor."""

    def run(self, call: Call, memory: Memory) -> tuple[Any, dict[str, Tensor]]:
        """The module's output and its memory afterwards."""

    def groups(self, memory: Memory) -> tuple[Tensor, ...]:
        """Rows that can be run together, where not all can; none where all can."""


@dataclass(frozen=True)
class NoMemory:
    """A module that forgets."""

    slots: tuple[Slot, ...] = ()

    def run(self, call: Call, memory: Memory) -> tuple[Any, dict[str, Tensor]]:
        """Just the call."""
        return call({}), {}

    def groups(self, memory: Memory) -> tuple[Tensor, ...]:
        """All rows together."""
        return ()


@dataclass(frozen=True)
class LayerMemory:
    """State that recurrent layers are given and asked for by hooks."""

    layers: tuple[tuple[nn.Module, tuple[Slot, ...]], ...]

    @property
    def slots(self) -> tuple[Slot, ...]:
        """Every state tensor."""
        return tuple(slot for _, slots in self.layers for slot in slots)

    def run(self, call: Call, memory: Memory) -> tuple[Any, dict[str, Tensor]]:
        """Feed on the way in, read on the way out."""
        after = dict(memory)
        with attached(self._hooks(memory, after)):
            return call({}), after

    def groups(self, memory: Memory) -> tuple[Tensor, ...]:
        """All rows together."""
        return ()

    def _hooks(self, memory: Memory, after: dict[str, Tensor]) -> Iterator[RemovableHandle]:
        for layer, slots in self.layers:
            state = tuple(slot.pack(memory[slot.site.name]) for slot in slots)
            yield layer.register_forward_pre_hook(_feeder(state), with_kwargs=True)
            yield layer.register_forward_hook(_reader(slots, after))


def layer_slots(name: str, layer: nn.Module) -> tuple[Slot, ...]:
    """The state tensors of a recurrent layer as torch lays them out."""
    base = type(layer).__name__.removesuffix("Cell").lower()
    title = name or base
    if not isinstance(layer, nn.RNNBase):
        size = int(layer.hidden_size)  # type: ignore[arg-type]
        kinds = ("lstm hidden", "lstm cell") if isinstance(layer, nn.LSTMCell) else (f"{base} cell",)
        shapes: tuple[tuple[int, ...], ...] = ((size,),) * len(kinds)
        axis, single = 0, False
    else:
        count = layer.num_layers * (2 if layer.bidirectional else 1)
        kinds = ("lstm hidden", "lstm cell") if isinstance(layer, nn.LSTM) else (base,)
        sizes = (layer.proj_size or layer.hidden_size, layer.hidden_size)[: len(kinds)]
        axis, single = 1, count == 1
        shapes = tuple((size,) if single else (count, size) for size in sizes)
    names = (title,) if len(kinds) == 1 else (f"{title}.hidden", f"{title}.cell")
    # Heads read what a layer puts out: never its cell, and of stacked layers only the last.
    hidden: Editable = "last layer" if isinstance(layer, nn.RNNBase) and layer.num_layers > 1 else "state"
    reach = (hidden, "carried")[: len(kinds)]
    weight = next(layer.parameters(), torch.zeros(()))
    dtype = None if weight.dtype is torch.float32 else weight.dtype
    return tuple(
        Slot(MemorySite(name=n, layer=name, kind=k, shape=s, editable=e), axis, single, dtype)
        for n, k, s, e in zip(names, kinds, shapes, reach, strict=True)
    )


def zero_state(slots: tuple[Slot, ...], batch: int, like: Tensor) -> Any:
    """A recurrent layer's state of zeros in its own layout."""
    state = tuple(slot.pack(torch.zeros((batch, *slot.site.shape)).to(like)) for slot in slots)
    return state if len(state) > 1 else state[0]


def _feeder(state: tuple[Tensor, ...]) -> Any:
    waiting = [state if len(state) > 1 else state[0]]

    def hook(layer: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        # A layer that runs several times in one call goes on from its own state after the first.
        return replaced(args, kwargs, waiting.pop()) if waiting else None

    return hook


def _reader(slots: tuple[Slot, ...], after: dict[str, Tensor]) -> Any:
    def hook(layer: nn.Module, args: Any, output: Any) -> None:
        for slot, value in zip(slots, new_state(layer, output), strict=True):
            after[slot.site.name] = slot.unpack(value)

    return hook
