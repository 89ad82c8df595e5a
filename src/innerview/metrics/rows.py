"""Rows in groups, and values along them: what expressions and metrics are computed over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

Kind = Literal["number", "truth", "word", "text"]
NAMES: dict[Kind, str] = {"number": "numbers", "truth": "yes or no", "word": "words", "text": "a text"}


@dataclass(frozen=True)
class Stretch:
    """Rows that stand next to each other, and where the group of each begins and ends, counted inside the stretch."""

    count: int
    starts: np.ndarray
    """Per row, the first row of its group."""
    stops: np.ndarray
    """Per row, the one after the last row of its group."""

    @staticmethod
    def of(bounds: np.ndarray, start: int, stop: int) -> Stretch:
        """Rows start to stop of a recording whose groups begin at `bounds`; a group that reaches out is cut."""
        inside = bounds[(bounds > start) & (bounds < stop)] - start
        edges = np.concatenate([[0], inside, [stop - start]]).astype(np.int64)
        lengths = np.diff(edges)
        return Stretch(stop - start, np.repeat(edges[:-1], lengths), np.repeat(edges[1:], lengths))


@dataclass(frozen=True)
class Value:
    """A value per row, or one for all: float64 (unknown is NaN), bool, or codes with words (unknown is -1)."""

    kind: Kind
    data: np.ndarray
    words: tuple[str, ...] = ()
    """For words, what the codes stand for; for a text, that text alone."""

    def numbers(self) -> np.ndarray:
        """As numbers to compute with: yes is 1, no is 0."""
        return self.data.astype(np.float64, copy=False)

    def truths(self) -> np.ndarray:
        """As yes or no: a number holds where it is known and not 0."""
        if self.kind == "truth":
            return self.data
        held: np.ndarray = ~np.isnan(self.data) & (self.data != 0)
        return held


def number(data: np.ndarray | float) -> Value:
    """Numbers."""
    return Value("number", np.asarray(data, np.float64))


def truth(data: np.ndarray | bool) -> Value:
    """Yes or no."""
    return Value("truth", np.asarray(data, bool))
