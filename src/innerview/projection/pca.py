"""Principal components: the plane in which the states differ most."""

from __future__ import annotations

from innerview.projection.sampling import PARAMETERS, chosen_states, layout, principal
from innerview.schema import Found, Lens, Rows, Watch, unwatched

LENS = Lens(
    name="pca",
    question="In which plane do the hidden states differ most?",
    needs=("memory",),
    parameters=PARAMETERS,
    yields="layout",
    over="recording",
    cost="seconds",
    paper="Pearson 1901: On lines and planes of closest fit to systems of points in space",
)


def look(
    rows: Rows,
    *,
    progress: Watch = unwatched,
    array: str = "",
    most: int = 20_000,
    sample: str = "stride",
    seed: int = 0,
) -> Found:
    """Places of the states along their two widest directions; "variance" is the share that each shows."""
    places, values = chosen_states(rows, array, most=most, sample=sample, seed=seed)
    progress(0, None, f"{len(places):,} states")
    at, share = principal(values, 2)
    return layout(rows, array, places, at, variance=share.tolist())
