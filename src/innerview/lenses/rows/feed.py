"""Gives a subject the rows of a recording again: inputs, the memory before them, and what it says to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from innerview.lenses.rows.inputs import RowInputs
from innerview.subjects import Output

BATCH = 64
"""Rows that a subject is run on together."""


@dataclass(frozen=True)
class RecordedFeed:
    """Chosen rows of a recording, as a subject takes them."""

    given: RowInputs
    numbers: np.ndarray

    def inputs(self, places: np.ndarray) -> Mapping[str, Tensor]:
        """What was observed, as the subject takes it."""
        return self.given.inputs(self.numbers[places])

    def memory_before(self, places: np.ndarray) -> Mapping[str, Tensor]:
        """What the subject remembered when it came to these rows."""
        return self.given.memory_before(self.numbers[places])

    def activations(self, site: str, places: np.ndarray) -> Tensor:
        """What the subject puts out at a site, run again in batches."""
        return torch.cat([output.sites[site] for output in self._run(places, (site,))])

    def heads(self, places: np.ndarray) -> Mapping[str, Tensor]:
        """What the subject says, run again in batches."""
        outputs = [output.heads for output in self._run(places, ())]
        return {name: torch.cat([heads[name] for heads in outputs]) for name in outputs[0]}

    def _run(self, places: np.ndarray, keep: tuple[str, ...]) -> Iterator[Output]:
        for first in range(0, len(places), BATCH):
            yield self.given.run(self.numbers[places[first : first + BATCH]], keep)
