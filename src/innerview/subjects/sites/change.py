"""Changes sites while a module runs: activations, the new state of recurrent layers, attention maps, and inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from innerview.errors import SubjectError
from innerview.schema import MemorySite
from innerview.subjects.memory.carriers import Slot, layer_slots
from innerview.subjects.trace import new_state

Change = Callable[[Tensor], Tensor]
"""Takes what a site holds [batch, *shape] and gives what to go on with, of the same shape."""


@dataclass(frozen=True)
class Changes:
    """What is changed in one run, by address of the site and by name of the input."""

    sites: Mapping[str, Change] = field(default_factory=dict)
    inputs: Mapping[str, Change] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.sites or self.inputs)

    def of_rows(self, chosen: Tensor, rows: int) -> Changes:
        """The same for some of the rows alone."""

        def part(change: Change) -> Change:
            def own(value: Tensor) -> Tensor:
                whole = value.new_zeros((rows, *value.shape[1:]))
                whole[chosen] = value
                return change(whole)[chosen]

            return own

        return Changes(
            {address: part(change) for address, change in self.sites.items()},
            {name: part(change) for name, change in self.inputs.items()},
        )

    def changed_inputs(self, inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The inputs as the module is to see them."""
        return {n: checked_change(n, self.inputs[n], v) if n in self.inputs else v for n, v in inputs.items()}


def together(parts: Sequence[Changes]) -> Changes:
    """Several as one, made in this order."""
    sites: dict[str, Change] = {}
    inputs: dict[str, Change] = {}
    for part in parts:
        for whole, own in ((sites, part.sites), (inputs, part.inputs)):
            for name, change in own.items():
                whole[name] = _chained(whole[name], change) if name in whole else change
    return Changes(sites, inputs)


def _chained(first: Change, second: Change) -> Change:
    return lambda value: second(first(value))


def changing_memory(
    sites: Sequence[MemorySite], layers: Mapping[str, nn.Module], changes: Mapping[str, Change]
) -> Iterator[RemovableHandle]:
    """Hooks that change what recurrent layers return. Sites without a layer are left to `changed_after`."""
    names = dict.fromkeys(s.layer for s in sites if s.kind != "declared" and s.address in changes)
    for name in names:
        layer = layers[name]
        yield layer.register_forward_hook(_changer(layer_slots(name, layer), changes))


def changed_after(
    sites: Sequence[MemorySite], memory: Mapping[str, Tensor], changes: Mapping[str, Change]
) -> dict[str, Tensor]:
    """The memory with the sites changed that no hook reaches: only what is carried is another."""
    carried = {s.name: s.address for s in sites if s.kind == "declared" and s.address in changes}
    return {n: checked_change(n, changes[carried[n]], v) if n in carried else v for n, v in memory.items()}


def checked_change(name: str, change: Change, rows: Tensor) -> Tensor:
    """What a change makes of a value, which must keep its shape."""
    new = change(rows)
    if new.shape != rows.shape:
        raise SubjectError(f"The change of '{name}' made {list(new.shape)} of {list(rows.shape)}; keep the shape.")
    return new


def _changer(slots: tuple[Slot, ...], changes: Mapping[str, Change]) -> Any:
    def hook(layer: nn.Module, args: Any, output: Any) -> Any:
        before = new_state(layer, output)
        after = tuple(
            _changed(slot, value, changes[slot.site.address]) if slot.site.address in changes else value
            for slot, value in zip(slots, before, strict=True)
        )
        if all(new is old for new, old in zip(after, before, strict=True)):
            return None
        state = after if len(after) > 1 else after[0]
        return (_put_out(layer, output[0], after[0]), state) if isinstance(layer, nn.RNNBase) else state

    return hook


def _changed(slot: Slot, value: Tensor, change: Change) -> Tensor:
    rows = slot.unpack(value)
    new = checked_change(slot.site.address, change, rows)
    return value if new is rows else slot.pack(new)


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
