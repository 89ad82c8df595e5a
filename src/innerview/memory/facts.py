"""Makes yes-or-no facts of a recording's columns: what an element of the memory might tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from innerview.errors import LensError, UnknownName
from innerview.schema import Column, Rows

FactKind = Literal["truth", "so far", "word", "threshold"]
KINDS = ("fact", "event", "category")
"""Kinds of columns that are taken where none are named: what the world told, not what the subject said."""
MAX_WORDS = 12
MAX_LEVELS = 6
"""A number with so few different values is split between all of them, any other at its median."""
RARE = 0.01
_PLAINNESS: tuple[FactKind, ...] = ("so far", "truth", "word", "threshold")


@dataclass(frozen=True, kw_only=True)
class Fact:
    """Something that is true or not in each row."""

    name: str
    column: str
    kind: FactKind
    when: str
    """As the end of a sentence: "while health is 60 points or more"."""
    holds: np.ndarray
    """bool [rows]; False where unknown."""
    known: np.ndarray
    """bool [rows]."""

    @property
    def lasts(self) -> bool:
        """Whether it would go on to hold after its episode's end."""
        return self.kind == "so far"

    @property
    def share(self) -> float:
        """In which part of the known rows it holds."""
        return float(self.holds.sum() / max(1, self.known.sum()))


def make_facts(
    rows: Rows, *, names: Sequence[str] = (), thresholds: str = "", places: np.ndarray | None = None
) -> list[Fact]:
    """Facts of the columns named, or of all that tell one.

    None that hardly ever or nearly always holds, and none twice: of two that are the same, or each other's opposite,
    the plainer one stays. They are told of some places among the rows, or of all.
    """
    splits = _splits(rows, thresholds)
    for name in names:
        if name not in rows.specs:
            raise UnknownName("column", name, rows.specs)
    chosen = list(names) or [c.name for c in rows.specs.values() if c.kind in KINDS and c.type != "objects"]
    told: list[Fact] = []
    for name in chosen:  # one after the other, as all columns of a long recording together are too large
        made = (_at(fact, places) for fact in _of_column(rows, rows.specs[name], splits.get(name)))
        told += [fact for fact in made if RARE <= fact.share <= 1 - RARE]
    plainest: dict[bytes, Fact] = {}
    # Of two of a kind the longer name says more: "gathered green armour" rather than "picked up".
    for fact in sorted(told, key=lambda fact: (_PLAINNESS.index(fact.kind), -len(fact.column))):
        plainest.setdefault(_mark(fact), fact)
    return [fact for fact in told if plainest[_mark(fact)] is fact]


def _at(fact: Fact, places: np.ndarray | None) -> Fact:
    return fact if places is None else replace(fact, holds=fact.holds[places], known=fact.known[places])


def _mark(fact: Fact) -> bytes:
    """The same for a fact and its opposite."""
    opposite = fact.known & ~fact.holds
    first = fact.holds if fact.holds.argmax() < opposite.argmax() else opposite
    return np.packbits(np.concatenate([first, fact.known])).tobytes()


def _splits(rows: Rows, text: str) -> dict[str, float]:
    """Thresholds that somebody set, as "health=50, x=0"."""
    found = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = (piece.strip() for piece in part.rpartition("="))
        if name not in rows.specs:
            raise UnknownName("column", name, rows.specs, "Thresholds are written as column=number, column=number.")
        try:
            found[name] = float(value)
        except ValueError as error:
            raise LensError(f"'{value}' is no number; thresholds are written as column=number.") from error
    return found


def _of_column(rows: Rows, column: Column, split: float | None) -> Iterator[Fact]:
    values = rows.columns[column.name]
    if column.categories and values.dtype.kind == "f":
        values = _named(values, column.categories)
    if values.dtype.kind == "O":
        yield from _words(rows, column, values)
    elif column.type == "bool" and column.kind == "event":
        holds = happened_before(np.nan_to_num(values) > 0, rows.groups)
        yield _fact(column, "so far", f"{column.name} so far", _once(column), holds)
    elif column.type == "bool":
        yield _fact(column, "truth", column.name, _while(column), np.nan_to_num(values) > 0, ~np.isnan(values))
    else:
        yield from _levels(column, values, split)


def happened_before(event: np.ndarray, groups: Sequence[tuple[int, int]]) -> np.ndarray:
    """Whether the event stood in an earlier row of the episode: a row's own action comes after what it remembers."""
    holds = np.zeros(len(event), bool)
    for start, stop in groups or [(0, len(event))]:
        holds[start + 1 : stop] = np.logical_or.accumulate(event[start : stop - 1])
    return holds


def _named(values: np.ndarray, categories: Sequence[str]) -> np.ndarray:
    named = np.full(len(values), None, object)
    for number, word in enumerate(categories):
        named[values == number] = word
    return named


def _words(rows: Rows, column: Column, values: np.ndarray) -> Iterator[Fact]:
    known = np.array([value is not None for value in values], bool)
    words, counts = np.unique(np.array([str(v) for v in values[known]], object), return_counts=True)
    if len(words) < 2:
        return
    for word in words[np.argsort(-counts, kind="stable")][:MAX_WORDS]:
        at = np.array([value == word for value in values], bool)
        told = word or "empty"
        if column.kind == "event":
            if word:
                name, when = f"{column.name} {word} so far", f"once {_label(column)} was {word}"
                yield _fact(column, "so far", name, when, happened_before(at, rows.groups))
        else:
            yield _fact(column, "word", f"{column.name} = {told}", f"while {_label(column)} is {told}", at, known)


def _levels(column: Column, values: np.ndarray, split: float | None) -> Iterator[Fact]:
    known = np.isfinite(values)
    if not known.any():
        return
    levels = np.unique(values[known])
    if split is not None:
        limits = [split]
    elif len(levels) <= MAX_LEVELS:
        limits = levels[1:].tolist()
    else:
        limits = [float(np.median(values[known]))]
    for limit in limits:
        told = f"{limit:.4g}{' ' + column.unit if column.unit else ''}"
        holds = known & (np.where(known, values, -np.inf) >= limit)
        name, when = f"{column.name} ≥ {limit:.4g}", f"while {_label(column)} is {told} or more"
        yield _fact(column, "threshold", name, when, holds, known)


def _fact(
    column: Column, kind: FactKind, name: str, when: str, holds: np.ndarray, known: np.ndarray | None = None
) -> Fact:
    known = np.ones(len(holds), bool) if known is None else known
    return Fact(name=name, column=column.name, kind=kind, when=when, holds=holds & known, known=known)


def _label(column: Column) -> str:
    return column.label or column.name.replace("_", " ")


def _once(column: Column) -> str:
    label = _label(column)
    if label.startswith("gathered "):
        return f"once the {label.removeprefix('gathered ')} is gathered"
    return f"once '{label}' has happened"


def _while(column: Column) -> str:
    label = _label(column)
    if label.endswith(" in view"):
        return f"while {label.removesuffix(' in view')} is in view"
    return f"while '{label}' is true"
