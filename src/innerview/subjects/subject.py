"""A model under study: named inputs, layers, heads and memory, and one way to run it."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
import math
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from innerview.errors import EditError, SubjectError, UnknownName
from innerview.schema import (
    Age,
    Edit,
    Edits,
    Head,
    Site,
    SiteEdit,
    SubjectInfo,
    acting_head,
    find_site,
    parse_site,
    to_json,
)
from innerview.subjects import actions, weights
from innerview.subjects.body import Body, Heard, Output
from innerview.subjects.identity import said_of_probe
from innerview.subjects.inputs import feed, probed
from innerview.subjects.isolation import FAILURES, Evaluating, differentiable
from innerview.subjects.memory.convention import fresh_memory
from innerview.subjects.sites.attention import AttentionMode, CallStack, Place
from innerview.subjects.sites.backward import Rule, backward_rule
from innerview.subjects.sites.change import Changes, changed_after, changing_memory, checked_change, together
from innerview.subjects.sites.convolution import quick_passes
from innerview.subjects.sites.hooks import attached, capturing, replacing
from innerview.subjects.sites.program import Editor
from innerview.subjects.sites.validation import as_edits


class Subject:
    """An adapted model. The module is the user's own: never changed, wrapped or copied."""

    def __init__(self, module: nn.Module, info: SubjectInfo, body: Body) -> None:
        self.module = module
        self._body = body
        self._layers = dict(module.named_modules())
        found = tuple(name for name in info.layers if isinstance(self._module_at(name), nn.Conv2d))
        self.info = replace(info, convolutions=found, edits=())
        self._acting = acting_head(info.heads)
        self._one_at_a_time = threading.RLock()
        self._edits: tuple[Changes | tuple[Edit, ...], ...] = ()
        self._known: tuple[int, str, str] | None = None
        """Of weights with this checksum: their digest, and what they say of a probe."""
        self._sites = {site.address: site for site in self.info.sites}
        self._recurrent = tuple(layer for layer in self._layers.values() if isinstance(layer, nn.RNNBase))
        self._identify()

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
        return fresh_memory(self._body.slots, self._body.starts, batch, like)

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

    def acted(self, memory: Mapping[str, Tensor], actions: np.ndarray, rewards: np.ndarray) -> dict[str, Tensor]:
        """The memory after a step in which this was done and earned [rows, …]: some models are told in the next."""
        return self._body.acted(memory, actions, rewards) if self.told_names else dict(memory)

    @property
    def told_names(self) -> tuple[str, ...]:
        """Inputs, carried as memory, that tell what was done and earned in the step before."""
        return self._body.told_names

    @property
    def apart(self) -> bool:
        """Whether its author's way begins each step afresh, whatever is carried here."""
        return self._body.apart

    @property
    def dtype(self) -> torch.dtype:
        """What the module computes in."""
        return next((p.dtype for p in self.module.parameters() if p.is_floating_point()), torch.float32)

    @property
    def unedited(self) -> Subject:
        """The same without its edits."""
        if not self._edits:
            return self
        plain = copy.copy(self)
        plain._edits = ()
        return plain

    def by_hand(self, steps: Sequence[Mapping[str, Tensor]], seed: int = 0) -> list[Heard]:
        """What the model says in each step when it is called as its author calls it, from a fresh state."""
        with self.alone():
            return self._body.by_hand(steps, seed)

    def alone(self) -> AbstractContextManager[Any]:
        """Nobody else runs the module meanwhile: hooks belong to it, and two at once would read each other's."""
        return self._one_at_a_time

    @property
    def sites(self) -> tuple[Site, ...]:
        """Every place that can be read and changed, by address: activations, memory, attention maps."""
        return self.info.sites

    def with_edits(self, edits: Edits | Changes) -> Subject:
        """This subject with its sites and inputs changed in every run, for whoever runs it without knowing of edits."""
        changed = copy.copy(self)
        if isinstance(edits, Changes):  # of a single step: whoever makes them knows of which
            changed._edits = (*self._edits, edits)
            return changed
        made = as_edits(edits)
        changed._edits = (*self._edits, made)
        changed.info = replace(self.info, edits=(*self.info.edits, *made))
        changed._identify()
        return changed

    def with_info(self, info: SubjectInfo) -> Subject:
        """The same model with more known of it."""
        if info == self.info:
            return self
        return self._as(Subject(self.module, info, self._body))

    def named(self, name: str) -> Subject:
        """The same subject under another name."""
        made = copy.copy(self)
        made.info = replace(self.info, name=name)
        return made

    def aged(self, run: str, step: int) -> Subject:
        """The same subject, known to be of that step of a training."""
        made = copy.copy(self)
        made.info = replace(self.info, age=Age(run=run, step=step))
        return made

    def copied(self, weights: Mapping[str, Tensor], *, name: str) -> Subject:
        """A subject of its own with some weights changed; this one and the user's module stay as they are.

        The module is copied: two sets of weights can only be there at once in two modules, and hooks belong to one.
        """
        own = _all_tensors(self.module)
        for title, value in weights.items():
            if title not in own:
                raise UnknownName("weight", title, own)
            if value.shape != own[title].shape:
                raise SubjectError(f"'{title}' has shape {list(own[title].shape)}, not {list(value.shape)}.")
        memo: dict[int, Any] = {}
        module = copy.deepcopy(self.module, memo)
        body = copy.deepcopy(self._body, memo)
        with torch.no_grad():
            new = _all_tensors(module)
            for title, value in weights.items():
                new[title].copy_(value)
        return self._as(Subject(module, replace(self.info, name=name), body))

    def _as(self, made: Subject) -> Subject:
        """Changed in every run as this one is."""
        made._edits = self._edits
        if self.info.edits:
            made.info = replace(made.info, edits=self.info.edits)
            made._identify()
        return made

    def run(
        self,
        inputs: Mapping[str, Tensor],
        memory: Mapping[str, Tensor] | None = None,
        *,
        keep: Sequence[str] = (),
        edits: Edits | Changes = (),
        rule: Rule = "plain",
        grad: bool = False,
    ) -> Output:
        """One forward in eval mode; without gradients unless asked. Afterwards the module is as it was.

        `keep`: addresses of sites to read, as they are after the edits. `edits`: changes at sites and inputs, made in
        order before anything reads them (`MemorySite.editable` says where a change of a memory reaches less).
        `rule`: how gradients go back through rectifiers.
        """
        batch = self._check_inputs(inputs)
        memory = self.initial_memory(batch) if memory is None else self._checked_memory(memory, batch)
        wanted = {address: self._site(address) for address in keep}
        changes = self._changes(edits, memory, batch)
        if groups := self._body.groups(memory):
            return self._in_groups(groups, inputs, memory, keep=keep, changes=changes, rule=rule, grad=grad)
        kept: dict[str, Tensor] = {}
        with self.alone(), Evaluating(self._layers.values()), torch.set_grad_enabled(grad):
            if wanted or grad or changes or rule != "plain":
                with self._prepared(changes, tuple(wanted.values()), kept, batch), self._backward(rule, grad):
                    heads, after = self._called(changes.changed_inputs(inputs), memory)
                    after = changed_after(self.info.memory, after, changes.sites)
            else:
                heads, after = self._called(inputs, memory)
        self._check_numbers(heads, "the edits" if changes else "the weights")
        kept |= {site.address: after[site.name] for site in self.info.memory}
        return Output(heads, after, {a: _element(a, site, kept[site.address]) for a, site in wanted.items()})

    def _in_groups(
        self,
        groups: Sequence[Tensor],
        inputs: Mapping[str, Tensor],
        memory: Mapping[str, Tensor],
        *,
        changes: Changes,
        **how: Any,
    ) -> Output:
        """Rows whose states differ in what all rows of a call share, one group after the other."""
        parts, bare = [], self.unedited
        for group in groups:
            own = {name: value[group] for name, value in inputs.items()}
            state = {name: value[group] for name, value in memory.items()}
            rows = len(next(iter(memory.values())))
            parts.append(bare.run(own, state, edits=changes.of_rows(group, rows), **how))
        place = torch.argsort(torch.cat(list(groups)))
        heads, after, sites = (
            {name: torch.cat([getattr(part, what)[name] for part in parts])[place] for name in getattr(parts[0], what)}
            for what in ("heads", "memory", "sites")
        )
        return Output(heads, after, sites)

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
        site = self._site(layer)
        if site.kind != "activation":
            raise SubjectError(f"'{layer}' is {site.kind}. Choose the activation of a layer.")
        self._check_inputs(inputs)
        rows = activation.shape[0]
        memory = self.initial_memory(rows) if memory is None else self._checked_memory(memory, rows)
        changes = self._changes((), memory, rows)
        put = replacing(site.address, self._module_at(site.address), lambda value: activation, self._body.layers)
        with (
            self.alone(),
            Evaluating(self._layers.values()),
            torch.set_grad_enabled(grad),
            self._prepared(changes, (), {}, rows),
            attached(put),
            self._backward("plain", grad),
        ):
            heads, _ = self._called(changes.changed_inputs(inputs), memory)
        return heads

    def call(self, inputs: Mapping[str, Tensor]) -> None:
        """The module called as it is, from a fresh memory, for whoever watches it."""
        self._called(inputs, self.initial_memory(self._check_inputs(inputs)))

    @contextlib.contextmanager
    def _prepared(self, changes: Changes, keep: Sequence[Site], kept: dict[str, Tensor], rows: int) -> Iterator[None]:
        """Hooks and modes for one run. Those that change come first: what is kept of a site is what the heads read."""
        activations = [site for site in keep if site.kind == "activation"]
        maps = {site.address for site in keep if site.kind == "attention"}
        with contextlib.ExitStack() as stack:
            if changes.sites:
                stack.enter_context(attached(changing_memory(self.info.memory, self._layers, changes.sites)))
                for address, change in changes.sites.items():
                    if self._sites[address].kind == "activation":
                        whole = partial(checked_change, address, change)
                        part = replacing(address, self._module_at(address), whole, self._body.layers)
                        stack.enter_context(attached(part))
            chosen = ((site.address, self._module_at(site.address)) for site in activations)
            stack.enter_context(attached(capturing(chosen, kept, self._body.layers)))
            if maps or any(self._sites[address].kind == "attention" for address in changes.sites):
                calls = CallStack(self.module)
                stack.enter_context(attached(calls.hooks()))
                stack.enter_context(AttentionMode(calls, rows, self._visitor(changes, maps, kept)))
            yield

    def _visitor(self, changes: Changes, maps: set[str], kept: dict[str, Tensor]) -> Callable[[Place, Tensor], Tensor]:
        places = {place_of(site.address): site.address for site in self.info.attention}

        def visit(place: Place, value: Tensor) -> Tensor:
            address = places.get(place, "")
            if address in changes.sites:
                value = checked_change(address, changes.sites[address], value)
            if address in maps:
                # What is kept is gone on from, so that gradients can be taken at it.
                kept[address] = value = value.view_as(value) if torch.is_grad_enabled() else value
            return value

        return visit

    @contextlib.contextmanager
    def _backward(self, rule: Rule, grad: bool) -> Iterator[None]:
        quick = quick_passes(grad and self.device.type == "cpu")
        with differentiable(self._recurrent if grad else ()), backward_rule(rule), quick:
            yield

    def _changes(self, edits: Edits | Changes, memory: Mapping[str, Tensor], rows: int) -> Changes:
        given = () if isinstance(edits, tuple) and not edits else (edits,)
        parts = [self._compiled(part, memory, rows) for part in (*self._edits, *given)]
        return together(parts) if len(parts) > 1 else parts[0] if parts else Changes()

    def _compiled(self, edits: Edits | Changes, memory: Mapping[str, Tensor], rows: int) -> Changes:
        if isinstance(edits, Changes):
            return Changes({self._site(a).address: change for a, change in edits.sites.items()}, edits.inputs)
        editor = Editor([as_edits(edits)], self.info, device=self.device)
        for edit in editor.programs[0]:
            if isinstance(edit, SiteEdit) and (edit.start or edit.stop is not None):
                raise EditError(
                    f"The edit of '{edit.site}' holds at some steps; a single run has none. Record with it."
                )
            if isinstance(edit, SiteEdit) and edit.op == "freeze" and self._sites[edit.site].kind != "memory":
                raise EditError(f"'{edit.site}' holds nothing before a single run to freeze. Record with the edit.")
        return editor.changes(memory, [0] * rows, [0] * rows)

    def _site(self, address: str) -> Site:
        return self._sites.get(address) or find_site(address, self.info.sites)

    def _module_at(self, address: str) -> nn.Module:
        layer: nn.Module = self._layers[parse_site(address).module]
        return layer

    def _called(
        self, inputs: Mapping[str, Tensor], memory: Mapping[str, Tensor]
    ) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        if self._body.groups(memory):
            raise SubjectError(
                f"The rows stand at different points of what '{self.info.name}' remembers (a counter, a history that "
                "fills up), and can only be run step by step. Choose one row, or rows of one step."
            )
        try:
            return self._body.call(inputs, memory)
        except FAILURES as error:
            shapes = ", ".join(f"'{name}' {list(value.shape)}" for name, value in inputs.items())
            said = f"{type(error).__name__}: {error}"
            raise SubjectError(f"'{self.info.name}' failed on {shapes}: {said}") from error

    def probabilities(self, output: Output) -> np.ndarray | None:
        """[batch, actions], or None where actions are not discrete. Q values are shown through a softmax."""
        return actions.head_probabilities(self._acting, output.heads)

    def act(self, output: Output, *, greedy: bool, generators: Sequence[np.random.Generator] = ()) -> np.ndarray:
        """[batch] or [batch, dimensions]; a sampled row draws from its own generator alone."""
        chosen = actions.choose(self._acting, output.heads, greedy=greedy, generators=generators)
        return self._body.bounded(chosen) if chosen.ndim > 1 else chosen

    def identity(self) -> str:
        """SHA-256 of its weights as they are now, what it says of a fixed probe, edits, way with observations."""
        edits = json.dumps(to_json(self.info.edits))
        checksum = weights.weights_checksum(self.module)
        if self._known is None or self._known[0] != checksum:
            said = said_of_probe(self._body, self.module, self.info.inputs)
            self._known = checksum, weights.weights_digest(self.module), said
        _, digest, said = self._known
        parts = (digest, said, edits, probed(self._body.inputs, self.device))
        return hashlib.sha256(" ".join(parts).encode()).hexdigest()

    def _identify(self) -> None:
        self.info = replace(self.info, identity=self.identity())

    def save_weights(self, path: str | os.PathLike[str], *, bits: int | None = None) -> None:
        """Write the weights as safetensors; with `bits=8` in a quarter of the room, and nearly the same."""
        weights.save_weights(self.module, path, bits=bits)

    def load_weights(self, path: str | os.PathLike[str]) -> None:
        """Put weights into the user's module, as load_state_dict does; pickles are refused."""
        weights.load_weights(self.module, path)
        self._identify()

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


def _all_tensors(module: nn.Module) -> dict[str, Tensor]:
    """Parameters and buffers; one that has several names under each of them."""
    own: dict[str, Tensor] = dict(module.named_parameters(remove_duplicate=False))
    return own | dict(module.named_buffers(remove_duplicate=False))


def place_of(address: str) -> Place:
    """Where an attention map stands: its module, and which of the module's attentions."""
    parsed = parse_site(address)
    return parsed.module, parsed.call or 0


def _element(address: str, site: Site, value: Tensor) -> Tensor:
    """What an address means of a site's value: all of it, or the head, channel or element that it names."""
    element = parse_site(address).element
    if element is None:
        return value
    if site.kind == "memory" or site.element_axis is None:
        return value.flatten(1)[:, element]
    return value.select(site.element_axis + 1, element)


def device_of(module: nn.Module) -> torch.device:
    """Where a module's weights are; the CPU for one without."""
    tensors = (*module.parameters(), *module.buffers())
    return tensors[0].device if tensors else torch.device("cpu")


def _only_masked(value: Tensor) -> bool:
    """Whether the only infinities are -inf, as masked actions have, with an action left in each row."""
    fine = torch.isfinite(value) | (value == -torch.inf)
    return bool(fine.all()) and bool(torch.isfinite(value).any(dim=1).all())
