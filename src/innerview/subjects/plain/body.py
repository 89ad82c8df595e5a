"""Calls a module as it was written, with memory and heads as they were found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from innerview.subjects.body import Heard
from innerview.subjects.inputs import Input
from innerview.subjects.isolation import Written, restoring
from innerview.subjects.memory.carriers import Carrier, NoMemory, Slot
from innerview.subjects.memory.convention import Convention, Start, as_author, last_of
from innerview.subjects.plain.calls import Arguments, Entry
from innerview.subjects.plain.previous import Previous
from innerview.subjects.sites.hooks import Layers, attached, capturing
from innerview.subjects.sources import HeadSource, contradiction
from innerview.subjects.subject import device_of


@dataclass(frozen=True)
class PlainBody:
    """Calls a module as it was written, with memory and heads as they were found."""

    entry: Entry
    inputs: tuple[Input, ...]
    arguments: Arguments
    carrier: Carrier = field(default_factory=NoMemory)
    heads: tuple[HeadSource, ...] = ()
    starts: Mapping[str, Start] = field(default_factory=dict)
    layers: Layers = field(default_factory=Layers)
    written: tuple[Written, ...] = ()
    """Attributes that forward writes: put back after each call."""
    read_layers: tuple[str, ...] = ()
    """Layers that heads are read off."""
    previous: tuple[Previous, ...] = ()
    """Inputs that tell what was done and earned a step ago: carried as memory."""
    convention: Convention = field(default_factory=Convention)
    copies: bool = False
    """The module writes into its inputs."""

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The tensors of its memory."""
        return (*self.carrier.slots, *(item.slot for item in self.previous))

    def call(
        self, inputs: Mapping[str, Tensor], memory: Mapping[str, Tensor]
    ) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """Heads and memory of one forward."""
        given = {**inputs, **{item.name: item.given(memory[item.name]) for item in self.previous}}
        batch = len(next(iter(given.values())))
        kept: dict[str, Tensor] = {}
        call = self.caller(given)
        if self.read_layers or self.written:
            with restoring(self.written), attached(self._reading(kept)):
                result, after = self.carrier.run(call, memory)
        else:
            result, after = self.carrier.run(call, memory)
        after |= {item.name: memory[item.name] for item in self.previous}
        return self._heads(result, kept, batch), after

    def groups(self, memory: Mapping[str, Tensor]) -> tuple[Tensor, ...]:
        """Rows that can be run together, where not all can."""
        return self.carrier.groups(memory)

    def acted(self, memory: Mapping[str, Tensor], actions: np.ndarray, rewards: np.ndarray) -> dict[str, Tensor]:
        """The memory with what was done and earned in this step, where the module is told of it in the next."""
        told = {item.name: item.told(actions, rewards, memory[item.name]) for item in self.previous}
        return {**memory, **told}

    @property
    def told_names(self) -> tuple[str, ...]:
        """Inputs that tell what was done and earned in the step before."""
        return tuple(item.name for item in self.previous)

    @property
    def apart(self) -> bool:
        """Whether the author's way begins each step afresh."""
        return self.convention.apart

    def caller(self, inputs: Mapping[str, Tensor], *, copies: bool | None = None) -> Any:
        """The call with everything but its memory filled in."""
        batch = len(next(iter(inputs.values())))
        copies = self.copies if copies is None else copies
        specs = (*self.inputs, *(item.input for item in self.previous))
        given = {item.spec.name: item.to_module(inputs[item.spec.name]) for item in specs}
        if not copies:
            return self.arguments.caller(self.entry, given, batch)

        def call(extra: Mapping[str, Any]) -> Any:
            own = {name: value.clone() for name, value in given.items()}
            return self.arguments.caller(self.entry, own, batch)(extra)

        return call

    def by_hand(self, steps: Sequence[Mapping[str, Tensor]], seed: int) -> list[Heard]:
        """Heads of each step as the module gives them when its author calls it."""
        batch = len(next(iter(steps[0].values())))
        if self.convention.time_axis is not None:
            return self._in_one_call(steps, self.convention.time_axis, seed)
        found = []
        kept: dict[str, Tensor] = {}
        told = [{item.name: item.given(step[item.name]) for item in self.previous} for step in steps]
        calls = [self.caller({**step, **more}, copies=True) for step, more in zip(steps, told, strict=True)]
        with as_author(self.entry.module, device_of(self.entry.module)), attached(self._reading(kept)):
            for _, result in self.convention.play(calls, batch, seed):
                found.append(self._heard(result, kept, batch))
        return found

    def _in_one_call(self, steps: Sequence[Mapping[str, Tensor]], axis: int, seed: int) -> list[Heard]:
        """The same of a module that is given a whole episode: the last step of ever longer ones."""
        found, batch = [], len(next(iter(steps[0].values())))
        given = [{item.spec.name: item.to_module(step[item.spec.name]) for item in self.inputs} for step in steps]
        with as_author(self.entry.module, device_of(self.entry.module)):
            for stop in range(1, len(steps) + 1):
                timed = {
                    item.spec.name: torch.cat([step[item.spec.name] for step in given[:stop]], dim=axis)
                    for item in self.inputs
                }
                result = last_of(self.arguments.caller(self.entry, timed, batch)({}), axis, stop)
                heads = [source for source in self.heads if not source.layer]
                found.append(Heard({s.head.name: s.read(result, self.entry.module, {}, batch) for s in heads}))
        return found

    def _reading(self, kept: dict[str, Tensor]) -> Any:
        chosen = ((name, self.entry.module.get_submodule(name)) for name in self.read_layers)
        return capturing(chosen, kept, self.layers)

    def _heads(self, result: Any, kept: Mapping[str, Tensor], batch: int) -> dict[str, Tensor]:
        return {source.head.name: source.read(result, self.entry.module, kept, batch) for source in self.heads}

    def _heard(self, result: Any, kept: Mapping[str, Tensor], batch: int) -> Heard:
        heads = {name: value.detach().clone() for name, value in self._heads(result, kept, batch).items()}
        return Heard(heads, problem=contradiction(self.heads, result, heads, batch))

    def bounded(self, action: np.ndarray) -> np.ndarray:
        """A module says nothing of bounds: the world clips."""
        return action
