"""What the subject says, in a plane: rows with like heads lie together."""

from __future__ import annotations

import numpy as np

from innerview.schema import Axis, Layout, Lens, Rows, Watch, unwatched
from innerview.subjects import Subject

LENS = Lens(
    name="said",
    question="In which rows does it say the same?",
    needs=("subject",),
    yields="layout",
    paper="Pearson 1901: On lines and planes of closest fit",
)


def look(rows: Rows, subject: Subject, *, watch: Watch = unwatched) -> Layout:
    """The two widest directions of all heads together."""
    watch(0, 1, "running the subject")
    heads = rows.heads(np.arange(rows.count))
    values = np.concatenate([head.detach().cpu().numpy() for head in heads.values()], axis=1)
    left, sizes, _ = np.linalg.svd(values - values.mean(0), full_matrices=False)
    axes = (Axis(name="first component"), Axis(name="second component"))
    return Layout(places=(left * sizes)[:, :2], rows=rows.numbers, axes=axes)
