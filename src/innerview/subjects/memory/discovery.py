"""Finds out where a module keeps its memory: in recurrent layers, or in arguments of forward."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from innerview.errors import SubjectError
from innerview.schema import MemorySite
from innerview.subjects.isolation import FAILURES
from innerview.subjects.memory.carriers import (
    ArgumentMemory,
    Call,
    Carrier,
    LayerMemory,
    NoMemory,
    Slot,
    layer_slots,
    zero_state,
)
from innerview.subjects.structure import Part, Path, parts, rebuild
from innerview.subjects.trace import RecurrentCall, Trace, recurrent_layers, trace

Start = Callable[[], Tensor]
"""Gives one row of a site's initial state; a site without one starts from zeros."""
_MEMORY_WORDS = frozenset(
    {"h", "c", "hx", "cx", "hc", "hxs", "hidden", "state", "states", "memory", "mem", "carry"}
    | {"rnn", "lstm", "gru", "recurrent", "core", "cell"}
)
_START_METHODS = ("initial_state", "get_initial_state", "init_state", "initial_memory", "init_hidden", "initial_hidden")


@dataclass(frozen=True)
class Found:
    """A module's memory, and the run that showed it."""

    carrier: Carrier
    trace: Trace
    starts: Mapping[str, Start] = field(default_factory=dict)
    paths: tuple[Path, ...] = ()
    """Parts of the output that are memory, not heads."""


@dataclass(frozen=True)
class Probe:
    """A module and a way to call it on a batch of rows."""

    module: nn.Module
    call: Call
    batch: int
    device: torch.device

    def trace(self, extra: Mapping[str, Any] | None = None, states: Mapping[str, Any] | None = None) -> Trace:
        """One quiet run."""
        return trace(self.module, lambda: self.call(extra or {}), device=self.device, states=states)


def remembers(argument: str) -> bool:
    """Whether an argument of forward is called as memory usually is."""
    return bool(set(re.split(r"[^a-z]+", argument.lower())) & _MEMORY_WORDS)


def find_memory(probe: Probe, *, required: Sequence[str], optional: Sequence[str]) -> Found:
    """The memory of a module. `required` and `optional`: arguments of forward that no input fills."""
    names = [*required, *(name for name in optional if remembers(name))]
    if names:
        found = _in_arguments(probe, names, must=bool(required))
        if found:
            return found
    return in_layers(probe, only=None)


def in_layers(probe: Probe, *, only: Sequence[str] | None) -> Found:
    """Memory of recurrent layers that the module itself gives no state from outside."""
    slots = {name: layer_slots(name, layer) for name, layer in recurrent_layers(probe.module).items()}
    try:
        seen = probe.trace()
    except FAILURES:
        if not slots:
            raise
        # A state kept as an attribute may have another batch size: give every layer a fresh one.
        like = torch.zeros((), device=probe.device)
        seen = probe.trace(states={name: zero_state(s, probe.batch, like) for name, s in slots.items()})
    if only is None:
        calls = {n: c for n, c in seen.recurrent.items() if _is_memory(c, probe.batch) and not _reads_sequence(c, seen)}
    else:
        calls = {n: c for n, c in seen.recurrent.items() if _is_memory(c, probe.batch) and n in only}
    if not calls:
        return Found(NoMemory(), seen)
    carrier = LayerMemory(tuple((call.layer, slots[name]) for name, call in calls.items()))
    starts: dict[str, Start] = {}
    if all(item.read() is None or not isinstance(item.read(), Tensor) for item in seen.written):
        for name, call in calls.items():
            starts |= _starts(probe.module, slots[name], call.received)
    states = [state for call in calls.values() for state in call.state]
    paths = tuple(part.path for part in parts(seen.result) if any(_same(part.value, state) for state in states))
    return Found(carrier, seen, starts, paths)


def layout_problem(seen: Trace, batch: int) -> str:
    """Why the rows of a batch would not stay apart in a recurrent layer, or nothing."""
    for name, call in seen.recurrent.items():
        shape, layer = tuple(call.input.shape), call.layer
        if isinstance(layer, nn.RNNBase):
            time, rows = (1, 0) if layer.batch_first else (0, 1)
            if len(shape) == 2 or (shape[time] == batch and shape[rows] == 1):
                return f"recurrent layer '{name}' takes the batch of rows for a sequence (its input is {list(shape)})"
        elif len(shape) == 1:
            return f"recurrent layer '{name}' gets no batch axis (its input is {list(shape)})"
        elif shape[0] % batch:
            # A loop over the first axis: it is of time, so each call has as many rows as there are steps.
            return (
                f"recurrent layer '{name}' takes the batch of rows for a sequence (each of its inputs is {list(shape)})"
            )
    return ""


def _reads_sequence(call: RecurrentCall, seen: Trace) -> bool:
    """Whether a cell is looped over a sequence that one call of the module holds, and carries nothing to the next."""
    return not isinstance(call.layer, nn.RNNBase) and call.calls > 1 and not seen.written


def _is_memory(call: RecurrentCall, batch: int) -> bool:
    shape, layer = tuple(call.input.shape), call.layer
    if not isinstance(layer, nn.RNNBase):
        return shape[0] == batch
    time, rows = (1, 0) if layer.batch_first else (0, 1)
    # A layer that reads a whole sequence within one call remembers nothing from call to call.
    return len(shape) == 3 and shape[rows] == batch and shape[time] == 1


def _in_arguments(probe: Probe, names: Sequence[str], *, must: bool) -> Found | None:
    problems: list[str] = []
    ran = False
    for arguments in _candidates(probe, names, must=must):
        try:
            seen = probe.trace(arguments)
        except FAILURES as error:
            problems.append(str(error).split("\n")[0])
            continue
        paths = returned(arguments, seen)
        if paths and not layout_problem(seen, probe.batch):
            return _argument_memory(probe, arguments, seen, paths)
        ran = True
        problems.append("forward ran, but its output holds no new state of the same shape")
    if not must:
        return None
    given = ", ".join(f"'{name}'" for name in names)
    tried = f" Tried: {'; '.join(dict.fromkeys(problems))}." if problems else ""
    first = "" if ran else "forward failed whatever it was given there: check the shape of the example as well. "
    raise SubjectError(
        f"forward needs the argument {given}, which was not understood. {first}If it is an input, add it to example "
        f"(example={{…, '{names[0]}': tensor}}). If it is memory, return the new state from forward and declare its "
        f"shape for one row: memory={{'{names[0]}': (size,)}}.{tried}"
    )


def _argument_memory(probe: Probe, arguments: Mapping[str, Any], seen: Trace, paths: tuple[Path, ...]) -> Found:
    returned = {part.path: part.value for part in parts(seen.result)}
    given = parts(dict(arguments))
    slots = tuple(
        _slot(part, returned[path], seen, probe.batch, f".{i}" if len(given) > len(arguments) else "")
        for i, (part, path) in enumerate(zip(given, paths, strict=True))
    )
    blank = torch.empty(0)
    templates = tuple((name, rebuild(tree, iter([blank] * len(parts(tree))))) for name, tree in arguments.items())
    starts = _argument_starts(probe, tuple(arguments), slots)
    return Found(ArgumentMemory(templates, slots, paths), seen, starts, paths)


def _argument_starts(probe: Probe, names: Sequence[str], slots: tuple[Slot, ...]) -> dict[str, Start]:
    method = _start_method(probe, names)
    if method is not None:
        return {slot.site.name: _row_of(method, slot, i) for i, slot in enumerate(slots)}
    try:
        alone = probe.trace()
    except FAILURES:
        return {}
    starts: dict[str, Start] = {}
    for name, call in alone.recurrent.items():
        own = tuple(s for s in layer_slots(name, call.layer) if s.site.name in {slot.site.name for slot in slots})
        starts |= _starts(probe.module, own, call.received)
    return starts


def _row_of(method: Callable[[int], Mapping[str, Any]], slot: Slot, index: int) -> Start:
    return lambda: slot.unpack(parts(method(1))[index].value.detach())[0]


def _starts(module: nn.Module, slots: tuple[Slot, ...], received: Any) -> dict[str, Start]:
    starts: dict[str, Start] = {}
    for slot, part in zip(slots, parts(received), strict=False):
        rows = slot.unpack(part.value.detach())
        if (
            tuple(rows.shape[1:]) == slot.site.shape
            and bool(rows.any())
            and torch.equal(rows, rows[:1].expand_as(rows))
        ):
            starts[slot.site.name] = _live(module, rows[0].clone())
    return starts


def _live(module: nn.Module, row: Tensor) -> Start:
    for tensor in (*module.parameters(), *module.buffers()):
        if tensor.numel() == row.numel() and torch.equal(tensor.detach().flatten(), row.flatten()):
            return lambda: tensor.detach().reshape(row.shape)
    return lambda: row


def _slot(given: Part, after: Tensor, seen: Trace, batch: int, suffix: str) -> Slot:
    axis = next(i for i, size in enumerate(given.value.shape) if size == batch)
    shape = tuple(size for i, size in enumerate(given.value.shape) if i != axis)
    single = len(shape) > 1 and shape[0] == 1 and axis <= 1
    shape = shape[1:] if single else shape
    for name, call in seen.recurrent.items():
        for own, state in zip(layer_slots(name, call.layer), call.state, strict=True):
            if _same(after, state) and own.site.shape == shape:
                return Slot(own.site, axis, single)
    site = MemorySite(name=f"{given.path[0]}{suffix}", layer="", kind="declared", shape=shape, editable="carried")
    return Slot(site, axis, single)


def returned(arguments: Mapping[str, Any], seen: Trace) -> tuple[Path, ...] | None:
    wanted = [part.value.shape for part in parts(dict(arguments))]
    found = parts(seen.result)
    states = [state for call in seen.recurrent.values() for state in call.state]
    fits = []
    for start in range(len(found) - len(wanted) + 1):
        window = found[start : start + len(wanted)]
        if [part.value.shape for part in window] == wanted:
            known = sum(any(_same(part.value, state) for state in states) for part in window)
            named = sum(str(part.path[0]) in arguments for part in window if part.path)
            fits.append((known, named, start))
    if not fits:
        return None
    start = max(fits)[2]
    return tuple(part.path for part in found[start : start + len(wanted)])


def _same(a: Tensor, b: Tensor) -> bool:
    return a.numel() == b.numel() and (a is b or torch.equal(a.flatten(), b.flatten()))


def _candidates(probe: Probe, names: Sequence[str], *, must: bool) -> Iterator[dict[str, Any]]:
    method = _start_method(probe, names)
    if method is not None:
        yield dict(method(probe.batch))
    layers = recurrent_layers(probe.module)
    states = [layer_slots(name, layer) for name, layer in layers.items()]
    for layout in ("own", "rows first", "flat"):
        trees = [_random_state(slots, probe, layout) for slots in states]
        if trees and all(tree is not None for tree in trees):
            yield from _assignments(names, trees)
    if not must and not layers:
        yield from _fed_back(probe, names)


def _fed_back(probe: Probe, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """What the module returns when it is given no state, from the last part to the second."""
    result = probe.trace().result
    if len(names) == 1 and isinstance(result, tuple | list):
        for item in reversed(result[1:]):
            if parts(item) and all(probe.batch in part.value.shape for part in parts(item)):
                yield {names[0]: item}


def _assignments(names: Sequence[str], trees: list[Any]) -> Iterator[dict[str, Any]]:
    if len(trees) == 1 and len(names) == 1:
        yield {names[0]: trees[0]}
    if len(trees) == 1 and isinstance(trees[0], tuple) and len(names) == len(trees[0]):
        yield dict(zip(names, trees[0], strict=True))
    if len(trees) > 1 and len(names) == 1:
        yield {names[0]: tuple(trees)}
        yield {names[0]: list(trees)}
        if all(isinstance(tree, Tensor) and tree.shape == trees[0].shape for tree in trees):
            yield {names[0]: torch.stack(trees)}
            yield {names[0]: torch.stack(trees, dim=1)}
    if len(trees) > 1 and len(names) == len(trees):
        yield dict(zip(names, trees, strict=True))


def _random_state(slots: tuple[Slot, ...], probe: Probe, layout: str) -> Any:
    """A state that can be told from any other, in one of the layouts people use."""
    generator = torch.Generator().manual_seed(20_260)
    state = []
    for slot in slots:
        shape = slot.site.shape
        if layout == "rows first" and slot.batch_axis == 1:
            shape = (1, *shape) if slot.single_layer else shape
        rows = torch.randn((probe.batch, *shape), generator=generator).mul(0.1).to(probe.device)
        if layout == "flat" and not slot.single_layer:
            return None
        state.append(slot.pack(rows) if layout == "own" else rows)
    return tuple(state) if len(state) > 1 else state[0]


def _start_method(probe: Probe, names: Sequence[str]) -> Callable[[int], Mapping[str, Any]] | None:
    """The module's own way to make a fresh state for a batch, if it has one that fits its arguments."""
    for title in _START_METHODS:
        method = getattr(probe.module, title, None)
        if not callable(method):
            continue
        quiet = _quietly(probe, method)
        try:
            made = quiet(probe.batch)
        except FAILURES:
            continue
        if not parts(made) or not all(probe.batch in part.value.shape for part in parts(made)):
            continue
        if len(names) == 1:
            return lambda batch, quiet=quiet: {names[0]: quiet(batch)}  # type: ignore[misc]
        if isinstance(made, tuple) and len(made) == len(names):
            return lambda batch, quiet=quiet: dict(zip(names, quiet(batch), strict=True))  # type: ignore[misc]
    return None


def _quietly(probe: Probe, method: Callable[[int], Any]) -> Callable[[int], Any]:
    return lambda batch: trace(probe.module, lambda: method(batch), device=probe.device).result
