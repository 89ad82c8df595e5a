"""Cascading randomisation (Adebayo and others 2018): what remains of a map when the weights are gone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from innerview.errors import LensError
from innerview.schema import Rows, parse_site
from innerview.trust.interval import Interval, bootstrap
from innerview.trust.maps import is_empty, rank_correlation, ranks, signed_strength, strength, structural_similarity
from innerview.trust.question import Method, Question, image_of, maps_of

if TYPE_CHECKING:
    from torch import Tensor

    from innerview.subjects import Subject

MAX_STAGES = 8
"""Networks with more layers are randomised a few layers at a time."""
THRESHOLD = 0.5
"""A method passes where less than this rank correlation remains on average over the cascade."""
_SHOWS = 0.25
"""A method is tested where at least this share of its maps shows something."""


@dataclass(frozen=True)
class Stage:
    """The subject with some of its layers randomised, from the output down."""

    layer: str
    """The layer that was randomised last."""
    subject: Subject


@dataclass(frozen=True, kw_only=True)
class Randomisation:
    """How like its first map a method's map stays, stage by stage, means over rows and draws."""

    stages: tuple[str, ...]
    """The layer that was randomised last, the output's first."""
    rank: tuple[float, ...]
    """Spearman's rank correlation of the maps as they are drawn: with signs, where the method has them."""
    rank_low: tuple[float, ...]
    """Ends of their 95 % intervals over rows."""
    rank_high: tuple[float, ...]
    strength: tuple[float, ...]
    """The same correlation of the strengths alone: whether the same places stand out, in whatever colour."""
    ssim: tuple[float, ...]
    """Structural similarity of the strengths."""
    remains: Interval
    """Rank correlation of the maps, averaged over the stages: the figure that decides."""
    places_remain: Interval
    """The same of the strengths."""
    draws: int
    empty: float
    """Share of maps of randomised networks that were empty; they count as nothing left."""

    @property
    def passes(self) -> bool | None:
        """Whether the maps depend on the weights; None where the interval holds the threshold."""
        if self.remains.high < THRESHOLD:
            return True
        return False if self.remains.low >= THRESHOLD else None


def cascade(subject: Subject, rows: Rows, target: str, *, draws: int = 1, seed: int = 0) -> list[list[Stage]]:
    """For each draw, the subject with more and more layers randomised, from the target's end down to the input.

    Every tensor of weights is replaced by normal numbers around 0 of the same root mean square. What the target does
    not depend on is left alone.
    """
    names = _layers(subject, rows, target)
    if not names:
        raise LensError(f"'{subject.info.name}' has no weights that '{target}' depends on: nothing can be randomised.")
    groups = [list(part) for part in np.array_split(np.arange(len(names)), min(len(names), MAX_STAGES))]
    return [list(_draw(subject, names, groups, seed + number)) for number in range(draws)]


def randomisation(
    method: Method, rows: Rows, subject: Subject, question: Question, drawn: Sequence[Sequence[Stage]]
) -> Randomisation | None:
    """Compare a method's maps before and after; None where nearly all of them are empty before."""
    before = maps_of(method, rows, subject, question)
    image, signed = image_of(subject), before.signed
    first = before.heat[image]
    drawn_as = signed_strength if signed else strength
    known = ~is_empty(strength(first))
    if known.mean() < _SHOWS:
        return None
    places, whole = strength(first)[known], ranks(drawn_as(first)[known])
    place_ranks = ranks(places)
    ranked, placed, ssim, empty = [], [], [], []
    for stage in (stage for stages in drawn for stage in stages):
        after = maps_of(method, rows, stage.subject, question).heat[image][known]
        found = strength(after)
        empty.append(is_empty(found).mean())
        ranked.append(rank_correlation(whole, ranks(drawn_as(after))))
        placed.append(rank_correlation(place_ranks, ranks(found)))
        ssim.append(structural_similarity(places, found))
    shape = (len(drawn), len(drawn[0]), int(known.sum()))
    by_stage, by_place = (np.reshape(values, shape).mean(axis=0) for values in (ranked, placed))
    each = [_known(bootstrap(values)) for values in by_stage]
    return Randomisation(
        stages=tuple(stage.layer for stage in drawn[0]),
        rank=tuple(interval.mean for interval in each),
        rank_low=tuple(interval.low for interval in each),
        rank_high=tuple(interval.high for interval in each),
        strength=tuple(by_place.mean(axis=1).tolist()),
        ssim=tuple(np.reshape(ssim, shape).mean(axis=(0, 2)).tolist()),
        remains=_known(bootstrap(by_stage.mean(axis=0))),
        places_remain=_known(bootstrap(by_place.mean(axis=0))),
        draws=len(drawn),
        empty=float(np.mean(empty)),
    )


def _known(interval: Interval | None) -> Interval:
    assert interval is not None  # there are rows
    return interval


def _draw(subject: Subject, names: Sequence[str], groups: Sequence[Sequence[int]], seed: int) -> Iterator[Stage]:
    import torch

    generator = torch.Generator().manual_seed(seed)
    weights = _by_layer(subject)
    changed: dict[str, Tensor] = {}
    for group in groups:
        for place in group:
            for title, value in weights[names[place]].items():
                size = value.detach().double().square().mean().sqrt()
                noise = torch.randn(value.shape, generator=generator, dtype=torch.float64)
                changed[title] = (noise * size.cpu()).to(value)
        yield Stage(names[group[-1]], subject.copied(changed, name=subject.info.name))


def _by_layer(subject: Subject) -> Mapping[str, Mapping[str, Tensor]]:
    """Weights by the layer that they belong to; those that are not a layer's own by the module that has them."""
    found: dict[str, dict[str, Tensor]] = {}
    for title, value in subject.module.named_parameters():
        if value.is_floating_point():
            found.setdefault(title.rpartition(".")[0], {})[title] = value
    return found


def _layers(subject: Subject, rows: Rows, target: str) -> list[str]:
    """Layers with weights that the target depends on, the last to run first."""
    used = _used(subject, rows, target)
    order = {parse_site(address).module: place for place, address in enumerate(subject.info.layers)}
    found = [layer for layer, weights in _by_layer(subject).items() if used is None or used & weights.keys()]
    return sorted(found, key=lambda layer: -_place(layer, order))


def _place(layer: str, order: Mapping[str, int]) -> int:
    """When a layer runs; one that does not run by itself counts as the module around it, at last the whole."""
    while layer and layer not in order:
        layer = layer.rpartition(".")[0]
    return order.get(layer, -1)


def _used(subject: Subject, rows: Rows, target: str) -> set[str] | None:
    """Names of the weights that a target depends on; None where gradients cannot tell."""
    import torch

    from innerview.subjects import scored_run

    weights = {name: value for name, value in subject.module.named_parameters() if value.requires_grad}
    some = np.arange(1)
    with torch.enable_grad():
        score, _ = scored_run(subject, rows.inputs(some), rows.memory_before(some), target)
        if not weights or not score.requires_grad:
            return None
        found = torch.autograd.grad(score.sum(), list(weights.values()), allow_unused=True)
    frozen = {name for name, value in subject.module.named_parameters() if not value.requires_grad}
    return frozen | {name for name, gradient in zip(weights, found, strict=True) if gradient is not None}
