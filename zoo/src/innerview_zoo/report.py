"""What an evaluation found: figures with their confidence intervals, and a table to print."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from innerview.errors import InnerviewError

Progress = Callable[[int, int, str], None]
"""Told now and then how much is done, of how much, and what was found so far."""


def no_progress(done: int, of: int, what: str) -> None:
    """Progress that nobody wants to hear of."""


def onwards(progress: Progress, before: int, of: int, what: str = "") -> Progress:
    """Progress of one part, counted on from what was done before."""

    def show(done: int, _: int, found: str) -> None:
        progress(before + done, of, ": ".join(word for word in (what, found) if word))

    return show


@dataclass(frozen=True)
class Figure:
    """A measured number and its 95 % confidence interval."""

    name: str
    value: float
    low: float
    high: float
    count: int
    """Over how many episodes, levels or images."""
    unit: str = ""
    how: str = ""
    """What was played, and how: "unseen levels, sampled actions"."""

    def __str__(self) -> str:
        value, low, high = (_short(number, self.high - self.low) for number in (self.value, self.low, self.high))
        return f"{value}{_spaced(self.unit)} ({low}–{high})"

    def agrees_with(self, other: Figure) -> bool:
        """Whether this may be another measurement of what `other` measured: their intervals overlap.

        A few episodes may happen to be alike and seem sure of themselves, so this interval is taken at least as wide as
        the other's spread makes it at this count.
        """
        half = (other.high - other.low) / 2 * math.sqrt(other.count / self.count)
        low, high = min(self.low, self.value - half), max(self.high, self.value + half)
        return low <= other.high and other.low <= high


@dataclass(frozen=True)
class Report:
    """A table with a heading, and the figure that stands for it."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    main: Figure

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.head):
                raise InnerviewError(
                    f"A row of the report '{self.title}' has {len(row)} cells, its head has {len(self.head)}: {row}."
                )


@dataclass(frozen=True)
class Figures:
    """What a card claims: the figure that an evaluation must reproduce, and others."""

    main: Figure
    others: tuple[Figure, ...] = ()


def mean_figure(values: Sequence[float], *, name: str, unit: str = "", how: str = "") -> Figure:
    """The mean and its interval by Student's t; one value alone tells nothing of its spread."""
    if not len(values):
        raise InnerviewError(f"'{name}' cannot be worked out: there are no values.")
    from innerview.edits.comparison import mean_of  # loads torch, and looking at a card needs none

    found = mean_of(values)
    low, high = (-math.inf, math.inf) if found.low is None or found.high is None else (found.low, found.high)
    return Figure(name, found.mean, low, high, found.n, unit, how)


def share_figure(successes: int, count: int, *, name: str, how: str = "") -> Figure:
    """A share in per cent and its interval by Wilson, which holds near 0 and 100 % too."""
    if not 0 <= successes <= count or not count:
        raise InnerviewError(f"'{name}' cannot be worked out: {successes} of {count} is no share.")
    from innerview.edits.comparison import share_of

    found = share_of(successes, count)
    assert found.low is not None and found.high is not None, "a share has an interval"
    return Figure(name, 100 * found.mean, 100 * found.low, 100 * found.high, count, "%", how)


def read_figures(path: Path) -> Figures:
    """A card's figures from its figures.json."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        return Figures(_figure(told["main"]), tuple(_figure(each) for each in told.get("others", ())))
    except FileNotFoundError as error:
        raise InnerviewError(f"There is no {path}: the model was not evaluated yet.") from error
    except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise InnerviewError(
            f"{path} holds no figures: {type(error).__name__}: {error}. Expected "
            '{"main": {"name", "value", "low", "high", "count", "unit", "how"}, "others": […]}.'
        ) from error


def write_figures(path: Path, main: Figure, others: Sequence[Figure] = ()) -> None:
    """A card's figures as figures.json."""
    told = {"main": asdict(main), "others": [asdict(each) for each in others]}
    path.write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _figure(told: Mapping[str, Any]) -> Figure:
    known = [f.name for f in fields(Figure)]
    return Figure(**{name: told[name] for name in known if name in told or name not in ("unit", "how")})


def _short(value: float, width: float) -> str:
    """As many digits as an interval of that width tells something by."""
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞"
    digits = 2 if abs(value) < 10 or width < 1 else 1 if abs(value) < 1000 else 0
    return f"{value:,.{digits}f}"


def _spaced(unit: str) -> str:
    return f" {unit}" if unit else ""
