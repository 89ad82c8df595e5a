"""How the author of a module carries its state from call to call, and whether a carrier does the same."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from innerview.subjects.isolation import ABSENT, Evaluating, same_random_numbers, watching
from innerview.subjects.memory.carriers import Call, Carrier, Slot, carried_in
from innerview.subjects.memory.state import Place, detached
from innerview.subjects.structure import mapped, parts

Start = Callable[[], Tensor]
"""Gives one row of a site's initial state; a site without one starts from zeros."""
Fresh = Callable[[int], Mapping[str, Any]]
"""The state before the first step by name of the place, for so many rows; an argument that is missing is left out."""
_CLOSE = {torch.float16: 2e-2, torch.bfloat16: 1e-1}
CLOSE = 1e-5
"""How far two runs of the same may lie apart, over the size of what they give."""


def nothing(batch: int) -> Mapping[str, Any]:
    """No argument is given, and attributes are as they are."""
    return {}


@dataclass(frozen=True)
class Convention:
    """What is handed in at the first step, and what of each output is handed in at the next."""

    places: tuple[Place, ...] = ()
    fresh: Fresh = nothing
    time_axis: int | None = None
    """A whole episode is given in one call, along this axis."""
    apart: bool = False
    """Each step begins afresh: memory was declined, or declared to be that of layers."""

    def play(self, calls: Sequence[Call], batch: int, seed: int = 0) -> Iterator[tuple[list[Any], Any]]:
        """The state before each step, by place, and what the module returns. Attributes go their own way."""
        state: dict[str, Any] = {}
        for step, call in enumerate(calls):
            if step == 0 or self.apart:
                state = dict(self.fresh(batch))
                for place in self.places:
                    if place.attribute and place.name in state:
                        place.attribute.restore(detached(state[place.name]))
            before = self._before(state)
            seeded(seed + step)
            result = call({p.name: state[p.name] for p in self.places if p.attribute is None and p.name in state})
            yield before, result
            state = {place.name: place.read(result) for place in self.places}

    def _before(self, state: Mapping[str, Any]) -> list[Any]:
        return [
            detached(place.attribute.read() if place.attribute else state.get(place.name, ABSENT))
            for place in self.places
        ]

    def after(self, result: Any) -> list[Any]:
        """The state that a call leaves, by place."""
        return [detached(place.read(result)) for place in self.places]


@contextlib.contextmanager
def as_author(module: nn.Module, device: torch.device) -> Iterator[None]:
    """The module in eval mode, as its author puts it there; afterwards everything is as it was."""
    with same_random_numbers(device), watching(module), Evaluating(list(module.modules())), torch.no_grad():
        module.eval()  # a module may have its own: what it changes is put back as well
        yield


def seeded(number: int) -> None:
    """All random numbers begin at this one; whoever calls puts them back."""
    torch.default_generator.manual_seed(number)  # torch.manual_seed keeps a note for each call where there is no CUDA
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        torch.cuda.manual_seed_all(number)
    np.random.seed(number)
    random.seed(number)


def fresh_memory(slots: Sequence[Slot], starts: Mapping[str, Start], batch: int, like: Tensor) -> dict[str, Tensor]:
    """A fresh state for each row, by name of the site."""
    dtype, found = carried_in(like.dtype), dict[str, Tensor]()
    for slot in slots:
        name, shape = slot.site.name, (batch, *slot.site.shape)
        start = starts.get(name)
        row = start() if start else torch.zeros(())
        found[name] = row.detach().to(like.device, dtype).expand(shape).clone()
    return found


def outputs_by_hand(
    module: nn.Module,
    calls: Sequence[Call],
    convention: Convention,
    batch: int,
    device: torch.device,
    seed: int = 0,
) -> list[Any]:
    """What the module returns at each step, called as its author calls it."""
    with as_author(module, device):
        return [detached(result) for _, result in convention.play(calls, batch, seed)]


def carried_outputs(
    module: nn.Module,
    calls: Sequence[Call],
    carrier: Carrier,
    starts: Mapping[str, Start],
    *,
    batch: int,
    device: torch.device,
    apart: bool = False,
) -> list[Any]:
    """What the module returns at each step when a carrier carries its state."""
    like = next(module.parameters(), torch.zeros((), device=device))
    memory, found = fresh_memory(carrier.slots, starts, batch, like), []
    with same_random_numbers(device), watching(module), Evaluating(list(module.modules())), torch.no_grad():
        for step, call in enumerate(calls):
            seeded(step)
            with watching(module):
                result, after = carrier.run(call, memory)
            memory = memory if apart else after
            found.append(detached(result))
    return found


def difference(one: Any, other: Any) -> float:
    """How far two outputs lie apart, 0 where they are close; infinite where they have other parts."""
    here, there = parts(one), parts(other)
    if [(part.path, part.value.shape) for part in here] != [(part.path, part.value.shape) for part in there]:
        return float("inf")
    return max((apart(a.value, b.value) for a, b in zip(here, there, strict=True)), default=0.0)


def apart(a: Tensor, b: Tensor, *, dtype: torch.dtype | None = None) -> float:
    """The largest difference of two tensors; 0 where it is within what rounding explains."""
    close = _CLOSE.get(dtype or a.dtype, CLOSE)
    x, y = a.detach().double(), b.detach().double()
    same = (x == y) | (torch.isnan(x) & torch.isnan(y))
    gap = torch.where(same, 0.0, (x - y).abs())
    if not gap.numel():
        return 0.0
    finite = y[torch.isfinite(y)]
    size = max(1.0, float(finite.abs().max())) if finite.numel() else 1.0
    worst = float(torch.nan_to_num(gap, nan=float("inf")).max())
    return worst if worst > close * size else 0.0


def last_of(result: Any, axis: int, steps: int) -> Any:
    """The last step of an output that has a time axis of so many."""

    def chosen(_: Any, item: Any) -> Any:
        if isinstance(item, Tensor) and item.ndim > axis and item.shape[axis] == steps:
            return item.narrow(axis, steps - 1, 1)
        return item

    return mapped(result, chosen)
