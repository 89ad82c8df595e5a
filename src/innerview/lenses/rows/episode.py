"""What a lens over one episode is given beside its rows: inputs step by step, and what was remembered before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import overload

import numpy as np
from torch import Tensor

from innerview.errors import LensError
from innerview.lenses.rows.memory import memory_before
from innerview.store import Recording
from innerview.subjects import Subject

__all__ = ["Steps", "memory_before"]


class Steps(Sequence[Mapping[str, Tensor]]):
    """Inputs of each step as the subject takes them, [1, …] each; read and prepared one at a time."""

    def __init__(self, subject: Subject, recording: Recording, start: int, stop: int) -> None:
        self._subject, self._recording, self._start, self._stop = subject, recording, start, stop
        self._arrays = [spec.name for spec in recording.info.arrays if spec.role == "observation"]
        if not self._arrays:
            raise LensError(f"Recording '{recording.name}' keeps no observations to run a subject on.")

    def __len__(self) -> int:
        return self._stop - self._start

    @overload
    def __getitem__(self, step: int) -> Mapping[str, Tensor]: ...
    @overload
    def __getitem__(self, step: slice) -> Sequence[Mapping[str, Tensor]]: ...
    def __getitem__(self, step: int | slice) -> Mapping[str, Tensor] | Sequence[Mapping[str, Tensor]]:
        if isinstance(step, slice):
            return [self[place] for place in range(*step.indices(len(self)))]
        if not 0 <= step < len(self):
            raise IndexError(step)
        row = self._start + step
        seen: dict[str, np.ndarray] = {
            name.removeprefix("observation."): self._recording.array(name, row, row + 1) for name in self._arrays
        }
        return self._subject.inputs(seen)
