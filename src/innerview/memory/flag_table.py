"""What is told about each flag: how telling, from which value on, and for how long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from innerview.memory.auc import Half
from innerview.memory.facts import Fact
from innerview.memory.retention import retention_steps, since_end

SHOWN_Q = 0.2
MAX_SHOWN = 1000
BINS = 24


@dataclass(frozen=True, kw_only=True)
class Data:
    """The rows that are used: states, facts, and which rows are for finding and which held out."""

    values: np.ndarray
    facts: list[Fact]
    groups: tuple[tuple[int, int], ...]
    finding: tuple[int, ...]
    held_out: tuple[int, ...]

    def rows(self, episodes: tuple[int, ...]) -> np.ndarray:
        """Places of the rows of some episodes."""
        return np.concatenate([np.arange(*self.groups[episode]) for episode in episodes])

    def half(self, episodes: tuple[int, ...]) -> Half:
        """Some episodes, ranked."""
        lengths = [self.groups[episode][1] - self.groups[episode][0] for episode in episodes]
        return Half.of(self.values[self.rows(episodes)], lengths)


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """Everything known about each pair, [elements, facts]."""

    data: Data
    area: np.ndarray
    p: np.ndarray
    q: np.ndarray
    """Corrected over the candidates, by the half held out; 1 for all others."""
    held_out: np.ndarray
    held_out_p: np.ndarray
    candidates: np.ndarray

    def lines(self, *, false_discoveries: float, confirmed: float) -> list[dict[str, Any]]:
        """The flags first, the most telling at the top; then what came near."""
        direction = np.where(self.area >= 0.5, 1, -1)
        auc = np.where(direction > 0, self.area, 1 - self.area)
        held_out = np.where(direction > 0, self.held_out, 1 - self.held_out)
        found = (self.q <= false_discoveries) & (held_out >= confirmed)
        power = np.where(found, 1, 0) + np.nan_to_num(np.minimum(auc, held_out))
        near = np.argwhere(self.candidates & (self.q <= max(SHOWN_Q, false_discoveries)))
        near = near[np.argsort(-power[near[:, 0], near[:, 1]], kind="stable")][:MAX_SHOWN]
        kept = self._retention(near, direction)
        best_of_fact: set[int] = set()
        best_of_element: set[int] = set()
        lines = []
        for (element, fact), steps in zip(near.tolist(), kept, strict=True):
            line = self._line(element, fact, steps)
            line |= {
                "auc": float(auc[element, fact]),
                "held_out_auc": float(held_out[element, fact]),
                "direction": int(direction[element, fact]),
                "significant": bool(found[element, fact]),
                "best_of_fact": fact not in best_of_fact,
                "best_of_element": element not in best_of_element,
            }
            best_of_fact.add(fact)
            best_of_element.add(element)
            lines.append(line | {"sentence": _sentence(line, self.data.facts[fact], line["direction"])})
        return lines

    def _line(self, element: int, place: int, steps: int | None) -> dict[str, Any]:
        fact = self.data.facts[place]
        values = self.data.values[:, element]
        return {
            "element": element,
            "fact": fact.name,
            "column": fact.column,
            "p": float(self.p[element, place]),
            "held_out_p": float(self.held_out_p[element, place]),
            "q": float(self.q[element, place]),
            "retention_steps": steps,
            "threshold": _threshold(values, fact, self.data.rows(self.data.finding)),
            "histogram": _histogram(values, fact, self.data.rows(self.data.held_out)),
        }

    def _retention(self, pairs: np.ndarray, direction: np.ndarray) -> list[int | None]:
        steps: dict[tuple[int, int], int] = {}
        for place in np.unique(pairs[:, 1]) if len(pairs) else ():
            fact = self.data.facts[place]
            if fact.kind not in ("truth", "so far"):
                continue
            elements = pairs[pairs[:, 1] == place, 0]
            values = self.data.values[:, elements]
            since = since_end(fact, self.data.groups)
            told = retention_steps(values, since, direction=direction[elements, place], lasts=fact.lasts)
            steps |= {(int(e), int(place)): int(n) for e, n in zip(elements, told, strict=True) if n >= 0}
        return [steps.get((int(element), int(place))) for element, place in pairs]


def _sentence(line: dict[str, Any], fact: Fact, direction: int) -> str:
    return f"Element {line['element']} is {'high' if direction > 0 else 'low'} {fact.when}."


def _threshold(values: np.ndarray, fact: Fact, rows: np.ndarray) -> float:
    """The value that parts rows with the fact from those without best: the largest sum of both shares on their side."""
    rows = rows[fact.known[rows]]
    order = np.argsort(values[rows], kind="stable")
    sorted_values, holds = values[rows][order], fact.holds[rows][order]
    parted = np.abs(np.cumsum(holds) / max(1, holds.sum()) - np.cumsum(~holds) / max(1, (~holds).sum()))
    at = int(parted[:-1].argmax()) if len(parted) > 1 else 0
    return float((sorted_values[at] + sorted_values[min(at + 1, len(sorted_values) - 1)]) / 2)


def _histogram(values: np.ndarray, fact: Fact, rows: np.ndarray) -> dict[str, Any]:
    """Held-out values with and without the fact, counted in as many bins."""
    low, high = float(values[rows].min()), float(values[rows].max())
    bins = np.linspace(low, high if high > low else low + 1, BINS + 1)
    with_fact, _ = np.histogram(values[rows[fact.holds[rows]]], bins)
    without, _ = np.histogram(values[rows[(fact.known & ~fact.holds)[rows]]], bins)
    return {"low": low, "high": float(bins[-1]), "with": with_fact.tolist(), "without": without.tolist()}
