"""Integrated gradients at the input: what each pixel adds to what the subject says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from innerview.errors import LensError
from innerview.saliency.backpropagation import as_heat, inputs_of, vectors_of
from innerview.saliency.perturbation import FILLS, Fill, beginning
from innerview.schema import TARGET, Heat, Lens, Parameter, Rows, Watch, unwatched

if TYPE_CHECKING:
    from torch import Tensor

    from innerview.subjects import Subject

LENS = Lens(
    name="integrated-input",
    question="What did each pixel add to the decision?",
    needs=("gradients",),
    parameters=(
        TARGET,
        Parameter(
            name="steps", type="int", default=32, low=2, high=500, description="How finely the path is followed."
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
    paper="Sundararajan, Taly, Yan 2017: Axiomatic attribution for deep networks",
)
_ROWS_AT_ONCE = 512


def look(
    rows: Rows,
    subject: Subject,
    *,
    target: str = "action",
    steps: int = 32,
    baseline: Fill = "black",
    watch: Watch = unwatched,
) -> Heat:
    """The gradient along the straight line from a baseline to the picture, times the way, by Gauss and Legendre.

    `error`: what the sum of a row misses, as a share of what it should be.
    """
    import torch

    from innerview.subjects import scorer

    places, names = np.arange(rows.count), inputs_of(subject)
    inputs, memory = rows.inputs(places), rows.memory_before(places)
    specs = {spec.name: spec for spec in subject.info.inputs}
    start = {n: beginning(rows, specs[n], inputs[n], baseline) for n in names}
    way = {n: inputs[n] - start[n] for n in names}
    whole = subject.run(inputs, memory).heads
    score = scorer(subject, whole, target)
    total = {n: torch.zeros_like(way[n]) for n in names}
    nodes, weights = np.polynomial.legendre.leggauss(steps)
    chunk = max(1, _ROWS_AT_ONCE // rows.count)

    def repeated(value: Tensor, times: int) -> Tensor:
        return value.repeat(times, *[1] * (value.ndim - 1))

    for first in range(0, steps, chunk):
        watch(first, steps, "along the path")
        shares, part = (nodes[first : first + chunk] + 1) / 2, weights[first : first + chunk] / 2
        times = len(shares)
        between = {n: torch.cat([start[n] + float(s) * way[n] for s in shares]).requires_grad_() for n in names}
        given = {n: between[n] if n in between else repeated(v, times) for n, v in inputs.items()}
        state = {n: repeated(v, times) for n, v in memory.items()}
        with torch.enable_grad():
            scores = score(subject.run(given, state, grad=True).heads)
            weight = torch.as_tensor(part).to(scores).repeat_interleave(rows.count)
            found = torch.autograd.grad((scores * weight).sum(), [between[n] for n in names], allow_unused=True)
        for name, gradient in zip(names, found, strict=True):
            if gradient is not None:
                total[name] += gradient.view(times, *way[name].shape).sum(0)
    heat = {n: total[n] * way[n] for n in names}
    if not any(values.any() for values in total.values()):
        raise LensError(f"No gradient of '{target}' reached input '{names[0]}': something between them cuts it off.")
    with torch.no_grad():
        wanted = score(whole) - score(subject.run({**inputs, **start}, memory).heads)
    summed = torch.stack([values.flatten(1).sum(1) for values in heat.values()]).sum(0)
    error = (summed - wanted).abs() / wanted.abs().clamp_min(1e-6)
    return Heat(
        heat=as_heat(heat),
        rows=rows.numbers,
        unit=f"of '{target}'",
        vectors=vectors_of(subject),
        arrays={"error": error.cpu().numpy()},
    )
