"""Edge detection: a map that knows the picture and nothing of the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from innerview.schema import Heat, Lens, Parameter, Rows, Watch, unwatched

if TYPE_CHECKING:
    from innerview.subjects import Subject

KERNELS: dict[str, tuple[tuple[int, int, int], ...]] = {
    "L1": ((0, -1, 0), (-1, 4, -1), (0, -1, 0)),
    "L2": ((-1, -1, -1), (-1, 8, -1), (-1, -1, -1)),
    "L3": ((1, -2, 1), (-2, 4, -2), (1, -2, 1)),
    "L4": ((-1, -2, -1), (-2, 12, -2), (-1, -2, -1)),
}
"""The four of the paper (equations 7 and 8). It prints L2 with two corners of 0, which would not sum to 0."""
LENS = Lens(
    name="laplacian",
    question="Where are edges, whatever the network?",
    needs=("image input", "subject"),
    parameters=(
        Parameter(
            name="kernel",
            type="choice",
            default="L1",
            choices=tuple(KERNELS),
            description="Which of four approximations of the Laplace operator.",
        ),
    ),
    variants={f"laplacian-{name[1]}": {"kernel": name} for name in ("L2", "L3", "L4")},
    baseline=True,
    yields="heat",
    over="row",
    cost="instant",
    paper="Rosynski, Kirchner, Valdenegro-Toro 2020, equations 7 and 8; as a baseline: Adebayo and others 2018",
)


def look(rows: Rows, subject: Subject, *, kernel: str = "L1", watch: Watch = unwatched) -> Heat:
    """Every channel of what is seen filtered by the kernel; beyond the edges of the picture stands its last pixel."""
    import torch
    from torch.nn.functional import conv2d, pad

    image = next(spec for spec in subject.info.inputs if spec.kind == "image")
    pictures = rows.inputs(np.arange(rows.count))[image.name]
    flat = pictures.reshape(-1, 1, *pictures.shape[2:])
    weight = torch.tensor(KERNELS[kernel], dtype=flat.dtype, device=flat.device)[None, None]
    found = conv2d(pad(flat, (1, 1, 1, 1), mode="replicate"), weight).view_as(pictures)
    heat = {image.name: found.detach().cpu().float().numpy()}
    return Heat(heat=heat, rows=rows.numbers, unit="of the picture's brightness")
