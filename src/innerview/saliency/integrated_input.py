"""Integrated gradients at the input: what each pixel adds to what the subject says."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from innerview.errors import LensError
from innerview.saliency.backpropagation import as_heat, inputs_of, vectors_of
from innerview.saliency.perturbation import FILLS, Fill, beginning
from innerview.schema import TARGET, Heat, Lens, Parameter, Rows, Watch, unwatched

if TYPE_CHECKING:
    from torch import Tensor

    from innerview.subjects import Stem, Subject

PathRule = Literal["secants", "gauss"]
RULES: tuple[PathRule, ...] = ("secants", "gauss")
LENS = Lens(
    name="integrated-input",
    question="What did each pixel add to the decision?",
    needs=("gradients",),
    parameters=(
        TARGET,
        Parameter(
            name="steps", type="int", default=16, low=2, high=500, description="How finely the path is followed."
        ),
        Parameter(
            name="rule",
            type="choice",
            default="secants",
            choices=RULES,
            description="How it is followed: 'secants' needs far fewer steps where rectifiers alone bend what is said; "
            "elsewhere 'gauss' with twice the steps is taken in its place.",
        ),
        Parameter(
            name="baseline",
            type="choice",
            default="black",
            choices=FILLS,
            description="Where the path begins: a picture in black, in its mean colour, or blurred; vectors at 0.",
        ),
    ),
    yields="heat",
    over="row",
    cost="seconds",
    paper="Sundararajan, Taly, Yan 2017; segments by secants: the rescale rule of Shrikumar, Greenside, Kundaje 2017",
)
_NUMBERS_AT_ONCE = {"cpu": 2**21, "cuda": 2**26}
"""How many numbers of what is integrated over are held together."""
_COMPLETE = 1e-4
"""Secants that miss more of the whole, as a share, are not exact here: something else than rectifiers bends."""


def look(
    rows: Rows,
    subject: Subject,
    *,
    target: str = "action",
    steps: int = 16,
    rule: PathRule = "secants",
    baseline: Fill = "black",
    watch: Watch = unwatched,
) -> Heat:
    """The gradient along the straight line from a baseline to the picture, times the way.

    `gauss`: by Gauss and Legendre. `secants`: each segment by the mean slope of every rectifier over it. Then nothing
    is missed, so `error`, what the sum of a row misses as a share of what it should be, says nothing of the map.
    """
    path = _Path.over(rows, subject, target, baseline)
    heat = path.by_secants(steps, watch) if rule == "secants" else path.by_gauss(steps, watch)
    missing = path.missed(heat) > _COMPLETE * path.size
    if rule == "secants" and bool(missing.any()):
        some = rows.part(missing.nonzero().flatten().cpu().numpy())
        for name, values in _Path.over(some, subject, target, baseline).by_gauss(2 * steps, watch).items():
            heat[name][missing] = values
    if not any(values.any() for values in heat.values()):
        raise LensError(
            f"No gradient of '{target}' reached input '{path.names[0]}': something between them cuts it off."
        )
    error = path.missed(heat) / path.wanted.abs().clamp_min(1e-6)
    return Heat(
        heat=as_heat(heat),
        rows=rows.numbers,
        unit=f"of '{target}'",
        vectors=vectors_of(subject),
        arrays={"error": error.cpu().numpy()},
    )


@dataclass(frozen=True)
class _Path:
    """The straight line from a baseline to what was seen, for every row.

    Where all that the heads know of the input goes through a first layer that is linear, the line is as straight behind
    it: it is followed there, and what is found goes back through the layer once.
    """

    subject: Subject
    target: str
    inputs: Mapping[str, Tensor]
    memory: Mapping[str, Tensor]
    start: Mapping[str, Tensor]
    """Of the inputs that are attributed to."""
    stem: Stem | None
    said: Mapping[str, Tensor]
    """The heads where it ends: what rows chose is asked about all along."""
    wanted: Tensor
    """[rows], what the sums should be."""
    size: Tensor
    """[rows], how large the scores at both ends are: against that rounding is measured."""

    @staticmethod
    def over(rows: Rows, subject: Subject, target: str, baseline: Fill) -> _Path:
        """Of all rows."""
        import torch

        from innerview.subjects import laid, scorer, stem_of

        places, names = np.arange(rows.count), inputs_of(subject)
        inputs, memory = laid(subject, rows.inputs(places)), rows.memory_before(places)
        specs = {spec.name: spec for spec in subject.info.inputs}
        start = {n: beginning(rows, specs[n], inputs[n], baseline) for n in names}
        said, begun = (subject.run(given, memory).heads for given in (inputs, {**inputs, **start}))
        score = scorer(subject, said, target)
        with torch.no_grad():
            end, begin = score(said), score(begun)
        stem = stem_of(subject, inputs, memory, start)
        return _Path(subject, target, inputs, memory, start, stem, said, end - begin, end.abs() + begin.abs())

    @property
    def names(self) -> list[str]:
        """Of the inputs that are attributed to."""
        return list(self.start)

    def missed(self, heat: Mapping[str, Tensor]) -> Tensor:
        """By how much the sums of rows differ from what they should be."""
        import torch

        summed = torch.stack([values.flatten(1).sum(1) for values in heat.values()]).sum(0)
        return (summed - self.wanted).abs()

    def by_gauss(self, steps: int, watch: Watch) -> dict[str, Tensor]:
        """Exact for polynomials of a degree below twice the number of steps."""
        nodes, weights = np.polynomial.legendre.leggauss(steps)
        return self._followed((nodes + 1) / 2, weights / 2, watch)

    def by_secants(self, steps: int, watch: Watch) -> dict[str, Tensor]:
        """Segments that are short at first: near a baseline, where little is seen, most rectifiers turn."""
        ends = np.linspace(0, 1, steps + 1) ** 2
        return self._followed(ends, np.append(np.diff(ends), 0), watch, secants=True)

    def _followed(
        self, shares: np.ndarray, weights: np.ndarray, watch: Watch, *, secants: bool = False
    ) -> dict[str, Tensor]:
        """The sum of weighted gradients at places on the path, times the way, by input."""
        import torch

        begin, end = (self.stem.begin, self.stem.end) if self.stem else (self.start, self.inputs)
        way = {n: end[n] - begin[n] for n in begin}
        total = {n: torch.zeros_like(v) for n, v in way.items()}
        each, count = sum(v[0].numel() for v in way.values()), len(self.wanted)
        at_once = max(1, _NUMBERS_AT_ONCE.get(self.wanted.device.type, 2**21) // each)
        size = max(1, at_once // len(shares))
        # Segments reach from one place to the next: the last of a chunk is the first of the following.
        chunk = max(1 + secants, at_once // min(size, count))
        for row in range(0, count, size):
            some = slice(row, row + size)
            for first in range(0, len(shares) - secants, chunk - secants):
                watch(row, count, "along the path")
                here, part = shares[first : first + chunk], weights[first : first + chunk].copy()
                part[-1] = 0 if secants else part[-1]
                between = {n: torch.cat([b[some] + float(s) * way[n][some] for s in here]) for n, b in begin.items()}
                for name, gradient in self._gradients(between, some, part, secants=secants).items():
                    total[name][some] += gradient.view(len(here), *way[name][some].shape).sum(0)
        back = self.stem.back(total) if self.stem else total
        return {n: back[n] * (self.inputs[n] - self.start[n]) for n in self.start}

    def _gradients(
        self, between: Mapping[str, Tensor], some: slice, weights: np.ndarray, *, secants: bool
    ) -> dict[str, Tensor]:
        """By what stands at places on the path, [times · rows, …], each with its weight."""
        import torch

        from innerview.subjects import Secants, scorer

        watched = {n: v.requires_grad_() for n, v in between.items()}
        inputs, memory, said = ({n: v[some] for n, v in of.items()} for of in (self.inputs, self.memory, self.said))
        rows = len(self.wanted[some])
        with torch.enable_grad(), Secants(rows) if secants else nullcontext():
            if self.stem:
                heads = self.stem.tail.heads(watched[self.stem.tail.layer], inputs, memory)
            else:
                given = {n: _repeated(v, len(weights)) for n, v in inputs.items() if n not in watched}
                state = {n: _repeated(v, len(weights)) for n, v in memory.items()}
                heads = self.subject.run(given | watched, state, grad=True).heads
            scores = scorer(self.subject, said, self.target)(heads)
            weight = torch.as_tensor(weights).to(scores).repeat_interleave(rows)
            whole = (scores * weight).sum()
            if not whole.requires_grad:
                return {}
            found = torch.autograd.grad(whole, list(watched.values()), allow_unused=True)
        return {n: g for n, g in zip(watched, found, strict=True) if g is not None}


def _repeated(value: Tensor, times: int) -> Tensor:
    return value.repeat(times, *[1] * (value.ndim - 1))
