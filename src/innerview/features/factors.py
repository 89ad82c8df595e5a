"""Factors: the few things a layer tells apart, and whether each is good or bad news."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from innerview.errors import LensError
from innerview.features.directions import MAX_CELLS, METHODS, Factors, cells, check, fit
from innerview.features.examples import Examples
from innerview.features.meaning import Meaning
from innerview.schema import Axis, Chart, Lens, Output, Parameter, Rows, Series, Watch, unwatched

if TYPE_CHECKING:
    from torch import Tensor

    from innerview.subjects import Subject

OF = ("attributions", "activations")
BATCH = 64
MAX_STORED_BYTES = 512 * 2**20
"""Of attributions of the sample; what does not find room is attributed again."""

LENS = Lens(
    name="factors",
    question="Which few things does a layer respond to, and do they raise or lower the value?",
    needs=("image input", "convolution", "gradients"),
    parameters=(
        Parameter(
            name="layer",
            type="layer",
            default="",
            description="A layer with height and width; the middle convolution unless said.",
        ),
        Parameter(
            name="target",
            type="target",
            default="value",
            description="What is attributed: the value, the chosen action, one action, or one action over another.",
        ),
        Parameter(
            name="of",
            type="choice",
            default="attributions",
            choices=OF,
            description="Split what the layer adds to the target, or what it puts out.",
        ),
        Parameter(name="count", type="int", default=8, low=1, high=64, description="How many factors."),
        Parameter(
            name="method",
            type="choice",
            default="nmf",
            choices=METHODS,
            description="Non-negative factors, or a sparse dictionary in which using a factor has its price.",
        ),
        Parameter(
            name="max_rows",
            type="int",
            default=2048,
            low=16,
            high=65536,
            description="Rows that factors are fitted to.",
        ),
        Parameter(
            name="steps", type="int", default=10, low=2, high=200, description="How finely attributions are integrated."
        ),
        Parameter(name="seed", type="int", default=0, low=0, description="Which rows, and where fitting begins."),
        Parameter(
            name="factors",
            type="result",
            default="",
            description="Factors found before, in any recording: every row is split by them, and none is fitted.",
        ),
    ),
    yields="chart",
    cost="minutes",
    paper="Hilton, Cammarata, Carter, Goh, Olah 2020: Understanding RL vision",
)


@dataclass(frozen=True)
class _Reading:
    """What a layer says in each row: attributions or activations."""

    subject: Subject
    rows: Rows
    layer: str
    target: str
    of: str
    steps: int

    def values(self, places: np.ndarray) -> tuple[Tensor, np.ndarray, Any]:
        """[rows, channel, height, width], the completeness error [rows], and the tail where there is one."""
        if self.of == "activations":
            return self.rows.activations(self.layer, places), np.zeros(len(places)), None
        from innerview.subjects import attribute

        inputs, memory = self.rows.inputs(places), self.rows.memory_before(places)
        given = attribute(self.subject, inputs, memory, layer=self.layer, target=self.target, steps=self.steps)
        return given.values, given.error.detach().cpu().numpy(), given.tail


def look(
    rows: Rows,
    subject: Subject,
    *,
    layer: str = "",
    target: str = "value",
    of: str = "attributions",
    count: int = 8,
    method: str = "nmf",
    max_rows: int = 2048,
    steps: int = 10,
    seed: int = 0,
    factors: Output | str = "",
    watch: Watch = unwatched,
) -> Chart:
    """Directions fitted to a sample of rows, or found before, and how much of each is where in every row."""
    from innerview.subjects import middle_for

    given = factors if isinstance(factors, Output) else None
    if given:
        layer, target, of = (str(given.value[name]) for name in ("layer", "target", "of"))
    layer = layer or middle_for(subject, target if of == "attributions" else "action")
    reading = _Reading(subject, rows, layer, target, of, steps)
    if given:
        kept, found = _StoredCells(), _found_before(given)
    else:
        kept, found = _fitted(reading, watch, count=count, method=method, max_rows=max_rows, seed=seed)
    before = 0 if given else min(max_rows, rows.count)
    amounts = _Amounts(reading, found, seed)
    for first in range(0, rows.count, BATCH):
        watch(before + first, before + rows.count, "every row")
        amounts.add(np.arange(first, min(first + BATCH, rows.count)), kept)
    watch(before + rows.count, before + rows.count, "done")
    told = amounts.summary(_measured(amounts) if given else found)
    if given:
        for factor, was in zip(told.value["factors"], given.value["factors"], strict=True):
            factor["known_as"], factor["known_to_mean"] = known_as(was), meant(was)
    return told


def known_as(factor: Mapping[str, Any]) -> str:
    """What a factor was found to mean where it was found; empty where that was nothing clear."""
    return str(factor.get("known_as") or (factor.get("meaning") or {}).get("name", ""))


def meant(factor: Mapping[str, Any]) -> str:
    """The class of things that it lies on most, where that is clear; its name may tell others that come near."""
    return str(factor.get("known_to_mean") or (factor.get("meaning") or {}).get("means", ""))


def _fitted(
    reading: _Reading, watch: Watch, *, count: int, method: str, max_rows: int, seed: int
) -> tuple[_StoredCells, Factors]:
    """Directions that explain a sample of rows best, and what was read of it."""
    import torch

    all_rows = reading.rows.count
    sample = np.sort(np.random.default_rng(seed).permutation(all_rows)[: min(max_rows, all_rows)])
    total = len(sample) + all_rows
    kept, parts = _StoredCells(), []
    for first in range(0, len(sample), BATCH):
        watch(first, total, "a sample")
        places = sample[first : first + BATCH]
        read = reading.values(places)
        check(count, read[0].shape[1], method)
        share = math.ceil(MAX_CELLS * len(places) / len(sample))
        parts.append(cells(read[0], signed=reading.of == "attributions", max_cells=share, seed=seed + first))
        kept.add(places, *read)
    watch(len(sample), total, "factors")
    return kept, fit(torch.cat(parts), count=count, method=method, seed=seed)


def _found_before(given: Output) -> Factors:
    """Directions of an earlier result, in their order; what they explain here is not known yet."""
    directions = given.arrays["directions"]
    return Factors(
        directions=directions, explained=0.0, shares=np.zeros(len(directions)), method=str(given.value["method"])
    )


def _measured(rows: _Amounts) -> Factors:
    """The same directions, with what they explain of these rows."""
    if not rows.squares:
        raise LensError("Everything is zero here: there is nothing to split. Try another layer or target.")
    amounts = rows.totals.sum(axis=(0, 2), dtype=np.float64)
    return replace(
        rows.factors, explained=1 - rows.rest_squares / rows.squares, shares=amounts / max(amounts.sum(), 1e-12)
    )


class _StoredCells:
    """What was read for the sample, in half the numbers' size, so that no row is attributed twice."""

    def __init__(self) -> None:
        self.rows: dict[int, tuple[Tensor, Tensor, float]] = {}
        self.tail: Any = None
        self.bytes = 0

    def add(self, places: np.ndarray, values: Tensor, error: np.ndarray, tail: Any) -> None:
        """Keep rows as long as there is room."""
        self.tail = tail
        # Attributions may be smaller than half precision can tell from zero: the largest of each row becomes 1.
        largest = values.flatten(1).abs().amax(dim=1).clamp_min(1e-30)
        small = (values / largest[:, None, None, None]).half()
        for i, place in enumerate(places.tolist()):
            if self.bytes < MAX_STORED_BYTES:
                self.rows[place] = (small[i], largest[i], float(error[i]))
                self.bytes += small[i].numel() * small.element_size()

    def values(self, places: np.ndarray, reading: _Reading) -> tuple[Tensor, np.ndarray, Any]:
        """As `reading` gives them; what is kept is taken from here, and let go."""
        import torch

        here = [place for place in places.tolist() if place in self.rows]
        others = np.array([place for place in places.tolist() if place not in self.rows], np.int64)
        read = reading.values(others) if len(others) else None
        taken = [self.rows.pop(place) for place in here]
        if not taken:
            assert read is not None
            return read
        again = torch.stack([small.float() * largest for small, largest, _ in taken])
        error = np.array([lost for _, _, lost in taken])
        if read is None:
            return again, error, self.tail
        order = np.argsort(np.concatenate([np.array(here, np.int64), others]))
        return torch.cat([again, read[0]])[torch.as_tensor(order)], np.concatenate([error, read[1]])[order], read[2]


class _Amounts:
    """How much of each factor is where, row by row, in a byte each."""

    def __init__(self, reading: _Reading, factors: Factors, seed: int) -> None:
        from innerview.subjects import receptive_field

        rows = reading.rows.count
        self.reading, self.factors, self.count = reading, factors, rows
        self.groups = reading.rows.group_numbers()
        self.others = np.random.default_rng(seed).permutation(rows)
        self.receptive_field = receptive_field(reading.subject, reading.layer)
        classes = reading.rows.classes
        self.meaning = (
            Meaning(classes, factors.count, int(self.groups.max()) + 1, self.receptive_field)
            if reading.rows.mask
            else None
        )
        self.examples = Examples()
        self.amounts: np.ndarray = np.zeros((0,), np.int8)
        self.rest: np.ndarray = np.zeros((0,), np.uint8)
        self.scale = np.zeros((rows, 2), np.float32)
        self.totals = np.zeros((rows, factors.count, 2), np.float32)
        self.error = np.zeros(rows)
        self.squares = self.rest_squares = 0.0
        self.tail: Any = None

    def add(self, places: np.ndarray, kept: _StoredCells) -> None:
        """The next rows."""
        values, error, self.tail = kept.values(places, self.reading)
        amounts = self.factors.amounts(values)
        rest = self.factors.residual(values, amounts)
        if not len(self.amounts):
            self.amounts = np.zeros((self.count, *amounts.shape[1:]), np.int8)
            self.rest = np.zeros((self.count, *rest.shape[1:]), np.uint8)
        self.examples.add(self.reading.rows.numbers[places], amounts)
        self._compare(places, amounts)
        largest = amounts.abs().flatten(1).amax(dim=1).clamp_min(1e-12)
        max_rest = rest.flatten(1).amax(dim=1).clamp_min(1e-12)
        self.amounts[places] = (127 * amounts / largest[:, None, None, None]).round().cpu().numpy()
        self.rest[places] = (255 * rest / max_rest[:, None, None]).round().cpu().numpy()
        self.scale[places, 0], self.scale[places, 1] = largest.cpu().numpy(), max_rest.cpu().numpy()
        flat = amounts.flatten(2)
        self.totals[places, :, 0] = flat.clamp_min(0).sum(dim=2).cpu().numpy()
        self.totals[places, :, 1] = (-flat).clamp_min(0).sum(dim=2).cpu().numpy()
        self.error[places] = error
        self.squares += float(values.double().square().sum())
        self.rest_squares += float(rest.double().square().sum())

    def _compare(self, places: np.ndarray, amounts: Tensor) -> None:
        """With what the world says is where."""
        masks = self.reading.rows.masks
        if self.meaning is None:
            return
        self.meaning.add(amounts, masks(places), masks(self.others[places]), self.groups[places])

    def summary(self, factors: Factors) -> Chart:
        """Everything that the page draws."""
        reading = self.reading
        height, width = self.amounts.shape[2:]
        examples = self.examples.chosen(width=width)
        meant = self.meaning.summary() if self.meaning else [None] * factors.count
        strongest, rows = self.examples.by_place()
        value = {
            "layer": reading.layer,
            "target": reading.target,
            "of": reading.of,
            "method": factors.method,
            "grid": [height, width],
            "reach": self.receptive_field.reach,
            "receptive_field": self.receptive_field.summary(),
            "explained": factors.explained,
            "completeness": {"median": float(np.median(self.error)), "worst": float(self.error.max())},
            "alone": self.tail is None or self.tail.alone,
            "why": "" if self.tail is None else self.tail.why,
            "factors": [
                {"share": float(share), "channels": _strongest(direction), "examples": shown, "meaning": meaning}
                for share, direction, shown, meaning in zip(
                    factors.shares, factors.directions, examples, meant, strict=True
                )
            ],
            "masks": ""
            if self.meaning
            else "The world provides no masks, so factors were not compared with what is where. Your own environment "
            "provides them with iv.world(env, masks=…).",
        }
        arrays = {
            "directions": factors.directions.astype(np.float32),
            "amounts": self.amounts,
            "rest": self.rest,
            "scale": self.scale,
            "totals": self.totals,
            "cells": strongest.astype(np.float32),
            "cell_rows": rows.astype(np.int64),
        }
        return Chart(
            x=Axis(name="factor"),
            y=Axis(name="share of the total"),
            series=(_shares(value),),
            value=value,
            arrays=arrays,
        )


def _shares(value: Mapping[str, Any]) -> Series:
    known = [(factor["meaning"] or {}).get("name", "") for factor in value["factors"]]
    names = [f"{number}: {name}" if name else str(number) for number, name in enumerate(known)]
    return Series(name="share", x=names, y=[factor["share"] for factor in value["factors"]], mark="bar")


def _strongest(direction: np.ndarray, count: int = 4) -> list[dict[str, Any]]:
    order = np.argsort(-direction)[:count]
    return [{"channel": int(c), "weight": float(direction[c])} for c in order if direction[c] > 0.05]
