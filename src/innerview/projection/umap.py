"""UMAP: states that are alike lie together, and groups keep more of their distances. Needs the package umap-learn."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from innerview.errors import LensError
from innerview.projection.sampling import PARAMETERS, chosen_states, layout, principal
from innerview.schema import Layout, Lens, Parameter, Rows, Watch, unwatched

MISSING = "needs the package umap-learn: pip install 'innerview[umap]'"

if TYPE_CHECKING:
    from innerview.subjects import Subject

LENS = Lens(
    name="umap",
    question="Which hidden states are alike, and which groups are near each other?",
    needs=("memory",),
    parameters=(
        *PARAMETERS,
        Parameter(
            name="neighbours",
            type="int",
            default=15,
            low=2,
            high=200,
            description="How many neighbours of a state count.",
        ),
        Parameter(
            name="distance", type="float", default=0.1, low=0, high=1, description="How close like states may lie."
        ),
    ),
    yields="layout",
    cost="minutes",
    paper="McInnes, Healy, Melville 2018: UMAP: uniform manifold approximation and projection for dimension reduction",
    settings={} if find_spec("umap") else {"missing": MISSING},
)


def look(
    rows: Rows,
    subject: Subject | None = None,
    *,
    array: str = "",
    max_rows: int = 20_000,
    sample: str = "stride",
    seed: int = 0,
    neighbours: int = 15,
    distance: float = 0.1,
    watch: Watch = unwatched,
) -> Layout:
    """Places of the states, beginning from their principal components."""
    if find_spec("umap") is None:
        raise LensError(f"'umap' {MISSING}")
    places, values = chosen_states(rows, array, max_rows=max_rows, sample=sample, seed=seed)
    begin, _ = principal(values, 2)
    if begin[:, 0].std() == 0:
        raise LensError("All these states are the same; there is nothing to lay out.")
    begin *= 10 / begin[:, 0].std()
    watch(0, None, f"{len(places):,} states", layout(rows, array, places, begin, provisional=True))
    from umap import UMAP  # type: ignore[import-not-found]

    # One thread, as umap-learn repeats itself only then.
    settings = {
        "n_neighbors": min(neighbours, len(places) - 1),
        "min_dist": distance,
        "random_state": seed,
    }
    at = UMAP(init=begin.astype(np.float32), n_jobs=1, **settings).fit_transform(values)
    return layout(rows, array, places, np.asarray(at))
