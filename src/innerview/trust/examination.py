"""Everything that is measured of one method on one subject."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from innerview.errors import InnerviewError
from innerview.schema import Rows, Setting, Watch, to_json
from innerview.trust.actions import ActionDifference, action_difference
from innerview.trust.deletion import Curves, Output, curves, output_of
from innerview.trust.maps import strength
from innerview.trust.pointing import Pointing, pointing
from innerview.trust.question import Method, Question, image_of, maps_of
from innerview.trust.randomisation import THRESHOLD, Randomisation, Stage, randomisation
from innerview.trust.stability import Stability, stability

if TYPE_CHECKING:
    from torch import Tensor

    from innerview.subjects import Subject

Verdict = Literal["passes", "fails", "unclear", "not tested"]
SLOW_ROWS = 8
"""Rows that a method which takes seconds is randomised and compared on."""


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What every method is examined on."""

    subject: Subject
    rows: Rows
    """Held: read once."""
    question: Question
    spread: np.ndarray
    """Places of the rows that all figures but stability are of."""
    runs: tuple[tuple[int, int], ...]
    """(start, stop) in places: steps that follow each other."""
    drawn: Sequence[Sequence[Stage]]
    """For each draw, the subject with ever more layers randomised."""

    def rows_for(self, method: Method) -> np.ndarray:
        """Places that a method is randomised on, fewer where it is slow."""
        if not method.slow or len(self.spread) <= SLOW_ROWS:
            return self.spread
        some: np.ndarray = self.spread[np.linspace(0, len(self.spread) - 1, SLOW_ROWS).round().astype(int)]
        return some

    def stages_for(self, method: Method) -> Sequence[Sequence[Stage]]:
        """Draws for a method, one where it is slow."""
        return self.drawn[:1] if method.slow else self.drawn

    @cached_property
    def _inputs(self) -> Mapping[str, Tensor]:
        return self.rows.inputs(np.arange(self.rows.count))

    @cached_property
    def _outputs(self) -> dict[str, Output]:
        return {}

    def pictures(self, image: str) -> tuple[Tensor, Tensor, Output]:
        """Of the spread rows: what was seen, the mean of all that was seen, and what is said of pictures."""
        whole = self._inputs[image]
        if image not in self._outputs:
            some = self.rows.part(self.spread)
            self._outputs[image] = output_of(self.subject, some, self.question.part(self.spread), image)
        own = whole[self.spread]
        return own, whole.mean(0, keepdim=True).expand_as(own), self._outputs[image]


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What was measured of one method; None where it could not be."""

    name: str
    lens: str = ""
    parameters: Mapping[str, Setting] = field(default_factory=dict)
    layer: str = ""
    """The layer whose maps were shown, where the method has one."""
    signed: bool = True
    baseline: bool = False
    untested: str = ""
    """Why there are no figures; empty where there are."""
    rows: int = 0
    empty: float = 0.0
    """Share of its maps in which nothing stands out."""
    randomisation: Randomisation | None = None
    actions: ActionDifference | None = None
    stability: Stability | None = None
    curves: Curves | None = None
    pointing: Pointing | None = None

    @property
    def verdict(self) -> Verdict:
        """Whether its maps depend on what was learnt."""
        if self.randomisation is None:
            return "not tested"
        passes = self.randomisation.passes
        return "unclear" if passes is None else "passes" if passes else "fails"

    @property
    def draws_the_picture(self) -> bool:
        """Whether the same places stand out whatever the weights, though perhaps in other colours."""
        return self.randomisation is not None and self.randomisation.places_remain.low >= THRESHOLD

    def to_json(self) -> dict[str, Any]:
        """As it is stored."""
        found: dict[str, Any] = to_json(self)
        if self.stability is not None:
            found["stability"]["word"] = self.stability.word
        return {**found, "verdict": self.verdict, "draws_the_picture": self.draws_the_picture}


def examine_method(method: Method, bench: Bench, watch: Watch) -> tuple[Figures, np.ndarray | None]:
    """Every figure of one method, and the strengths of its maps [row, height, width] of all rows.

    What the method itself refuses (gradients that are not finite, GELU) becomes the reason why it is not tested.
    """
    try:
        return _examined(method, bench, watch)
    except InnerviewError as error:
        return Figures(name=method.name, baseline=method.baseline, untested=str(error)), None


def _examined(method: Method, bench: Bench, watch: Watch) -> tuple[Figures, np.ndarray | None]:
    watch(0, None, f"{method.name}: maps")
    found = maps_of(method, bench.rows, bench.subject, bench.question)
    image = image_of(bench.subject)
    heat = found.heat[image]
    maps = strength(heat)
    spread = maps[bench.spread]
    empty = float(np.mean(spread.max(axis=(1, 2)) <= spread.min(axis=(1, 2))))
    some = bench.rows_for(method)
    asked, part = bench.question.part(some), bench.rows.part(some)
    watch(0, None, f"{method.name}: randomised weights")
    remains = randomisation(method, part, bench.subject, asked, bench.stages_for(method))
    if remains is None:
        why = f"Nothing stands out in {empty:.0%} of its maps."
        return Figures(name=method.name, baseline=method.baseline, untested=why, rows=len(some), empty=empty), maps
    watch(0, None, f"{method.name}: actions and output")
    masks = None if bench.rows.mask is None else bench.rows.masks(bench.spread)
    figures = Figures(
        name=method.name,
        layer=str(found.value.get("layer", "")) if isinstance(found.value, dict) else "",
        signed=found.signed,
        baseline=method.baseline,
        rows=len(some),
        empty=empty,
        randomisation=remains,
        actions=action_difference(method, part, bench.subject, asked),
        stability=stability(maps, bench.runs),
        curves=_curves(heat, spread, bench, image),
        pointing=None if masks is None else pointing(spread, masks, bench.rows.classes),
    )
    return figures, maps


def _curves(heat: np.ndarray, spread: np.ndarray, bench: Bench, image: str) -> Curves | None:
    """None of maps that reach over other pictures than the one that is altered, such as those of steps before."""
    pictures, baseline, output = bench.pictures(image)
    return curves(spread, pictures, baseline, output) if heat.shape[1] in (1, pictures.shape[1]) else None
