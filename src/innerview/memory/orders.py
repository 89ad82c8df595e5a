"""Orders of memory elements: the four of DRLViz (table 4.1) and three that compare elements.

States are read a piece at a time, so a million rows of 512 elements need no more memory than a few pieces.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from innerview.errors import LensError, UnknownName
from innerview.memory import similarity
from innerview.schema import States

OrderName = Literal["model", "activation", "change", "stable", "similar", "tsne", "correlation", "cluster"]
EXPLAINS: dict[OrderName, str] = {
    "model": "As the model numbers them.",
    "activation": "Sum of |h| over the rows, largest first: elements most involved in decisions.",
    "change": "Sum of |h(t) - h(t+1)| within each episode, largest first: elements that change most.",
    "stable": "One over the change, largest first: elements that change least.",
    "similar": "|mean over the whole - mean over the interval|, largest first: elements that differ in the interval.",
    "tsne": "One-dimensional t-SNE of the absolute values: elements with like activity stand next to each other.",
    "correlation": "|Pearson correlation| with {column}, largest first; the score keeps its sign.",
    "cluster": "Leaves of a tree that joins the most correlated elements first: like ones stand together.",
}
BY = tuple(EXPLAINS)


@dataclass(frozen=True, kw_only=True)
class Order:
    """Elements in an order, and what each was sorted by."""

    by: OrderName
    order: np.ndarray
    """Places of the elements, first to last."""
    scores: np.ndarray
    """[elements] in the model's own order; infinite for a `stable` element that never changes."""
    explains: str


@dataclass(frozen=True, kw_only=True)
class Span:
    """The rows an order is made from."""

    states: States
    begins: np.ndarray
    """[rows], whether an episode begins in this row."""
    start: int
    stop: int
    interval: tuple[int, int] | None = None
    """Rows somebody chose among them."""

    @property
    def over(self) -> tuple[int, int]:
        """The chosen interval, or all of them."""
        return self.interval or (self.start, self.stop)


def sort_elements(name: str, span: Span, *, column: np.ndarray | None = None, column_name: str = "") -> Order:
    """The elements by one of `BY`; `column` has a value for every row of the states."""
    by = next((known for known in BY if known == name), None)
    if by is None:
        raise UnknownName("order", name, BY)
    if span.start >= span.stop or span.over[0] >= span.over[1]:
        raise LensError("An order needs one row or more.")
    explains = EXPLAINS[by].format(column=f"'{column_name}'")
    if by == "correlation":
        scores = _correlation(span, column)
        return Order(by=by, order=_largest_first(np.abs(scores)), scores=scores, explains=explains)
    if by in ("tsne", "cluster"):
        rows = similarity.sampled(span.states, *span.over)
        places = similarity.along_tsne(rows) if by == "tsne" else similarity.along_tree(rows)
        part = f" From {len(rows)} of {span.over[1] - span.over[0]} rows." if len(rows) < np.ptp(span.over) else ""
        return Order(by=by, order=np.argsort(places, kind="stable"), scores=places, explains=explains + part)
    scores = _FORMULAS[by](span)
    order = np.arange(span.states.elements) if by == "model" else _largest_first(scores)
    return Order(by=by, order=order, scores=scores, explains=explains)


def _largest_first(scores: np.ndarray) -> np.ndarray:
    return np.argsort(-scores, kind="stable")


def _model_order(span: Span) -> np.ndarray:
    return np.arange(span.states.elements, dtype=np.float64)


def _activation(span: Span) -> np.ndarray:
    total = np.zeros(span.states.elements)
    for _, values in span.states.pieces(*span.over):
        total += np.abs(values).sum(axis=0, dtype=np.float64)
    return total


def _change(span: Span) -> np.ndarray:
    total, last = np.zeros(span.states.elements), None
    for first, values in span.states.pieces(*span.over):
        begins = span.begins[first : first + len(values)]
        if last is not None and not begins[0]:
            total += np.abs(values[0].astype(np.float64) - last)
        steps = np.abs(np.diff(values, axis=0))
        total += steps[~begins[1:]].sum(axis=0, dtype=np.float64)
        last = values[-1].astype(np.float64)
    return total


def _stable(span: Span) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return 1.0 / _change(span)


def _similar(span: Span) -> np.ndarray:
    if span.interval is None:
        raise LensError("'similar' compares an interval with the whole: brush an interval in the memory first.")
    difference: np.ndarray = np.abs(_mean(span.states, span.start, span.stop) - _mean(span.states, *span.interval))
    return difference


def _mean(states: States, start: int, stop: int) -> np.ndarray:
    total = np.zeros(states.elements)
    for _, values in states.pieces(start, stop):
        total += values.sum(axis=0, dtype=np.float64)
    return total / (stop - start)


def _correlation(span: Span, column: np.ndarray | None) -> np.ndarray:
    """Pearson's r of each element with the column, 0 for one that never changes; unknown rows are left out."""
    if column is None:
        raise LensError("'correlation' needs a column to correlate with.")
    if column.dtype.kind not in "biuf":
        raise LensError("That column holds words; correlation needs numbers, or true and false.")
    with_known = column[slice(*span.over)].astype(np.float64)
    with_known = with_known[np.isfinite(with_known)]
    if len(with_known) < 2 or np.ptp(with_known) == 0:
        raise LensError("That column has no two different known values in these rows, so nothing correlates with it.")
    mean, spread = with_known.mean(), with_known.std()
    moments = np.zeros((3, span.states.elements))
    for first, values in span.states.pieces(*span.over):
        told = column[first : first + len(values)].astype(np.float64)
        known = np.isfinite(told)
        rows, z = values[known].astype(np.float64), (told[known] - mean) / spread
        moments += np.stack([rows.sum(axis=0), (rows * rows).sum(axis=0), z @ rows])
    moments /= len(with_known)
    deviation = np.sqrt(np.maximum(moments[1] - moments[0] ** 2, 0))
    moving = deviation > 1e-7 * np.sqrt(moments[1])
    scores: np.ndarray = np.divide(moments[2], deviation, out=np.zeros_like(deviation), where=moving)
    return np.asarray(scores.clip(-1, 1))


_FORMULAS: dict[str, Callable[[Span], np.ndarray]] = {
    "model": _model_order,
    "activation": _activation,
    "change": _change,
    "stable": _stable,
    "similar": _similar,
}
