"""One lane's episode in flight, and the pieces it is handed out in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from innerview.schema import ArraySpec, Column, Scene


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How an episode ended."""

    seed: int
    length: int
    total_reward: float
    outcome: str
    scene: Scene | None


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Rows of one episode that follow the rows yielded before."""

    episode: int
    rows: Mapping[str, Sequence[Any]]
    arrays: Mapping[str, np.ndarray]
    ending: Ending | None = None
    """Given with the last rows of an episode."""
    provisional: bool = False
    """The episode was cut short by an error: kept to be looked at, replaced when the recording goes on."""


class Episode:
    """Rows of an episode, gathered until they are taken."""

    def __init__(self, number: int, seed: int, scene: Scene | None, columns: Sequence[Column]) -> None:
        self.number, self.seed, self.scene = number, seed, scene
        self.length, self.total_reward, self.outcome = 0, 0.0, ""
        self._names = tuple(column.name for column in columns)
        self._blank()

    def _blank(self) -> None:
        self._columns: dict[str, list[Any]] = {name: [] for name in self._names}
        self._arrays: dict[str, list[np.ndarray]] = {}
        self.waiting = 0

    def add(self, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray], reward: float) -> None:
        """One row; a fact that the world did not tell is None."""
        for name, column in self._columns.items():
            column.append(values.get(name))
        for name, array in arrays.items():
            self._arrays.setdefault(name, []).append(array)
        self.waiting += 1
        self.length += 1
        self.total_reward += reward

    def take(self, specs: Sequence[ArraySpec], *, provisional: bool = False) -> Piece:
        """Hand out what was gathered."""
        arrays = {
            spec.name: np.asarray(np.stack(self._arrays[spec.name]), spec.dtype)
            if self.waiting
            else np.empty((0, *spec.shape), spec.dtype)
            for spec in specs
        }
        rows = self._columns
        self._blank()
        ending = None
        if self.outcome:
            ending = Ending(
                seed=self.seed,
                length=self.length,
                total_reward=self.total_reward,
                outcome=self.outcome,
                scene=self.scene,
            )
        return Piece(episode=self.number, rows=rows, arrays=arrays, ending=ending, provisional=provisional)
