"""The brightest pictures that the subject was given."""

from __future__ import annotations

import numpy as np

from innerview.schema import Axis, Gallery, Lens, Parameter, Rows, Watch, unwatched
from innerview.subjects import Subject

COUNT = Parameter(name="count", type="int", default=4, low=1, high=100, description="How many pictures.")
LENS = Lens(
    name="brightest",
    question="Which pictures are brightest?",
    needs=("subject", "image input"),
    parameters=(COUNT,),
    yields="gallery",
    paper="Fechner 1860: Elemente der Psychophysik",
)


def look(rows: Rows, subject: Subject, *, count: int = 4, watch: Watch = unwatched) -> Gallery:
    """The rows with the largest mean of the first image input."""
    watch(0, rows.count, "reading")
    name = next(spec.name for spec in subject.info.inputs if spec.kind == "image")
    seen = rows.inputs(np.arange(rows.count))[name].detach().cpu().numpy()
    light = seen.mean((1, 2, 3))
    best = np.argsort(-light, kind="stable")[:count]
    low, high = float(seen.min()), float(seen.max())
    pictures = ((seen[best] - low) / max(high - low, 1e-9) * 255).astype(np.uint8).transpose(0, 2, 3, 1)
    return Gallery(
        pictures=pictures,
        captions=tuple(f"row {rows.numbers[place]}" for place in best),
        scores=light[best].tolist(),
        score=Axis(name="mean brightness"),
        rows=rows.numbers[best].tolist(),
    )
