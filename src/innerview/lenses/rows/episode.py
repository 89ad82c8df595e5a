"""What a lens over one episode is given beside its rows: inputs step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import overload

from torch import Tensor

from innerview.lenses.rows.inputs import RowInputs


class Steps(Sequence[Mapping[str, Tensor]]):
    """Inputs of each step as the subject takes them, [1, …] each; read and prepared one at a time."""

    def __init__(self, given: RowInputs, start: int, stop: int) -> None:
        self._given, self._start, self._stop = given, start, stop

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
        return self._given.inputs(range(row, row + 1))
