"""Every column of numbers in a line."""

from __future__ import annotations

import numpy as np

from innerview.schema import Axis, Lens, Rows, Table, Watch, unwatched

LENS = Lens(
    name="columns",
    question="What do the columns hold?",
    yields="table",
    paper="Tukey 1977: Exploratory data analysis",
)


def look(rows: Rows, subject: object = None, *, watch: Watch = unwatched) -> Table:
    """Name, unit, lowest, mean and highest value."""
    lines = []
    for number, (name, spec) in enumerate(rows.specs.items()):
        watch(number, len(rows.specs), name)
        values = rows.columns[name]
        known = values[np.isfinite(values)] if values.dtype.kind == "f" else np.zeros(0)
        if len(known):
            lines.append([name, spec.unit, float(known.min()), float(known.mean()), float(known.max())])
    titles = ("column", "unit", "lowest", "mean", "highest")
    return Table(columns=tuple(Axis(name=title) for title in titles), lines=lines)
