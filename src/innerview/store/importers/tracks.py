"""Reads episodes that other tools wrote as JSON: lists with an entry per step, where numbers may be strings."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from innerview.errors import StoreError
from innerview.store.importers.foreign import foreign

NOT_PER_STEP = frozenset(("mask",))
"""Keys whose list may have an entry per element of the memory instead."""
_EPISODE = re.compile(r"episode_?(\d+)")


@dataclass(frozen=True, kw_only=True)
class Track:
    """One episode as a file tells it."""

    file: str
    key: str
    """Where in the file it stands: "episode0", or nothing where the file is one episode."""
    values: Mapping[str, Any]

    @property
    def where(self) -> str:
        """The file, and the episode in it."""
        return f"'{self.file}'" + (f" ({self.key})" if self.key else "")

    def need(self, keys: Sequence[str]) -> None:
        """Make sure that lists are there."""
        missing = [key for key in keys if key not in self.values]
        if missing:
            there = ", ".join(self.values) or "nothing"
            raise StoreError(f"{self.where} lacks {', '.join(missing)}; it has {there}.")

    def steps(self, known: Sequence[str]) -> tuple[int, str]:
        """How many steps every list has, and what was left out where one has a step more than another."""
        lengths = {key: len(self._list(key)) for key in known if key in self.values and key not in NOT_PER_STEP}
        least, most = min(lengths.values()), max(lengths.values())
        if most - least > 1:
            told = ", ".join(f"'{key}' has {count}" for key, count in lengths.items())
            raise StoreError(f"The lists of {self.where} differ by more than one step: {told}. One of them is cut off.")
        if least == 0:
            raise StoreError(f"{self.where} has no steps.")
        longer = [key for key, count in lengths.items() if count > least]
        return least, f"cut to {least} steps: {', '.join(longer)} had {most}" if longer else ""

    def numbers(self, key: str, steps: int, *, each: int | None = None) -> np.ndarray:
        """Finite numbers [steps, how many each step has], from numbers or strings however nested."""
        values = self._list(key)[:steps]
        if len(values) < steps:
            raise StoreError(f"'{key}' of {self.where} has {len(values)} entries; there are {steps} steps.")
        try:
            found = np.array(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise self._culprit(key, values) from None
        if not np.isfinite(found).all():
            raise self._culprit(key, values)
        flat = found.reshape(steps, -1) if found.size else np.empty((steps, 0))
        if not flat.shape[1]:
            raise StoreError(f"{self.at(key, 0)} has no numbers.")
        if each is not None and flat.shape[1] != each:
            raise StoreError(f"{self.at(key, 0)} has {flat.shape[1]} numbers; {each} are expected.")
        return flat

    def column(self, key: str, steps: int) -> np.ndarray:
        """One number per step [steps]."""
        return self.numbers(key, steps, each=1)[:, 0]

    def texts(self, key: str, start: int, stop: int) -> list[str]:
        """One text per step."""
        values = self._list(key)[start:stop]
        for step, value in enumerate(values, start):
            if not isinstance(value, str):
                raise StoreError(f"{self.at(key, step)} should be a text, not {value!r:.40}.")
        return values

    def lists(self, key: str, steps: int) -> list[list[Any]]:
        """One list per step; null stands for an empty one."""
        values = self._list(key)[:steps]
        for step, value in enumerate(values):
            if value is not None and not isinstance(value, list):
                raise StoreError(f"{self.at(key, step)} should be a list, not {value!r:.40}.")
        return [value or [] for value in values]

    def at(self, key: str, step: int) -> str:
        """A place in the file, in words."""
        return f"'{key}' of {self.where} at step {step}"

    def _list(self, key: str) -> list[Any]:
        values = self.values[key]
        if not isinstance(values, list):
            raise StoreError(f"'{key}' of {self.where} should be a list with an entry per step, not {values!r:.40}.")
        return values

    def _culprit(self, key: str, values: Sequence[Any]) -> StoreError:
        """Says which entry is no number, or has more or fewer of them than the first one."""
        counts = []
        for step, value in enumerate(values):
            parts = list(_parts(value))
            for part in parts:
                if not _is_number(part):
                    return StoreError(f"{self.at(key, step)} holds {part!r:.40}, which is not a number.")
            counts.append(len(parts))
            if counts[-1] != counts[0]:
                return StoreError(f"{self.at(key, step)} has {counts[-1]} numbers, and {counts[0]} at step 0.")
        return StoreError(f"'{key}' of {self.where} is nested unevenly. Every step needs as many numbers.")


def read_tracks(path: Path) -> list[Track]:
    """The episodes of a JSON file: the file itself, or what stands under episode0, episode1, …"""
    with foreign(path, "JSON"):
        value = json.loads(path.read_bytes())
    if not isinstance(value, dict):
        raise StoreError(f"'{path.name}' should be an object of lists, not {type(value).__name__}.")
    numbered = {int(found[1]): key for key in value if (found := _EPISODE.fullmatch(key))}
    if not numbered:
        return [Track(file=path.name, key="", values=value)]
    for key in numbered.values():
        if not isinstance(value[key], dict):
            raise StoreError(f"'{key}' of '{path.name}' should be an object of lists, not {value[key]!r:.40}.")
    return [Track(file=path.name, key=numbered[n], values=value[numbered[n]]) for n in sorted(numbered)]


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for part in value:
            yield from _parts(part)
    else:
        yield value


def _is_number(value: Any) -> bool:
    if not isinstance(value, int | float | str):
        return False
    try:
        return bool(np.isfinite(float(value)))
    except (ValueError, OverflowError):
        return False
