"""How much each element of the memory moves."""

from __future__ import annotations

import numpy as np

from innerview.schema import Axis, Lens, PerElement, Rows, Watch, unwatched

LENS = Lens(
    name="restless",
    question="Which elements move most?",
    needs=("memory",),
    yields="per element",
    paper="Welford 1962: Note on a method for calculating corrected sums",
)


def look(rows: Rows, subject: object = None, *, watch: Watch = unwatched) -> PerElement:
    """Standard deviation and mean step of each element of the first memory."""
    name, states = next(iter(rows.memory.items()))
    watch(0, states.rows, "reading")
    values = states.between(0, states.rows)
    steps = np.abs(np.diff(values, axis=0)).mean(0) if len(values) > 1 else np.zeros(values.shape[1])
    columns = (Axis(name="spread"), Axis(name="mean step"))
    return PerElement(values=np.stack([values.std(0), steps], axis=1), columns=columns, of=name)
