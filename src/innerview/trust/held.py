"""Rows whose inputs are read once and given to subject after subject, each with the memory that was recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from innerview.schema import Rows

if TYPE_CHECKING:
    from torch import Tensor

    from innerview.schema.rows import Feed
    from innerview.subjects import Output, Subject


@dataclass(frozen=True)
class HeldFeed:
    """Inputs and memories that were read already. Whoever runs on them begins with the memory of who recorded."""

    whole: Feed
    subject: Subject
    given: Mapping[str, Tensor]
    before: Mapping[str, Tensor]

    def inputs(self, places: np.ndarray, back: int = 0) -> Mapping[str, Tensor]:
        """Inputs of these rows; of so many steps `back` they are read again."""
        if back:
            return self.whole.inputs(places, back)
        return {name: value[_index(places, value)] for name, value in self.given.items()}

    def memory_before(self, places: np.ndarray, back: int = 0) -> Mapping[str, Tensor]:
        """The memory before these rows."""
        if back:
            return self.whole.memory_before(places, back)
        return {name: value[_index(places, value)] for name, value in self.before.items()}

    def history(self, places: np.ndarray) -> np.ndarray:
        """How many steps of its episode come before each row."""
        return self.whole.history(places)

    def done(self, places: np.ndarray, back: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """What was done and earned in each row."""
        return self.whole.done(places, back)

    def activations(self, site: str, places: np.ndarray) -> Tensor:
        """What the subject puts out at a site."""
        return self._run(places, (site,)).sites[site]

    def heads(self, places: np.ndarray) -> Mapping[str, Tensor]:
        """What the subject says."""
        return self._run(places).heads

    def _run(self, places: np.ndarray, keep: tuple[str, ...] = ()) -> Output:
        return self.subject.run(self.inputs(places), self.memory_before(places), keep=keep)


def held(rows: Rows, subject: Subject) -> Rows:
    """The same rows, read once."""
    places = np.arange(rows.count)
    inputs = {name: value.detach() for name, value in rows.inputs(places).items()}
    memory = {name: value.detach() for name, value in rows.memory_before(places).items()}
    return replace(rows, feed=HeldFeed(rows.feed, subject, inputs, memory))


def _index(places: np.ndarray, like: Tensor) -> Tensor:
    import torch

    return torch.as_tensor(places, device=like.device)
