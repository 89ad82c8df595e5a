"""Believes a way to carry state when it gives, over several steps, what the module gives when its author calls it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import nn

from innerview.errors import SubjectError
from innerview.subjects.isolation import FAILURES
from innerview.subjects.memory.carriers import Slot, layer_slots
from innerview.subjects.memory.convention import Convention, Start, carried_outputs, difference, outputs_by_hand
from innerview.subjects.memory.forms import Watched, live_row, memory_of, watched
from innerview.subjects.memory.probe import Found, Probe
from innerview.subjects.memory.state import StateMemory
from innerview.subjects.structure import parts, pick
from innerview.subjects.trace import Trace


def believed(probe: Probe, convention: Convention, seen: Trace, by_hand: Convention | None = None) -> Found:
    """Memory that gives what the author gets; the simplest that does."""
    state = watched(probe.module, probe.calls, convention, batch=probe.batch, device=probe.device)
    carrier, starts = memory_of(state, convention.fresh)
    paths = tuple(
        (*path, *part.path)
        for place in convention.places
        for path in place.paths
        for part in parts(pick(seen.result, path))
    )
    author = by_hand or convention
    for form, begin in _simpler(probe, carrier, starts, state, seen):
        found = Found(form, seen, author, begin, paths)
        problem = problem_of(probe, found)
        if not problem:
            return found
    raise SubjectError(
        f"The state of {type(probe.module).__name__} ({', '.join(repr(p.name) for p in author.places)}) was carried, "
        f"and yet {problem}. Take the whole state as an argument of forward and return the new one, so that it can be "
        "declared: memory={'state': (size,)}."
    )


def _simpler(
    probe: Probe, carrier: StateMemory, starts: Mapping[str, Start], state: Watched, seen: Trace
) -> Iterator[tuple[StateMemory, Mapping[str, Start]]]:
    """A state that begins as nothing or fills up may as well begin with zeros, or with a learned row."""
    if len(carrier.forms) > 1:
        names = {leaf.slot.site.name for held in carrier.forms[-1].leaves for leaf in held}
        slots = tuple(slot for slot in carrier.slots if slot.site.name in names)
        shared = tuple(name for name in carrier.shared if name in names)
        steady = StateMemory(carrier.places, carrier.forms[-1:], slots, shared)
        if slots and len(state.states) > 1:
            yield steady, {}
            begun: dict[str, Start] = {}
            for name, call in seen.recurrent.items():
                begun |= received_starts(probe.module, layer_slots(name, call.layer), call.received)
            if begun:
                yield steady, {name: start for name, start in begun.items() if name in names}
    yield carrier, starts


def problem_of(probe: Probe, found: Found) -> str:
    """How what is carried differs from what the author carries, in words; nothing where it does not."""
    convention = found.convention
    try:
        wanted = outputs_by_hand(probe.module, probe.calls, convention, probe.batch, probe.device)
        got = carried_outputs(
            probe.module, probe.calls, found.carrier, found.starts, batch=probe.batch, device=probe.device
        )
    except (*FAILURES, SubjectError) as error:
        return f"it failed with {type(error).__name__}: {str(error).splitlines()[0] if str(error) else 'no message'}"
    for step, (one, other) in enumerate(zip(got, wanted, strict=True)):
        gap = difference(one, other)
        if gap:
            return f"step {step} gives something else than the module called by hand, by up to {gap:.2g}"
    return ""


def received_starts(module: nn.Module, slots: tuple[Slot, ...], received: Any) -> dict[str, Start]:
    """What recurrent layers were given at the first step, where it is the same in each row."""
    starts: dict[str, Start] = {}
    for slot, part in zip(slots, parts(received), strict=False):
        rows = slot.unpack(part.value.detach())
        if (
            tuple(rows.shape[1:]) == slot.site.shape
            and bool(rows.any())
            and torch.equal(rows, rows[:1].expand_as(rows))
        ):
            starts[slot.site.name] = live_row(module, rows[0].clone())
    return starts
