"""Rows made of tensors that are there already, as a lens takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from innerview.capture import GivenRows
from innerview.errors import LensError
from innerview.schema import Rows, States
from innerview.subjects import Output, Subject


@dataclass(frozen=True)
class GivenFeed:
    """Gives a subject what it is given here; where no memory is given, it starts afresh at every row."""

    subject: Subject
    given: Mapping[str, Tensor]
    before: Mapping[str, Tensor] | None = None
    groups: tuple[tuple[int, int], ...] = ()

    def inputs(self, places: np.ndarray, back: int = 0) -> dict[str, Tensor]:
        """Inputs of these rows."""
        wanted = places - back
        if len(wanted) and wanted[0] >= 0 and (np.diff(wanted) == 1).all():
            return {name: value[wanted[0] : wanted[-1] + 1] for name, value in self.given.items()}
        return {name: value[torch.as_tensor(wanted)] for name, value in self.given.items()}

    def memory_before(self, places: np.ndarray, back: int = 0) -> dict[str, Tensor]:
        """The memory before these rows."""
        if self.before is None:
            return self.subject.initial_memory(len(places))
        return {name: value[torch.as_tensor(places - back)] for name, value in self.before.items()}

    def history(self, places: np.ndarray) -> np.ndarray:
        """How far into its group each row is."""
        starts = np.array([start for start, _ in self.groups], np.int64)
        return places - starts[np.searchsorted(starts, places, "right") - 1] if len(starts) else np.zeros_like(places)

    def done(self, places: np.ndarray, back: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Nothing was done in these rows."""
        raise LensError("These rows do not say what was done in them.")

    def activations(self, site: str, places: np.ndarray) -> Tensor:
        """What the subject puts out at a site."""
        return self._run(places, (site,)).sites[site]

    def heads(self, places: np.ndarray) -> dict[str, Tensor]:
        """What the subject says."""
        return self._run(places).heads

    def _run(self, places: np.ndarray, keep: tuple[str, ...] = ()) -> Output:
        return self.subject.run(self.inputs(places), self.memory_before(places), keep=keep)


def fed_rows(
    subject: Subject,
    inputs: Mapping[str, Tensor] | Sequence[Mapping[str, Tensor]],
    *,
    first: int = 0,
    before: Mapping[str, Tensor] | None = None,
    groups: tuple[tuple[int, int], ...] = (),
    **more: Any,
) -> Rows:
    """Rows of inputs [rows, …], or of steps [1, …] one after the other; the first has number `first`."""
    if not isinstance(inputs, Mapping):
        inputs = {name: torch.cat([step[name] for step in inputs]) for name in inputs[0]}
    count = len(next(iter(inputs.values())))
    feed = GivenFeed(subject, inputs, before, groups)
    return Rows(numbers=np.arange(first, first + count), feed=feed, groups=groups, **more)


def carried_rows(
    subject: Subject, inputs: Mapping[str, Tensor], groups: tuple[tuple[int, int], ...], **more: Any
) -> Rows:
    """The same, with the memory carried along in each group and kept as a recording keeps it."""
    before: dict[str, list[Tensor]] = {}
    after: dict[str, list[Tensor]] = {}
    feed = GivenFeed(subject, inputs)
    for start, stop in groups:
        said = GivenRows(subject, feed.inputs).carried(start, range(start, stop))
        for name, first in subject.initial_memory(1).items():
            states_after = [said[row].memory[name] for row in range(start, stop)]
            before.setdefault(name, []).extend([first, *states_after[:-1]])
            after.setdefault(name, []).extend(states_after)
    named = subject.info.memory_arrays
    states = {named[name]: States.of(torch.cat(values).numpy()) for name, values in after.items()}
    whole = {name: torch.cat(values) for name, values in before.items()}
    return fed_rows(subject, inputs, before=whole, groups=groups, memory=states, **more)
