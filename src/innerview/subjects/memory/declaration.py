"""Memory that the user declares: arguments of forward or attributes, with their shapes for one row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from innerview.errors import SubjectError, UnknownName
from innerview.subjects.memory.arguments import Given, places_of
from innerview.subjects.memory.belief import believed
from innerview.subjects.memory.convention import Convention
from innerview.subjects.memory.probe import Found, Probe
from innerview.subjects.memory.state import Place, attribute_named
from innerview.subjects.structure import parts


def check_layers(names: Sequence[str], layers: Mapping[str, nn.Module]) -> None:
    """An error for a name that is no recurrent layer."""
    for name in names:
        if name not in layers:
            raise UnknownName("recurrent layer", name, layers, "Or declare memory={argument: shape}.")


def declared_memory(probe: Probe, memory: Mapping[str, Any], *, arguments: Sequence[str]) -> Found:
    """Memory in arguments of forward, or else in attributes of the module; it begins with zeros."""
    trees = {name: _zeros(shape, probe) for name, shape in memory.items()}
    fresh = Given(trees, probe.batch)
    if all(name in arguments for name in memory):
        seen = probe.trace(trees)
        places = places_of(probe, tuple(memory), trees, seen)
        if len(places) < len(memory):
            shapes = ", ".join(f"'{p.name}' {list(p.value.shape)}" for p in parts(trees))
            raise SubjectError(f"forward took the memory {shapes} but returned no new state of that shape.")
        return believed(probe, Convention(places, fresh), seen)
    found = {name: attribute_named(probe.module, name) for name in memory}
    unknown = [name for name, attribute in found.items() if attribute is None]
    if unknown:
        raise UnknownName("argument of forward or attribute", unknown[0], [*arguments, *_attributes(probe.module)])
    places = tuple(Place(name, attribute=attribute) for name, attribute in found.items())
    return believed(probe, Convention(places, fresh), probe.trace())


def _zeros(shape: Any, probe: Probe) -> Any:
    """A state of zeros of that shape, or that structure of shapes."""
    if isinstance(shape, Mapping):
        return {name: _zeros(part, probe) for name, part in shape.items()}
    if isinstance(shape, tuple | list) and any(isinstance(part, tuple | list | Mapping) for part in shape):
        return tuple(_zeros(part, probe) for part in shape)
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    return torch.zeros((probe.batch, *sizes), device=probe.device, dtype=probe.blank.dtype)


def _attributes(module: nn.Module) -> list[str]:
    return [
        f"{name}.{key}".lstrip(".")
        for name, owner in module.named_modules()
        for table in (owner.__dict__, owner._buffers)
        for key, value in table.items()
        if isinstance(value, Tensor)
    ]
