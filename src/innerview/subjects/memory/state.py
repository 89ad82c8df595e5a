"""A state of any structure, handed to a module and taken back whole: arguments of forward, or attributes.

A state is a structure of tensors and numbers. The structures that were seen are its forms: a history that fills up has
one for each length, a state that is made at the first step begins as None. Tensors with a row for each input become
memory sites. What all rows share, such as a counter, is carried for each row too, and rows that differ in it are run
one group after the other, as if each was alone.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from innerview.errors import SubjectError
from innerview.subjects.isolation import ABSENT, Written, restoring
from innerview.subjects.memory.carriers import Call, Memory, Slot
from innerview.subjects.structure import Path, leaves, mapped, pick, rebuild

FORM = "form"
"""Name of the site that says which form the state has, where there are several."""
Kind = Literal["rows", "shared", "number"]


class HOLE:
    """Stands in a template where a tensor or number belongs; a copy of it is itself."""


@dataclass(frozen=True)
class Place:
    """Where a module is handed a part of its state, and where the new one is found."""

    name: str
    """An argument of forward, or an attribute as people write it."""
    paths: tuple[Path, ...] = ()
    """In the output, for an argument: the whole, or its parts in order where it is returned in pieces."""
    tree: Any = None
    """How the pieces are put together."""
    attribute: Written | None = None

    def read(self, result: Any) -> Any:
        """The state after a call."""
        if self.attribute:
            return self.attribute.read()
        if self.tree is None:
            return pick(result, self.paths[0])
        return rebuild(self.tree, iter([pick(result, path) for path in self.paths]))


@dataclass(frozen=True)
class Leaf:
    """One tensor or number of a form."""

    path: Path
    slot: Slot
    kind: Kind
    shape: tuple[int, ...]
    """Of one row; the slot may have room for more."""
    dtype: Any
    """A torch.dtype, or int, float or bool."""

    def pack(self, rows: Tensor) -> Any:
        """What the module is handed."""
        if self.kind == "number":
            number = rows[0].item()
            return self.dtype(round(number)) if self.dtype is not float else number
        if self.kind == "shared":
            return rows[0].reshape(self.shape).to(self.dtype)
        own = rows[(slice(None), *map(slice, self.shape))] if self.shape else rows[:, 0]
        value: Tensor = self.slot.pack(own)
        double = value.dtype is torch.float64 and self.dtype.is_floating_point  # the module may be converted later
        return (value if double else value.to(self.dtype)).clone()

    def unpack(self, value: Any, batch: int, like: Tensor) -> Tensor:
        """[batch, *site.shape]."""
        if self.kind == "number":
            return torch.full((batch, 1), float(value), dtype=like.dtype, device=like.device)
        if self.kind == "shared":
            shared: Tensor = value.to(like).reshape(1, *self.slot.site.shape)
            return shared.expand(batch, *self.slot.site.shape).clone()
        own: Tensor = self.slot.unpack(value).to(like.dtype)
        if self.shape == self.slot.site.shape or not self.shape:
            return own.reshape(batch, *self.slot.site.shape)
        room = torch.zeros((batch, *self.slot.site.shape), dtype=like.dtype, device=like.device)
        room[(slice(None), *map(slice, self.shape))] = own
        return room

    def fits(self, value: Any, batch: int) -> bool:
        """Whether a value of a state of `batch` rows is such a leaf."""
        if self.kind == "number":
            return type(value) is self.dtype
        if not isinstance(value, Tensor) or value.is_floating_point() != self.dtype.is_floating_point:
            return False
        if self.kind == "shared":
            return tuple(value.shape) == self.shape
        shape = list(self.shape)
        if self.slot.single_layer:
            shape.insert(0, 1)
        shape.insert(self.slot.batch_axis, batch)
        return list(value.shape) == shape


@dataclass(frozen=True)
class Form:
    """One structure that a state has been seen to have: a template for each place, and what stands in its holes."""

    trees: tuple[Any, ...]
    leaves: tuple[tuple[Leaf, ...], ...]

    def made(self, memory: Memory) -> list[Any]:
        """The state as the module takes it."""
        found = []
        for tree, held in zip(self.trees, self.leaves, strict=True):
            values = iter([leaf.pack(memory[leaf.slot.site.name]) for leaf in held])
            found.append(mapped(tree, lambda _, item, values=values: next(values) if item is HOLE else item))  # type: ignore[misc]
        return found

    def read(self, state: Sequence[Any], batch: int, memory: Memory) -> dict[str, Tensor] | None:
        """A state of this form by name of the slot; none of another form."""
        found: dict[str, Tensor] = {}
        for tree, held, now in zip(self.trees, self.leaves, state, strict=True):
            here, there = list(leaves(tree)), list(leaves(now))
            if [path for path, _ in here] != [path for path, _ in there]:
                return None
            own = iter(held)
            for (_, item), (_, value) in zip(here, there, strict=True):
                if item is not HOLE:
                    if item is not value and item != value:
                        return None
                    continue
                leaf = next(own)
                if not leaf.fits(value, batch):
                    return None
                found[leaf.slot.site.name] = leaf.unpack(value, batch, memory[leaf.slot.site.name])
        return found


@dataclass(frozen=True)
class StateMemory:
    """State in arguments of forward and in attributes; attributes are put back after each call."""

    places: tuple[Place, ...]
    forms: tuple[Form, ...]
    """The first is that of a fresh state."""
    slots: tuple[Slot, ...]
    shared: tuple[str, ...] = ()
    """Sites in which rows that run together must be equal."""

    @property
    def attributes(self) -> tuple[Written, ...]:
        """Those that hold a part of it."""
        return tuple(place.attribute for place in self.places if place.attribute)

    def run(self, call: Call, memory: Memory) -> tuple[Any, dict[str, Tensor]]:
        """Hand in, call, take back."""
        state = self._form(memory).made(memory)
        arguments = {
            place.name: value
            for place, value in zip(self.places, state, strict=True)
            if place.attribute is None and value is not ABSENT
        }
        with contextlib.ExitStack() as stack:
            if self.attributes:
                stack.enter_context(restoring(self.attributes))
                for place, value in zip(self.places, state, strict=True):
                    if place.attribute:
                        place.attribute.restore(value)
            result = call(arguments)
            return result, self.read([place.read(result) for place in self.places], memory)

    def read(self, state: Sequence[Any], memory: Memory) -> dict[str, Tensor]:
        """A state as memory; `memory`: of as many rows."""
        batch = len(next(iter(memory.values())))
        for number, form in enumerate(self.forms):
            found = form.read(state, batch, memory)
            if found is not None:
                blank = {name: torch.zeros_like(value) for name, value in memory.items()}
                return blank | found | ({FORM: torch.full_like(memory[FORM], number)} if FORM in memory else {})
        names = ", ".join(f"'{place.name}'" for place in self.places)
        raise SubjectError(
            f"The state {names} came back in a form that it had in none of the steps it was tried for: it cannot be "
            "carried. Keep the structure and the shapes of a state the same from step to step."
        )

    def groups(self, memory: Memory) -> tuple[Tensor, ...]:
        """Rows whose states have one form and share what all rows of a call share."""
        names = [*self.shared, *([FORM] if len(self.forms) > 1 else [])]
        if not names:
            return ()
        table = torch.cat([memory[name].reshape(len(memory[name]), -1) for name in names], dim=1)
        kinds, place = torch.unique(table, dim=0, return_inverse=True)
        if len(kinds) == 1:
            return ()
        return tuple((place == kind).nonzero().flatten() for kind in range(len(kinds)))

    def _form(self, memory: Memory) -> Form:
        return self.forms[round(memory[FORM][0].item())] if len(self.forms) > 1 else self.forms[0]


def unreadable(place: Place, tree: Any) -> str:
    """What in a state cannot be carried, in words; nothing where all can."""
    for path, item in leaves(tree):
        if not (isinstance(item, Tensor | bool | int | float | str) or item is None or item is ABSENT):
            where = ".".join(map(str, (place.name, *path)))
            return f"'{where}' is {type(item).__name__}"
    return ""


def detached(tree: Any) -> Any:
    """A structure of its own, that no later call changes."""
    return mapped(tree, lambda _, item: item.detach().clone() if isinstance(item, Tensor) else item)


def attribute_named(module: nn.Module, name: str) -> Written | None:
    """The attribute or buffer that people write so."""
    owner_name, _, last = name.rpartition(".")
    owner = dict(module.named_modules()).get(owner_name)
    if owner is None:
        return None
    if last in owner._buffers:
        return Written(owner, last, True)
    return Written(owner, last, False) if last in owner.__dict__ else None
