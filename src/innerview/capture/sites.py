"""Sites that are saved with rows, as arrays: under the same names whether rows are recorded or predicted."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from innerview.schema import ArraySpec, Site, SubjectInfo, find_site
from innerview.subjects import Output

_NAME_LENGTH = 80


@dataclass(frozen=True, kw_only=True)
class SiteLayout:
    """Sites by the array that holds each."""

    arrays: tuple[ArraySpec, ...] = ()
    addresses: Mapping[str, str] = field(default_factory=dict)
    """As they were asked for, by name of the array."""

    @property
    def keep(self) -> tuple[str, ...]:
        """What `Subject.run` is asked to read."""
        return tuple(self.addresses.values())

    def values(self, output: Output) -> dict[str, np.ndarray]:
        """Of a batch."""
        return {array: as_array(output.sites[address]) for array, address in self.addresses.items()}


def site_layout(info: SubjectInfo, keep: Sequence[str], output: Output) -> SiteLayout:
    """An array for each address, whose shape is read off an output. A whole memory is named as recordings name it."""
    names: dict[str, str] = {}
    specs = []
    for address in dict.fromkeys(keep):
        name = _array_name(info, address, taken=names)
        names[name] = address
        specs.append(_spec(name, find_site(address, info.sites), address, output.sites[address]))
    return SiteLayout(arrays=tuple(specs), addresses=names)


def memory_specs(info: SubjectInfo) -> list[ArraySpec]:
    """Recurrent states, as each step of a recording holds them."""
    names = info.memory_arrays
    return [
        ArraySpec(
            name=names[memory.name],
            shape=memory.shape,
            dtype="float32",
            role="memory",
            axes=memory.site.axes,
            label=memory.name,
            site=memory.address,
        )
        for memory in info.memory
    ]


def as_array(value: Tensor) -> np.ndarray:
    """As it is stored."""
    return value.detach().to("cpu", torch.float32).numpy()


def _array_name(info: SubjectInfo, address: str, taken: Collection[str]) -> str:
    """The address made of what a name may hold; a digest tells apart what would be one name, or too long."""
    for memory in info.memory:
        if memory.address == address:
            return info.memory_arrays[memory.name]
    name = "site." + re.sub(r"[^A-Za-z0-9._+-]", "+", address)
    if name not in taken and len(name) <= _NAME_LENGTH:
        return name
    return f"{name[: _NAME_LENGTH - 9]}+{hashlib.sha256(address.encode()).hexdigest()[:8]}"


def _spec(name: str, site: Site, address: str, value: Tensor) -> ArraySpec:
    axes = site.axes if len(site.axes) == value.ndim - 1 else ()
    shape = tuple(value.shape[1:])
    return ArraySpec(name=name, shape=shape, dtype="float32", role=site.kind, axes=axes, label=address, site=address)
