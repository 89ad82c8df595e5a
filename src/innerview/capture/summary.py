"""Sums up an episode, for every driver: steps, rewards, events, means of facts, and why it ended."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from innerview.schema import Column, EpisodeSummary, to_json

NAMED = ": "
"""Between an event and the name of what it happened with, in what is counted."""
STEP_LIMIT = "step limit"
"""Why an episode ended that was cut."""


class Tally:
    """Counts one episode while it is played."""

    def __init__(self, seed: int, columns: Sequence[Column] = (), *, max_steps: int | None = None) -> None:
        self.seed, self.length, self.total_reward = seed, 0, 0.0
        self._columns, self._max_steps = columns, max_steps
        self._begins = ""
        self._events: Counter[str] = Counter()
        self._facts: dict[str, list[float]] = {}

    def step(self, reward: float, ended: str) -> str:
        """Count one step; why the episode is over now, empty where it goes on."""
        self.length += 1
        self.total_reward += float(reward)
        limit = self._max_steps is not None and self.length >= self._max_steps
        return ended or (STEP_LIMIT if limit else "")

    def add_rows(self, rows: Mapping[str, Sequence[Any]]) -> None:
        """Count the events and facts of rows, which follow those before."""
        if not self._begins:
            self._begins = self._digest_of_first(rows)
        for column in self._columns:
            if column.kind == "event" and column.type == "bool":
                self._events[column.name] += sum(bool(value) for value in rows[column.name])
                if column.named_by in rows:
                    self._count_names(column, rows)
            elif _has_mean(column):
                self._facts.setdefault(column.name, []).extend(float(v) for v in rows[column.name] if v is not None)

    def summary(self, outcome: str, facts: Mapping[str, Any] | None = None) -> EpisodeSummary:
        """How the episode went."""
        means = {f"mean {name}": sum(values) / len(values) for name, values in self._facts.items() if values}
        return EpisodeSummary(
            seed=self.seed,
            outcome=outcome,
            length=self.length,
            total_reward=self.total_reward,
            counts={**self._events, **means},
            begins=self._begins,
            facts=facts or {},
        )

    def _digest_of_first(self, rows: Mapping[str, Sequence[Any]]) -> str:
        facts = [column.name for column in self._columns if column.kind in ("fact", "category", "objects")]
        first = json.dumps(to_json({name: rows[name][0] for name in facts}), sort_keys=True, default=str)
        return hashlib.sha256(first.encode()).hexdigest()[:12]

    def _count_names(self, event: Column, rows: Mapping[str, Sequence[Any]]) -> None:
        for happened, name in zip(rows[event.name], rows[event.named_by], strict=True):
            if happened and name:
                self._events[f"{event.name}{NAMED}{name}"] += 1


def _has_mean(column: Column) -> bool:
    numeric = column.kind == "fact" and column.type in ("int", "float")
    return bool(numeric and column.unit and not column.pose)
