"""Changes the new state of recurrent layers as it leaves them: before anything reads it and before it is carried."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from innerview.errors import SubjectError
from innerview.schema import MemorySite
from innerview.subjects.memory.carriers import Slot, layer_slots
from innerview.subjects.trace import new_state

Change = Callable[[str, Tensor], Tensor]
"""Takes the name of a memory site and its new state [batch, *shape]; gives the state to go on with."""


def changing(
    sites: Mapping[str, MemorySite], layers: Mapping[str, nn.Module], change: Change
) -> Iterator[RemovableHandle]:
    """Hooks that change what recurrent layers return. Sites without a layer are left to `changed_after`."""
    for name in dict.fromkeys(site.layer for site in sites.values() if site.kind != "declared"):
        layer = layers[name]
        slots = layer_slots(name, layer)
        yield layer.register_forward_hook(_changer(slots, sites, change))


def changed_after(sites: Mapping[str, MemorySite], memory: Mapping[str, Tensor], change: Change) -> dict[str, Tensor]:
    """The memory with the sites changed that no hook reaches: only what is carried is another."""
    return {n: _asked(change, n, v) if sites[n].kind == "declared" else v for n, v in memory.items()}


def _changer(slots: tuple[Slot, ...], sites: Mapping[str, MemorySite], change: Change) -> Any:
    def hook(layer: nn.Module, args: Any, output: Any) -> Any:
        before = new_state(layer, output)
        after = tuple(
            _changed(slot, value, change) if slot.site.name in sites else value
            for slot, value in zip(slots, before, strict=True)
        )
        if all(new is old for new, old in zip(after, before, strict=True)):
            return None
        state = after if len(after) > 1 else after[0]
        return (_put_out(layer, output[0], after[0]), state) if isinstance(layer, nn.RNNBase) else state

    return hook


def _changed(slot: Slot, value: Tensor, change: Change) -> Tensor:
    rows = slot.unpack(value)
    new = _asked(change, slot.site.name, rows)
    return value if new is rows else slot.pack(new)


def _asked(change: Change, name: str, rows: Tensor) -> Tensor:
    new = change(name, rows)
    if new.shape != rows.shape:
        raise SubjectError(f"The change of '{name}' made {list(new.shape)} of {list(rows.shape)}; keep the shape.")
    return new


def _put_out(layer: nn.RNNBase, output: Any, hidden: Tensor) -> Tensor:
    """What the layer puts out, which is the hidden state of its last layer: the two must not fall apart."""
    time = 1 if layer.batch_first else 0
    if not isinstance(output, Tensor) or output.shape[time] != 1:
        raise SubjectError(
            "The recurrent layer reads several steps in one call: its state cannot be changed at each of them. "
            "Give the subject an example with one step."
        )
    last = hidden[-2:] if layer.bidirectional else hidden[-1:]
    return torch.cat(tuple(last), dim=-1).unsqueeze(time)
