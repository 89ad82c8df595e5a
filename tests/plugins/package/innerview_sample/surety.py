"""How sure the subject is, row by row."""

from __future__ import annotations

import numpy as np

from innerview.schema import Axis, Lens, PerRow, Rows, Watch, unwatched
from innerview.subjects import Subject

LENS = Lens(
    name="surety",
    question="How far ahead is its first choice?",
    needs=("subject",),
    yields="per row",
    over="row",
    cost="instant",
    paper="Scheffer, Decomain, Wrobel 2001: Active hidden Markov models (margin sampling)",
)


def look(rows: Rows, subject: Subject, *, watch: Watch = unwatched) -> PerRow:
    """The largest output of its first head with several, and its margin over the second."""
    heads = rows.heads(np.arange(rows.count))
    name = next(name for name, head in heads.items() if head.shape[1] > 1)
    ordered = np.sort(heads[name].detach().cpu().numpy(), axis=1)
    values = np.stack([ordered[:, -1], ordered[:, -1] - ordered[:, -2]], axis=1)
    return PerRow(values=values, rows=rows.numbers, columns=(Axis(name=f"largest {name}"), Axis(name="margin")))
