"""Memory that the user declares: an argument of forward or an attribute, with its shape for one row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from innerview.errors import SubjectError, UnknownName
from innerview.schema import MemorySite
from innerview.subjects.isolation import Written
from innerview.subjects.memory.carriers import ArgumentMemory, AttributeMemory, Slot
from innerview.subjects.memory.discovery import Found, Probe, returned
from innerview.subjects.trace import trace


def check_layers(names: Sequence[str], layers: Mapping[str, nn.Module]) -> None:
    """An error for a name that is no recurrent layer."""
    for name in names:
        if name not in layers:
            raise UnknownName("recurrent layer", name, layers, "Or declare memory={argument: shape}.")


def declared_memory(probe: Probe, memory: Mapping[str, Any], *, arguments: Sequence[str]) -> Found:
    """Memory in arguments of forward, or else in attributes of the module."""
    slots = tuple(_slot(name, shape) for name, shape in memory.items())
    if all(name in arguments for name in memory):
        return _in_arguments(probe, slots)
    unknown = [name for name in memory if _attribute(probe.module, name) is None]
    if unknown:
        raise UnknownName("argument of forward or attribute", unknown[0], [*arguments, *_attributes(probe.module)])
    return _in_attributes(probe, slots)


def _slot(name: str, shape: Any) -> Slot:
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    return Slot(MemorySite(name=name, layer="", kind="declared", shape=sizes, editable="carried"), 0)


def _in_arguments(probe: Probe, slots: tuple[Slot, ...]) -> Found:
    given = {slot.site.name: torch.zeros((probe.batch, *slot.site.shape), device=probe.device) for slot in slots}
    seen = probe.trace(given)
    paths = returned(given, seen)
    if paths is None:
        shapes = ", ".join(f"'{name}' {list(value.shape)}" for name, value in given.items())
        raise SubjectError(f"forward took the memory {shapes} but returned no new state of that shape.")
    blank = torch.empty(0)
    return Found(ArgumentMemory(tuple((name, blank) for name in given), slots, paths), seen, {}, paths)


def _in_attributes(probe: Probe, slots: tuple[Slot, ...]) -> Found:
    attributes = tuple(_written(probe.module, slot.site.name) for slot in slots)
    carrier = AttributeMemory(attributes, slots)
    zeros = {slot.site.name: torch.zeros((probe.batch, *slot.site.shape), device=probe.device) for slot in slots}
    seen = trace(probe.module, lambda: carrier.run(probe.call, zeros)[0], device=probe.device)
    return Found(carrier, seen)


def _written(module: nn.Module, name: str) -> Written:
    found = _attribute(module, name)
    assert found is not None
    return found


def _attribute(module: nn.Module, name: str) -> Written | None:
    owner_name, _, last = name.rpartition(".")
    owner = dict(module.named_modules()).get(owner_name)
    if owner is None:
        return None
    if last in owner._buffers:
        return Written(owner, last, True)
    return Written(owner, last, False) if last in owner.__dict__ else None


def _attributes(module: nn.Module) -> list[str]:
    return [
        f"{name}.{key}".lstrip(".")
        for name, owner in module.named_modules()
        for table in (owner.__dict__, owner._buffers)
        for key, value in table.items()
        if isinstance(value, Tensor)
    ]
