"""A model under study: named inputs, layers, heads and memory, and one way to run it."""

from __future__ import annotations

import copy
import math
import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from innerview.errors import SubjectError, UnknownName
from innerview.schema import Head, SubjectInfo
from innerview.subjects import actions, weights
from innerview.subjects.inputs import Input, feed
from innerview.subjects.isolation import FAILURES, Evaluating, differentiable
from innerview.subjects.memory.carriers import Slot
from innerview.subjects.memory.discovery import Start
from innerview.subjects.sites.change import Change, changed_after, changing
from innerview.subjects.sites.hooks import Layers, attached, keeping, putting


@dataclass(frozen=True)
class Output:
    """What one run gave, all with the batch axis first."""

    heads: dict[str, Tensor]
    """[batch, size] by head name: logits of a policy, [batch, 1] of a value, the mean of a gaussian."""
    memory: dict[str, Tensor] = field(default_factory=dict)
    """[batch, *shape] by name of the memory site: the state after this run."""
    activations: dict[str, Tensor] = field(default_factory=dict)
    """By layer name, for the layers that were asked for."""


class Body(Protocol):
    """How one family of models is called."""

    @property
    def inputs(self) -> tuple[Input, ...]:
        """What it takes."""

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The tensors of its memory."""

    @property
    def starts(self) -> Mapping[str, Start]:
        """Initial states that are not zero."""

    @property
    def layers(self) -> Layers:
        """How to keep the output of its layers."""

    def call(
        self, inputs: Mapping[str, Tensor], memory: Mapping[str, Tensor]
    ) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """Heads [batch, size] and memory [batch, *shape]."""

    def bounded(self, action: np.ndarray) -> np.ndarray:
        """A continuous action as the world takes it."""


class Subject:
    """An adapted model. The module is the user's own: never changed, wrapped or copied."""

    def __init__(self, module: nn.Module, info: SubjectInfo, body: Body) -> None:
        self.module = module
        self._body = body
        self._layers = dict(module.named_modules())
        found = tuple(name for name in info.layers if isinstance(self._layers[name], nn.Conv2d))
        self.info = replace(info, convolutions=found)
        self._acting = actions.acting_head(info.heads)
        self._one_at_a_time = threading.RLock()
        self._change: Change | None = None
        self._sites = {site.name: site for site in info.memory}
        self._recurrent = tuple(layer for layer in self._layers.values() if isinstance(layer, nn.RNNBase))

    def __repr__(self) -> str:
        heads = ", ".join(f"{head.name} ({head.kind}, {head.size})" for head in self.info.heads)
        memory = ", ".join(f"{site.name} {list(site.shape)}" for site in self.info.memory) or "none"
        return f"Subject('{self.info.name}', heads: {heads}; memory: {memory}; {len(self.info.layers)} layers)"

    @property
    def device(self) -> torch.device:
        """Where the module is now."""
        return device_of(self.module)

    @property
    def observation_names(self) -> tuple[str, ...]:
        """The observations it wants from a world."""
        return tuple(item.spec.name for item in self._body.inputs)

    @property
    def acting_head(self) -> Head | None:
        """The head that decides what to do."""
        return self._acting

    @property
    def convolutions(self) -> tuple[str, ...]:
        """Its convolutions over pictures, in the order in which they run."""
        return self.info.convolutions

    def inputs(self, observation: Mapping[str, np.ndarray] | np.ndarray) -> dict[str, Tensor]:
        """Observations of a world, [batch, …], as what the module takes: images channel first and normalised."""
        return feed(self._body.inputs, observation, self.device)

    def initial_memory(self, batch: int) -> dict[str, Tensor]:
        """A fresh state for each row."""
        like = next(iter(self.module.parameters()), torch.zeros(()))
        fresh = {}
        for slot in self._body.slots:
            name, shape = slot.site.name, (batch, *slot.site.shape)
            start = self._body.starts.get(name)
            row = start() if start else torch.zeros(())
            fresh[name] = row.detach().to(like.device, like.dtype).expand(shape).clone()
        return fresh

    def reset_memory(self, memory: Mapping[str, Tensor], done: Tensor | np.ndarray) -> dict[str, Tensor]:
        """The same memory with a fresh state in the rows that are done."""
        if not memory:
            return {}
        first = next(iter(memory.values()))
        over = torch.as_tensor(done, dtype=torch.bool, device=first.device)
        if over.shape != first.shape[:1]:
            raise SubjectError(f"done has shape {list(over.shape)}; the memory has {first.shape[0]} rows.")
        fresh = self.initial_memory(first.shape[0])
        return {n: torch.where(over.view(-1, *[1] * (v.ndim - 1)), fresh[n], v) for n, v in memory.items()}

    def alone(self) -> AbstractContextManager[Any]:
        """Nobody else runs the module meanwhile: hooks belong to it, and two at once would read each other's."""
        return self._one_at_a_time

    def with_change(self, change: Change) -> Subject:
        """This subject with its memory changed in every run, for whoever runs it without knowing of edits."""
        changed = copy.copy(self)
        changed._change = change
        return changed

    def copied(self, weights: Mapping[str, Tensor], *, name: str) -> Subject:
        """A subject of its own with some weights changed; this one and the user's module stay as they are."""
        own = dict(self.module.named_parameters())
        for title, value in weights.items():
            if title not in own:
                raise UnknownName("weight", title, own)
            if value.shape != own[title].shape:
                raise SubjectError(f"'{title}' has shape {list(own[title].shape)}, not {list(value.shape)}.")
        memo: dict[int, Any] = {}
        module = copy.deepcopy(self.module, memo)
        body = copy.deepcopy(self._body, memo)
        with torch.no_grad():
            for title, value in weights.items():
                module.get_parameter(title).copy_(value)
        info = replace(self.info, name=name)
        made = Subject(module, info, body)
        made.info = replace(info, weights_digest=made.weights_digest())
        return made

    def run(
        self,
        inputs: Mapping[str, Tensor],
        memory: Mapping[str, Tensor] | None = None,
        *,
        keep: Sequence[str] = (),
        grad: bool = False,
        change: Change | None = None,
    ) -> Output:
        """One forward in eval mode; without gradients unless asked. Afterwards the module is as it was.

        `change` is asked for each memory site's new state as it leaves its recurrent layer: what it returns is what
        the heads read and what is carried to the next step (`MemorySite.editable` says where it reaches less).
        """
        batch = self._check_inputs(inputs)
        memory = self.initial_memory(batch) if memory is None else self._checked_memory(memory, batch)
        for name in keep:
            if name not in self.info.layers:
                raise UnknownName("layer", name, self.info.layers)
        kept: dict[str, Tensor] = {}
        change = change or self._change
        with self.alone(), Evaluating(self._layers.values()), torch.set_grad_enabled(grad):
            if keep or grad or change:
                chosen = ((name, self._layers[name]) for name in keep)
                with (
                    # Hooks run in this order: what is kept of a layer is what the heads read.
                    attached(changing(self._sites, self._layers, change) if change else ()),
                    attached(keeping(chosen, kept, self._body.layers)),
                    differentiable(self._recurrent if grad else ()),
                ):
                    heads, after = self._called(inputs, memory)
                    after = changed_after(self._sites, after, change) if change else after
            else:
                heads, after = self._called(inputs, memory)
        self._check_numbers(heads, "the change made to the memory" if change else "the weights")
        return Output(heads, after, kept)

    def run_after(
        self,
        layer: str,
        activation: Tensor,
        inputs: Mapping[str, Tensor],
        memory: Mapping[str, Tensor] | None = None,
        *,
        grad: bool = False,
    ) -> dict[str, Tensor]:
        """Heads [n, size] as if `layer` had put out `activation` [n, …]; gradients flow to it where asked.

        With as many inputs as activations everything is run. With a single one, what comes before the layer is run
        once for it, which costs next to nothing, and only what comes after sees every row: `tail` finds out whether
        a module stands that. Memory has n rows.
        """
        if layer not in self.info.layers:
            raise UnknownName("layer", layer, self.info.layers)
        if layer in self._body.layers.repeated:
            raise SubjectError(f"Layer '{layer}' runs several times in one step. Choose one that runs once.")
        self._check_inputs(inputs)
        rows = activation.shape[0]
        memory = self.initial_memory(rows) if memory is None else self._checked_memory(memory, rows)
        with self.alone(), Evaluating(self._layers.values()), torch.set_grad_enabled(grad):
            put = putting(layer, self._layers[layer], activation, self._body.layers)
            changes = changing(self._sites, self._layers, self._change) if self._change else ()
            with attached(changes), attached(put), differentiable(self._recurrent if grad else ()):
                heads, _ = self._called(inputs, memory)
        return heads

    def _called(
        self, inputs: Mapping[str, Tensor], memory: Mapping[str, Tensor]
    ) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        try:
            return self._body.call(inputs, memory)
        except FAILURES as error:
            shapes = ", ".join(f"'{name}' {list(value.shape)}" for name, value in inputs.items())
            said = f"{type(error).__name__}: {error}"
            raise SubjectError(f"'{self.info.name}' failed on {shapes}: {said}") from error

    def probabilities(self, output: Output) -> np.ndarray | None:
        """[batch, actions], or None where actions are not discrete. Q values are shown through a softmax."""
        return actions.probabilities(self._acting, output.heads)

    def act(self, output: Output, *, greedy: bool, generators: Sequence[np.random.Generator] = ()) -> np.ndarray:
        """[batch] or [batch, dimensions]; a sampled row draws from its own generator alone."""
        chosen = actions.choose(self._acting, output.heads, greedy=greedy, generators=generators)
        return self._body.bounded(chosen) if chosen.ndim > 1 else chosen

    def weights_digest(self) -> str:
        """SHA-256 of the weights as they are now."""
        return weights.weights_digest(self.module)

    def save_weights(self, path: str | os.PathLike[str], *, bits: int | None = None) -> None:
        """Write the weights as safetensors; with `bits=8` in a quarter of the room, and nearly the same."""
        weights.save_weights(self.module, path, bits=bits)

    def load_weights(self, path: str | os.PathLike[str]) -> None:
        """Put weights into the user's module, as load_state_dict does; pickles are refused."""
        weights.load_weights(self.module, path)
        self.info = replace(self.info, weights_digest=self.weights_digest())

    def _check_inputs(self, inputs: Mapping[str, Tensor]) -> int:
        wanted = self._body.inputs
        for item in wanted:
            if item.spec.name not in inputs:
                raise SubjectError(
                    f"Input '{item.spec.name}' is missing; given: {', '.join(inputs) or 'nothing'}. "
                    f"This subject takes {', '.join(i.spec.name for i in wanted)}."
                )
            item.check(inputs[item.spec.name])
        batches = {inputs[item.spec.name].shape[0] for item in wanted}
        if len(batches) != 1:
            raise SubjectError(f"The inputs have different numbers of rows: {sorted(batches)}.")
        return batches.pop()

    def _checked_memory(self, memory: Mapping[str, Tensor], batch: int) -> Mapping[str, Tensor]:
        for slot in self._body.slots:
            if slot.site.name not in memory:
                raise UnknownName("memory site", slot.site.name, memory, "The subject needs it.")
            got, wanted = tuple(memory[slot.site.name].shape), (batch, *slot.site.shape)
            if got != wanted:
                raise SubjectError(f"Memory '{slot.site.name}' has shape {list(got)}; expected {list(wanted)}.")
        return memory

    def _check_numbers(self, heads: Mapping[str, Tensor], cause: str) -> None:
        for name, value in heads.items():
            # A sum is the quickest test; where it overflows, the numbers themselves are looked at.
            if math.isfinite(value.sum().item()) or bool(torch.isfinite(value).all()):
                continue
            if self._acting and name == self._acting.name and _only_masked(value):
                continue
            rows = (~torch.isfinite(value)).any(dim=1).nonzero().flatten().tolist()
            what = "not a number" if bool(torch.isnan(value).any()) else "infinite"
            raise SubjectError(
                f"Head '{name}' is {what} in row{'s' if len(rows) > 1 else ''} {', '.join(map(str, rows[:8]))} of "
                f"{value.shape[0]}. Check the inputs (normalised as in training?) and {cause}."
            )


def device_of(module: nn.Module) -> torch.device:
    """Where a module's weights are; the CPU for one without."""
    tensors = (*module.parameters(), *module.buffers())
    return tensors[0].device if tensors else torch.device("cpu")


def _only_masked(value: Tensor) -> bool:
    """Whether the only infinities are -inf, as masked actions have, with an action left in each row."""
    fine = torch.isfinite(value) | (value == -torch.inf)
    return bool(fine.all()) and bool(torch.isfinite(value).any(dim=1).all())
