"""Principal components: the plane in which the states differ most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from innerview.projection.sampling import PARAMETERS, chosen_states, layout, principal
from innerview.schema import Layout, Lens, Rows, Watch, unwatched

if TYPE_CHECKING:
    from innerview.subjects import Subject

LENS = Lens(
    name="pca",
    question="In which plane do the hidden states differ most?",
    needs=("memory",),
    parameters=PARAMETERS,
    yields="layout",
    cost="seconds",
    paper="Pearson 1901: On lines and planes of closest fit to systems of points in space",
)


def look(
    rows: Rows,
    subject: Subject | None = None,
    *,
    array: str = "",
    max_rows: int = 20_000,
    sample: str = "stride",
    seed: int = 0,
    watch: Watch = unwatched,
) -> Layout:
    """Places of the states along their two widest directions; "variance" is the share that each shows."""
    places, values = chosen_states(rows, array, max_rows=max_rows, sample=sample, seed=seed)
    watch(0, None, f"{len(places):,} states")
    at, share = principal(values, 2)
    return layout(rows, array, places, at, variance=share.tolist())
