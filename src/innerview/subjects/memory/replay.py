"""Runs recorded inputs again for many states of the memory at once.

Where the recurrent layer and the acting head can be told apart from the rest, what the layer is fed is computed once
for all states; that way is checked against the whole module before it is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from innerview.errors import SubjectError
from innerview.subjects.body import Output
from innerview.subjects.isolation import Evaluating
from innerview.subjects.memory.carriers import Slot, layer_slots
from innerview.subjects.sites.change import Changes, changing_memory
from innerview.subjects.sites.hooks import attached, main_tensor
from innerview.subjects.subject import Subject
from innerview.subjects.trace import new_state

_CLOSE = 1e-5
_TRIED_ROWS = 3


class Replay:
    """Recorded inputs [rows, …] of one episode or more, and a subject to run on them."""

    def __init__(self, subject: Subject, inputs: Mapping[str, Tensor]) -> None:
        head = subject.acting_head
        if head is None:
            raise SubjectError(f"'{subject.info.name}' has no head that acts: there are no decisions to compare.")
        self._subject, self._head = subject, head.name
        self._way = _shortcut(subject, inputs, head.name)
        self._inputs = inputs

    @property
    def shortcut(self) -> bool:
        """Whether what comes before the memory is computed only once."""
        return self._way is not None

    def run(self, row: int, memory: Mapping[str, Tensor], changes: Changes) -> Output:
        """What the acting head says in one row for every state given, [states, …], and the states afterwards."""
        if self._way is not None and self._way.reaches(changes):
            said, after = self._way.step(row, memory, changes)
            return Output({self._head: said}, after)
        states = len(next(iter(memory.values())))
        inputs = {n: v[row : row + 1].expand(states, *v.shape[1:]).contiguous() for n, v in self._inputs.items()}
        return self._subject.run(inputs, memory, edits=changes)


@dataclass(frozen=True)
class _Way:
    """From what the recurrent layer is fed straight to the acting head."""

    subject: Subject
    layer: nn.Module
    name: str
    slots: tuple[Slot, ...]
    head: nn.Module
    fed: Tensor
    """[rows, features]."""

    def reaches(self, changes: Changes) -> bool:
        """Whether all that is changed is the state of the layer."""
        return not changes.inputs and set(changes.sites) <= {slot.site.address for slot in self.slots}

    def step(self, row: int, memory: Mapping[str, Tensor], changes: Changes) -> tuple[Tensor, dict[str, Tensor]]:
        states = len(next(iter(memory.values())))
        fed = self.fed[row].expand(states, -1)
        packed = tuple(slot.pack(memory[slot.site.name]) for slot in self.slots)
        time = (1 if self.layer.batch_first else 0) if isinstance(self.layer, nn.RNNBase) else None
        sites = [slot.site for slot in self.slots]
        with (
            self.subject.alone(),
            torch.no_grad(),
            Evaluating((*self.layer.modules(), *self.head.modules())),
            attached(changing_memory(sites, {self.name: self.layer}, changes.sites) if changes else ()),
        ):
            given = fed if time is None else fed.unsqueeze(time)
            output = self.layer(given, packed if len(packed) > 1 else packed[0])
            seen = main_tensor(output)
            assert seen is not None, "a recurrent layer puts out its state"
            told = self.head(seen if time is None else seen.squeeze(time))
        after = zip(self.slots, new_state(self.layer, output), strict=True)
        return told, {slot.site.name: slot.unpack(value) for slot, value in after}


@dataclass
class _Seen:
    """What went through the module in one run."""

    fed: list[Tensor] = field(default_factory=list)
    put_out: list[Tensor] = field(default_factory=list)
    calls: list[tuple[nn.Module, Tensor, Tensor]] = field(default_factory=list)


def _shortcut(subject: Subject, inputs: Mapping[str, Tensor], head: str) -> _Way | None:
    layers = {site.layer for site in subject.info.memory}
    layer = subject.module.get_submodule(name) if len(layers) == 1 and (name := next(iter(layers))) else None
    if layer is None or any(site.kind == "declared" for site in subject.info.memory):
        return None
    seen = _watched(subject, layer, inputs)
    if len(seen.fed) != 1 or seen.fed[0].numel() % len(next(iter(inputs.values()))):
        return None
    rows = len(next(iter(inputs.values())))
    logits = subject.run(inputs).heads[head]
    reading = [part for part, given, gave in seen.calls if _same(given, seen.put_out[0]) and _same(gave, logits)]
    if not reading:
        return None
    slots = layer_slots(name, layer)
    if {slot.site.name for slot in slots} != {site.name for site in subject.info.memory}:
        return None
    way = _Way(subject, layer, name, slots, reading[0], seen.fed[0].reshape(rows, -1))
    return way if _agrees(way, subject, inputs, head) else None


def _watched(subject: Subject, layer: nn.Module, inputs: Mapping[str, Tensor]) -> _Seen:
    seen = _Seen()

    def before(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        seen.fed.append((args[0] if args else kwargs["input"]).detach())

    def after(_: nn.Module, args: Any, output: Any) -> None:
        value = main_tensor(output)
        if value is not None:
            seen.put_out.append(value.detach())

    def passed(part: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        if seen.put_out and part is not layer and args and isinstance(args[0], Tensor) and isinstance(output, Tensor):
            seen.calls.append((part, args[0].detach().clone(), output.detach().clone()))

    def hooks() -> Iterator[RemovableHandle]:
        yield layer.register_forward_pre_hook(before, with_kwargs=True)
        yield layer.register_forward_hook(after)
        for part in subject.module.modules():
            yield part.register_forward_hook(passed)

    with subject.alone(), attached(hooks()):
        subject.run(inputs)
    return seen


def _agrees(way: _Way, subject: Subject, inputs: Mapping[str, Tensor], head: str) -> bool:
    """Whether the short way says what the whole module says, from states it has not been in."""
    generator = torch.Generator().manual_seed(20_261)
    for row in range(min(_TRIED_ROWS, len(way.fed))):
        memory = {
            site.name: torch.randn((_TRIED_ROWS, *site.shape), generator=generator).to(way.fed)
            for site in subject.info.memory
        }
        one = {n: v[row : row + 1].expand(_TRIED_ROWS, *v.shape[1:]).contiguous() for n, v in inputs.items()}
        whole = subject.run(one, memory)
        told, after = way.step(row, memory, Changes())
        if not _same(told, whole.heads[head]) or not all(_same(after[n], v) for n, v in whole.memory.items()):
            return False
    return True


def _same(a: Tensor, b: Tensor) -> bool:
    return a.numel() == b.numel() and bool(torch.allclose(a.flatten(), b.flatten(), rtol=_CLOSE, atol=_CLOSE))
