"""One lane's episode in flight, and the pieces it is handed out in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from innerview.capture.summary import Tally
from innerview.schema import ArraySpec, Column, EpisodeSummary, Scene


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Rows of one episode that follow the rows yielded before."""

    episode: int
    rows: Mapping[str, Sequence[Any]]
    arrays: Mapping[str, np.ndarray]
    summary: EpisodeSummary | None = None
    """Given with the last rows of an episode."""
    cut: bool = False
    """With a summary: whether the episode was cut short (time limit, step limit, error) rather than over."""
    scene: Scene | None = None
    """Where it is played, where the world has a map."""
    provisional: bool = False
    """The episode was cut short by an error: kept to be looked at, replaced when the recording goes on."""


class Episode:
    """Rows of an episode, gathered until they are taken."""

    def __init__(
        self, number: int, seed: int, scene: Scene | None, columns: Sequence[Column], *, max_steps: int | None = None
    ) -> None:
        self.number, self.scene = number, scene
        self.outcome, self.cut = "", False
        self._tally = Tally(seed, columns, max_steps=max_steps)
        self._names = tuple(column.name for column in columns)
        self._blank()

    @property
    def length(self) -> int:
        """Steps so far."""
        return self._tally.length

    def cut_short(self, why: str) -> None:
        """It is over here, and would have gone on."""
        self.outcome, self.cut = why, True

    def _blank(self) -> None:
        self._columns: dict[str, list[Any]] = {name: [] for name in self._names}
        self._arrays: dict[str, list[np.ndarray]] = {}
        self.waiting = 0

    def add(
        self,
        values: Mapping[str, Any],
        arrays: Mapping[str, np.ndarray],
        reward: float,
        ended: str = "",
        *,
        cut: bool = False,
    ) -> None:
        """One row; a fact that the world did not tell is None. `ended`: why it is over after this row."""
        for name, column in self._columns.items():
            column.append(values.get(name))
        for name, array in arrays.items():
            self._arrays.setdefault(name, []).append(array)
        self.waiting += 1
        self.outcome = self._tally.step(reward, ended)
        self.cut = cut if ended else bool(self.outcome)

    def take(self, specs: Sequence[ArraySpec], *, provisional: bool = False) -> Piece:
        """Hand out what was gathered."""
        arrays = {
            spec.name: np.asarray(np.stack(self._arrays[spec.name]), spec.dtype)
            if self.waiting
            else np.empty((0, *spec.shape), spec.dtype)
            for spec in specs
        }
        rows = self._columns
        if self.waiting:
            self._tally.add_rows(rows)
        self._blank()
        return Piece(
            episode=self.number,
            rows=rows,
            arrays=arrays,
            summary=self._tally.summary(self.outcome) if self.outcome else None,
            cut=self.cut,
            scene=self.scene,
            provisional=provisional,
        )
