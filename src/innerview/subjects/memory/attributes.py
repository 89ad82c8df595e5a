"""Finds state that a module keeps in its attributes, whatever its structure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from innerview.errors import SubjectError
from innerview.subjects.isolation import FAILURES, Written, watching
from innerview.subjects.memory.belief import believed, problem_of
from innerview.subjects.memory.carriers import NoMemory
from innerview.subjects.memory.convention import Convention, Fresh, outputs_by_hand
from innerview.subjects.memory.forms import memory_of, watched
from innerview.subjects.memory.probe import Found, Probe
from innerview.subjects.memory.state import Place, detached
from innerview.subjects.structure import Path, mapped, parts
from innerview.subjects.trace import Trace, trace

_RESET_METHODS = ("reset", "reset_state", "reset_states", "reset_memory", "reset_hidden", "reset_history", "clear")


def first_trace(probe: Probe) -> tuple[Trace, Mapping[str, Any]]:
    """One run, and what attributes had to hold for it: a state that is left from an earlier call may fit no batch."""
    try:
        return probe.trace(), {}
    except FAILURES as error:
        suspects = tuple(
            Place(item.title(probe.module), attribute=item)
            for owner in probe.module.modules()
            for item in (Written(owner, name, False) for name, value in vars(owner).items() if not _is_own(name, value))
        )
        for made in _beginnings(probe, suspects) if suspects else ():
            with watching(probe.module):
                _set(suspects, made)
                try:
                    return probe.trace(), made
                except FAILURES:
                    continue
        raise error


def _is_own(name: str, value: Any) -> bool:
    """Whether an attribute is torch's, or holds no tensor."""
    return (name.startswith("_") and name in ("_parameters", "_buffers", "_modules")) or not parts(value)


def _set(places: Sequence[Place], values: Mapping[str, Any]) -> None:
    for place in places:
        if place.attribute and place.name in values:
            place.attribute.restore(detached(values[place.name]))


def with_attributes(
    probe: Probe, convention: Convention, attributes: tuple[Place, ...], seen: Trace, begun: Mapping[str, Any]
) -> Found:
    """Those attributes are memory on which later steps depend; the others are put back after each call."""
    fresh = AttributesFresh(convention.fresh, begun or _begun(probe, convention, attributes), probe.batch)
    whole = Convention((*convention.places, *attributes), fresh)
    if not convention.places and not problem_of(probe, Found(NoMemory(), seen, whole)):
        return Found(NoMemory(), seen, whole)
    if convention.places:
        try:
            return believed(probe, convention, seen, by_hand=whole)
        except SubjectError:
            pass  # attributes are needed beside the arguments
    needed = list(attributes)
    for place in attributes:
        fewer = [other for other in needed if other is not place]
        part = Convention((*convention.places, *fewer), fresh)
        if fewer and not problem_of(probe, _carrying(probe, part, seen, whole)):
            needed = fewer
    return believed(probe, Convention((*convention.places, *needed), fresh), seen, by_hand=whole)


def _carrying(probe: Probe, convention: Convention, seen: Trace, by_hand: Convention) -> Found:
    try:
        state = watched(probe.module, probe.calls, convention, batch=probe.batch, device=probe.device)
        carrier, starts = memory_of(state, convention.fresh)
    except SubjectError:
        return Found(NoMemory(), seen, by_hand)
    return Found(carrier, seen, by_hand, starts)


@dataclass(frozen=True)
class AttributesFresh:
    """A fresh state in arguments, and what attributes hold before the first step."""

    arguments: Fresh
    attributes: Mapping[str, Any]
    batch: int
    """Rows for which the attributes were made."""

    def __call__(self, batch: int) -> Mapping[str, Any]:
        """By name of the place."""
        own = {n: mapped(tree, lambda _, item: self._resized(item, batch)) for n, tree in self.attributes.items()}
        return {**self.arguments(batch), **own}

    def _resized(self, item: Any, batch: int) -> Any:
        if not isinstance(item, Tensor) or self.batch not in item.shape:
            return item
        axis = item.shape.index(self.batch)
        return item.narrow(axis, 0, 1).expand(*item.shape[:axis], batch, *item.shape[axis + 1 :]).clone()


def _begun(probe: Probe, convention: Convention, places: Sequence[Place]) -> dict[str, Any]:
    """What the attributes hold at the first step: after the module's own reset, else as they are, else nothing."""
    for made in _beginnings(probe, places):
        whole = Convention((*convention.places, *places), AttributesFresh(convention.fresh, made, probe.batch))
        try:
            outputs_by_hand(probe.module, probe.calls, whole, probe.batch, probe.device)
        except FAILURES:
            continue
        return made
    names = ", ".join(f"'{place.name}'" for place in places)
    raise SubjectError(
        f"forward writes {names}, and what it holds now does not fit a batch of rows. Reset the module before it is "
        "adapted, or give it a method reset() that makes the state fresh for any number of rows."
    )


def _beginnings(probe: Probe, places: Sequence[Place]) -> Iterator[dict[str, Any]]:
    def held() -> dict[str, Any]:
        return {p.name: detached(p.attribute.read()) for p in places if p.attribute}

    def reset(title: str, arguments: tuple[int, ...]) -> Callable[[], dict[str, Any]]:
        def run() -> dict[str, Any]:
            getattr(probe.module, title)(*arguments)
            return held()

        return run

    for title in _RESET_METHODS:
        for arguments in ((), (probe.batch,)) if callable(getattr(probe.module, title, None)) else ():
            try:
                found = trace(probe.module, reset(title, arguments), device=probe.device)
            except FAILURES:
                continue
            yield dict(found.result)
    now = held()
    nothing = {name: None if parts(tree) else tree for name, tree in now.items()}
    own = (part.value for p in places if p.attribute and not p.attribute.buffer for part in parts(now[p.name]))
    if any(bool(value.any()) for value in own):
        yield nothing  # left from an earlier call: a module that knows what to do with nothing begins so
    yield {name: _widened(tree, probe.batch) for name, tree in now.items()}
    yield now
    yield nothing


def _widened(tree: Any, batch: int) -> Any:
    """A state of one row as one of so many."""

    def change(_: Path, item: Any) -> Any:
        one = isinstance(item, Tensor) and item.ndim > 1 and item.shape[0] == 1
        return item.expand(batch, *item.shape[1:]).clone() if one else item

    return mapped(tree, change)
