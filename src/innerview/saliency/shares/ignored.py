"""Seen but not acted on: attention to a class beside what happens to the decision when the class is taken away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from innerview.errors import LensError
from innerview.saliency.blurring import acting
from innerview.saliency.perturbation import FILLS, Fill, covered
from innerview.saliency.shares.classes import shares_of
from innerview.saliency.shares.cover import classes_of, cover
from innerview.saliency.shares.explained import MIN_CLUSTERS, clusters
from innerview.saliency.shares.maps import MAP, MapOf
from innerview.schema import Axis, Lens, Parameter, Rows, Table, Watch, unwatched

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import Tensor

    from innerview.subjects import Subject

LENS = Lens(
    name="ignored",
    question="What does it look at without acting on it?",
    needs=("image input", "subject", "classes"),
    parameters=(
        *MAP,
        Parameter(
            name="fill",
            type="choice",
            default="blur",
            choices=FILLS,
            description="What stands where the class was: a blur of the picture, its mean colour, or black.",
        ),
        Parameter(
            name="blur",
            type="float",
            default=5.0,
            low=0.1,
            high=64.0,
            description="How far the blur reaches, in pixels.",
        ),
        Parameter(
            name="margin",
            type="int",
            default=1,
            low=0,
            high=16,
            description="Pixels around a thing that are taken away too: older frames show it beside where it is.",
        ),
        Parameter(
            name="max_rows",
            type="int",
            default=400,
            low=16,
            high=100_000,
            description="Rows that are looked at, evenly spread, at most.",
        ),
        Parameter(name="seed", type="int", default=0, low=0, description="Where else the same shape is taken away."),
    ),
    yields="table",
    cost="minutes",
    paper="Perturbation by blurring, Greydanus and others 2017, on whole classes and beside a control elsewhere",
)
MATTERS = 0.02
"""A change of the decision below this is called none."""
_RESAMPLES = 2000
_TRIES = 12


def look(
    rows: Rows,
    subject: Subject,
    *,
    method: str = "gradient",
    target: str = "action",
    layer: str = "",
    frame: int = -1,
    fill: Fill = "blur",
    blur: float = 5.0,
    margin: int = 1,
    max_rows: int = 400,
    seed: int = 0,
    watch: Watch = unwatched,
) -> Table:
    """For each class its attention, and how far the decision moves without it beyond the same shape taken elsewhere."""
    places = np.unique(np.linspace(0, rows.count - 1, min(max_rows, rows.count)).round().astype(np.int64))
    some = rows.part(places)
    names, random = classes_of(rows)[1:], np.random.default_rng(seed)
    taking = _Taking(some, subject, fill, blur)
    of_map = MapOf(method=method, target=target, layer=layer, frame=frame)
    lines: list[tuple[float, ...]] = []
    for piece, sizes in of_map.pieces(some, subject, watch):
        whole = cover(some, piece, sizes.shape[1:])
        shares, chances = (values[:, 1:] for values in shares_of(sizes, whole))
        for at, place in enumerate(piece.tolist()):
            there = [c for c in range(len(names)) if whole[at, c + 1].any()]
            shapes = [grown(whole[at, c + 1], margin) for c in there]
            moved = taking.changes(place, [*shapes, *(elsewhere(shape, random) for shape in shapes)])
            for k, c in enumerate(there):
                lines.append((c, place, shares[at, c], chances[at, c], moved[k], moved[k + len(there)]))
    table = np.array(lines, np.float64).reshape(-1, 6)
    cluster = clusters(some.group_numbers())
    found = [_of_class(name, table[table[:, 0] == c], cluster, random) for c, name in enumerate(names)]
    return Table(
        columns=tuple(Axis(name=name) for name in _COLUMNS),
        lines=[_line(one) for one in found],
        value={"classes": found, "change": taking.means, "words": words(found)},
    )


@dataclass
class _Taking:
    """Takes parts of pictures away and says how far the decision moves."""

    rows: Rows
    subject: Subject
    fill: Fill
    blur: float

    def __post_init__(self) -> None:
        self.head = acting(self.subject)
        self.kind = next(head.kind for head in self.subject.info.heads if head.name == self.head)

    @property
    def means(self) -> str:
        """What a change of 1 stands for."""
        if self.kind in ("q", "advantage"):
            return "share of steps in which another action becomes the best"
        return "half the distance between the action probabilities before and after, from 0 to 1"

    def changes(self, place: int, shapes: list[np.ndarray]) -> list[float]:
        """For each shape [height, width] how far the decision moves without it; nothing where it covers nothing."""
        import torch

        if not shapes:
            return []
        image = next(spec for spec in self.subject.info.inputs if spec.kind == "image")
        here = np.array([place])
        inputs, memory = self.rows.inputs(here), self.rows.memory_before(here)
        own = inputs[image.name]
        masks = torch.as_tensor(np.stack(shapes), device=own.device)[:, None].to(own)
        instead = covered(self.rows, image, own, self.fill, self.blur)
        pictures = torch.cat([own, own + masks * (instead - own)])
        count = len(pictures)
        given = {n: v.expand(count, *v.shape[1:]) for n, v in inputs.items()} | {image.name: pictures}
        state = {n: v.expand(count, *v.shape[1:]).contiguous() for n, v in memory.items()}
        moved = self._moved(self.subject.run(given, state).heads)
        nothing = [not shape.any() for shape in shapes]
        return [float("nan") if none else change for none, change in zip(nothing, moved, strict=True)]

    def _moved(self, heads: Mapping[str, Tensor]) -> list[float]:
        values = heads[self.head].detach().double()
        if self.kind in ("q", "advantage"):
            best = values.argmax(1)
            other: list[float] = (best[1:] != best[0]).double().tolist()
            return other
        if self.kind != "policy":
            raise LensError(
                f"The head that acts, '{self.head}', is of kind '{self.kind}': how far a decision moves is known for "
                "discrete actions alone."
            )
        chances = values.softmax(1)
        distance: list[float] = (0.5 * (chances[1:] - chances[0]).abs().sum(1)).tolist()
        return distance


def grown(shape: np.ndarray, margin: int) -> np.ndarray:
    """A shape with so many pixels around it."""
    for _ in range(margin):
        padded = np.pad(shape, 1)
        shape = shape | padded[:-2, 1:-1] | padded[2:, 1:-1] | padded[1:-1, :-2] | padded[1:-1, 2:]
    return shape


def elsewhere(shape: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """The same shape at a random place that it does not touch; nothing where there is no such place at hand."""
    for _ in range(_TRIES):
        moved = np.roll(shape, (int(random.integers(shape.shape[0])), int(random.integers(shape.shape[1]))), (0, 1))
        if not (moved & shape).any():
            return moved
    return np.zeros_like(shape)


def _of_class(name: str, table: np.ndarray, cluster: np.ndarray, random: np.random.Generator) -> dict[str, Any]:
    """Attention in times its size, and the change beyond the control, with their intervals."""
    known = table[~np.isnan(table).any(axis=1)]
    parts = [known[cluster[known[:, 1].astype(int)] == k, 2:] for k in np.unique(cluster)]
    sums = np.array([[*part.sum(0), len(part)] for part in parts if len(part)])
    if len(sums) < MIN_CLUSTERS:
        nothing = {"attention": None, "change": None, "control": None}
        return {"name": name, "rows": len(known), **nothing, "verdict": "seen too seldom"}
    drawn = sums[random.integers(0, len(sums), (_RESAMPLES, len(sums)))].sum(1)
    whole = sums.sum(0)
    attention = _interval(lambda s: s[..., 0] / np.maximum(s[..., 1], 1e-12), whole, drawn)
    change = _interval(lambda s: (s[..., 2] - s[..., 3]) / s[..., 4], whole, drawn)
    control = float(whole[3] / whole[4])
    found = {"attention": attention, "change": change, "control": control}
    return {"name": name, "rows": len(known), **found, "verdict": verdict(attention, change)}


def _interval(of: Any, whole: np.ndarray, drawn: np.ndarray) -> dict[str, float]:
    low, high = np.quantile(of(drawn), (0.025, 0.975))
    return {"value": float(of(whole)), "low": float(low), "high": float(high)}


def verdict(attention: Mapping[str, float], change: Mapping[str, float]) -> str:
    """In words; what the intervals leave open is left open."""
    if change["low"] > 0 and change["high"] >= MATTERS:
        return "seen and acted on" if attention["low"] > 1 else "acted on"
    if attention["low"] > 1 and change["high"] < MATTERS:
        return "seen but not acted on"
    return "not looked at" if attention["high"] < 1 and change["high"] < MATTERS else "cannot be told"


def words(found: list[dict[str, Any]]) -> str:
    """What that says of the agent."""
    seen = [one for one in found if one["verdict"] == "seen but not acted on"]
    if not seen:
        return "Nothing that it looks at is without effect, as far as can be told here."
    said = [f"{one['name']} ({one['attention']['value']:.2g} times its size)" for one in seen]
    return f"It looks at {', '.join(said)}, and decides the same without."


_COLUMNS = (
    "class",
    "rows",
    "attention, times its size",
    "low",
    "high",
    "change without it, beyond the control",
    "low change",
    "high change",
    "control",
    "verdict",
)


def _line(one: dict[str, Any]) -> list[Any]:
    figures = [
        one[key][part] if one[key] else None for key in ("attention", "change") for part in ("value", "low", "high")
    ]
    return [one["name"], one["rows"], *figures, one["control"], one["verdict"]]
