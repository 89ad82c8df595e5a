"""Finds the forms that a state takes while its author carries it, and makes memory of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from innerview.errors import SubjectError
from innerview.schema import MemorySite
from innerview.subjects.memory.carriers import Call, Slot, layer_slots
from innerview.subjects.memory.convention import Convention, Fresh, Start, as_author
from innerview.subjects.memory.state import FORM, HOLE, Form, Leaf, Place, StateMemory, unreadable
from innerview.subjects.sites.hooks import attached
from innerview.subjects.structure import Path, leaves, mapped, pick
from innerview.subjects.trace import new_state, recurrent_layers

_MANY = 64
"""A history may fill up for so many steps."""
_QUIET = 4
"""A state that takes no new form in so many steps has shown them all."""
_SHARED = 256
"""What all rows share is carried in each of them: it must be small."""
State = list[Any]
Where = tuple[int, Path]
"""A place by number, and the way to a leaf in it."""


@dataclass(frozen=True)
class Watched:
    """A state that was watched while its author carried it."""

    places: tuple[Place, ...]
    states: list[State]
    """Before each step, and after the last."""
    batch: int
    layers: Mapping[str, tuple[nn.Module, tuple[Tensor, ...]]]
    """Recurrent layers and their state after the last step."""


def watched(
    module: nn.Module, calls: Sequence[Call], convention: Convention, *, batch: int, device: torch.device
) -> Watched:
    """Call the module again and again, until its state takes no new form."""
    states: list[State] = []
    known: list[Any] = []
    last: dict[str, tuple[nn.Module, tuple[Tensor, ...]]] = {}
    after: State = []
    new_at = 0
    with as_author(module, device), attached(_reading(module, last)):
        for before, result in convention.play([calls[i % len(calls)] for i in range(_MANY)], batch):
            _check(convention.places, before)
            states.append(before)
            after = convention.after(result)
            form = _outline(before, batch)
            if form not in known:
                known.append(form)
                new_at = len(states)
            if len(states) >= len(calls) and len(states) - new_at >= _QUIET:
                break
        else:
            names = ", ".join(f"'{place.name}'" for place in convention.places)
            raise SubjectError(
                f"The state {names} takes a new form at each of {_MANY} steps, as a history does that grows without "
                "end. Give it a limit (deque(maxlen=8), or a tensor of the last 8 steps)."
            )
    _check(convention.places, after)
    return Watched(convention.places, [*states, after], batch, last)


def _reading(module: nn.Module, into: dict[str, tuple[nn.Module, tuple[Tensor, ...]]]) -> Iterator[RemovableHandle]:
    def reader(name: str) -> Any:
        def hook(layer: nn.Module, args: Any, output: Any) -> None:
            into[name] = layer, tuple(value.detach().clone() for value in new_state(layer, output))

        return hook

    for name, layer in recurrent_layers(module).items():
        yield layer.register_forward_hook(reader(name))


def _check(places: Sequence[Place], state: State) -> None:
    for place, tree in zip(places, state, strict=True):
        if problem := unreadable(place, tree):
            raise SubjectError(
                f"The state cannot be carried: {problem}. Keep it in tensors with a row for each input, in any "
                "structure of tuples, lists, dicts, deques and dataclasses, and in numbers."
            )


def _outline(state: State, batch: int) -> Any:
    """What two states of one form have in common."""
    return [[(path, _described(item, batch)) for path, item in leaves(tree)] for tree in state]


def _described(item: Any, batch: int) -> Any:
    if isinstance(item, Tensor):
        return "rows" if batch in item.shape else "shared", tuple(item.shape), item.dtype
    return type(item) if isinstance(item, int | float) else item


def memory_of(seen: Watched, fresh: Fresh) -> tuple[StateMemory, dict[str, Start]]:
    """Memory with a slot for each tensor and number of the state, and where it begins."""
    forms, outlines = list[State](), list[Any]()
    for state in seen.states:
        if (outline := _outline(state, seen.batch)) not in outlines:
            forms.append(state)
            outlines.append(outline)
    slots = _slots(seen, forms)
    made = tuple(_form(state, slots, seen.batch) for state in forms)
    shared = tuple(
        dict.fromkeys(
            leaf.slot.site.name for form in made for held in form.leaves for leaf in held if leaf.kind != "rows"
        )
    )
    every = [slots[where] for where in slots]
    if len(made) > 1:
        every.append(Slot(MemorySite(name=FORM, layer="", kind="declared", shape=(1,), editable="carried"), 0))
    memory = StateMemory(seen.places, made, tuple(every), shared)
    return memory, _starts(seen, made[0], fresh)


def _slots(seen: Watched, forms: Sequence[State]) -> dict[Where, Slot]:
    """A slot for each leaf of any form, with room for the largest."""
    found: dict[Where, Slot] = {}
    for state in forms:
        for number, tree in enumerate(state):
            for path, item in leaves(tree):
                slot = _slot(seen, number, path, item)
                if slot is None:
                    continue
                before = found.get((number, path))
                found[number, path] = slot if before is None else _larger(before, slot)
    return found


def _larger(one: Slot, other: Slot) -> Slot:
    a, b = one.site.shape, other.site.shape
    if a == b:
        return one
    if len(a) != len(b) or one.batch_axis != other.batch_axis:
        raise SubjectError(
            f"The state '{one.site.name}' has the shape {list(a)} for one row in one step and {list(b)} in another. "
            "Keep its number of axes the same."
        )
    site = MemorySite(
        name=one.site.name,
        layer="",
        kind="declared",
        shape=tuple(max(pair) for pair in zip(a, b, strict=True)),
        editable="carried",
    )
    return Slot(site, one.batch_axis)


def _slot(seen: Watched, number: int, path: Path, item: Any) -> Slot | None:
    place = seen.places[number]
    name = ".".join(map(str, (place.name, *path)))
    if isinstance(item, bool | int | float):
        return Slot(MemorySite(name=name, layer="", kind="declared", shape=(1,), editable="carried"), 0)
    if not isinstance(item, Tensor):
        return None
    axis = next((i for i, size in enumerate(item.shape) if size == seen.batch), None)
    if axis is None:
        if item.numel() > _SHARED:
            raise SubjectError(
                f"The state '{name}' {list(item.shape)} has no row for each input. Give it a batch axis, so that "
                "episodes can run side by side."
            )
        shape = tuple(item.shape) or (1,)
        return Slot(MemorySite(name=name, layer="", kind="declared", shape=shape, editable="carried"), 0)
    shape = tuple(size for i, size in enumerate(item.shape) if i != axis)
    single = len(shape) > 1 and shape[0] == 1 and axis <= 1
    shape = shape[1:] if single else shape
    last = seen.states[-1][number]
    value = pick(last, path) if path in dict(leaves(last)) else None
    for title, (layer, state) in seen.layers.items():
        for own, new in zip(layer_slots(title, layer), state, strict=True):
            if isinstance(value, Tensor) and same(value, new) and own.site.shape == shape:
                return Slot(own.site, axis, single)
    site = MemorySite(name=name, layer="", kind="declared", shape=shape or (1,), editable="carried")
    return Slot(site, axis, single)


def same(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors hold the same numbers, however they are laid out."""
    return a.numel() == b.numel() and (a is b or torch.equal(a.flatten().to(b.dtype), b.flatten()))


def _form(state: State, slots: Mapping[Where, Slot], batch: int) -> Form:
    trees, held = [], []
    for number, tree in enumerate(state):
        own: list[Leaf] = []
        for path, item in leaves(tree):
            slot = slots.get((number, path))
            if slot is not None and isinstance(item, bool | int | float | Tensor):
                own.append(_leaf(path, slot, item, batch))
        chosen = {leaf.path for leaf in own}
        trees.append(mapped(tree, lambda path, item, chosen=chosen: HOLE if path in chosen else item))  # type: ignore[misc]
        held.append(tuple(own))
    return Form(tuple(trees), tuple(held))


def _leaf(path: Path, slot: Slot, item: Any, batch: int) -> Leaf:
    if not isinstance(item, Tensor):
        return Leaf(path, slot, "number", (1,), type(item))
    if batch not in item.shape:
        return Leaf(path, slot, "shared", tuple(item.shape), item.dtype)
    return Leaf(path, slot, "rows", tuple(slot.unpack(item).shape[1:]), item.dtype)


@dataclass(frozen=True)
class FreshRow:
    """One row of what the module makes itself for a fresh state: follows its weights."""

    fresh: Fresh
    place: str
    leaf: Leaf

    def __call__(self) -> Tensor:
        """The row."""
        value = pick(self.fresh(1)[self.place], self.leaf.path)
        return self.leaf.unpack(value, 1, torch.zeros(()))[0]


@dataclass(frozen=True)
class Row:
    """One row that stays as it is, or that of a parameter or buffer."""

    value: Tensor
    shape: tuple[int, ...]

    def __call__(self) -> Tensor:
        """The row."""
        return self.value.detach().reshape(self.shape)


def live_row(module: nn.Module, row: Tensor) -> Row:
    """A row, or the parameter or buffer that holds the same numbers: a learned start follows training."""
    for tensor in (*module.parameters(), *module.buffers()):
        if tensor.numel() == row.numel() and torch.equal(tensor.detach().flatten(), row.flatten().to(tensor.dtype)):
            return Row(tensor, tuple(row.shape))
    return Row(row, tuple(row.shape))


def _starts(seen: Watched, form: Form, fresh: Fresh) -> dict[str, Start]:
    """Where each slot of the first form begins."""
    starts: dict[str, Start] = {}
    made = fresh(1)
    like = torch.zeros(())
    for number, (place, held) in enumerate(zip(seen.places, form.leaves, strict=True)):
        for leaf in held:
            value = pick(seen.states[0][number], leaf.path)
            rows = leaf.unpack(value, seen.batch, like)
            if not torch.equal(rows, rows[:1].expand_as(rows)):
                raise SubjectError(
                    f"The state '{leaf.slot.site.name}' begins with other numbers in each row: it is drawn at random, "
                    "or left from an earlier call. Reset the module, or begin with zeros."
                )
            name = leaf.slot.site.name
            if place.attribute is None and place.name in made and leaf.kind == "rows":
                starts[name] = FreshRow(fresh, place.name, leaf)
            elif bool(rows.any()):
                starts[name] = Row(rows[0].clone(), tuple(rows.shape[1:]))
    return starts
