"""Network health: which layers work, which carry nothing, and what is wired wrongly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from innerview.errors import LensError
from innerview.schema import Axis, Lens, Parameter, Rows, Table, Watch, parse_site, unwatched

if TYPE_CHECKING:
    from torch import Tensor

    from innerview.schema import InputSpec
    from innerview.subjects import Subject

LENS = Lens(
    name="health",
    question="Does every layer carry something, and is it wired as it should be?",
    needs=("subject", "gradients"),
    parameters=(
        Parameter(
            name="max_rows", type="int", default=256, low=2, high=10_000, description="How many rows are run, spread."
        ),
    ),
    yields="table",
    cost="seconds",
    paper="After Rosynski, Kirchner, Valdenegro-Toro 2020, who found a broken stream by its gradients",
)
DEAD_SHARE = 0.99
"""A layer is called dead where this share of its units never leaves 0."""
_CONSTANT = 1e-6
"""Values that differ by less than this share of their size are the same."""
_VANISHED = 1e-10
"""Gradient energy by a layer, as a share of the largest by any layer, under which nothing is learnt there."""
_SAME_FRAME = 0.98
"""Share of steps in which a frame must be the one that moved up from the step before."""
_AT_ONCE = 64


@dataclass
class LayerTally:
    """What passed one layer, over all rows."""

    energy: float = 0.0
    """Sum of the mean squared activation of each row."""
    gradient: float = 0.0
    """The same of the gradient of all heads by it."""
    connected: bool = False
    low: Tensor | None = None
    high: Tensor | None = None
    """Least and largest value of each unit."""

    def add(self, activation: Tensor, gradient: Tensor | None) -> None:
        """Count some rows."""
        import torch

        flat = activation.detach().flatten(1).float()
        self.energy += float(flat.square().mean(1).sum())
        low, high = flat.amin(0), flat.amax(0)
        self.low = low if self.low is None else torch.minimum(self.low, low)
        self.high = high if self.high is None else torch.maximum(self.high, high)
        if gradient is not None:
            self.connected = True
            self.gradient += float(gradient.flatten(1).float().square().mean(1).sum())

    @property
    def dead(self) -> float:
        """Share of units that are 0 in every row."""
        assert self.low is not None and self.high is not None
        return float(((self.low == 0) & (self.high == 0)).float().mean())

    @property
    def constant(self) -> bool:
        """Whether no unit differs from row to row."""
        assert self.low is not None and self.high is not None
        size = float(self.high.abs().maximum(self.low.abs()).max())
        return float((self.high - self.low).max()) <= _CONSTANT * max(size, 1e-12)


@dataclass(frozen=True)
class LayerCalls:
    """A layer over all its calls in one run: it works if one of them does."""

    calls: tuple[LayerTally, ...]

    @property
    def energy(self) -> float:
        """Of its liveliest call."""
        return max(call.energy for call in self.calls)

    @property
    def gradient(self) -> float:
        """Of the call that is reached best."""
        return max(call.gradient for call in self.calls)

    @property
    def connected(self) -> bool:
        """Whether a head depends on any call."""
        return any(call.connected for call in self.calls)

    @property
    def dead(self) -> float:
        """Share of units that are 0 in every row, in the call with the fewest."""
        return min(call.dead for call in self.calls)

    @property
    def constant(self) -> bool:
        """Whether no call differs from row to row."""
        return all(call.constant for call in self.calls)


@dataclass
class Tally:
    """What passed the whole subject."""

    sites: dict[str, LayerTally]
    """By the address of a call."""
    heads: dict[str, list[np.ndarray]]
    used: set[str] = field(default_factory=set)
    """Weights that some head depends on."""

    @property
    def layers(self) -> dict[str, LayerCalls]:
        """By the name of a module."""
        found: dict[str, list[LayerTally]] = {}
        for address, each in self.sites.items():
            found.setdefault(str(replace(parse_site(address), call=None)), []).append(each)
        return {name: LayerCalls(tuple(calls)) for name, calls in found.items()}


def look(rows: Rows, subject: Subject, *, max_rows: int = 256, watch: Watch = unwatched) -> Table:
    """A line per layer, and every warning in words with its evidence; `value` has the warnings alone."""
    if rows.count < 2:
        raise LensError("Whether something changes from row to row takes two rows or more.")
    places = np.unique(np.linspace(0, rows.count - 1, min(max_rows, rows.count)).round().astype(np.int64))
    tally = _tallied(rows, subject, places, watch)
    warnings = {**_layer_warnings(tally), **_stream_warnings(subject, tally), **_unused(subject, tally)}
    for spec in subject.info.inputs:
        if problem := frame_order(rows, spec):
            warnings[f"input {spec.name}"] = problem
    count, layers = len(places), tally.layers
    lines: list[tuple[str, float | None, float | None, float | None, str]] = [
        (name, each.energy / count, each.gradient / count, 100 * each.dead, warnings.get(name, ""))
        for name, each in layers.items()
    ]
    lines += [(name, None, None, None, text) for name, text in warnings.items() if name not in layers]
    columns = (
        Axis(name="part"),
        Axis(name="mean squared activation"),
        Axis(name="mean squared gradient"),
        Axis(name="units that are always 0", unit="%"),
        Axis(name="warning"),
    )
    return Table(columns=columns, lines=lines, value={"warnings": warnings, "rows": count})


def _tallied(rows: Rows, subject: Subject, places: np.ndarray, watch: Watch) -> Tally:
    import torch

    layers = list(subject.info.layers)
    tally = Tally({name: LayerTally() for name in layers}, {head.name: [] for head in subject.info.heads})
    weights = {name: value for name, value in subject.module.named_parameters() if value.requires_grad}
    generator = torch.Generator().manual_seed(0)
    # A plain sum may cancel, as advantages less their mean do; with weights drawn at random nothing does.
    drawn = {head.name: torch.randn(head.size, generator=generator) for head in subject.info.heads}
    for first in range(0, len(places), _AT_ONCE):
        watch(first, len(places), "running")
        some = places[first : first + _AT_ONCE]
        with torch.enable_grad():
            output = subject.run(rows.inputs(some), rows.memory_before(some), keep=layers, grad=True)
            score = torch.stack([(v * drawn[n].to(v)).sum() for n, v in output.heads.items() if n in drawn]).sum()
            sources = [output.sites[name] for name in layers]
            flowing = [x for x in sources if x.requires_grad]
            wanted = [*flowing, *weights.values()]
            found = torch.autograd.grad(score, wanted, allow_unused=True) if score.requires_grad else ()
        by_layer = {id(x): g for x, g in zip(flowing, found, strict=False)}
        for name, value in zip(layers, sources, strict=True):
            tally.sites[name].add(value, by_layer.get(id(value)))
        tally.used |= {name for name, g in zip(weights, found[len(flowing) :], strict=False) if g is not None}
        for name, value in output.heads.items():
            if name in tally.heads:
                tally.heads[name].append(value.detach().cpu().double().numpy())
    return tally


def _layer_warnings(tally: Tally) -> dict[str, str]:
    found, layers = {}, tally.layers
    largest = max((each.gradient for each in layers.values()), default=0.0)
    for name, each in layers.items():
        if not each.connected:
            found[name] = "Not connected: no head depends on what it puts out."
        elif each.dead >= DEAD_SHARE:
            found[name] = f"Dead: {each.dead:.0%} of its units are 0 in every row."
        elif each.constant:
            found[name] = "Carries nothing: it puts out the same in every row."
        elif each.gradient <= _VANISHED * largest:
            found[name] = f"Hardly reached: its gradient energy is {each.gradient / largest:.0e} of the largest."
    return found


def _stream_warnings(subject: Subject, tally: Tally) -> dict[str, str]:
    """Of heads: constant ones, and Q values that are not what their two streams add up to."""
    heads = {name: np.concatenate(parts) for name, parts in tally.heads.items() if parts}
    found = {}
    for name, values in heads.items():
        spread, size = float(np.ptp(values, axis=0).max()), float(np.abs(values).max())
        if spread <= _CONSTANT * max(size, 1e-12):
            found[f"head {name}"] = f"Carries nothing: '{name}' says the same in every row ({values[0, 0]:.4g})."
    kinds = {head.kind: head.name for head in subject.info.heads}
    if {"q", "value", "advantage"} <= kinds.keys():
        q, value, advantage = (heads[kinds[kind]] for kind in ("q", "value", "advantage"))
        if problem := merged_wrongly(q, value, advantage):
            found[f"head {kinds['q']}"] = problem
    return found


def merged_wrongly(q: np.ndarray, value: np.ndarray, advantage: np.ndarray) -> str:
    """What is wrong with Q values [row, action] beside their streams [row, 1] and [row, action]; nothing where fine."""
    usual = (
        value + advantage - advantage.mean(1, keepdims=True),
        value + advantage - advantage.max(1, keepdims=True),
        value + advantage,
    )
    size = max(float(np.abs(q).max()), 1e-12)
    off = [float(np.abs(q - wanted).max()) / size for wanted in usual]
    if min(off) < 1e-3:
        return ""
    return (
        f"Merged wrongly: Q is not value + advantage, less the mean or the largest advantage or neither; it is off by "
        f"{min(off):.0%} of the largest Q."
    )


def _unused(subject: Subject, tally: Tally) -> dict[str, str]:
    """Modules with weights that no head depends on, though the layer itself may never have run."""
    found: dict[str, list[str]] = {}
    layers = tally.layers
    for name, value in subject.module.named_parameters():
        if value.requires_grad and name not in tally.used:
            owner, _, weight = name.rpartition(".")
            found.setdefault(owner or name, []).append(weight)
    return {
        owner: f"Not connected: no head depends on its {' and '.join(names)}."
        for owner, names in found.items()
        if owner not in layers or not layers[owner].connected
    }


def frame_order(rows: Rows, spec: InputSpec) -> str:
    """What is wrong with the order of stacked frames; nothing where they move up by one from step to step.

    In a stack, what is the newest frame now is the second newest a step later. An order that only a permutation of the
    frames makes so is named.
    """
    if spec.kind != "image" or not 2 < spec.shape[0] <= 6 or not rows.groups:
        return ""
    pairs = list(_following(rows))
    if len(pairs) < 4:
        return ""
    now, after = (np.asarray(rows.inputs(np.array(side))[spec.name]) for side in zip(*pairs, strict=True))
    moving = np.array([not np.array_equal(a, b) for a, b in zip(now, after, strict=True)])
    if moving.sum() < 4:
        return ""
    same = _shifts(now[moving], after[moving])
    count = spec.shape[0]

    def fits(order: tuple[int, ...]) -> bool:
        return all(same[order[k + 1], order[k]] >= _SAME_FRAME for k in range(count - 1))

    ordered = tuple(range(count))
    if fits(ordered) or fits(ordered[::-1]):
        return ""
    other = next((order for order in permutations(ordered) if fits(order)), None)
    if other is None:
        return ""  # no stack of frames
    oldest_first = ", ".join(str(channel + 1) for channel in other)
    return (
        f"Frames are out of order: in {int(moving.sum())} of {int(moving.sum())} steps the frames move up as channels "
        f"{oldest_first}, not as {', '.join(str(c + 1) for c in ordered)}."
    )


def _following(rows: Rows) -> Iterator[tuple[int, int]]:
    """Places of rows that follow each other, some of each episode, 64 in all at most."""
    each = max(1, 64 // max(len(rows.groups), 1))
    for start, stop in rows.groups:
        for place in range(start, min(stop - 1, start + each)):
            if rows.numbers[place + 1] == rows.numbers[place] + 1:
                yield place, place + 1


def _shifts(now: np.ndarray, after: np.ndarray) -> Mapping[tuple[int, int], float]:
    """In which share of the steps a channel now is another channel a step later."""
    channels = range(now.shape[1])
    return {
        (i, j): float(np.mean([np.array_equal(a[i], b[j]) for a, b in zip(now, after, strict=True)]))
        for i in channels
        for j in channels
        if i != j
    }
