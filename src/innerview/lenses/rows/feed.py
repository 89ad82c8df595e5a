"""Gives a subject the rows of a recording again: inputs, the memory before them, and what it says to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from innerview.errors import LensError
from innerview.lenses.rows.inputs import RowInputs
from innerview.subjects import Output

BATCH = 64
"""Rows that a subject is run on together."""


@dataclass(frozen=True)
class RecordedFeed:
    """Chosen rows of a recording, as a subject takes them."""

    given: RowInputs
    numbers: np.ndarray

    def inputs(self, places: np.ndarray, back: int = 0) -> Mapping[str, Tensor]:
        """What was observed, as the subject takes it."""
        return self.given.inputs(self._before(places, back))

    def memory_before(self, places: np.ndarray, back: int = 0) -> Mapping[str, Tensor]:
        """What the subject remembered when it came to these rows."""
        return self.given.memory_before(self._before(places, back))

    def history(self, places: np.ndarray) -> np.ndarray:
        """How far into its episode each row is; 0 where rows have no time."""
        rows: np.ndarray = self.numbers[places]
        recording = self.given.recording
        return np.zeros_like(rows) if recording.info.ordering is None else rows - recording.group_starts(rows)

    def done(self, places: np.ndarray, back: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """What was done and earned, as it is recorded."""
        rows = self._before(places, back)
        order = np.argsort(rows, kind="stable")
        actions, rewards = self.given.done(rows[order])
        again = np.argsort(order)
        return actions[again], rewards[again]

    def _before(self, places: np.ndarray, back: int) -> np.ndarray:
        rows: np.ndarray = self.numbers[places]
        if not back:
            return rows
        if self.given.edits_vary:
            raise LensError(
                f"'{self.given.recording.name}' was made with edits that hold at some steps only: what led to a row "
                "cannot be run again as one. Look at a recording without them."
            )
        if (self.history(places) < back).any():
            raise LensError(f"Some of these rows have fewer than {back} steps before them in their episode.")
        return rows - back

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
