"""Guided backpropagation: which pixels speak for the decision."""

from __future__ import annotations

import numpy as np

from innerview.schema import TARGET, Heat, Lens, Rows, Watch, unwatched
from innerview.subjects import Subject, scorer

LENS = Lens(
    name="rectified",
    question="Which pixels speak for the decision?",
    needs=("image input", "gradients"),
    parameters=(TARGET,),
    yields="heat",
    over="row",
    cost="instant",
    paper="Springenberg, Dosovitskiy, Brox, Riedmiller 2014: Striving for simplicity",
)


def look(rows: Rows, subject: Subject, *, target: str = "action", watch: Watch = unwatched) -> Heat:
    """The gradient by every image input; at a ReLU only what is positive both ways goes back."""
    import torch

    places = np.arange(rows.count)
    images = [spec.name for spec in subject.info.inputs if spec.kind == "image"]
    given = {n: v.detach().clone().requires_grad_(n in images) for n, v in rows.inputs(places).items()}
    with torch.enable_grad():
        output = subject.run(given, rows.memory_before(places), grad=True, rule="guided")
        score = scorer(subject, output.heads, target)(output.heads).sum()
        gradients = torch.autograd.grad(score, [given[name] for name in images])
    heat = {name: gradient.cpu().numpy() for name, gradient in zip(images, gradients, strict=True)}
    return Heat(heat=heat, rows=rows.numbers, unit=f"of '{target}' per unit of the input")
