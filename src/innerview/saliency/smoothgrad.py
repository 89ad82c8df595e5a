"""SmoothGrad: the gradient, averaged over noisy copies of what the subject saw."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from innerview.saliency.backpropagation import as_heat, flow_back, inputs_of, vectors_of
from innerview.schema import TARGET, Heat, Lens, Parameter, Rows, Watch, unwatched

if TYPE_CHECKING:
    from torch import Tensor

    from innerview.subjects import Subject

LENS = Lens(
    name="smoothgrad",
    question="Which pixels would change the decision, noise aside?",
    needs=("gradients",),
    parameters=(
        TARGET,
        Parameter(name="count", type="int", default=16, low=1, high=500, description="How many noisy copies."),
        Parameter(
            name="spread",
            type="float",
            default=0.1,
            low=0.0,
            high=1.0,
            description="Standard deviation of the noise, as a share of the range of values in the picture.",
        ),
        Parameter(name="seed", type="int", default=0, low=0, description="Of the noise."),
    ),
    yields="heat",
    over="row",
    cost="seconds",
    paper="Smilkov, Thorat, Kim, Viégas, Wattenberg 2017: SmoothGrad, removing noise by adding noise",
)


def look(
    rows: Rows,
    subject: Subject,
    *,
    target: str = "action",
    count: int = 16,
    spread: float = 0.1,
    seed: int = 0,
    watch: Watch = unwatched,
) -> Heat:
    """The mean gradient. A row's noise depends on the seed and the row alone, so it is the same among any others."""
    import torch

    generators = [torch.Generator().manual_seed(int(np.int64(seed) * 1_000_003 + n) % 2**63) for n in rows.numbers]

    def noisy(name: str, value: Tensor) -> Tensor:
        flat = value.flatten(1)
        range_r = (flat.amax(1) - flat.amin(1)).view(-1, *[1] * (value.ndim - 1))
        noise = torch.stack([torch.randn(value.shape[1:], generator=g) for g in generators]).to(value)
        return value + spread * range_r * noise

    total: dict[str, Tensor] = {}
    for number in range(count):
        watch(number, count, "noisy copies")
        for name, gradient in flow_back(rows, subject, target, change=noisy).inward.items():
            total[name] = total[name] + gradient if name in total else gradient
    heat = {name: total[name] / count for name in inputs_of(subject) if name in total}
    return Heat(
        heat=as_heat(heat),
        rows=rows.numbers,
        unit=f"of '{target}' per unit of the input",
        vectors=vectors_of(subject),
    )
